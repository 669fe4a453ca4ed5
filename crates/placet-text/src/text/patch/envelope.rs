//! The envelope: `*** Begin Patch`, sections by file, `*** End Patch`.
//!
//! Its hunks have no line numbers. `@@ text` names a line above, and a hunk without such a line is found by its own
//! lines alone.

use super::cursor::PatchCursor;
use super::file_name::whole;
use super::line::{bare, shown};
use super::{FilePatch, FilePatchBody, FilePatchKind, PatchError, PatchHunk, PatchLineKind, PatchSet, hunk};

/// The text after the three stars of a mark.
const BEGIN: &[u8] = b"Begin Patch";
const END: &[u8] = b"End Patch";
const ADD: &[u8] = b"Add File:";
const DELETE: &[u8] = b"Delete File:";
const UPDATE: &[u8] = b"Update File:";
const MOVE: &[u8] = b"Move to:";
const LAST: &[u8] = b"End of File";
/// Names the machine of a patch, for callers with several.
const ENVIRONMENT: &[u8] = b"Environment ID:";

/// True if the first patch mark in the text is the envelope's.
pub(super) fn begins(cursor: &PatchCursor<'_>) -> bool {
    first(cursor).is_some()
}

fn first(cursor: &PatchCursor<'_>) -> Option<usize> {
    for ahead in 0..cursor.left() {
        let line = cursor.head(ahead)?;
        let file = |mark: &&[u8]| line.starts_with(b"***") && padded(line, mark).is_some();
        if padded(line, BEGIN) == Some(b"") || [ADD, DELETE, UPDATE].iter().any(file) {
            return Some(ahead);
        }
        let other = line.starts_with(b"diff --git ") || line.starts_with(b"@@");
        if other || line.starts_with(b"--- ") && cursor.starts(ahead + 1, b"+++ ") {
            return None;
        }
    }
    None
}

pub(super) fn read(cursor: &mut PatchCursor<'_>) -> Result<PatchSet, PatchError> {
    let mut patch = PatchSet::default();
    cursor.at += first(cursor).unwrap_or(0);
    if is(cursor, BEGIN) {
        cursor.at += 1;
    }
    loop {
        let (line, Some(head)) = (cursor.number(), cursor.head(0)) else { return Err(PatchError::Cut) };
        let after = |mark: &[u8]| padded(head, mark);
        if ends(cursor) {
            break;
        }
        cursor.at += 1;
        if let Some(path) = after(ADD) {
            patch.files.push(added(whole(path, line)?, cursor));
        } else if let Some(path) = after(DELETE) {
            let old = Some(whole(path, line)?);
            patch.files.push(FilePatch { old, ..empty(FilePatchKind::Delete) });
        } else if let Some(path) = after(UPDATE) {
            patch.files.push(updated(whole(path, line)?, cursor, line)?);
        } else if !head.trim_ascii().is_empty() && (after(ENVIRONMENT).is_none() || !patch.files.is_empty()) {
            let expected =
                "expected `*** Add File: `, `*** Update File: `, `*** Delete File: ` or `*** End Patch`";
            return Err(PatchError::Unexpected { line, text: shown(head), expected });
        }
    }
    cursor.at += 1;
    if let Some(ahead) = (0..cursor.left()).find(|n| marks(cursor, *n, BEGIN)) {
        cursor.at += ahead;
        return Err(PatchError::SecondEnvelope { line: cursor.number() });
    }
    let rest =
        (0..cursor.left()).filter(|n| cursor.head(*n).is_some_and(|l| !l.trim_ascii().is_empty())).count();
    if rest > 0 {
        let s = if rest == 1 { "" } else { "s" };
        patch.notes.push(format!("skipped {rest} line{s} after `*** End Patch`"));
    }
    if patch.files.is_empty() {
        return Err(PatchError::NotAPatch);
    }
    Ok(patch)
}

fn empty(kind: FilePatchKind) -> FilePatch {
    FilePatch {
        old: None,
        new: None,
        kind,
        old_mode: None,
        new_mode: None,
        body: FilePatchBody::Hunks(Vec::new()),
    }
}

/// The text after a mark. Models put spaces before their marks, as they indent code.
fn padded<'a>(head: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let rest = head.trim_ascii_start().strip_prefix(b"***")?;
    rest.trim_ascii_start().strip_prefix(mark).map(<[u8]>::trim_ascii)
}

