//! The place of a hunk, and what the hunks before it show about its place.

use super::file_patch::{PatchHunk, PatchLineKind};
use super::target::LineEquality;
use std::ops::Range;

/// How the context of a hunk is read: some writers omit the space before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextStyle {
    Marked,
    Bare,
}

/// A place found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkPlacement {
    /// The first line of the content that the hunk covers, from 0, and the number of lines.
    pub(super) at: usize,
    pub(super) length: usize,
    /// Lines at the beginning and end of the hunk that were not compared.
    pub(super) skipped: (usize, usize),
    pub(super) alike: LineEquality,
    pub(super) reading: ContextStyle,
    /// How many places there were, if the nearest of them was taken.
    pub(super) nearest_of: Option<usize>,
}

/// What the hunks before this hunk show.
#[derive(Clone, Debug, Default)]
pub(super) struct PrecedingHunks {
    /// The distance of the last hunk from its stated line.
    pub(super) drift: isize,
    /// The lines that the last hunk changes, from the first to the last.
    pub(super) changed: Range<usize>,
    /// The end of its context.
    pub(super) end: usize,
    /// The number of the hunk that `changed` and `end` describe.
    pub(super) count: usize,
    /// The number of hunks.
    number: usize,
    /// All placed hunks.
    pub(super) placed: Vec<Placed>,
}

impl PrecedingHunks {
    /// Records the place of one more hunk.
    pub(super) fn pass(&mut self, hunk: &PatchHunk, spot: &HunkPlacement) {
        self.number += 1;
        if let Some(offset) = spot.offset(hunk) {
            self.drift = offset;
        }
        let (lead, tail) = hunk.context();
        let first = spot.at + lead.saturating_sub(spot.skipped.0);
        let last = (spot.at + spot.length).saturating_sub(tail.saturating_sub(spot.skipped.1));
        // A hunk at the end of the file without old lines says nothing about the place of later hunks.
        if spot.length > 0 || hunk.old_start.is_some() {
            (self.changed, self.count) = (first..last.max(first), self.number);
            self.end = spot.at + spot.length + spot.skipped.1;
        }
        let (added, removed) = (hunk.count(PatchLineKind::Add), hunk.count(PatchLineKind::Remove));
        self.placed.push(Placed {
            old: spot.at..spot.at + spot.length,
            added: added.cast_signed().saturating_sub_unsigned(removed),
        });
    }
}

impl HunkPlacement {
    /// How far a hunk is from its stated line.
    pub(super) fn offset(&self, hunk: &PatchHunk) -> Option<isize> {
        let start = hunk.old_start?;
        let insertion = hunk.old_lines().next().is_none();
        if insertion && start == 0 {
            return None;
        }
        let stated = if insertion { start } else { start.saturating_sub(1) + self.skipped.0 };
        Some(isize::try_from(self.at).ok()?.saturating_sub_unsigned(stated))
    }

    /// True if all its lines are in the file byte for byte.
    pub(super) fn is_strict(&self) -> bool {
        self.length > 0
            && self.alike == LineEquality::Exact
            && self.reading == ContextStyle::Marked
            && self.skipped == (0, 0)
    }
}

/// A placed hunk: the lines of the content that it names, context included, and how many lines it adds.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) old: Range<usize>,
    pub(super) added: isize,
}
