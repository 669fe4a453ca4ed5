//! The content to which a patch is applied, as searchable lines.
//!
//! Each distinct line gets a number; a hunk is then searched in these numbers with the algorithm of Knuth, Morris and
//! Pratt, so that no pattern of equal lines makes the search quadratic.

use crate::text::look_alike::looks_the_same;
use std::cell::OnceCell;
use std::collections::HashMap;

/// How equal lines must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEquality {
    /// Byte for byte, line end included.
    Exact,
    /// Without the line end.
    Body,
}

#[derive(Debug)]
pub(super) struct PatchTarget<'a> {
    /// Each line with its end.
    pub(super) lines: Vec<&'a [u8]>,
    exact: OnceCell<LineIds<'a>>,
    body: OnceCell<LineIds<'a>>,
}

#[derive(Debug)]
struct LineIds<'a> {
    of: HashMap<&'a [u8], u32>,
    sequence: Vec<u32>,
}

impl LineEquality {
    pub(super) fn key(self, line: &[u8]) -> &[u8] {
        match self {
            LineEquality::Exact => line,
            LineEquality::Body => super::line::bare(line),
        }
    }
}

impl<'a> PatchTarget<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> PatchTarget<'a> {
        let lines = bytes.split_inclusive(|b| *b == b'\n').collect();
        PatchTarget { lines, exact: OnceCell::new(), body: OnceCell::new() }
    }

    fn numbers(&self, alike: LineEquality) -> &LineIds<'a> {
        let cell = if alike == LineEquality::Exact { &self.exact } else { &self.body };
        cell.get_or_init(|| {
            let mut of = HashMap::new();
            let sequence = self.lines.iter().map(|line| {
                let next = u32::try_from(of.len()).unwrap_or(u32::MAX);
                *of.entry(alike.key(line)).or_insert(next)
            });
            let sequence = sequence.collect();
            LineIds { of, sequence }
        })
    }

    /// Whether the content has these lines at `at`.
    pub(super) fn has(&self, at: usize, lines: &[&[u8]], alike: LineEquality) -> bool {
        let there = self.lines.get(at..at.saturating_add(lines.len()));
        there.is_some_and(|there| there.iter().zip(lines).all(|(a, b)| alike.key(a) == alike.key(b)))
    }

    /// Every place (from 0, at most `most`) that has these lines.
    pub(super) fn find(&self, lines: &[&[u8]], alike: LineEquality, most: usize) -> Vec<usize> {
        let numbers = self.numbers(alike);
        let wanted: Option<Vec<u32>> =
            lines.iter().map(|line| numbers.of.get(alike.key(line)).copied()).collect();
        match wanted {
            Some(wanted) if !wanted.is_empty() => search(&numbers.sequence, &wanted, most),
            _ => Vec::new(),
        }
    }

    /// The first place whose line looks like the first of these lines that is not blank.
    pub(super) fn looking_like(&self, lines: &[&[u8]]) -> Option<usize> {
        let (offset, first) = lines.iter().enumerate().find(|(_, line)| !line.trim_ascii().is_empty())?;
        let wanted = String::from_utf8_lossy(super::line::bare(first));
        let is_alike = |line: &&[u8]| {
            let line = super::line::bare(line);
            // Two lines of plain text that look the same are the same.
            (!line.is_ascii() || !wanted.is_ascii())
                && looks_the_same(&String::from_utf8_lossy(line), &wanted)
        };
        self.lines.iter().position(is_alike).and_then(|at| at.checked_sub(offset))
    }

    /// The place at which most of these lines match, line for line; the nearest to `expected` among equals.
    pub(super) fn most_alike(&self, lines: &[&[u8]], expected: Option<usize>) -> Option<usize> {
        let numbers = self.numbers(LineEquality::Body);
        let mut wanted: HashMap<u32, Vec<usize>> = HashMap::new();
        for (at, line) in lines.iter().enumerate().take(200) {
            // Frequent lines say little; blank lines say nothing.
            if let Some(number) =
                numbers.of.get(LineEquality::Body.key(line)).filter(|_| !line.trim_ascii().is_empty())
            {
                wanted.entry(*number).or_default().push(at);
            }
        }
        let mut votes: HashMap<usize, usize> = HashMap::new();
        for (at, number) in numbers.sequence.iter().enumerate() {
            let from =
                wanted.get(number).into_iter().flatten().take(8).filter_map(|line| at.checked_sub(*line));
            from.for_each(|start| *votes.entry(start).or_default() += 1);
        }
        let away = |start: usize| expected.map_or(start, |e| start.abs_diff(e));
        votes
            .into_iter()
            .max_by_key(|(start, count)| (*count, std::cmp::Reverse(away(*start))))
            .map(|(start, _)| start)
    }
}

/// Knuth, Morris and Pratt: every place of `wanted` in `text`, overlapping ones too.
fn search(text: &[u32], wanted: &[u32], most: usize) -> Vec<usize> {
    let get = |at: usize| wanted.get(at).copied();
    let mut border = vec![0usize; wanted.len()];
    let mut length = 0;
    for at in 1..wanted.len() {
        length = advance(length, &border, |l| get(l) == get(at));
        if let Some(slot) = border.get_mut(at) {
            *slot = length;
        }
    }
    let (mut found, mut length) = (Vec::new(), 0);
    for (at, number) in text.iter().enumerate() {
        length = advance(length, &border, |l| get(l) == Some(*number));
        if length == wanted.len() {
            found.push(at + 1 - length);
            if found.len() == most {
                break;
            }
        }
    }
    found
}

/// How much of the pattern matches after one more element, given how much matched before it.
fn advance(mut length: usize, border: &[usize], matches: impl Fn(usize) -> bool) -> usize {
    while length > 0 && !matches(length) {
        length = border.get(length - 1).copied().unwrap_or(0);
    }
    length + usize::from(matches(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_place_is_found(text in prop::collection::vec(0u32..3, 0..60), wanted in prop::collection::vec(0u32..3, 1..6)) {
            let slow: Vec<usize> = (0..text.len())
                .filter(|at| text.get(*at..at + wanted.len()) == Some(&wanted[..])).collect();
            prop_assert_eq!(search(&text, &wanted, usize::MAX), slow);
        }
    }
}
