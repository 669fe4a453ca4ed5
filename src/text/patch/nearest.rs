//! The nearest of several places at which a hunk fits.
//!
//! Only for a hunk whose header says where it was and counts its lines rightly, and only where `git apply` and GNU
//! `patch` both take the same place. They measure differently: git from the new line number of the header, in the
//! content that the hunks before it have made; GNU patch from the old line number, moved by as much as the hunk before
//! it was moved. Of two places at the same distance both programs take the lower.

use super::placement::PrecedingHunks;
use super::target::{LineEquality, PatchTarget};
use super::{PatchHunk, PatchLineKind};
use std::ops::Range;

/// A hunk that has its place: the lines of the content that it names, context included, and how many lines it adds.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) old: Range<usize>,
    pub(super) added: isize,
}

/// The place, from 0, and how many there are. `None` where the two programs do not take the same one.
pub(super) fn nearest(
    hunk: &PatchHunk,
    lines: &[&[u8]],
    target: &PatchTarget<'_>,
    before: &PrecedingHunks,
) -> Option<(usize, usize)> {
    let (start, new_start) = (hunk.old_start?, hunk.new_start?);
    // Both programs hold a hunk that begins at line 1 to the beginning of the file.
    if !hunk.counted || hunk.envelope || start <= 1 || new_start == 0 {
        return None;
    }
    let all = target.find(lines, LineEquality::Exact, usize::MAX);
    let stated = (start - 1).saturating_add_signed(before.drift);
    let gnu = all.iter().filter(|at| **at >= before.end).map(|at| (at.abs_diff(stated), *at));
    let (_, tail) = hunk.context();
    let whole = |at: usize| at..at + lines.len();
    let free = |at: usize| before.placed.iter().all(|hunk| !overlap(&hunk.old, &whole(at)));
    // Without any line below its changes, git looks at the end of the file only.
    let allowed = |at: usize| tail > 0 || at + lines.len() == target.lines.len();
    let git = all.iter().copied().filter(|at| allowed(*at) && free(*at));
    let git = git.map(|at| (moved(at, before).abs_diff(new_start - 1), at));
    let (by_gnu, by_git) = (least(gnu)?, least(git)?);
    (by_gnu == by_git || same_without(hunk, by_gnu, by_git, target)).then_some((by_gnu, all.len()))
}

/// True when a hunk that only removes lines leaves the same content at both places: one of several equal lines goes.
fn same_without(hunk: &PatchHunk, one: usize, other: usize, target: &PatchTarget<'_>) -> bool {
    let removed = hunk.lines.len();
    if hunk.lines.iter().any(|line| line.sign != PatchLineKind::Remove) {
        return false;
    }
    let (first, last) = (one.min(other), one.max(other));
    target.lines.get(first..last) == target.lines.get(first + removed..last + removed)
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Where a line of the content is once the hunks above it are applied.
fn moved(at: usize, before: &PrecedingHunks) -> usize {
    let above = before.placed.iter().filter(|hunk| hunk.old.start <= at);
    at.saturating_add_signed(above.map(|hunk| hunk.added).sum())
}

/// The place with the least distance; the lower one of two.
fn least(places: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
    places.min_by_key(|(away, at)| (*away, std::cmp::Reverse(*at))).map(|(_, at)| at)
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
