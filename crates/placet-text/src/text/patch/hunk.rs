//! One hunk of a unified diff.
//!
//! The counts of its header decide where it ends, as long as they are right: only the counts distinguish a removed line
//! `-- x` from a file header. If they are wrong or missing, the hunk continues to the next mark that can begin
//! something else.

use super::cursor::PatchCursor;
use super::line::{bare, shown};
use super::{PatchError, PatchHunk, PatchLine, PatchLineKind};

/// How many lines after a hunk are searched for more of it.
const LOOK_AHEAD: usize = 1000;

/// The content of a `@@` line.
#[derive(Debug, Default)]
struct HunkHeader {
    old: Option<(usize, usize)>,
    new: Option<(usize, usize)>,
    anchor: Option<Vec<u8>>,
}

/// Reads the hunk that begins with the `@@` line at the cursor. `None` with a note for a hunk that changes nothing.
pub(super) fn read(
    cursor: &mut PatchCursor<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<PatchHunk>, PatchError> {
    let line = cursor.number();
    let head = cursor.head(0).unwrap_or_default();
    if head.starts_with(b"@@@") {
        return Err(PatchError::Combined { line });
    }
    let header = HunkHeader::parse(head);
    let mut hunk = PatchHunk {
        header: shown(head),
        old_start: header.old.map(|(start, _)| start),
        old_count: header.old.map(|(_, count)| count),
        new_start: header.new.map(|(start, _)| start),
        anchors: header.anchor.clone().into_iter().collect(),
        ..PatchHunk::default()
    };
    cursor.at += 1;
    match header.counts().and_then(|counts| by_counts(cursor, counts)) {
        Some(lines) => (hunk.lines, hunk.counted) = (lines, true),
        None => {
            hunk.lines = by_marks(cursor);
            if let (Some((old, new)), false) = (header.counts(), hunk.lines.is_empty()) {
                let add = hunk.count(PatchLineKind::Add);
                let (is_old, is_new) =
                    (hunk.lines.len() - add, hunk.lines.len() - hunk.count(PatchLineKind::Remove));
                if (is_old, is_new) != (old, new) {
                    notes.push(format!(
                        "line {line}: the hunk's header has -{old} +{new} lines, its body -{is_old} +{is_new}; placet uses the body"
                    ));
                }
            }
        }
    }
    if hunk.lines.is_empty() {
        return Err(PatchError::EmptyHunk { line });
    }
    if hunk.lines.iter().all(|l| l.sign == PatchLineKind::Context) {
        notes.push(format!("line {line}: the hunk changes nothing; skipped"));
        return Ok(None);
    }
    Ok(Some(hunk))
}

impl HunkHeader {
    fn parse(line: &[u8]) -> HunkHeader {
        let rest = line.strip_prefix(b"@@").unwrap_or(line);
        let text = String::from_utf8_lossy(rest);
        let mut words = text.split_ascii_whitespace().peekable();
        let side = |word: Option<&&str>, sign: char| word.and_then(|w| range(w.strip_prefix(sign)?));
        let old = side(words.peek(), '-');
        if old.is_some() {
            words.next();
        }
        let new = side(words.peek(), '+');
        if old.is_some() {
            return HunkHeader { old, new, anchor: None };
        }
        // Without numbers the rest is an anchor line to search, unless it is only a placeholder.
        let anchor = bare(rest);
        let anchor = anchor.strip_suffix(b"@@").unwrap_or(anchor).trim_ascii();
        let placeholder = anchor.iter().all(|b| matches!(b, b'.' | b'-' | b'+' | b',' | b' ' | b'@' | b'?'));
        HunkHeader { old: None, new: None, anchor: (!placeholder).then(|| anchor.to_vec()) }
    }

    fn counts(&self) -> Option<(usize, usize)> {
        Some((self.old?.1, self.new?.1))
    }
}

/// `12,3`, or `12`, which means one line.
fn range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    let number = |text: &str| text.parse().ok().filter(|n: &usize| *n < 1 << 48);
    Some((number(start)?, number(count)?))
}

/// The old and new numbers of a header, for the envelope, where they are only a hint.
pub(super) fn header_start(line: &[u8]) -> Option<(usize, usize)> {
    HunkHeader::parse(line).old
}

pub(super) fn anchor(line: &[u8]) -> Option<Vec<u8>> {
    HunkHeader::parse(line).anchor
}

