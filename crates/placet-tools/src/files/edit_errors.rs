//! Errors for files that may not be changed: they say what to read and what others changed.

use super::file_page::ROW;
use crate::blocking::s;
use crate::{CallFailure, Hint, HintTool, ToolContext, ToolError, hint};
use placet_text::text::secret::marks;
use placet_text::text::{LineDiff, RangeSet, for_model};
use placet_workspace::{EditError, Hash, ResolvedPath, StaleRead, TextFile};
use std::ops::Range;

/// From this length on, in bytes, a line is read in parts.
pub(super) const LONG_LINE: usize = 4 * ROW;
/// The longest diff in an error, in bytes.
const MOST: usize = 12_000;
/// The same for lines that were not read: a small model reads a page of them at most.
const MOST_MISSING: usize = 4_000;

const SEEN_NOW: &str = "you have now seen them: repeat the call on the current content";

/// `read_file(path: "a.txt"` and `rest`, with the names of the tool set.
fn read_call(path: &str, rest: &str) -> Hint {
    let parameter = HintTool::ReadFile.parameter("path");
    hint![HintTool::ReadFile, "(", parameter, format!(": \"{path}\"{rest}")]
}

pub(crate) fn never_read(path: &str) -> ToolError {
    ToolError::hint(
        format!("`{path}` has not been read in this session"),
        read_call(path, ") first, then repeat this call"),
    )
    .because(CallFailure::Unread)
}

/// Where to read on in a line that is longer than a page has room for: the column of the text that is to be changed.
pub(crate) fn column_of(file: &TextFile, spans: &[Range<usize>], missing: &RangeSet) -> Option<usize> {
    let index = file.index();
    let span =
        spans.iter().find(|span| index.lines_of(span).any(|line| missing.covers(&(line..line + 1))))?;
    let line = index.line_of(span.start);
    let bytes = index.bytes_of(&(line..line + 1));
    let before = file.encoding().decode(file.part(bytes.start..span.start)).chars().count();
    (bytes.len() > LONG_LINE).then_some(before / ROW * ROW)
}

/// `missing` are lines that the change touches and that were not shown. One read shows all of them, or from `column` on
/// what the change needs of a long one.
pub(crate) fn not_shown(path: &str, seen: &RangeSet, missing: &RangeSet, column: Option<usize>) -> ToolError {
    let were = if missing.len() == 1 { "was" } else { "were" };
    let only = match seen.len() {
        _ if column.is_some() => ": only parts of it were, or none".into(),
        0 => String::new(),
        1 => format!(": only line {seen} was"),
        _ => format!(": only lines {seen} were"),
    };
    let (start, end) =
        missing.ranges().fold((usize::MAX, 0), |(start, end), r| (start.min(r.start), end.max(r.end)));
    let limit = end.saturating_sub(start);
    ToolError::hint(
        format!("line{} {missing} of `{path}` {were} not shown to you{only}", s(missing.len())),
        hint![
            HintTool::ReadFile,
            "(",
            HintTool::ReadFile.parameter("path"),
            format!(": \"{path}\", "),
            HintTool::ReadFile.parameter("offset"),
            format!(": {start}, "),
            HintTool::ReadFile.parameter(if column.is_some() { "column" } else { "limit" }),
            format!(": {})", column.unwrap_or(limit))
        ]
        .or(read_call(path, ")")),
    )
    .because(CallFailure::LinesUnread { offset: start, limit })
}

/// `seen` are the lines that were shown; a line from `missing` on would be lost.
pub(crate) fn would_lose(path: &str, seen: &RangeSet, missing: usize) -> ToolError {
    let shown = match seen.len() {
        0 => format!("no line of `{path}` was shown to you; this call would lose them"),
        n => format!(
            "only line{} {seen} of `{path}` {} shown to you; this call would lose others, from line {} on",
            s(n),
            if n == 1 { "was" } else { "were" },
            missing + 1
        ),
    };
    ToolError::hint(
        shown,
        hint![
            HintTool::ReadFile,
            "(",
            HintTool::ReadFile.parameter("path"),
            format!(": \"{path}\", "),
            HintTool::ReadFile.parameter("offset"),
            format!(": {missing}), or change only what you saw with "),
            HintTool::EditFile
        ],
    )
}

/// Refuses because of `lines` that the change touches and that were not shown, and shows them.
pub(crate) fn not_shown_now(
    env: &ToolContext,
    at: &ResolvedPath,
    path: &str,
    (file, hash): (&TextFile, Hash),
    (seen, missing): (&RangeSet, &RangeSet),
) -> ToolError {
    let ToolError { message, fault, .. } = not_shown(path, seen, missing, None);
    let rows = show(env, at, (file, hash), missing, MOST_MISSING);
    ToolError::hint(format!("{message}. The lines that are missing:\n{rows}"), SEEN_NOW).because(fault)
}

