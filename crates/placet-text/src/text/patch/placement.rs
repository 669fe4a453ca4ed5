//! The place of a hunk.
//!
//! A hunk goes to its stated line, plus the offset of the hunk before it, if it fits there; otherwise to the only place
//! where it fits. Of several places, a hunk with a correct header goes to the nearest, if git and GNU patch both take
//! that place. For all other hunks, only the order, `@@` anchors and the end of the file decide between places; if more
//! than one place remains, the hunk is refused with the lines.
//!
//! Two rules exclude a place. A hunk begins below the last line that the hunk before it changes, and below its context
//! as well if it is not at its stated line. A hunk that declares that nothing follows it goes to the end of the file.

use super::hunk_placement::{ContextStyle, HunkPlacement, PrecedingHunks};
use super::line::shown;
use super::nearest::nearest;
use super::nearest_match::NearestMatch;
use super::target::{LineEquality, PatchTarget};
use super::{HunkErrorKind, PatchHunk, PatchLine, PatchLineKind};

/// How many places are counted if there should have been one.
const COUNTED: usize = 1000;

/// The hunk's old lines under one reading.
struct ExpectedLines<'h> {
    lines: Vec<&'h [u8]>,
    skipped: (usize, usize),
    reading: ContextStyle,
}

pub(super) fn place(
    hunk: &PatchHunk,
    target: &PatchTarget<'_>,
    before: &PrecedingHunks,
    fuzz: usize,
) -> Result<HunkPlacement, HunkErrorKind> {
    if hunk.old_lines().next().is_none() {
        return insertion(hunk, target, before);
    }
    let stated = stated(hunk, before);
    let starts = anchor_lines(hunk, target)?;
    let mut barred: Option<HunkErrorKind> = None;
    for fuzz in 0..=fuzz {
        let readings = readings(hunk, fuzz);
        let all = || {
            readings.iter().flat_map(|wanted| [(wanted, LineEquality::Exact), (wanted, LineEquality::Body)])
        };
        let here = |wanted: &ExpectedLines<'_>| stated.map(|at| at + wanted.skipped.0);
        // An exact match comes before a match that differs in line ends, even if the latter is at the stated line.
        for (wanted, alike) in all() {
            if let Some(at) = here(wanted).filter(|at| target.has(*at, &wanted.lines, alike)) {
                match bar(hunk, wanted, at, target, before) {
                    None if starts.first().is_none_or(|start| at >= *start) => {
                        return Ok(wanted.spot(at, alike));
                    }
                    // The header names lines that an earlier hunk has taken: another equal place is not meant.
                    Some(why @ (HunkErrorKind::Overlap(_) | HunkErrorKind::Above { .. }))
                        if hunk.counted && !hunk.envelope =>
                    {
                        return Err(why);
                    }
                    _ => {}
                }
            }
            let places = match candidates(hunk, (wanted, &starts), target, alike, before) {
                Ok(places) => places,
                Err(why) => {
                    barred.get_or_insert(why);
                    continue;
                }
            };
            match places.as_slice() {
                [] => {}
                [at] => return Ok(wanted.spot(*at, alike)),
                _ => return chosen(hunk, wanted, &places, alike, target, before),
            }
        }
    }
    let why = already(hunk, target).or(barred);
    Err(why.unwrap_or_else(|| HunkErrorKind::NoPlace(near(hunk, target, stated))))
}

/// The nearest of several places, for an exactly compared hunk.
fn chosen(
    hunk: &PatchHunk,
    wanted: &ExpectedLines<'_>,
    places: &[usize],
    alike: LineEquality,
    target: &PatchTarget<'_>,
    before: &PrecedingHunks,
) -> Result<HunkPlacement, HunkErrorKind> {
    let strict = alike == LineEquality::Exact
        && wanted.reading == ContextStyle::Marked
        && hunk.old_lines().count() == wanted.lines.len();
    let nearest = if strict { nearest(hunk, &wanted.lines, target, before) } else { None };
    match nearest {
        Some((at, count)) if bar(hunk, wanted, at, target, before).is_none() => {
            Ok(HunkPlacement { nearest_of: Some(count), ..wanted.spot(at, alike) })
        }
        _ => {
            let line = |at: &usize| at + 1 - wanted.skipped.0.min(*at);
            Err(HunkErrorKind::Ambiguous(places.iter().map(line).collect()))
        }
    }
}

