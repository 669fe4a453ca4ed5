//! A set of line numbers, stored as sorted ranges that neither touch nor overlap.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RangeSet(Vec<(usize, usize)>);

impl RangeSet {
    pub fn new() -> RangeSet {
        RangeSet::default()
    }

    pub fn of(range: Range<usize>) -> RangeSet {
        let mut set = RangeSet::new();
        set.insert(range);
        set
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many numbers are in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|(from, to)| to - from).sum()
    }

    pub fn insert(&mut self, range: Range<usize>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|&(_, to)| to < range.start);
        let after = self.0.partition_point(|&(from, _)| from <= range.end);
        let joined = self.0.drain(first..after.max(first));
        let (from, to) = joined.fold((range.start, range.end), |(a, b), (from, to)| (a.min(from), b.max(to)));
        self.0.insert(first, (from, to));
    }

    pub fn extend(&mut self, other: &RangeSet) {
        for range in other.ranges() {
            self.insert(range);
        }
    }

    /// The numbers of this set that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &RangeSet) -> RangeSet {
        let mut out = RangeSet::new();
        for range in self.ranges() {
            let mut at = range.start;
            for hole in other.ranges().filter(|hole| hole.start < range.end && hole.end > range.start) {
                out.insert(at..hole.start.max(at));
                at = hole.end.max(at);
            }
            out.insert(at..range.end.max(at));
        }
        out
    }

    /// The numbers that are in both sets.
    #[must_use]
    pub fn within(&self, other: &RangeSet) -> RangeSet {
        let mut out = RangeSet::new();
        other.ranges().for_each(|range| out.extend(&self.moved(&range, range.start)));
        out
    }

    /// True when every number of `range` is in the set; an empty range always is.
    pub fn covers(&self, range: &Range<usize>) -> bool {
        range.is_empty() || self.0.iter().any(|&(from, to)| from <= range.start && range.end <= to)
    }

    /// The first stretch of `range` that is not in the set.
    pub fn first_gap(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let mut at = range.start;
        for &(from, to) in &self.0 {
            if to <= at {
                continue;
            }
            if from > at {
                return Some(at..from.min(range.end)).filter(|gap| !gap.is_empty());
            }
            at = to;
            if at >= range.end {
                return None;
            }
        }
        Some(at..range.end).filter(|gap| !gap.is_empty())
    }

    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        self.0.iter().map(|&(from, to)| from..to)
    }

    /// The part of the set inside `range`, moved so that `range.start` becomes `to`.
    pub fn moved(&self, range: &Range<usize>, to: usize) -> RangeSet {
        let mut out = RangeSet::new();
        for one in self.ranges() {
            let (from, end) = (one.start.max(range.start), one.end.min(range.end));
            if from < end {
                out.insert(from - range.start + to..end - range.start + to);
            }
        }
        out
    }
}

/// As a person counts: the first line is 1, both ends belong to a range.
impl fmt::Display for RangeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 12;
        for (at, (from, to)) in self.0.iter().take(SHOWN).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            match to - from {
                1 => write!(f, "{comma}{to}")?,
                _ => write!(f, "{comma}{}-{to}", from + 1)?,
            }
        }
        match self.0.len().checked_sub(SHOWN) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, " and {more} more ranges"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_holds_exactly_what_was_put_in(ranges in prop::collection::vec((0usize..60, 0usize..12), 0..20)) {
            let mut set = RangeSet::new();
            let mut plain = [false; 80];
            for (from, len) in ranges {
                set.insert(from..from + len);
                plain[from..from + len].fill(true);
            }
            for (from, len) in (0..70).flat_map(|f| [(f, 1), (f, 5)]) {
                let range = from..from + len;
                prop_assert_eq!(set.covers(&range), plain[range.clone()].iter().all(|p| *p));
                let gap = (from..from + len).find(|i| !plain[*i]);
                prop_assert_eq!(set.first_gap(&range).map(|g| g.start), gap);
            }
            prop_assert_eq!(set.len(), plain.iter().filter(|p| **p).count());
            let mut other = RangeSet::of(5..17);
            other.insert(30..31);
            other.insert(40..90);
            let holds = |set: &RangeSet, n: usize| set.covers(&(n..n + 1));
            let (without, within) = (set.without(&other), set.within(&other));
            for (n, is_in) in plain.into_iter().enumerate() {
                prop_assert_eq!(holds(&without, n), is_in && !holds(&other, n));
                prop_assert_eq!(holds(&within, n), is_in && holds(&other, n));
            }
        }
    }

    #[test]
    fn it_reads_as_a_person_counts() {
        let mut set = RangeSet::of(0..3);
        set.insert(9..10);
        assert_eq!(set.to_string(), "1-3, 10");
        assert_eq!(set.moved(&(1..10), 100).to_string(), "101-102, 109");
    }
}
