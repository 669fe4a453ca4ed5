//! The place that a hunk was given, and what the hunks before it tell about the next one.

use super::file_patch::{PatchHunk, PatchLineKind};
use super::target::LineEquality;
use std::ops::Range;

/// How the context of a hunk is read: some writers leave out the blank in front of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContextStyle {
    Marked,
    Bare,
}

/// A place found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkPlacement {
    /// The first line of the content that the hunk speaks of, from 0, and how many.
    pub(super) at: usize,
    pub(super) length: usize,
    /// Lines of the hunk at its beginning and end that were left out of the comparison.
    pub(super) skipped: (usize, usize),
    pub(super) alike: LineEquality,
    pub(super) reading: ContextStyle,
    /// How many places there were, where the nearest of them was taken.
    pub(super) nearest_of: Option<usize>,
}

/// What the hunks before this one tell.
#[derive(Clone, Debug, Default)]
pub(super) struct PrecedingHunks {
    /// How far the last one stood from its stated line.
    pub(super) drift: isize,
    /// From the first to the last line that it changes.
    pub(super) changed: Range<usize>,
    /// The end of its context.
    pub(super) end: usize,
    /// The number of the one that `changed` and `end` speak of.
    pub(super) count: usize,
    /// How many there are.
    number: usize,
    /// All of them.
    pub(super) placed: Vec<Placed>,
}

impl PrecedingHunks {
    /// One more hunk has its place.
    pub(super) fn pass(&mut self, hunk: &PatchHunk, spot: &HunkPlacement) {
        self.number += 1;
        if let Some(offset) = spot.offset(hunk) {
            self.drift = offset;
        }
        let (lead, tail) = hunk.context();
        let first = spot.at + lead.saturating_sub(spot.skipped.0);
        let last = (spot.at + spot.length).saturating_sub(tail.saturating_sub(spot.skipped.1));
        // Lines that only go to the end of the file say nothing about what comes after them in the patch.
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
    /// How far from its stated line a hunk stands.
    pub(super) fn offset(&self, hunk: &PatchHunk) -> Option<isize> {
        let start = hunk.old_start?;
        let insertion = hunk.old_lines().next().is_none();
        if insertion && start == 0 {
            return None;
        }
        let stated = if insertion { start } else { start.saturating_sub(1) + self.skipped.0 };
        Some(isize::try_from(self.at).ok()?.saturating_sub_unsigned(stated))
    }

    /// True where all its lines are in the file byte for byte.
    pub(super) fn is_strict(&self) -> bool {
        self.length > 0
            && self.alike == LineEquality::Exact
            && self.reading == ContextStyle::Marked
            && self.skipped == (0, 0)
    }
}

/// A hunk that has its place: the lines of the content that it names, context included, and how many lines it adds.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) old: Range<usize>,
    pub(super) added: isize,
}