/// The file contains the hunk's new lines: the hunk was applied before. A single line may be there by chance.
fn already(hunk: &PatchHunk, target: &PatchTarget<'_>) -> Option<HunkErrorKind> {
    let new: Vec<&[u8]> =
        hunk.lines.iter().filter(|l| l.sign != PatchLineKind::Remove).map(PatchLine::text).collect();
    let adds = hunk.lines.iter().any(|l| l.sign == PatchLineKind::Add);
    if new.len() < 2 || !adds {
        return None;
    }
    target.find(&new, LineEquality::Body, 1).first().map(|at| HunkErrorKind::Already(at + 1))
}

/// The line at which the hunk should be, from 0.
fn stated(hunk: &PatchHunk, before: &PrecedingHunks) -> Option<usize> {
    hunk.old_start.map(|start| start.saturating_sub(1).saturating_add_signed(before.drift))
}

/// The place of a hunk that only adds lines: by its line number alone, or, in the envelope, at the end.
fn insertion(
    hunk: &PatchHunk,
    target: &PatchTarget<'_>,
    before: &PrecedingHunks,
) -> Result<HunkPlacement, HunkErrorKind> {
    let lines = target.lines.len();
    let spot = |at| match at < before.changed.end {
        true => Err(HunkErrorKind::Above { line: at + 1, hunk: before.count }),
        false => Ok(HunkPlacement {
            at,
            length: 0,
            skipped: (0, 0),
            alike: LineEquality::Exact,
            reading: ContextStyle::Marked,
            nearest_of: None,
        }),
    };
    anchor_lines(hunk, target)?;
    match (hunk.old_start, hunk.old_count) {
        _ if lines == 0 && hunk.anchors.is_empty() => spot(0),
        (Some(start), Some(0)) => {
            let at = if start == 0 { 0 } else { start.saturating_add_signed(before.drift) };
            match at > lines {
                // git and GNU patch agree on the end of the file.
                true if hunk.counted && !hunk.envelope => spot(lines),
                true => Err(HunkErrorKind::PastEnd { line: at, lines }),
                false => spot(at),
            }
        }
        _ if hunk.envelope && hunk.anchors.is_empty() => spot(lines),
        _ => Err(HunkErrorKind::NoContext),
    }
}

/// The readings of a hunk: the context without its leading space, and, for writers who omit the space, with it.
fn readings(hunk: &PatchHunk, fuzz: usize) -> Vec<ExpectedLines<'_>> {
    let Some(skipped) = trimmed(hunk, fuzz) else { return Vec::new() };
    let lines = |text: fn(&PatchLine) -> &[u8]| -> Vec<&[u8]> {
        let all: Vec<&[u8]> = hunk.old_lines().map(text).collect();
        all.get(skipped.0..all.len().saturating_sub(skipped.1)).unwrap_or_default().to_vec()
    };
    let mut readings =
        vec![ExpectedLines { lines: lines(PatchLine::text), skipped, reading: ContextStyle::Marked }];
    if hunk.lines.iter().any(|l| l.sign == PatchLineKind::Context && l.signed) {
        readings.push(ExpectedLines {
            lines: lines(PatchLine::unsigned),
            skipped,
            reading: ContextStyle::Bare,
        });
    }
    readings
}

/// How many context lines `fuzz` skips at both ends; `None` if the next lower fuzz skips as many.
fn trimmed(hunk: &PatchHunk, fuzz: usize) -> Option<(usize, usize)> {
    let (lead, tail) = hunk.context();
    let old = hunk.old_lines().count();
    let by = |fuzz: usize| (lead.min(fuzz), tail.min(fuzz));
    let (head, end) = by(fuzz);
    // At least one line to compare must remain.
    (fuzz == 0 || head + end < old && by(fuzz) != by(fuzz - 1)).then_some((head, end))
}

impl ExpectedLines<'_> {
    fn spot(&self, at: usize, alike: LineEquality) -> HunkPlacement {
        HunkPlacement {
            at,
            length: self.lines.len(),
            skipped: self.skipped,
            alike,
            reading: self.reading,
            nearest_of: None,
        }
    }
}

