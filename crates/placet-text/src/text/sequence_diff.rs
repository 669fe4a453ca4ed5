//! The operations that turn one sequence into another.
//!
//! Elements are compared many times, so they become numbers first. All comparisons of placet go through here: the
//! algorithm is generic, and each type that it compared took about 150 kB of the program.

use similar::{Algorithm, DiffOp, DiffTag};
use std::collections::HashMap;
use std::time::Instant;

/// With more lines on both sides than these, without their common beginning and end, only what is between lines that both
/// sides have once is compared. Lines that are all alike take 13 microseconds each, so that this takes some seconds at most.
const WHOLE: usize = 200_000;
/// The most lines on both sides of a part that is compared then, and of all parts together.
const PART: usize = 100_000;
const ALL_PARTS: usize = 200_000;

/// Compares words or other parts of a text. After `deadline` the result is coarser, so that it may only decide how
/// something looks.
pub fn sequence_diff<T: AsRef<[u8]>>(old: &[T], new: &[T], deadline: Option<Instant>) -> Vec<DiffOp> {
    let (old, new, _) = numbered(old, new);
    compare(&old, &new, deadline)
}

/// Compares lines. The result is the same each time, whatever else the machine does: a person sees the counts, and takes
/// or leaves the parts by their numbers. Of very long texts it is coarser.
pub fn line_diff<T: AsRef<[u8]>>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let (old, new, count) = numbered(old, new);
    let begin = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - begin;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    if old.len() + new.len() - 2 * (begin + end) <= WHOLE {
        return compare_shared(&old, &new, count);
    }
    let inner = |all: &[u32]| all.get(begin..all.len() - end).map_or_else(Vec::new, <[u32]>::to_vec);
    let shared = shared_once(&inner(&old), &inner(&new), count);
    let mut builder = LineOps { old: &old, new: &new, ops: Vec::new(), at: (0, 0), left: ALL_PARTS };
    builder.equal(begin);
    for (in_old, in_new) in shared {
        builder.change_up_to(begin + in_old, begin + in_new);
        builder.equal(1);
    }
    builder.change_up_to(old.len() - end, new.len() - end);
    builder.equal(end);
    builder.ops
}

/// Elements as numbers, equal ones with the same; and how many different ones there are.
fn numbered<T: AsRef<[u8]>>(old: &[T], new: &[T]) -> (Vec<u32>, Vec<u32>, usize) {
    let mut numbers: HashMap<&[u8], u32> = HashMap::with_capacity(old.len() + new.len());
    let [old, new] = [old, new].map(|parts| {
        let mut numbered = Vec::with_capacity(parts.len());
        for part in parts {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            numbered.push(*numbers.entry(part.as_ref()).or_insert(next));
        }
        numbered
    });
    (old, new, numbers.len())
}

/// Compares what both sides have. What only one of them has is in no pair, and to look for one takes most of the time.
fn compare_shared(old: &[u32], new: &[u32], count: usize) -> Vec<DiffOp> {
    let numbers_of = |side: &[u32]| {
        let mut is_there = vec![false; count];
        side.iter()
            .for_each(|number| is_there.get_mut(*number as usize).into_iter().for_each(|is| *is = true));
        is_there
    };
    let shared = |side: &[u32], others: &[bool]| -> (Vec<usize>, Vec<u32>) {
        let is_shared = |(_, number): &(usize, &u32)| others.get(**number as usize) == Some(&true);
        side.iter().enumerate().filter(is_shared).map(|(at, number)| (at, *number)).unzip()
    };
    let (old_at, old_shared) = shared(old, &numbers_of(new));
    let (new_at, new_shared) = shared(new, &numbers_of(old));
    let mut builder = LineOps { old, new, ops: Vec::new(), at: (0, 0), left: 0 };
    for op in compare(&old_shared, &new_shared, None).iter().filter(|op| op.tag() == DiffTag::Equal) {
        let pairs = old_at
            .get(op.old_range())
            .into_iter()
            .flatten()
            .zip(new_at.get(op.new_range()).into_iter().flatten());
        for (in_old, in_new) in pairs {
            builder.change_to(*in_old, *in_new);
            builder.equal(1);
        }
    }
    builder.change_to(old.len(), new.len());
    builder.ops
}

