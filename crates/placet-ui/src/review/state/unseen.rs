//! Accepting names what was not on the screen.

use super::seen_rows::SeenUnit;
use crate::review::content::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewHunk};
use crate::review::content::side_text::DiffSide;
use crate::review::content::unit::{DecisionUnit, ReviewItem};
use crate::review::picture::rows::ReviewRow;
use crate::review::state::Review;
use std::collections::BTreeSet;

/// Files that are named when parts of them were not seen.
const NAMED: usize = 3;
/// The same in the summary, where each has a line of its own.
const LISTED: usize = 8;

impl Review {
    /// What a row shows of the changes.
    pub(in crate::review) fn units_in(&self, row: ReviewRow) -> Vec<SeenUnit> {
        match row {
            ReviewRow::Line { file, part, .. } | ReviewRow::Pair { file, part, .. } => {
                let unit = |(side, line)| SeenUnit::Line(file as usize, side, line, part as usize);
                self.changed_lines(row).into_iter().map(unit).collect()
            }
            ReviewRow::Fact(file, n) => vec![SeenUnit::Fact(file as usize, n as usize)],
            _ => Vec::new(),
        }
    }

    /// Records that the lines of a stop were printed.
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
        for file in self.decided_with(stop.file) {
            for hunk in 0..self.own_units(file).len() {
                self.mark_seen(ReviewItem { file, hunk });
            }
        }
    }

    /// How much of a unit was not on the screen.
    fn unseen_of(&self, unit: &DecisionUnit) -> usize {
        let lines = |file: usize, hunk: usize, picks: &dyn Fn(usize) -> bool| {
            let Some(lines) = self.lines(file) else { return 0 };
            let count = lines.hunks.get(hunk).map_or(0, |h| h.marks.len());
            let unseen = |n: &usize| {
                lines.place(hunk, *n).is_some_and(|(side, line)| !self.seen.has_line(file, lines, side, line))
            };
            (0..count).filter(|n| picks(*n)).filter(unseen).count()
        };
        match unit {
            DecisionUnit::Hunk(file, hunk) => lines(*file, *hunk, &|_| true),
            DecisionUnit::Lines(file, hunk, some) => lines(*file, *hunk, &|n| some.contains(&n)),
            DecisionUnit::Whole(file) if self.files.get(*file).is_some_and(ReviewFile::is_explained) => 0,
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
    pub(in crate::review) fn unseen_words(&self, units: &[DecisionUnit]) -> String {
        let mut counts: Vec<(usize, usize)> = Vec::new();
        // A commit was seen when its files were.
        let whole = |unit: &DecisionUnit| matches!(unit, DecisionUnit::Whole(_)).then(|| unit.file());
        let owners: BTreeSet<usize> = units.iter().filter_map(whole).collect();
        let files = (0..self.files.len()).filter(|file| self.is_of_commit(*file));
        let of_commits: Vec<DecisionUnit> = files
            .filter(|file| owners.contains(&self.decider(*file)))
            .flat_map(|file| self.own_units(file))
            .collect();
        for unit in units.iter().chain(&of_commits) {
            let (file, count) = (unit.file(), self.unseen_of(unit));
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
    pub(in crate::review) fn unseen_summary(&self) -> Vec<String> {
        let accepted = |(at, file): (usize, &ReviewFile)| {
            let units: Vec<DecisionUnit> = match &file.body {
                ReviewBody::Whole(whole) if whole.mark == ReviewDecision::Accepted => {
                    vec![DecisionUnit::Whole(at)]
                }
                ReviewBody::Whole(_) => Vec::new(),
                ReviewBody::Lines(lines) => {
                    let some = |h: &ReviewHunk| {
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
