//! Which changes were on the screen. A line counts as seen when all of its rows were drawn, or all of its columns where
//! lines are not wrapped; what was folded, hidden or below the edge does not.

use crate::review::content::file::ReviewLines;
use crate::review::content::side_text::DiffSide;
use placet_text::text::RangeSet;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Something that is seen as a whole or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::review) enum SeenUnit {
    /// A part of a changed line: file, side, line, part.
    Line(usize, DiffSide, usize, usize),
    /// A file's fact, by its number.
    Fact(usize, usize),
}

/// What was on the screen so far.
#[derive(Debug, Default)]
pub(in crate::review) struct SeenRows {
    pub(in crate::review) whole: HashSet<SeenUnit>,
    /// What is larger than the screen: the rows or columns that were drawn, and how many there are.
    begun: HashMap<SeenUnit, (usize, RangeSet)>,
}

impl SeenRows {
    pub(in crate::review) fn take(&mut self, unit: SeenUnit, of: usize, drawn: &Range<usize>) {
        if self.whole.contains(&unit) {
            return;
        }
        let begun = self.begun.entry(unit).or_default();
        // Laid out at another width, rows are other rows.
        if begun.0 != of {
            *begun = (of, RangeSet::new());
        }
        begun.1.insert(drawn.clone());
        if begun.1.covers(&(0..of)) {
            self.begun.remove(&unit);
            self.whole.insert(unit);
        }
    }

    /// The lines of a file are other lines now.
    pub(in crate::review) fn forget(&mut self, file: usize) {
        let of = |unit: &SeenUnit| matches!(unit, SeenUnit::Line(f, ..) | SeenUnit::Fact(f, _) if *f == file);
        self.whole.retain(|unit| !of(unit));
        self.begun.retain(|unit, _| !of(unit));
    }

    pub(in crate::review) fn has_line(
        &self,
        file: usize,
        lines: &ReviewLines,
        side: DiffSide,
        line: usize,
    ) -> bool {
        (0..lines.side(side).parts(line))
            .all(|part| self.whole.contains(&SeenUnit::Line(file, side, line, part)))
    }
}