fn compare(old: &[u32], new: &[u32], deadline: Option<Instant>) -> Vec<DiffOp> {
    similar::capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline)
}

/// The places of elements that both sides have once, as many as rise on both.
fn shared_once(old: &[u32], new: &[u32], count: usize) -> Vec<(usize, usize)> {
    let only_place = |side: &[u32]| {
        let mut places = vec![None; count];
        for (at, number) in side.iter().enumerate() {
            if let Some(place) = places.get_mut(*number as usize) {
                *place = Some(if place.is_none() { at } else { usize::MAX });
            }
        }
        places
    };
    let in_new = only_place(new);
    let pairs: Vec<(usize, usize)> = only_place(old)
        .into_iter()
        .zip(in_new)
        .filter_map(|(a, b)| Some((a?, b?)).filter(|(a, b)| *a != usize::MAX && *b != usize::MAX))
        .collect();
    longest_rise(pairs)
}

/// The longest chain of pairs that rises on both sides.
fn longest_rise(mut pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    pairs.sort_unstable();
    // For each length, the pair at which a chain of it ends lowest; and for each pair the one before it in its chain.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) =
        (Vec::new(), Vec::with_capacity(pairs.len()));
    let new_of = |at: usize| pairs.get(at).map_or(usize::MAX, |(_, new)| *new);
    for at in 0..pairs.len() {
        let length = ends.partition_point(|end| new_of(*end) < new_of(at));
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut chain: Vec<(usize, usize)> = Vec::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        chain.extend(pairs.get(at));
        next = before.get(at).copied().flatten();
    }
    chain.reverse();
    chain
}

/// Builds the operations from the beginning to the end.
struct LineOps<'a> {
    old: &'a [u32],
    new: &'a [u32],
    ops: Vec<DiffOp>,
    /// How much of both sides the operations cover.
    at: (usize, usize),
    /// How many lines may still be compared.
    left: usize,
}

