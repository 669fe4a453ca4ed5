//! Merges of two sides, by lines: one that is refused where both changed the same lines, and one in which one side wins
//! there. The caller shows the result of the second as a difference to one side, and a person decides about each place.

use super::hunk::{Hunk, hunks};
use std::ops::Range;

/// `base` with the changes of both others; `None` where they change the same lines, or lines next to each other, differently.
/// Of very long texts without common lines it may be `None` as well.
pub fn merged(base: &[u8], one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    let merge = merged_for_other(base, one, other);
    merge.conflicts.is_empty().then_some(merge.bytes)
}

/// `mine` with all changes of the other side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SidedMerge {
    pub bytes: Vec<u8>,
    /// Where the text of the other side replaces changed lines of `mine`.
    pub conflicts: Vec<ConflictPlace>,
}

/// The lines of a conflict, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictPlace {
    /// The lines before both changes.
    pub base: Range<usize>,
    pub mine: Range<usize>,
}

/// Merges the changes of `mine` and `other`. Where both changed the same lines of `base`, or lines next to each other, the
/// text of `other` is taken.
pub fn merged_for_other(base: &[u8], mine: &[u8], other: &[u8]) -> SidedMerge {
    let (mut my, mut their) = (MergeSide::new(base, mine), MergeSide::new(base, other));
    let mut out = SidedMerge::default();
    let mut copied = 0;
    while let Some(start) = [my.next(), their.next()].into_iter().flatten().map(LinePlace::start).min() {
        let (mine_start, other_start) = (my.place(start), their.place(start));
        let mut end = start;
        let (mut is_mine, mut is_other) = (false, false);
        loop {
            let (took_mine, took_other) = (my.take(&mut end), their.take(&mut end));
            is_mine |= took_mine;
            is_other |= took_other;
            if !took_mine && !took_other {
                break;
            }
        }
        let mine_end = my.place(end);
        let of_mine = mine.get(mine_start.byte..mine_end.byte).unwrap_or_default();
        let of_other = other.get(other_start.byte..their.place(end).byte).unwrap_or_default();
        out.bytes.extend_from_slice(mine.get(copied..mine_start.byte).unwrap_or_default());
        out.bytes.extend_from_slice(if is_other { of_other } else { of_mine });
        copied = mine_end.byte;
        if is_mine && is_other && of_mine != of_other {
            out.conflicts
                .push(ConflictPlace { base: start.line..end.line, mine: mine_start.line..mine_end.line });
        }
    }
    out.bytes.extend_from_slice(mine.get(copied..).unwrap_or_default());
    out
}

/// A place between two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LinePlace {
    byte: usize,
    line: usize,
}

impl LinePlace {
    fn start(hunk: &Hunk) -> LinePlace {
        LinePlace { byte: hunk.old.start, line: hunk.old_lines.start }
    }

    fn end(hunk: &Hunk) -> LinePlace {
        LinePlace { byte: hunk.old.end, line: hunk.old_lines.end }
    }
}

/// The hunks of a side, and how many of them are taken.
struct MergeSide {
    hunks: Vec<Hunk>,
    taken: usize,
}

impl MergeSide {
    fn new(base: &[u8], side: &[u8]) -> MergeSide {
        MergeSide { hunks: hunks(base, side), taken: 0 }
    }

    fn next(&self) -> Option<&Hunk> {
        self.hunks.get(self.taken)
    }

    /// Takes the hunks that begin at `end` or before it, and moves `end` behind them; true if there were any.
    fn take(&mut self, end: &mut LinePlace) -> bool {
        let before = self.taken;
        while let Some(hunk) = self.hunks.get(self.taken).filter(|hunk| LinePlace::start(hunk) <= *end) {
            *end = (*end).max(LinePlace::end(hunk));
            self.taken += 1;
        }
        self.taken > before
    }

