//! When lines of a file were shown to the model last: in which turn, and by which message.
//!
//! The turns are for people who look at a file, and decide nothing: an unknown turn is left out. The messages tell what
//! left the model's context from what is still in it.

use placet_text::text::RangeSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Lines by turn, counted from 1. A line belongs to one turn at most.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinesByTurn(BTreeMap<u32, RangeSet>);

impl LinesByTurn {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The last turn there is.
    pub fn last(&self) -> Option<u32> {
        self.0.last_key_value().map(|(turn, _)| *turn)
    }

    /// The turn in which a line was shown, as far as that is known.
    pub fn of(&self, line: usize) -> Option<u32> {
        self.0.iter().find(|(_, lines)| lines.covers(&(line..line + 1))).map(|(turn, _)| *turn)
    }

    /// Records that these lines were shown in this turn; 0 means that the turn is not known.
    pub fn show(&mut self, lines: &RangeSet, turn: u32) {
        self.keep(|known| known.without(lines));
        if turn > 0 && !lines.is_empty() {
            self.0.entry(turn).or_default().extend(lines);
        }
    }

    /// Everything was shown in this turn, or nothing was.
    pub(crate) fn is_only(&self, turn: u32) -> bool {
        self.0.keys().all(|known| *known == turn)
    }

    /// The lines of all turns but this one.
    pub(crate) fn but(&self, turn: u32) -> RangeSet {
        let mut lines = RangeSet::new();
        self.0.iter().filter(|(of, _)| **of != turn).for_each(|(_, more)| lines.extend(more));
        lines
    }

    /// Keeps of every turn what `part` makes of its lines.
    pub(crate) fn keep(&mut self, part: impl Fn(&RangeSet) -> RangeSet) {
        self.0.values_mut().for_each(|lines| *lines = part(lines));
        self.0.retain(|_, lines| !lines.is_empty());
    }
}

/// A moment of a conversation: its turn, and the message that shows something, both counted from 1; 0 is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::files) struct ShowMoment {
    pub(in crate::files) turn: u32,
    pub(in crate::files) message: u32,
}

/// The lines of a content by both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::files) struct ShownAt {
    pub(in crate::files) turns: LinesByTurn,
    /// The same by message.
    pub(in crate::files) messages: LinesByTurn,
}

impl ShownAt {
    pub(in crate::files) fn show(&mut self, lines: &RangeSet, now: ShowMoment) {
        self.turns.show(lines, now.turn);
        self.messages.show(lines, now.message);
    }

    /// Everything was shown at this moment, or nothing was.
    pub(in crate::files) fn is_only(&self, now: ShowMoment) -> bool {
        self.turns.is_only(now.turn) && self.messages.is_only(now.message)
    }

    /// Keeps of every moment what `part` makes of its lines.
    pub(in crate::files) fn keep(&mut self, part: impl Fn(&RangeSet) -> RangeSet) {
        self.turns.keep(&part);
        self.messages.keep(&part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_belongs_to_the_turn_that_showed_it_last() {
        let mut turns = LinesByTurn::default();
        turns.show(&RangeSet::of(0..10), 1);
        turns.show(&RangeSet::of(4..6), 3);
        turns.show(&RangeSet::of(8..9), 0);
        let of: Vec<u32> = (0..11).map(|line| turns.of(line).unwrap_or(0)).collect();
        assert_eq!(of, [1, 1, 1, 1, 3, 3, 1, 1, 0, 1, 0]);
        turns.show(&RangeSet::of(0..10), 4);
        assert!(turns.is_only(4) && turns.of(8) == Some(4));
    }
}