impl LineOps<'_> {
    fn equal(&mut self, more: usize) {
        let (old_index, new_index) = self.at;
        self.at = (old_index + more, new_index + more);
        match self.ops.last_mut() {
            _ if more == 0 => {}
            Some(DiffOp::Equal { len, .. }) => *len += more,
            _ => self.ops.push(DiffOp::Equal { old_index, new_index, len: more }),
        }
    }

    /// What is between here and the next line that both sides have.
    fn change_up_to(&mut self, old_end: usize, new_end: usize) {
        let (old_index, new_index) = self.at;
        let (old, new) = (self.old.get(old_index..old_end), self.new.get(new_index..new_end));
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let size = old.len() + new.len();
        if size <= PART.min(self.left) {
            self.left -= size;
            for op in compare(old, new, None) {
                match op {
                    DiffOp::Equal { len, .. } => self.equal(len),
                    changed => self.change(changed.old_range().len(), changed.new_range().len()),
                }
            }
        } else {
            self.change(old.len(), new.len());
        }
    }

    /// Everything from here to there differs.
    fn change_to(&mut self, old_end: usize, new_end: usize) {
        if self.at != (old_end, new_end) {
            self.change(old_end - self.at.0, new_end - self.at.1);
        }
    }

    fn change(&mut self, old_len: usize, new_len: usize) {
        let (old_index, new_index) = self.at;
        self.at = (old_index + old_len, new_index + new_len);
        self.ops.push(match (old_len, new_len) {
            (_, 0) => DiffOp::Delete { old_index, old_len, new_index },
            (0, _) => DiffOp::Insert { old_index, new_index, new_len },
            _ => DiffOp::Replace { old_index, old_len, new_index, new_len },
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_parts_are_equal_whatever_their_type_and_all_parts_are_covered() {
        let (old, new) = (["a", "b", "b", "c"], ["a", "b", "x", "c", "d"]);
        let ops = sequence_diff(&old, &new, None);
        let bytes = |parts: &[&'static str]| parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>();
        assert_eq!(ops, sequence_diff(&bytes(&old), &bytes(&new), None));
        assert_eq!(ops, similar::capture_diff_slices(Algorithm::Myers, &old, &new));
        let same = ops.iter().filter(|op| op.tag() == DiffTag::Equal).map(|op| op.old_range().len());
        assert_eq!(same.sum::<usize>(), 3);
        assert_eq!(ops.iter().map(|op| op.new_range().len()).sum::<usize>(), new.len());
        assert!(sequence_diff::<&str>(&[], &[], None).is_empty());
    }

    /// Lines as a generator makes them: `kinds` different ones, the same for the same `seed`.
    fn lines(count: usize, kinds: u64, seed: u64) -> Vec<String> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % kinds
        };
        (0..count).map(|_| next().to_string()).collect()
    }

    /// Whatever is compared, the operations make the new text of the old one, and what is equal is equal.
    fn check(old: &[String], new: &[String]) -> (usize, usize) {
        let ops = line_diff(old, new);
        let (mut at, mut counts) = ((0, 0), (0, 0));
        let mut was_equal = false;
        for op in &ops {
            assert_eq!((op.old_range().start, op.new_range().start), at);
            at = (op.old_range().end, op.new_range().end);
            if op.tag() == DiffTag::Equal {
                assert!(old[op.old_range()] == new[op.new_range()] && !was_equal);
            } else {
                counts = (counts.0 + op.new_range().len(), counts.1 + op.old_range().len());
            }
            was_equal = op.tag() == DiffTag::Equal;
        }
        assert_eq!(at, (old.len(), new.len()));
        counts
    }

    #[test]
    fn a_long_text_is_compared_between_lines_that_both_sides_have_once() {
        let count = WHOLE + 20_000;
        let old: Vec<String> = (0..count).map(|n| format!("line {n}")).collect();
        let mut new = old.clone();
        new[1] = "other".into();
        new.remove(count / 2);
        new.insert(count - 2, "more".into());
        assert_eq!(check(&old, &new), (2, 2));
        let swapped: Vec<String> = old[count / 2..].iter().chain(&old[..count / 2]).cloned().collect();
        assert_eq!(check(&old, &swapped), (count / 2, count / 2));
        // Lines that are on each side twice are found between the others.
        let old: Vec<String> =
            (0..count).map(|n| if n % 3 == 0 { "}".into() } else { n.to_string() }).collect();
        let mut new = old.clone();
        new.remove(count - 1);
        new[0] = "{".into();
        new.remove(count / 2);
        assert_eq!(check(&old, &new), (1, 3));
        // Without a line that is there once, all of it is replaced.
        assert_eq!(check(&vec!["a".into(); count], &vec!["b".into(); count]), (count, count));
        check(&lines(count, 1_000_000, 1), &lines(count, 1_000_000, 2));
        check(&lines(count, 1 << 40, 1), &lines(count / 3, 1 << 40, 1));
    }

    #[test]
    fn no_fewer_lines_stay_than_where_those_of_one_side_are_compared_too() {
        for (seed, kinds) in (1..40).flat_map(|seed| [2, 5, 100, 500].map(|kinds| (seed, kinds))) {
            let (old, new) = (lines(300, kinds, seed), lines(280, kinds, seed + 1));
            let ops = sequence_diff(&old, &new, None);
            let equal = ops.iter().filter(|op| op.tag() == DiffTag::Equal);
            let stays: usize = equal.map(|op| op.old_range().len()).sum();
            assert!(check(&old, &new) <= (new.len() - stays, old.len() - stays), "{seed}, {kinds}");
        }
    }
}