/// Why the hunk must not go to a place that has its lines.
fn bar(
    hunk: &PatchHunk,
    wanted: &ExpectedLines<'_>,
    at: usize,
    target: &PatchTarget<'_>,
    before: &PrecedingHunks,
) -> Option<HunkErrorKind> {
    let end = at + wanted.lines.len();
    let moved = stated(hunk, before).is_some_and(|stated| stated + wanted.skipped.0 != at);
    if at < if moved { before.end } else { before.changed.end } {
        let (lead, tail) = hunk.context();
        let first = at + lead.saturating_sub(wanted.skipped.0);
        let last = end.saturating_sub(tail.saturating_sub(wanted.skipped.1));
        let both = first < before.changed.end && before.changed.start < last;
        let above = HunkErrorKind::Above { line: at + 1, hunk: before.count };
        return Some(if both { HunkErrorKind::Overlap(before.count) } else { above });
    }
    let last = hunk.at_end || says_last(hunk, wanted);
    (last && end + wanted.skipped.1 != target.lines.len()).then(|| HunkErrorKind::NotAtEnd { line: at + 1 })
}

/// True for the hunk of a program that shows lines above its changes but none below: the file has none below. Without
/// any context (`diff -U0`) this proves nothing, and neither does the hunk of a writer who does not count.
fn says_last(hunk: &PatchHunk, wanted: &ExpectedLines<'_>) -> bool {
    let (lead, tail) = hunk.context();
    let counted = hunk.old_start.is_some() && hunk.old_count == Some(hunk.old_lines().count());
    counted && !hunk.envelope && tail == 0 && lead > wanted.skipped.0
}

/// The places that have the lines, reduced by what else is known. An error if there are such places, and all are
/// excluded.
fn candidates(
    hunk: &PatchHunk,
    (wanted, starts): (&ExpectedLines<'_>, &[usize]),
    target: &PatchTarget<'_>,
    alike: LineEquality,
    before: &PrecedingHunks,
) -> Result<Vec<usize>, HunkErrorKind> {
    let found = target.find(&wanted.lines, alike, COUNTED);
    let (mut places, mut barred) = (Vec::new(), None);
    for at in found {
        match bar(hunk, wanted, at, target, before) {
            None => places.push(at),
            // The last of them is the nearest to the hunk's place.
            why => barred = why,
        }
    }
    if let (Some(anchor), Some(first)) = (hunk.anchors.last(), places.first().copied()) {
        let below = below_anchors(starts, &places);
        match below.is_empty() {
            false => places = below,
            true if hunk.envelope => {
                return Err(HunkErrorKind::AboveAnchor { line: first + 1, anchor: shown(anchor) });
            }
            true => {}
        }
    }
    match (places.is_empty(), barred) {
        (true, Some(why)) => Err(why),
        _ => Ok(places),
    }
}

/// The lines of the content that match the anchors, each below the one before it. In the envelope a missing line is an
/// error: without it, nobody knows which of the places is meant.
fn anchor_lines(hunk: &PatchHunk, target: &PatchTarget<'_>) -> Result<Vec<usize>, HunkErrorKind> {
    let is = |line: &[u8], anchor: &[u8]| line.trim_ascii() == anchor.trim_ascii();
    let begins = |line: &[u8], anchor: &[u8]| line.trim_ascii().starts_with(anchor.trim_ascii());
    let (mut starts, mut first) = (Vec::new(), 0);
    for anchor in &hunk.anchors {
        let find = |fits: &dyn Fn(&[u8], &[u8]) -> bool| -> Vec<usize> {
            let lines = target.lines.iter().enumerate().skip(first);
            lines.filter(|(_, line)| fits(line, anchor)).map(|(at, _)| at).collect()
        };
        let whole = find(&is);
        starts = if whole.is_empty() { find(&begins) } else { whole };
        match starts.first() {
            Some(start) => first = start + 1,
            None if hunk.envelope => return Err(HunkErrorKind::NoAnchor(shown(anchor))),
            None => return Ok(Vec::new()),
        }
    }
    Ok(starts)
}

/// The first place below each anchored line. The anchored line may be repeated as the first line of the hunk.
fn below_anchors(starts: &[usize], places: &[usize]) -> Vec<usize> {
    let mut below: Vec<usize> = Vec::new();
    for (index, start) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(usize::MAX);
        below.extend(places.iter().copied().find(|at| *at >= *start && *at < end));
    }
    below
}

fn near(hunk: &PatchHunk, target: &PatchTarget<'_>, stated: Option<usize>) -> Option<NearestMatch> {
    let lines: Vec<&[u8]> = hunk.old_lines().map(PatchLine::text).collect();
    let at = target.most_alike(&lines, stated).or_else(|| target.looking_like(&lines));
    let at = at.or(stated.filter(|at| *at < target.lines.len()))?;
    Some(NearestMatch::of(target, at, &lines))
}