    /// Where a place of the base is on this side: one that is not before the last hunk that was taken, and not in the next.
    fn place(&self, base: LinePlace) -> LinePlace {
        match self.taken.checked_sub(1).and_then(|last| self.hunks.get(last)) {
            None => base,
            Some(last) => LinePlace {
                byte: last.new.end + base.byte.saturating_sub(last.old.end),
                line: last.new_lines.end + base.line.saturating_sub(last.old_lines.end),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hunk::change_same_lines;
    use super::*;
    use proptest::prelude::*;

    /// Lines of the base, and of my side.
    type ConflictLines = Vec<(Range<usize>, Range<usize>)>;

    fn merged(base: &str, mine: &str, other: &str) -> (String, ConflictLines) {
        let merge = merged_for_other(base.as_bytes(), mine.as_bytes(), other.as_bytes());
        let places = merge.conflicts.into_iter().map(|place| (place.base, place.mine)).collect();
        (String::from_utf8(merge.bytes).unwrap(), places)
    }

    #[test]
    fn the_other_side_wins_only_where_both_changed() {
        let base = "a\nb\nc\nd\ne\nf\ng\n";
        let found = merged(base, "A1\nb\nc\nmine\ne\nf\nmine too\n", "a\nb\nc\nother\nmore\ne\nf\ng\n");
        assert_eq!(found, ("A1\nb\nc\nother\nmore\ne\nf\nmine too\n".into(), vec![(3..4, 3..4)]));
        // The same change on both sides is no conflict.
        assert_eq!(merged(base, "A\nb\nc\nd\ne\nf\ng\n", "A\nb\nc\nd\ne\nf\nG\n").1, []);
        // Deleted lines, new files, and lines next to each other.
        assert_eq!(merged("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"), ("a\nB\nc\n".into(), vec![(1..2, 1..1)]));
        assert_eq!(merged("", "mine\n", "other\n"), ("other\n".into(), vec![(0..0, 0..1)]));
        assert_eq!(merged("a\nb\n", "A\nb\n", "a\nB\n"), ("a\nB\n".into(), vec![(0..2, 0..2)]));
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = prop::sample::select(vec!["a\n", "b\n", "c\r\n", "\n", "d"]);
        prop::collection::vec(line, 0..10).prop_map(|parts| parts.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn a_side_without_changes_decides_nothing(base in text(), side in text()) {
            let clean = |bytes: &[u8]| SidedMerge { bytes: bytes.to_vec(), conflicts: Vec::new() };
            prop_assert_eq!(merged_for_other(&base, &side, &base), clean(&side));
            prop_assert_eq!(merged_for_other(&base, &base, &side), clean(&side));
            prop_assert_eq!(merged_for_other(&base, &side, &side), clean(&side));
        }

        #[test]
        fn conflicts_are_places_of_my_side(base in text(), mine in text(), other in text()) {
            let lines = mine.split_inclusive(|byte| *byte == b'\n').count();
            for place in merged_for_other(&base, &mine, &other).conflicts {
                prop_assert!(place.mine.start <= place.mine.end && place.mine.end <= lines);
            }
        }
    }

    #[test]
    fn lines_next_to_a_change_are_not_the_same_lines() {
        let base = b"a\nb\nc\n";
        let check = |one: &str, other: &str, is_same: bool| {
            let (one, other) = (one.as_bytes(), other.as_bytes());
            assert!(super::merged(base, one, other).is_none() || !is_same, "{one:?} {other:?}");
            assert_eq!(change_same_lines(base, one, other), is_same, "{one:?} {other:?}");
        };
        check("a\nb\nC\n", "a\nb\nc\nd\n", false);
        check("a\nB\nc\n", "a\nb\nC\n", false);
        check("a\nB\nc\n", "x\na\nb\nc\n", false);
        check("a\nB\nc\n", "a\nx\nc\n", true);
        check("a\nc\n", "a\nx\nc\n", true);
        check("A\nB\nc\n", "a\nx\nb\nc\n", true);
        check("a\nx\nb\nc\n", "a\ny\nb\nc\n", true);
    }

    /// Story: a merge of 700,000 equal lines with one line did not end.
    #[test]
    fn many_equal_lines_are_merged_or_refused_at_once() {
        let base = ["base\n", &"line of text\n".repeat(700_000)].concat();
        let one = base.replacen("base", "ONE", 1);
        assert_eq!(super::merged(base.as_bytes(), one.as_bytes(), b"other\n"), None);
        let other = format!("{base}other\n");
        let both = super::merged(base.as_bytes(), one.as_bytes(), other.as_bytes()).unwrap();
        assert_eq!(both.len(), base.len() + "other\n".len() - 1);
    }
}
