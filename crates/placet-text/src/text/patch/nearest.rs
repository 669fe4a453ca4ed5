//! The nearest of several places at which a hunk fits.
//!
//! Only for a hunk whose header states its line and counts its lines correctly, and only if `git apply` and GNU `patch`
//! both take the same place. They measure differently: git from the new line number of the header, in the content that
//! the hunks before it have produced; GNU patch from the old line number, plus the offset of the hunk before it. Of two
//! places at the same distance both programs take the lower.

use super::hunk_placement::{HunkPlacement, PrecedingHunks};
use super::target::{LineEquality, PatchTarget};
use super::{PatchHunk, PatchLine, PatchLineKind};
use std::ops::Range;

/// The place, from 0, and the number of places. `None` if the two programs do not take the same place.
pub(super) fn nearest(
    hunk: &PatchHunk,
    lines: &[&[u8]],
    target: &PatchTarget<'_>,
    before: &PrecedingHunks,
) -> Option<(usize, usize)> {
    let numbers = HunkNumbers::of(hunk)?;
    let all = target.find(lines, LineEquality::Exact, usize::MAX);
    let by_gnu = numbers.by_gnu(hunk, &all, target, before)?;
    let by_git = numbers.by_git(hunk, &all, target, before)?;
    same(hunk, by_gnu, by_git, target).then_some((by_gnu, all.len()))
}

/// The first hunk, with all its places, from which on the result equals neither that of `git apply` nor that of GNU
/// patch.
///
/// A hunk with one place below the hunk before it may have others above, and its line may fit by chance: each program
/// may still choose another place. placet follows one of the two programs in all hunks, or refuses.
pub(super) fn unlike_both(
    hunks: &[PatchHunk],
    spots: &[HunkPlacement],
    target: &PatchTarget<'_>,
) -> Option<(usize, Vec<usize>)> {
    let not_gnu = first_unlike(hunks, spots, |numbers, hunk, spot, before| {
        // The usual case, which needs no search: GNU patch tries this line first.
        let below = hunk.context().1 >= hunk.context().0 || spot.at + spot.length == target.lines.len();
        below && spot.at == numbers.stated(before) || {
            let place = numbers.by_gnu(hunk, &places(hunk, target), target, before);
            place.is_some_and(|at| same(hunk, at, spot.at, target))
        }
    })?;
    let not_git = first_unlike(hunks, spots, |numbers, hunk, spot, before| {
        let place = numbers.by_git(hunk, &places(hunk, target), target, before);
        place.is_some_and(|at| same(hunk, at, spot.at, target))
    })?;
    let of = |index: usize| Some((index, places(hunks.get(index)?, target)));
    // A hunk with only one place is not ambiguous: another rule reports why one of the programs refuses it.
    let indices = [not_gnu.max(not_git), not_gnu.min(not_git)];
    indices.into_iter().filter_map(of).find(|(_, places)| places.len() > 1)
}

/// The first exactly compared hunk that is not where a program would put it.
fn first_unlike(
    hunks: &[PatchHunk],
    spots: &[HunkPlacement],
    like: impl Fn(&HunkNumbers, &PatchHunk, &HunkPlacement, &PrecedingHunks) -> bool,
) -> Option<usize> {
    let mut before = PrecedingHunks::default();
    for (index, (hunk, spot)) in hunks.iter().zip(spots).enumerate() {
        if let Some(numbers) = HunkNumbers::of(hunk).filter(|_| spot.is_strict())
            && !like(&numbers, hunk, spot, &before)
        {
            return Some(index);
        }
        before.pass(hunk, spot);
    }
    None
}

fn places(hunk: &PatchHunk, target: &PatchTarget<'_>) -> Vec<usize> {
    let lines: Vec<&[u8]> = hunk.old_lines().map(PatchLine::text).collect();
    target.find(&lines, LineEquality::Exact, usize::MAX)
}

fn same(hunk: &PatchHunk, one: usize, other: usize, target: &PatchTarget<'_>) -> bool {
    one == other || same_without(hunk, one, other, target)
}

/// The stated positions of a hunk, from 0, for a hunk that both programs search.
struct HunkNumbers {
    old: usize,
    new: usize,
}

impl HunkNumbers {
    fn of(hunk: &PatchHunk) -> Option<HunkNumbers> {
        let (start, new_start) = (hunk.old_start?, hunk.new_start?);
        // Both programs require a hunk of line 1 to be at the beginning of the file.
        let counts = hunk.counted && !hunk.envelope && start > 1 && new_start > 0;
        counts.then(|| HunkNumbers { old: start - 1, new: new_start - 1 })
    }

    fn stated(&self, before: &PrecedingHunks) -> usize {
        self.old.saturating_add_signed(before.drift)
    }

    /// GNU patch searches below the last line that the hunk before changes. A hunk with less context below the changes
    /// than above them must be at the end of the file.
    fn by_gnu(
        &self,
        hunk: &PatchHunk,
        all: &[usize],
        target: &PatchTarget<'_>,
        before: &PrecedingHunks,
    ) -> Option<usize> {
        let (stated, (lead, tail)) = (self.stated(before), hunk.context());
        let length = hunk.old_lines().count();
        let allowed =
            |at: &usize| *at >= before.changed.end && (tail >= lead || at + length == target.lines.len());
        least(all.iter().copied().filter(allowed).map(|at| (at.abs_diff(stated), at)))
    }

    /// git searches all lines that no earlier hunk quoted. A hunk without any line below the changes must be at the end
    /// of the file.
    fn by_git(
        &self,
        hunk: &PatchHunk,
        all: &[usize],
        target: &PatchTarget<'_>,
        before: &PrecedingHunks,
    ) -> Option<usize> {
        let (length, (_, tail)) = (hunk.old_lines().count(), hunk.context());
        let free = |at: usize| before.placed.iter().all(|hunk| !overlap(&hunk.old, &(at..at + length)));
        let allowed = |at: &usize| (tail > 0 || at + length == target.lines.len()) && free(*at);
        least(all.iter().copied().filter(allowed).map(|at| (moved(at, before).abs_diff(self.new), at)))
    }
}

/// True if a hunk that only removes lines leaves the same content at both places: it removes one of several equal
/// lines.
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

/// The position of a line of the content after the hunks above it are applied.
fn moved(at: usize, before: &PrecedingHunks) -> usize {
    let above = before.placed.iter().filter(|hunk| hunk.old.start <= at);
    at.saturating_add_signed(above.map(|hunk| hunk.added).sum())
}

/// The place with the least distance; the lower of two equally near places.
fn least(places: impl Iterator<Item = (usize, usize)>) -> Option<usize> {
    places.min_by_key(|(away, at)| (*away, std::cmp::Reverse(*at))).map(|(_, at)| at)
}

#[cfg(test)]
#[path = "nearest_tests.rs"]
mod tests;
