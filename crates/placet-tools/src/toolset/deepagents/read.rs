//! read_file and file_data.
//!
//! A line ends with LF, CRLF or a lone CR, as Python reads text. The ledger counts lines by LF alone: a line of the
//! file that lone CRs divide counts as read once all of its parts were shown.

use super::super::super::{
    CallFailure, CallSummary, PlanResult, RunContext, Tool, ToolContext, ToolError, ToolOutput,
};
use super::options::DeepagentsOptions;
use super::path::{DeepagentsPath, failure};
use super::result_text::MOST;
use crate::files::lookup::{ExpectedKind, LookupPlan, credit_all, load_text};
use crate::files::read;
use crate::files::read::ReadPlan;
use crate::toolset::foreign_tool::{ErrorRow, ForeignTool};
use placet_text::text::RangeSet;
use placet_workspace::{Hash, OpenConsent, ResolvedPath, TextFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::ops::Range;
use std::sync::Arc;

/// The longest row, in characters; the rest of a line follows in rows `5.1`, `5.2`.
const ROW: usize = 5000;
const LINES: i64 = 100;
const EMPTY: &str = "System reminder: File exists but has empty contents";

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsRead {
    /// Absolute path of the file.
    file_path: String,
    /// Line to begin with, from 0.
    offset: Option<i64>,
    /// Most lines to read (100).
    limit: Option<i64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct DeepagentsFileData {
    file_path: String,
}

/// A path that is not a file is reported as not found, whatever it is.
const NO_FILE: &[ErrorRow] = &[
    (CallFailure::Directory, "Error: File '{file_path}' not found"),
    (CallFailure::NotDirectory, "Error: File '{file_path}' not found"),
];

pub(super) fn read_file(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description = "Read a file: at most 100 lines from the beginning, or `limit` lines from line `offset` on. Lines are numbered as cat -n does; lines over 5000 characters go on in rows 5.1, 5.2 and so on. Pictures are shown.";
    ForeignTool::new("read_file", description, surface, plan_read)
        .reading("file_path")
        .whole()
        .errors(NO_FILE)
        .failing(|args, _, surface, error| failure("reading file", &args.file_path, surface, error))
        .build()
}

fn plan_read(args: &DeepagentsRead, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    let named = surface.named(env, &args.file_path)?;
    let media = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
    if media.iter().any(|end| named.shown.to_ascii_lowercase().ends_with(end)) {
        let path = named.shown.clone();
        let args = read::Args { path, ..read::Args::default() };
        return Ok(Box::new(ReadPlan::at(args, named.at, env)?));
    }
    let title = format!("read {}", named.shown);
    let (place, window) = (named.clone(), (args.offset.unwrap_or(0), args.limit.unwrap_or(LINES)));
    let is_newer = surface.is_newer();
    let look = move |_: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let file = load_text(&ctx.env, &place.at, consent)?;
        read(&place, (file.0, file.1, is_newer), window, &ctx.env)
    };
    Ok(Box::new(LookupPlan::new(named.at, title, ExpectedKind::File, look)))
}

fn read(
    place: &DeepagentsPath,
    (file, hash, is_newer): (TextFile, Hash, bool),
    (offset, limit): (i64, i64),
    env: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let line = format!("read {}", place.shown);
    if file.text().trim().is_empty() {
        credit_all(env, &place.at, &file, hash);
        return Ok(ToolOutput::done(EMPTY, CallSummary::line(line)));
    }
    let (total, first) = (lines_of(&file).count(), usize::try_from(offset).unwrap_or(0));
    if limit <= 0 {
        let text = format!(
            "System reminder: no lines were read because limit was {limit}. Pass a limit of at least 1."
        );
        return Ok(ToolOutput::done(text, CallSummary::line(line)));
    }
    if first >= total {
        let words = format!("Error: Line offset {offset} exceeds file length ({total} lines)");
        return Err(ToolError::worded(words));
    }
    let last = first.saturating_add(usize::try_from(limit).unwrap_or(usize::MAX)).min(total);
    let DeepagentsPage { mut text, shown, seen, is_cut } = DeepagentsPage::of(&file, first..last, is_newer);
    env.ledger().record_read_ranges(&place.at.path, file.bytes(), hash, &seen);
    if is_cut {
        text.push_str(&format!("[Line {shown} was cut: it is longer than {MOST} characters. Search for the part that you need.]\n"));
    } else if shown < last {
        text.push_str("[Output was truncated due to size limits. The file content is very large. Read on with offset and limit.]\n");
    }
    if offset < 0 {
        text.push_str(&format!(
            "[Requested offset {offset} is before the start of the file; read from line 1 instead.]\n"
        ));
    }
    if is_newer && shown < total {
        text.push_str(&window_note(first, shown, total));
    }
    let line = format!("{line} {}-{shown}", first + 1);
    Ok(ToolOutput::lookup(line, text))
}

/// The note of 0.7 under a page that is not the end of the file.
fn window_note(first: usize, shown: usize, total: usize) -> String {
    let lines = |n: usize| if n == 1 { "1 line".to_string() } else { format!("{n} lines") };
    let (read, left) = (lines(shown - first), lines(total - shown));
    format!(
        "\n[Read {read} (lines {}-{shown} of {total} total). {left} remaining from offset {shown}.]",
        first + 1
    )
}

/// A line as this tool set counts lines, the line of the file that contains it, and whether it is the last part of that
/// line.
struct DeepagentsLine {
    text: String,
    of: usize,
    is_last: bool,
}

fn lines_of(file: &TextFile) -> impl Iterator<Item = DeepagentsLine> {
    let ends_with_newline = file.ends_with_newline();
    let length = file.bytes().len();
    file.lines(0).enumerate().flat_map(move |(of, range)| {
        let text = file.line_text(&range);
        let is_ended = range.end < length || ends_with_newline;
        // A CR at the very end ends the last line and starts no new line.
        let text = if is_ended { &*text } else { text.strip_suffix('\r').unwrap_or(&text) };
        let parts: Vec<String> = text.split('\r').map(String::from).collect();
        let count = parts.len();
        let line = move |(at, text)| DeepagentsLine { text, of, is_last: at + 1 == count };
        parts.into_iter().enumerate().map(line)
    })
}

/// Numbered lines up to the size limit.
struct DeepagentsPage {
    text: String,
    /// The line after the last one shown.
    shown: usize,
    /// The lines of the file that were shown whole.
    seen: RangeSet,
    /// The first line is larger than a page, and its rest was left out.
    is_cut: bool,
}

impl DeepagentsPage {
    /// Lines as `cat -n` shows them; in 0.7 as wide as the widest number, followed by two spaces.
    fn of(file: &TextFile, window: Range<usize>, is_newer: bool) -> DeepagentsPage {
        let mut page =
            DeepagentsPage { text: String::new(), shown: window.start, seen: RangeSet::new(), is_cut: false };
        let (mut rows, mut chars, mut is_whole): (Vec<(String, String)>, usize, bool) = (Vec::new(), 0, true);
        for (number, line) in lines_of(file).enumerate().take(window.end) {
            if number < window.start {
                // A line of the file that began before the window is not seen whole.
                is_whole = line.is_last;
                continue;
            }
            let before = rows.len();
            for (piece, row) in pieces(&line.text).enumerate() {
                let label =
                    if piece == 0 { (number + 1).to_string() } else { format!("{}.{piece}", number + 1) };
                chars += row.chars().count() + 8;
                if chars >= MOST && number == window.start {
                    page.is_cut = true;
                    break;
                }
                rows.push((label, row.into()));
            }
            if page.is_cut {
                page.shown = number + 1;
                break;
            }
            if chars >= MOST && number > window.start {
                rows.truncate(before);
                break;
            }
            page.shown = number + 1;
            if line.is_last && is_whole {
                page.seen.insert(line.of..line.of + 1);
            }
            is_whole |= line.is_last;
        }
        let width = rows.iter().map(|(label, _)| label.len()).max().unwrap_or(0);
        for (label, row) in rows {
            match is_newer {
                true => page.text.push_str(&format!("{label:>width$}  {row}\n")),
                false => page.text.push_str(&format!("{label:>6}\t{row}\n")),
            }
        }
        page
    }
}

/// The rows of a line: at least one.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let here = rest.take()?;
        let Some((at, _)) = here.char_indices().nth(ROW) else { return Some(here) };
        let (row, after) = here.split_at_checked(at)?;
        rest = Some(after);
        Some(row)
    })
}

