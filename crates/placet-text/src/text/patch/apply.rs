//! Applies the hunks of one file to its content.
//!
//! Every hunk is placed in the old content first, and the new content is built afterwards: hunks never see each other's
//! results, and a file is changed by all of them or by none. Lines that no hunk names are copied byte for byte; context
//! is never written from the patch.
//! written from the patch.

use super::hunk_placement::{ContextStyle, HunkPlacement, PrecedingHunks};
use super::nearest::unlike_both;
use super::placement::place;
use super::target::{LineEquality, PatchTarget};
use super::{
    FilePatch, FilePatchBody, FilePatchKind, HunkError, HunkErrorKind, PatchApplyError, PatchHunk, PatchLine,
    PatchLineKind,
};
use crate::text::RangeSet;
use std::ops::Range;

/// Tolerated differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Lines of context, at either end of a hunk, that need not match.
    pub fuzz: usize,
}

/// The new content, and how it was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchedContent {
    pub bytes: Vec<u8>,
    /// Offsets, fuzz and adapted line ends, one sentence each.
    pub notes: Vec<String>,
    /// Changed runs of lines, in the order of the file.
    pub edits: Vec<PatchEdit>,
    /// Lines of the old content (from 0) that the patch quotes correctly.
    pub known: RangeSet,
    /// Changed lines of hunks that prove nothing: placed with fuzz, or by their number alone.
    pub unproven: Vec<Range<usize>>,
    /// A hunk was placed by the line number alone.
    pub by_number: bool,
}

/// Lines `old` became lines `new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchEdit {
    pub old: Range<usize>,
    pub new: usize,
}

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Applies a patch to the content of its file: for a rename or copy to the content of its source, for a new file to an
/// empty content.
pub fn apply(file: &FilePatch, old: &[u8], options: Options) -> Result<PatchedContent, PatchApplyError> {
    let hunks = match &file.body {
        FilePatchBody::Binary(binary) => {
            return Ok(PatchedContent { bytes: binary.apply(old)?, ..PatchedContent::default() });
        }
        FilePatchBody::Hunks(hunks) => hunks,
    };
    // Tools that show a file omit its byte order mark; the mark remains at the beginning, whatever the hunks change.
    let marked = old.starts_with(MARK)
        && !hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text().starts_with(MARK));
    let (mark, body) = old.split_at(if marked { MARK.len() } else { 0 });
    let target = PatchTarget::new(body);
    let spots = spots(hunks, &target, options)?;
    let mut applied = built(hunks, &spots, &target)?;
    if file.kind == FilePatchKind::Delete && !hunks.is_empty() && !applied.bytes.is_empty() {
        let left = applied.bytes.split_inclusive(|b| *b == b'\n').count();
        return Err(error(hunks, hunks.len() - 1, HunkErrorKind::NotAll { left }).into());
    }
    applied.bytes.splice(0..0, mark.iter().copied());
    Ok(applied)
}

fn error(hunks: &[PatchHunk], index: usize, why: HunkErrorKind) -> HunkError {
    let header = hunks.get(index).map(|hunk| hunk.header.clone()).unwrap_or_default();
    HunkError { number: index + 1, of: hunks.len(), header, why }
}

fn spots(
    hunks: &[PatchHunk],
    target: &PatchTarget<'_>,
    options: Options,
) -> Result<Vec<HunkPlacement>, HunkError> {
    let mut before = PrecedingHunks::default();
    let mut spots = Vec::with_capacity(hunks.len());
    for (index, hunk) in hunks.iter().enumerate() {
        let spot = place(hunk, target, &before, options.fuzz).map_err(|why| error(hunks, index, why))?;
        before.pass(hunk, &spot);
        spots.push(spot);
    }
    match unlike_both(hunks, &spots, target) {
        None => Ok(spots),
        Some((index, places)) => {
            let lines = places.into_iter().map(|at| at + 1).collect();
            Err(error(hunks, index, HunkErrorKind::Ambiguous(lines)))
        }
    }
}

/// A run of lines to replace.
struct LineReplacement<'h> {
    old: Range<usize>,
    lines: Vec<&'h PatchLine>,
    hunk: usize,
}