/// Refuses because of `lines` that others changed after the file was read, and shows them.
pub(crate) fn unshown(
    env: &ToolContext,
    at: &ResolvedPath,
    path: &str,
    (file, hash): (&TextFile, Hash),
    lines: &RangeSet,
) -> ToolError {
    let rows = show(env, at, (file, hash), lines, MOST);
    ToolError::hint(
        format!(
            "the person or another program changed `{path}` at line{} {lines} after you read it, and you have not seen that. The lines now:\n{rows}",
            s(lines.len()),
        ),
        SEEN_NOW,
    )
    .because(CallFailure::Changed)
}

/// The lines as the model reads them, up to `most` bytes of them: they count as seen afterwards.
fn show(
    env: &ToolContext,
    at: &ResolvedPath,
    (file, hash): (&TextFile, Hash),
    lines: &RangeSet,
    most: usize,
) -> String {
    let (mut text, mut shown) = (String::new(), RangeSet::new());
    for line in lines.ranges().flatten() {
        let row = format!(
            "{:>6}│{}\n",
            line + 1,
            file.text_of_lines(&(line..line + 1)).trim_end_matches(['\r', '\n'])
        );
        if text.len() + row.len() > most && !shown.is_empty() {
            break;
        }
        text.push_str(&row);
        shown.insert(line..line + 1);
    }
    env.ledger().record_read_ranges(&at.path, file.bytes(), hash, &shown);
    let more = match lines.without(&shown).len() {
        0 => String::new(),
        n => format!("\n[... {n} more]"),
    };
    format!("{}{more}", text.trim_end())
}

/// Refuses a content that has a redaction mark where the old content had a secret: the write would lose the real value.
pub(crate) fn refuse_marks(before: &[u8], after: &[u8]) -> Result<(), ToolError> {
    if marks(after) <= marks(before) {
        return Ok(());
    }
    Err(ToolError::hint(
        "the new text contains `[redacted: ...]`, which replaces a value that is hidden from you; writing it would lose that value",
        hint![
            "edit the lines around it with ",
            HintTool::EditFile,
            ", or ask the person to put the value in"
        ],
    ))
}

pub(crate) fn bad_text(error: &EditError) -> ToolError {
    let hint = match error {
        EditError::Undecodable { .. } => {
            hint![
                "edit the text next to those bytes, or convert the file with ",
                HintTool::RunCommand,
                " (iconv) if the person wants that"
            ]
        }
        EditError::Unencodable(_) => {
            hint![
                "use characters the encoding has, or convert the file with ",
                HintTool::RunCommand,
                " (iconv) if the person wants that"
            ]
        }
        EditError::Placeholder(_) | EditError::Unrecognised(_) => {
            let convert = "find out the file's encoding and convert it";
            hint![
                "change only the text next to those bytes, in ASCII, with ",
                HintTool::EditFile,
                format!(", or {convert} with "),
                HintTool::RunCommand,
                " (`iconv -f WINDOWS-1252 -t UTF-8 FILE`) if the person wants that"
            ]
            .or(format!("change only the text next to those bytes, in ASCII, or {convert} (`iconv`)").into())
        }
    };
    ToolError::hint(error.to_string(), hint)
}

/// Refuses because of a change, and shows the change: it counts as seen afterwards.
pub(crate) fn changed(
    env: &ToolContext,
    at: &ResolvedPath,
    path: &str,
    file: &TextFile,
    hash: Hash,
    change: &StaleRead,
) -> ToolError {
    if change.old.is_none() {
        return ToolError::hint(
            format!("`{path}` changed since you read it"),
            read_call(path, ") again, then repeat the change on the current content")
                .or("read it again, then repeat the change on the current content".into()),
        )
        .because(CallFailure::Unread);
    }
    let (diff, shown) = since_read(change, file);
    env.ledger().record_shown_change(&at.path, file.bytes(), hash, &change.carried, &shown);
    ToolError::hint(
        format!("`{path}` changed since you read it. The changes:\n{}", diff.trim_end()),
        "you have now seen them: repeat the call on the current content; you need not read it again",
    )
    .because(CallFailure::Changed)
}

/// The lead of a report about lines that are not as the model read them. A person who rejected a part of the model's own
/// change, or who undid it, changed the file as well: the sentence must not blame another program.
pub(crate) fn changed_lead(name: &str) -> String {
    format!(
        "the person or another program changed {name} since you read it (an edit, a rejected change or an undo); placet keeps it so:\n"
    )
}

/// The diff from the content that was read to the present content, and the lines that the diff shows.
pub(crate) fn since_read(change: &StaleRead, file: &TextFile) -> (String, RangeSet) {
    let Some(old) = change.old.clone().and_then(|old| TextFile::new(old).ok()) else {
        return (String::new(), RangeSet::new());
    };
    let (old, new) = (old.text(), file.text());
    let mut view = LineDiff::new(&old, &new).unified(3, MOST);
    view.text = for_model(&view.text).into_owned();
    let more = match view.left_out {
        0 => String::new(),
        n => format!("[... {n} more changed lines]\n"),
    };
    (format!("{}{more}", view.text), view.shown)
}