pub(super) fn file_data(surface: &Arc<DeepagentsOptions>) -> Arc<dyn Tool> {
    let description =
        "The stored form of a text file: its lines, when it was created and when it was modified.";
    ForeignTool::new("file_data", description, surface, plan_data)
        .rule("read_file")
        .reading("file_path")
        .whole()
        .errors(NO_FILE)
        .failing(|args, _, surface, error| failure("reading file", &args.file_path, surface, error))
        .build()
}

fn plan_data(args: &DeepagentsFileData, env: &ToolContext, surface: &Arc<DeepagentsOptions>) -> PlanResult {
    let named = surface.named(env, &args.file_path)?;
    let title = format!("file data of {}", named.shown);
    let place = named.clone();
    let look = move |_: &ResolvedPath, consent: OpenConsent<'_>, ctx: &RunContext| {
        let (file, hash) = load_text(&ctx.env, &place.at, consent)?;
        credit_all(&ctx.env, &place.at, &file, hash);
        let content = file.text().replace("\r\n", "\n").replace('\r', "\n");
        let lines: Vec<&str> = content.split('\n').collect();
        let (created_at, modified_at) = times(&ctx.env, &place, consent)?;
        let data =
            json!({"content": lines, "created_at": created_at, "modified_at": modified_at}).to_string();
        if data.chars().count() > MOST {
            return Err(ToolError::worded(format!(
                "Error: File '{}' is too large for file_data, which gives at most {MOST} characters. Use read_file with offset and limit.",
                place.shown
            )));
        }
        Ok(ToolOutput::done(data, CallSummary::line(format!("file data of {}", place.shown))))
    };
    Ok(Box::new(LookupPlan::new(named.at, title, ExpectedKind::File, look)))
}

/// When the file was created and last changed. If the file system stores no birth time, the time of the change replaces
/// it.
fn times(
    env: &ToolContext,
    place: &DeepagentsPath,
    consent: OpenConsent<'_>,
) -> Result<(String, String), ToolError> {
    let opened = env.workspace.open(&place.at, consent).map_err(|e| env.path_error(&e))?;
    let meta = opened.file.metadata().map_err(|e| ToolError::new(e.to_string()))?;
    let modified = meta.modified().unwrap_or(std::time::UNIX_EPOCH);
    let created = meta.created().unwrap_or(modified).min(modified);
    let iso = |time: std::time::SystemTime| {
        jiff::Timestamp::try_from(time).map(|t| t.to_string()).unwrap_or_default()
    };
    Ok((iso(created), iso(modified)))
}