/// The runs that a hunk changes, in lines of the content.
fn changes<'h>(hunk: &'h PatchHunk, index: usize, spot: &HunkPlacement) -> Vec<LineReplacement<'h>> {
    let mut changes: Vec<LineReplacement<'h>> = Vec::new();
    // Old lines of the hunk until here; lines that fuzz skipped may be above the first line of the content.
    let mut passed = 0;
    let mut open = false;
    for line in &hunk.lines {
        let at = (spot.at + passed).saturating_sub(spot.skipped.0);
        passed += usize::from(line.sign != PatchLineKind::Add);
        if line.sign == PatchLineKind::Context {
            open = false;
            continue;
        }
        if !open {
            changes.push(LineReplacement { old: at..at, lines: Vec::new(), hunk: index });
            open = true;
        }
        match (changes.last_mut(), line.sign) {
            (Some(change), PatchLineKind::Remove) => change.old.end = at + 1,
            (Some(change), _) => change.lines.push(line),
            (None, _) => {}
        }
    }
    changes
}

fn built(
    hunks: &[PatchHunk],
    spots: &[HunkPlacement],
    target: &PatchTarget<'_>,
) -> Result<PatchedContent, HunkError> {
    let mut all: Vec<LineReplacement<'_>> = Vec::new();
    for (index, (hunk, spot)) in hunks.iter().zip(spots).enumerate() {
        all.extend(changes(hunk, index, spot));
    }
    all.sort_by_key(|change| (change.old.start, change.hunk));
    let mut out = PatchOutput { bytes: Vec::new(), lines: target };
    let mut applied = PatchedContent { notes: notes(hunks, spots, target), ..PatchedContent::default() };
    let (mut at, mut last) = (0, 0);
    for change in &all {
        if change.old.start < at {
            return Err(error(hunks, change.hunk, HunkErrorKind::Overlap(last + 1)));
        }
        out.copy(at..change.old.start);
        let adapt = spots.get(change.hunk).is_some_and(|spot| spot.alike == LineEquality::Body);
        let states = hunks.get(change.hunk).map(states);
        if adapt {
            out.put_adapted(change, states)
        } else {
            change.lines.iter().for_each(|l| out.put(l.text()))
        }
        if spots.get(change.hunk).is_none_or(|spot| spot.length == 0 || spot.skipped != (0, 0)) {
            applied.unproven.push(change.old.clone());
        }
        applied.edits.push(PatchEdit { old: change.old.clone(), new: change.lines.len() });
        (at, last) = (change.old.end, change.hunk);
    }
    out.copy(at..target.lines.len());
    applied.bytes = out.bytes;
    let by_number = |(hunk, spot): (&PatchHunk, &HunkPlacement)| {
        spot.length == 0 && hunk.old_start.is_some() && !hunk.envelope && !target.lines.is_empty()
    };
    applied.by_number = hunks.iter().zip(spots).any(by_number);
    for spot in spots {
        applied.known.insert(spot.at..spot.at + spot.length);
    }
    Ok(applied)
}

/// Whether the last old line, and the last new line, have a line end according to the patch.
fn states(hunk: &PatchHunk) -> (bool, bool) {
    let ended = |without: PatchLineKind| {
        let last = hunk.lines.iter().rev().find(|line| line.sign != without);
        last.is_none_or(|line| line.text().ends_with(b"\n"))
    };
    (ended(PatchLineKind::Add), ended(PatchLineKind::Remove))
}

/// The new content during its construction.
struct PatchOutput<'t, 'b> {
    bytes: Vec<u8>,
    lines: &'t PatchTarget<'b>,
}

impl PatchOutput<'_, '_> {
    fn line(&self, at: usize) -> Option<&[u8]> {
        self.lines.lines.get(at).copied()
    }

    /// The line end at a line: its own, or that of a neighbour.
    fn end_at(&self, at: usize) -> &'static [u8] {
        let near = [Some(at), at.checked_sub(1), Some(at + 1), Some(0)];
        let ended = near.into_iter().flatten().filter_map(|n| self.line(n)).find(|l| l.ends_with(b"\n"));
        if ended.is_some_and(|line| line.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" }
    }