/// True at the end of the envelope. An end mark with a leading space is a line of context if another end mark follows:
/// otherwise a part of the patch would be lost.
fn ends(cursor: &PatchCursor<'_>) -> bool {
    let mark = |ahead: usize| cursor.starts(ahead, b"***") && marks(cursor, ahead, END);
    mark(0) || is(cursor, END) && !(1..cursor.left()).any(mark)
}

fn is(cursor: &PatchCursor<'_>, mark: &[u8]) -> bool {
    marks(cursor, 0, mark)
}

/// True if the line `ahead` of the next line is only this mark.
fn marks(cursor: &PatchCursor<'_>, ahead: usize, mark: &[u8]) -> bool {
    cursor.head(ahead).and_then(|line| padded(line, mark)) == Some(b"")
}

fn added(path: String, cursor: &mut PatchCursor<'_>) -> FilePatch {
    let mut hunk = PatchHunk { header: "the new file".into(), envelope: true, ..PatchHunk::default() };
    while cursor.starts(0, b"+") {
        hunk.lines.extend(cursor.raw(0).and_then(hunk::line));
        cursor.at += 1;
    }
    let body = FilePatchBody::Hunks(if hunk.lines.is_empty() { Vec::new() } else { vec![hunk] });
    FilePatch { new: Some(path), body, ..empty(FilePatchKind::Create) }
}

fn updated(path: String, cursor: &mut PatchCursor<'_>, line: usize) -> Result<FilePatch, PatchError> {
    let mut file =
        FilePatch { old: Some(path.clone()), new: Some(path.clone()), ..empty(FilePatchKind::Edit) };
    if let Some(to) = cursor.head(0).and_then(|head| padded(head, MOVE)) {
        file.new = Some(whole(to, cursor.number())?);
        file.kind = FilePatchKind::Rename;
        cursor.at += 1;
    }
    let mut hunks = Vec::new();
    while !cursor.done() && !ends_section(cursor) {
        hunks.extend(one(cursor)?);
    }
    if hunks.is_empty() && file.kind == FilePatchKind::Edit {
        return Err(PatchError::NoHunks { line, path });
    }
    file.body = FilePatchBody::Hunks(hunks);
    Ok(file)
}

fn ends_section(cursor: &PatchCursor<'_>) -> bool {
    let head = cursor.head(0).unwrap_or_default();
    [ADD, DELETE, UPDATE].iter().any(|mark| padded(head, mark).is_some()) || ends(cursor)
}

/// One hunk with the `@@` lines above it. `None` for blank lines between hunks.
fn one(cursor: &mut PatchCursor<'_>) -> Result<Option<PatchHunk>, PatchError> {
    let line = cursor.number();
    let mut hunk = PatchHunk { envelope: true, ..PatchHunk::default() };
    while cursor.starts(0, b"@@") {
        let head = cursor.head(0).unwrap_or_default();
        hunk.header = shown(head);
        if let Some((start, count)) = hunk::header_start(head) {
            (hunk.old_start, hunk.old_count) = (Some(start), Some(count));
        }
        hunk.anchors.extend(hunk::anchor(head));
        cursor.at += 1;
    }
    let headed = !hunk.header.is_empty();
    if !headed {
        hunk.header = format!("line {line} of the patch");
    }
    let mut sure = 0;
    while let Some(raw) = cursor.raw(0) {
        let head = bare(raw);
        if head.starts_with(b"@@") || ends_section(cursor) {
            break;
        }
        cursor.at += 1;
        if padded(head, LAST) == Some(b"") {
            hunk.at_end = true;
            sure = hunk.lines.len();
            break;
        }
        hunk.lines.extend(hunk::line(raw));
        if hunk.lines.last().is_some_and(|l| l.signed || l.sign != PatchLineKind::Context) {
            sure = hunk.lines.len();
        }
    }
    hunk.lines.truncate(sure);
    match (hunk.lines.is_empty(), headed) {
        (true, false) => Ok(None),
        (true, true) => Err(PatchError::EmptyHunk { line }),
        _ if hunk.lines.iter().all(|l| l.sign == PatchLineKind::Context) => Ok(None),
        _ => Ok(Some(hunk)),
    }
}