/// Reads as many lines as the counts declare, if the lines agree and no line that looks like a part of the hunk
/// follows.
fn by_counts(cursor: &mut PatchCursor<'_>, (mut old, mut new): (usize, usize)) -> Option<Vec<PatchLine>> {
    let start = cursor.at;
    let mut read = |cursor: &mut PatchCursor<'_>| {
        let mut lines: Vec<PatchLine> = Vec::new();
        while old > 0 || new > 0 || cursor.starts(0, b"\\") {
            let raw = cursor.raw(0)?;
            if raw.starts_with(b"\\") {
                unend(lines.last_mut()?);
            } else {
                let line = line(raw)
                    .filter(|l| l.signed || bare(raw).is_empty() || l.sign != PatchLineKind::Context)?;
                let (o, n) = (line.sign != PatchLineKind::Add, line.sign != PatchLineKind::Remove);
                old = old.checked_sub(usize::from(o))?;
                new = new.checked_sub(usize::from(n))?;
                lines.push(line);
            }
            cursor.at += 1;
        }
        ends(cursor).then_some(lines)
    };
    let lines = read(cursor);
    if lines.is_none() {
        cursor.at = start;
    }
    lines
}

/// True if no line of this hunk can follow at the cursor.
fn ends(cursor: &PatchCursor<'_>) -> bool {
    let mut ahead = 0;
    while cursor.head(ahead).is_some_and(|line| line.is_empty()) {
        ahead += 1;
    }
    let Some(line) = cursor.raw(ahead) else { return true };
    let signed = match line.first() {
        Some(b'+' | b'-' | b' ') => ahead == 0,
        _ => false,
    };
    if mark(cursor, ahead) || signature(cursor, ahead) {
        return true;
    }
    !signed && !goes_on(cursor, ahead)
}

/// True if changed lines come before the next mark: then a line without a sign is context, and the counts are wrong. A
/// list in prose (`- word`) is not a changed line.
fn goes_on(cursor: &PatchCursor<'_>, from: usize) -> bool {
    let changed = |line: &[u8]| match line {
        [b'-' | b'+', b' ', next, ..] => next.is_ascii_whitespace(),
        [b'-', b'-', ..] | [b'-' | b'+'] => false,
        [b'-' | b'+', ..] => true,
        _ => false,
    };
    let lines = (from..from + LOOK_AHEAD).take_while(|n| !mark(cursor, *n) && !signature(cursor, *n));
    lines.map_while(|n| cursor.head(n)).any(changed)
}

/// A line that begins something else, at any place.
fn mark(cursor: &PatchCursor<'_>, ahead: usize) -> bool {
    let line = cursor.raw(ahead).unwrap_or_default();
    let any = |marks: &[&[u8]]| marks.iter().any(|mark| line.starts_with(mark));
    any(&[b"@@", b"diff --git ", b"diff -", b"Index: ", b"GIT binary patch", b"*** ", b"Only in "])
        || line.starts_with(b"--- ") && cursor.starts(ahead + 1, b"+++ ")
}

/// The signature of a mailed patch: `-- `, the version of git, and nothing more.
fn signature(cursor: &PatchCursor<'_>, ahead: usize) -> bool {
    matches!(cursor.head(ahead), Some(b"-- " | b"--"))
        && (cursor.left() <= ahead + 3
            || cursor.starts(ahead + 3, b"From ")
            || cursor.starts(ahead + 2, b"From "))
}

/// The lines up to the next mark. Blank lines and lines without a sign at the end count as text around the patch:
/// omitted context never changes what a hunk does.
fn by_marks(cursor: &mut PatchCursor<'_>) -> Vec<PatchLine> {
    let mut lines: Vec<PatchLine> = Vec::new();
    let mut sure = 0;
    while let Some(raw) = cursor.raw(0) {
        if mark(cursor, 0) || signature(cursor, 0) {
            break;
        }
        if raw.starts_with(b"\\") {
            if let Some(last) = lines.last_mut() {
                unend(last);
            }
        } else if let Some(line) = line(raw) {
            let doubtful = line.sign == PatchLineKind::Context && !line.signed;
            lines.push(line);
            if !doubtful {
                sure = lines.len();
            }
        }
        cursor.at += 1;
    }
    lines.truncate(sure);
    lines
}

/// A line by its sign; a line without any sign is context that lost its space.
pub(super) fn line(raw: &[u8]) -> Option<PatchLine> {
    let (sign, signed) = match raw.first()? {
        b'+' => (PatchLineKind::Add, true),
        b'-' => (PatchLineKind::Remove, true),
        b' ' => (PatchLineKind::Context, true),
        _ => (PatchLineKind::Context, false),
    };
    let mut raw = raw.to_vec();
    // Only the last line of the input lacks it: `\ No newline` declares that a line has no end.
    if !raw.ends_with(b"\n") {
        raw.push(b'\n');
    }
    Some(PatchLine { sign, raw, signed })
}

fn unend(line: &mut PatchLine) {
    if line.raw.ends_with(b"\n") {
        line.raw.pop();
    }
}
