//! The differences of two contents: runs of lines, by their positions in both.

use super::sequence_diff::line_diff;
use similar::DiffTag;
use std::ops::Range;

/// A run of lines that another run replaces, in bytes of both contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub old: Range<usize>,
    pub new: Range<usize>,
    /// The same in lines, from 0.
    pub old_lines: Range<usize>,
    pub new_lines: Range<usize>,
}

/// The hunks that turn `before` into `after`: each a run of lines, ends included, nothing between them changed.
pub fn hunks(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    let old: Vec<&[u8]> = before.split_inclusive(|b| *b == b'\n').collect();
    let new: Vec<&[u8]> = after.split_inclusive(|b| *b == b'\n').collect();
    let starts = |lines: &[&[u8]]| -> Vec<usize> {
        let mut at = 0;
        let mut starts = vec![0];
        starts.extend(lines.iter().map(|line| {
            at += line.len();
            at
        }));
        starts
    };
    let (old_at, new_at) = (starts(&old), starts(&new));
    let bytes = |starts: &[usize], lines: &Range<usize>| {
        let at = |line: usize| starts.get(line).or(starts.last()).copied().unwrap_or(0);
        at(lines.start)..at(lines.end)
    };
    let ops = line_diff(&old, &new);
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in ops.into_iter().filter(|op| op.tag() != DiffTag::Equal) {
        let (old_lines, new_lines) = (op.old_range(), op.new_range());
        match hunks.last_mut() {
            // Neighbours without an unchanged line between them become one hunk.
            Some(last) if last.old_lines.end == old_lines.start && last.new_lines.end == new_lines.start => {
                last.old_lines.end = old_lines.end;
                last.new_lines.end = new_lines.end;
                last.old = bytes(&old_at, &last.old_lines);
                last.new = bytes(&new_at, &last.new_lines);
            }
            _ => hunks.push(Hunk {
                old: bytes(&old_at, &old_lines),
                new: bytes(&new_at, &new_lines),
                old_lines,
                new_lines,
            }),
        }
    }
    hunks
}

/// True where both others change the same lines of `base`, or insert at the same place. Changes of lines that are next to each
/// other are not merged either, and are no reason to look for a line that changed twice.
pub fn change_same_lines(base: &[u8], one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (hunks(base, one), hunks(base, other));
    let same = |a: &Range<usize>, b: &Range<usize>| match a.is_empty() || b.is_empty() {
        // An insertion inside of lines that the other one replaces, or two insertions at one place.
        true => a.start == b.start && a.is_empty() == b.is_empty() || a.start < b.end && b.start < a.end,
        false => a.start < b.end && b.start < a.end,
    };
    one.iter().any(|a| other.iter().any(|b| same(&a.old_lines, &b.old_lines)))
}

/// `before` with exactly the `chosen` hunks of `hunks` applied.
pub fn with_hunks(before: &[u8], after: &[u8], hunks: &[Hunk], chosen: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(before.len().max(after.len()));
    let mut at = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        out.extend_from_slice(before.get(at..hunk.old.start).unwrap_or_default());
        let part = if chosen(index) { after.get(hunk.new.clone()) } else { before.get(hunk.old.clone()) };
        out.extend_from_slice(part.unwrap_or_default());
        at = hunk.old.end;
    }
    out.extend_from_slice(before.get(at..).unwrap_or_default());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hunks_are_told_apart_by_an_unchanged_line() {
        let (before, after) = (b"a\nb\nc\nd\n", b"A\nb\nc\nD\nE");
        let hunks = hunks(before, after);
        assert_eq!(hunks.len(), 2);
        assert_eq!(with_hunks(before, after, &hunks, |n| n == 0), b"A\nb\nc\nd\n");
        assert_eq!(with_hunks(before, after, &hunks, |n| n == 1), b"a\nb\nc\nD\nE");
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = prop::sample::select(vec!["a\n", "b\n", "c\r\n", "\n", "d", "\u{e4}\n"]);
        let raw = prop::collection::vec(any::<u8>(), 0..3);
        prop::collection::vec(prop_oneof![line.prop_map(|l| l.as_bytes().to_vec()), raw], 0..12)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn all_hunks_make_the_new_content_and_none_the_old(before in text(), after in text()) {
            let hunks = hunks(&before, &after);
            prop_assert_eq!(with_hunks(&before, &after, &hunks, |_| true), after.clone());
            prop_assert_eq!(with_hunks(&before, &after, &hunks, |_| false), before);
        }
    }
}
