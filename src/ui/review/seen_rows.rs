//! Which changes were on the screen. A line counts as seen when all of its rows were drawn, or all of its columns where
//! lines are not wrapped; what was folded, hidden or below the edge does not. Accepting names what was not seen.

use super::comment::DiffSide;
use super::decide::DecisionUnit;
use super::draw::DrawContext;
use super::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewLines};
use super::input::ReviewOverlay;
use super::line_ui::ReviewItem;
use super::paint::{ReviewPainter, place};
use super::rows::ReviewRow;
use super::state::Review;
use crate::text::RangeSet;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Files that are named when parts of them were not seen.
const NAMED: usize = 3;
/// The same in the summary, where each has a line of its own.
const LISTED: usize = 8;

/// Something that is seen as a whole or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum SeenUnit {
    /// A part of a changed line: file, side, line, part.
    Line(usize, DiffSide, usize, usize),
    /// A file's fact, by its number.
    Fact(usize, usize),
}

/// What was on the screen so far.
#[derive(Debug, Default)]
pub(super) struct SeenRows {
    whole: HashSet<SeenUnit>,
    /// What is larger than the screen: the rows or columns that were drawn, and how many there are.
    begun: HashMap<SeenUnit, (usize, RangeSet)>,
}

impl SeenRows {
    fn take(&mut self, unit: SeenUnit, of: usize, drawn: &Range<usize>) {
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
    pub(super) fn forget(&mut self, file: usize) {
        let of = |unit: &SeenUnit| matches!(unit, SeenUnit::Line(f, ..) | SeenUnit::Fact(f, _) if *f == file);
        self.whole.retain(|unit| !of(unit));
        self.begun.retain(|unit, _| !of(unit));
    }

    fn has_line(&self, file: usize, lines: &ReviewLines, side: DiffSide, line: usize) -> bool {
        let doc = if side == DiffSide::Old { &lines.old } else { &lines.new };
        (0..doc.parts(line)).all(|part| self.whole.contains(&SeenUnit::Line(file, side, line, part)))
    }
}

impl Review {
    /// Takes down what the screen shows, as it is about to be drawn.
    pub(super) fn record_seen(&mut self, scene: &DrawContext<'_>) {
        let places = self.places();
        let covered = matches!(self.overlay, ReviewOverlay::Help { .. } | ReviewOverlay::Summary { .. });
        if covered || places.tree >= usize::from(self.size.0) {
            return;
        }
        let painter = ReviewPainter::new(self, scene.theme, scene.beside, scene.inside, places.columns);
        let mut drawn: Vec<(ReviewRow, usize, Range<usize>)> = Vec::new();
        let (mut y, mut at, mut skip) = (0, self.top.0, self.top.1);
        while let Some(row) = self.rows.list.get(at).copied().filter(|_| y < places.rows) {
            let height = painter.height(at);
            let end = height.min(skip + places.rows - y).max(skip);
            y += end - skip;
            if self.look.wrap || !matches!(row, ReviewRow::Line { .. } | ReviewRow::Pair { .. }) {
                drawn.push((row, height, skip..end));
            } else {
                let (wide, room) = (painter.extent(row), painter.text_columns(row));
                // The last column says that the line goes on.
                let right = if wide > self.left + room { self.left + room.saturating_sub(1) } else { wide };
                drawn.push((row, wide, self.left.min(right)..right));
            }
            (at, skip) = (at + 1, 0);
        }
        for (row, of, range) in drawn {
            for unit in self.units_in(row) {
                self.seen.take(unit, of, &range);
            }
        }
    }

    fn units_in(&self, row: ReviewRow) -> Vec<SeenUnit> {
        let line = |file: u32, hunk: u32, n: u32, part: u32| {
            let lines = self.files.get(file as usize).and_then(ReviewFile::lines)?;
            let (side, line) = place(lines, hunk as usize, n as usize)?;
            Some(SeenUnit::Line(file as usize, side, line, part as usize))
        };
        match row {
            ReviewRow::Line { file, hunk, n, part } => line(file, hunk, n, part).into_iter().collect(),
            ReviewRow::Pair { file, hunk, old, new, part } => {
                old.into_iter().chain(new).filter_map(|n| line(file, hunk, n, part)).collect()
            }
            ReviewRow::Fact(file, n) => vec![SeenUnit::Fact(file as usize, n as usize)],
            _ => Vec::new(),
        }
    }