    fn copy(&mut self, range: Range<usize>) {
        for at in range {
            if let Some(line) = self.lines.lines.get(at).copied() {
                self.put(line);
            }
        }
    }

    /// Only the last line may lack a line end.
    fn put(&mut self, line: &[u8]) {
        if !self.bytes.is_empty() && !self.bytes.ends_with(b"\n") {
            let end = self.end_at(self.lines.lines.len().saturating_sub(1));
            self.bytes.extend_from_slice(end);
        }
        self.bytes.extend_from_slice(line);
    }

    /// Lines of a patch with other line ends than the file's: each takes the line end of the line that it replaces.
    fn put_adapted(&mut self, change: &LineReplacement<'_>, states: Option<(bool, bool)>) {
        let count = self.lines.lines.len();
        let unended = count > 0 && self.line(count - 1).is_some_and(|line| !line.ends_with(b"\n"));
        let at_end = change.old.end == count;
        for (index, line) in change.lines.iter().enumerate() {
            let twin = (change.old.start + index)
                .min(change.old.end.saturating_sub(1))
                .max(change.old.start.saturating_sub(1));
            let last = at_end && index + 1 == change.lines.len();
            // The patch decides about the last line's end only if it changes that end.
            let ended = match states {
                Some((old, new)) if old != new => new,
                _ => !unended,
            };
            let body = LineEquality::Body.key(line.text());
            let mut whole = body.to_vec();
            if !last || ended {
                whole.extend_from_slice(self.end_at(twin));
            }
            self.put(&whole);
        }
    }
}

fn notes(hunks: &[PatchHunk], spots: &[HunkPlacement], target: &PatchTarget<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (index, (hunk, spot)) in hunks.iter().zip(spots).enumerate() {
        let name = format!("hunk {} of {}", index + 1, hunks.len());
        if let Some(away) = spot.offset(hunk).filter(|away| *away != 0) {
            let s = if away.abs() == 1 { "" } else { "s" };
            let nearest =
                spot.nearest_of.map_or_else(String::new, |n| format!(", the nearest of {n} places"));
            notes.push(format!("{name} applied at line {} (offset {away:+} line{s}){nearest}", spot.at + 1));
        }
        if spot.skipped != (0, 0) {
            let (head, tail) = spot.skipped;
            notes.push(format!(
                "{name} applied with fuzz: {head} context lines above and {tail} below were not compared"
            ));
        }
        if spot.reading == ContextStyle::Bare {
            notes.push(format!("{name}: its context lines lack the leading blank; read without it"));
        }
        if spot.length == 0 && hunk.old_start.is_some_and(|start| start > 0) {
            let past = spot.at == target.lines.len() && hunk.old_start > Some(spot.at);
            let by = if past {
                "at the end of the file, because its line is past it"
            } else {
                "by its line number only"
            };
            notes.push(format!("{name} has no context: placed {by}, after line {}", spot.at));
        }
    }
    let adapted = hunks.iter().zip(spots).filter(|(_, spot)| spot.alike == LineEquality::Body);
    let crlf = |line: &[u8]| line.ends_with(b"\r\n");
    let (mut ends, mut last) = (None, false);
    for (hunk, spot) in adapted {
        for (there, line) in
            target.lines.iter().skip(spot.at).zip(hunk.old_lines().skip(spot.skipped.0)).take(spot.length)
        {
            match (there.ends_with(b"\n"), line.text().ends_with(b"\n")) {
                (true, true) if crlf(there) != crlf(line.text()) => ends = Some(crlf(there)),
                (a, b) if a != b => last = true,
                _ => {}
            }
        }
    }
    if let Some(crlf) = ends {
        let (file, patch) = if crlf { ("CRLF", "LF") } else { ("LF", "CRLF") };
        notes.push(format!("line ends: the patch has {patch}, the file has {file}; used those of the file"));
    }
    if last {
        notes.push(
            "the patch is wrong about the line end of the file's last line; used that of the file".into(),
        );
    }
    notes
}