    /// The lines of a stop were said.
    pub fn mark_seen(&mut self, stop: ReviewItem) {
        let Some(file) = self.files.get(stop.file) else { return };
        let mut units: Vec<SeenUnit> = (0..facts(file)).map(|n| SeenUnit::Fact(stop.file, n)).collect();
        if let Some((lines, hunk)) = file.lines().and_then(|lines| Some((lines, lines.hunks.get(stop.hunk)?)))
        {
            for (side, doc, range) in
                [(DiffSide::Old, &lines.old, &hunk.old), (DiffSide::New, &lines.new, &hunk.new)]
            {
                for line in range.clone() {
                    units
                        .extend((0..doc.parts(line)).map(|part| SeenUnit::Line(stop.file, side, line, part)));
                }
            }
        }
        self.seen.whole.extend(units);
    }

    /// How much of a unit was not on the screen.
    fn unseen_of(&self, unit: &DecisionUnit) -> usize {
        let lines = |file: usize, hunk: usize, picks: &dyn Fn(usize) -> bool| {
            let lines = self.files.get(file).and_then(ReviewFile::lines);
            let count = lines.and_then(|l| l.hunks.get(hunk)).map_or(0, |h| h.marks.len());
            lines.map_or(0, |lines| {
                let unseen = |n: &usize| {
                    place(lines, hunk, *n)
                        .is_some_and(|(side, line)| !self.seen.has_line(file, lines, side, line))
                };
                (0..count).filter(|n| picks(*n)).filter(unseen).count()
            })
        };
        match unit {
            DecisionUnit::Hunk(file, hunk) => lines(*file, *hunk, &|_| true),
            DecisionUnit::Lines(file, hunk, some) => lines(*file, *hunk, &|n| some.contains(&n)),
            DecisionUnit::Whole(file) => self.files.get(*file).map_or(0, |of| {
                let unseen = |n: &usize| !self.seen.whole.contains(&SeenUnit::Fact(*file, *n));
                let left_out = match &of.body {
                    ReviewBody::Whole(whole) => whole.left_out,
                    ReviewBody::Lines(_) => 0,
                };
                (0..facts(of)).filter(unseen).count() + left_out
            }),
        }
    }

    /// What of these units was not on the screen: `src/a.rs (12 lines), b (1 line)`; empty when all was.
    pub(super) fn unseen_words(&self, units: &[DecisionUnit]) -> String {
        let mut counts: Vec<(usize, usize)> = Vec::new();
        for unit in units {
            let (file, count) = (super::decide::file_of(unit), self.unseen_of(unit));
            match counts.iter_mut().find(|(f, _)| *f == file) {
                Some((_, known)) => *known += count,
                None => counts.push((file, count)),
            }
        }
        counts.retain(|(_, count)| *count > 0);
        let named: Vec<String> = counts.iter().take(NAMED).map(|of| self.unseen_file(*of)).collect();
        match counts.len().saturating_sub(NAMED) {
            0 => named.join(", "),
            1 => format!("{} and 1 more file", named.join(", ")),
            more => format!("{} and {more} more files", named.join(", ")),
        }
    }

    fn unseen_file(&self, (file, count): (usize, usize)) -> String {
        let name = self.files.get(file).map_or("", |f| f.name.as_str());
        format!("{name} ({count} line{})", if count == 1 { "" } else { "s" })
    }

    /// The lines of the summary about what is accepted and was not on the screen.
    pub(super) fn unseen_summary(&self) -> Vec<String> {
        let accepted = |(at, file): (usize, &ReviewFile)| {
            let units: Vec<DecisionUnit> = match &file.body {
                ReviewBody::Whole(whole) if whole.mark == ReviewDecision::Accepted => {
                    vec![DecisionUnit::Whole(at)]
                }
                ReviewBody::Whole(_) => Vec::new(),
                ReviewBody::Lines(lines) => {
                    let some = |h: &super::file::ReviewHunk| {
                        (0..h.marks.len())
                            .filter(|n| h.mark(*n) == ReviewDecision::Accepted)
                            .collect::<Vec<_>>()
                    };
                    lines.hunks.iter().enumerate().map(|(n, h)| DecisionUnit::Lines(at, n, some(h))).collect()
                }
            };
            (at, units.iter().map(|unit| self.unseen_of(unit)).sum::<usize>())
        };
        let all = self.files.iter().enumerate().map(accepted).filter(|(_, count)| *count > 0);
        let all: Vec<(usize, usize)> = all.collect();
        let line = |of: &(usize, usize)| {
            format!("not seen   {}: accepted, and not on the screen", self.unseen_file(*of))
        };
        let mut out: Vec<String> = all.iter().take(LISTED).map(line).collect();
        if all.len() > LISTED {
            out.push(format!("not seen   {} more files", all.len() - LISTED));
        }
        out
    }
}

/// How many facts a file has, those of a whole included.
fn facts(file: &ReviewFile) -> usize {
    file.facts.len()
        + match &file.body {
            ReviewBody::Whole(whole) => whole.words.len(),
            ReviewBody::Lines(_) => 0,
        }
}
