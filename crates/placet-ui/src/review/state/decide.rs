//! Deciding: what a key means for the lines, hunks and files under the cursor.

use super::history::ReviewUndoItem;
use crate::review::content::file::{
    CombinedDecision, ReviewBody, ReviewDecision, ReviewFile, ReviewHunk, standing,
};
use crate::review::content::unit::{DecisionUnit, words};
use crate::review::picture::rows::ReviewRow;
use crate::review::state::{Review, ReviewEffect};
use std::collections::{BTreeMap, BTreeSet};

impl Review {
    /// Accepts or rejects the hunk under the cursor and moves to the next, or the selected lines. A unit that has the
    /// mark already keeps it: who presses the key once more than needed has decided nothing else.
    pub(in crate::review) fn decide(&mut self, mark: ReviewDecision) -> Vec<ReviewEffect> {
        let selected = self.window.anchor.is_some();
        let units = match selected {
            true => self.selected(),
            false => match self.row() {
                // A file that is one decision is its own hunk, and its first row is where that begins.
                Some(ReviewRow::File(file)) if self.lines(file as usize).is_some() => {
                    return self.decide_at_head(file as usize, mark);
                }
                _ => self.here().into_iter().collect(),
            },
        };
        if let (true, Some(why)) = (units.is_empty(), self.refusal()) {
            return self.nothing_done(&why);
        }
        if units.is_empty() {
            let keys =
                if selected { "no changed line is selected" } else { "no hunk here; ] goes to the next one" };
            return self.nothing_done(keys);
        }
        let owner = match units.as_slice() {
            [DecisionUnit::Whole(owner)] => Some(*owner),
            _ => None,
        };
        let several = units.iter().any(|unit| unit.file() != units.first().map_or(0, DecisionUnit::file));
        if several {
            self.set_together(units, mark);
        } else {
            self.set(&units, mark);
        }
        if selected {
            self.window.anchor = None;
        } else {
            self.go_to_next_hunk();
            // The files of a commit are decided now: there is nothing to decide there.
            let is_of_owner = |review: &Review| {
                review.file_here().is_some_and(|f| Some(f) != owner && Some(review.decider(f)) == owner)
            };
            while is_of_owner(self) {
                let before = self.window.cursor;
                self.go_to_next_hunk();
                if self.window.cursor == before {
                    break;
                }
            }
        }
        vec![ReviewEffect::Remember]
    }

    pub(in crate::review) fn decide_file(&mut self, mark: ReviewDecision) -> Vec<ReviewEffect> {
        match self.file_here() {
            Some(file) => self.decide_files(&[file], mark),
            None => Vec::new(),
        }
    }

    /// On the head of a file: decides the file and goes on to the next one, as after a hunk.
    fn decide_at_head(&mut self, file: usize, mark: ReviewDecision) -> Vec<ReviewEffect> {
        let units = self.units_of_all(&[file]);
        if !units.is_empty() {
            self.set(&units, mark);
        }
        // The files of a commit are decided together.
        let owner = self.decider(file);
        let mut later = self.rows.hunks.iter().filter(|(_, _, row)| *row > self.window.cursor);
        if let Some((_, _, row)) = later.find(|(other, _, _)| self.decider(*other) != owner) {
            self.window.cursor = *row;
        }
        vec![ReviewEffect::Remember]
    }

    pub(in crate::review) fn decide_files(
        &mut self,
        files: &[usize],
        mark: ReviewDecision,
    ) -> Vec<ReviewEffect> {
        let units = self.units_of_all(files);
        if let (true, [_], Some(why)) = (units.is_empty(), files, self.refusal()) {
            return self.nothing_done(&why);
        }
        if !units.is_empty() {
            self.set(&units, mark);
        }
        vec![ReviewEffect::Remember]
    }

    /// Decides files by the name of a directory or repository that contains them, while their content is not visible.
    pub(in crate::review) fn decide_unopened(
        &mut self,
        files: &[usize],
        mark: ReviewDecision,
    ) -> Vec<ReviewEffect> {
        let units = self.units_of_all(files);
        self.set_together(units, mark);
        vec![ReviewEffect::Remember]
    }

    /// Why the file under the cursor cannot be decided, if it cannot.
    fn refusal(&self) -> Option<String> {
        match &self.files.get(self.file_here()?)?.body {
            ReviewBody::Whole(whole) => whole.refused.clone(),
            ReviewBody::Lines(_) => None,
        }
    }

    /// Several at once: what runs later is not accepted with others.
    fn set_together(&mut self, units: Vec<DecisionUnit>, mark: ReviewDecision) {
        let later = |unit: &DecisionUnit| self.files.get(unit.file()).is_some_and(|f| f.runs_later.is_some());
        let (own, units): (Vec<DecisionUnit>, Vec<DecisionUnit>) =
            units.into_iter().partition(|unit| mark == ReviewDecision::Accepted && later(unit));
        if !units.is_empty() {
            self.set(&units, mark);
        }
        let first = own.first().and_then(|unit| self.files.get(unit.file()));
        if let Some(name) = first.map(|file| file.name.clone()) {
            let others =
                own.iter().map(DecisionUnit::file).collect::<std::collections::BTreeSet<usize>>().len() - 1;
            let more = if others > 0 { format!(" and {others} more") } else { String::new() };
            self.say(format!("{name}{more} needs its own answer: go to the file and accept it on its own"));
        }
    }

    /// Everything that is shown and not decided.
    pub(in crate::review) fn decide_all(&mut self, mark: ReviewDecision) -> Vec<ReviewEffect> {
        let shown: Vec<usize> = self.rows.files.iter().map(|(f, _)| *f).collect();
        let open: Vec<DecisionUnit> =
            self.units_of_all(&shown).into_iter().filter_map(|unit| self.open_part(unit)).collect();
        if open.is_empty() {
            return self.nothing_done("all hunks are decided");
        }
        self.set_together(open, mark);
        vec![ReviewEffect::Remember]
    }

    /// The lines of a unit that are not decided; `None` when all are.
    fn open_part(&self, unit: DecisionUnit) -> Option<DecisionUnit> {
        match unit {
            DecisionUnit::Hunk(f, h) => {
                let hunk = self.lines(f)?.hunks.get(h)?;
                let open: Vec<usize> = hunk
                    .marks
                    .iter()
                    .enumerate()
                    .filter(|(_, m)| **m == ReviewDecision::Open)
                    .map(|(n, _)| n)
                    .collect();
                match open.len() {
                    0 => None,
                    n if n == hunk.marks.len() => Some(DecisionUnit::Hunk(f, h)),
                    _ => Some(DecisionUnit::Lines(f, h, open)),
                }
            }
            DecisionUnit::Whole(f) => (self.mark_of(&DecisionUnit::Whole(f))
                == CombinedDecision::All(ReviewDecision::Open))
            .then_some(DecisionUnit::Whole(f)),
            lines @ DecisionUnit::Lines(..) => Some(lines),
        }
    }

    /// What is decided of these files, each once; of those of a commit, their repository.
    fn units_of_all(&self, files: &[usize]) -> Vec<DecisionUnit> {
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let deciders = files.iter().map(|file| self.decider(*file)).filter(|file| seen.insert(*file));
        deciders.flat_map(|file| self.own_units(file)).collect()
    }

    pub(in crate::review) fn own_units(&self, file: usize) -> Vec<DecisionUnit> {
        match self.files.get(file).map(|f| &f.body) {
            Some(ReviewBody::Lines(lines)) => {
                (0..lines.hunks.len()).map(|h| DecisionUnit::Hunk(file, h)).collect()
            }
            Some(ReviewBody::Whole(whole)) if whole.refused.is_none() => vec![DecisionUnit::Whole(file)],
            _ => Vec::new(),
        }
    }

    fn here(&self) -> Option<DecisionUnit> {
        let row = self.row()?;
        let decider = self.decider(row.file()?);
        if Some(decider) != row.file() {
            return Some(DecisionUnit::Whole(decider));
        }
        if let Some((f, h)) = row.hunk() {
            return Some(DecisionUnit::Hunk(f, h));
        }
        let file = row.file()?;
        let can_be =
            matches!(&self.files.get(file)?.body, ReviewBody::Whole(whole) if whole.refused.is_none());
        can_be.then_some(DecisionUnit::Whole(file))
    }

    fn selected(&self) -> Vec<DecisionUnit> {
        let mut lines: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        let mut units = Vec::new();
        for row in self.selected_rows() {
            if let Some(file) = row.file()
                && self.decider(file) != file
            {
                let whole = DecisionUnit::Whole(self.decider(file));
                if !units.contains(&whole) {
                    units.push(whole);
                }
                continue;
            }
            match row {
                ReviewRow::Line { file, hunk, .. } | ReviewRow::Pair { file, hunk, .. } => {
                    lines.entry((file as usize, hunk as usize)).or_default().extend(row.changed());
                }
                ReviewRow::Blanks { file, hunk } | ReviewRow::Conflict { file, hunk, .. } => {
                    let hunk = DecisionUnit::Hunk(file as usize, hunk as usize);
                    if !units.contains(&hunk) {
                        units.push(hunk);
                    }
                }
                ReviewRow::Fact(file, _) | ReviewRow::Picture(file) | ReviewRow::File(file) => {
                    let whole = DecisionUnit::Whole(file as usize);
                    let is_whole =
                        self.files.get(file as usize).is_some_and(|f| matches!(f.body, ReviewBody::Whole(_)));
                    if is_whole && !units.contains(&whole) {
                        units.push(whole);
                    }
                }
                _ => {}
            }
        }
        units.extend(lines.into_iter().map(|((f, h), ns)| DecisionUnit::Lines(f, h, ns)));
        units
    }

    pub(in crate::review) fn mark_of(&self, unit: &DecisionUnit) -> CombinedDecision {
        let hunk = |f: usize, h: usize| self.lines(f).and_then(|lines| lines.hunks.get(h));
        match unit {
            DecisionUnit::Whole(f) => {
                self.files.get(*f).map_or(CombinedDecision::Mixed, ReviewFile::standing)
            }
            DecisionUnit::Hunk(f, h) => hunk(*f, *h).map_or(CombinedDecision::Mixed, ReviewHunk::standing),
            DecisionUnit::Lines(f, h, ns) => hunk(*f, *h)
                .map_or(CombinedDecision::Mixed, |hunk| standing(ns.iter().map(|n| hunk.mark(*n)))),
        }
    }

    pub(in crate::review) fn set(&mut self, units: &[DecisionUnit], mark: ReviewDecision) {
        if units.iter().all(|unit| self.mark_of(unit) == CombinedDecision::All(mark)) {
            return self.say(match mark {
                ReviewDecision::Accepted => "accepted already",
                ReviewDecision::Rejected => "rejected already",
                ReviewDecision::Open => "not decided yet",
            });
        }
        let words = words(units, mark);
        let mut was = Vec::new();
        for unit in units {
            match unit {
                DecisionUnit::Whole(file) => {
                    if let Some(ReviewBody::Whole(whole)) = self.files.get_mut(*file).map(|f| &mut f.body) {
                        was.push(ReviewUndoItem::Whole { file: *file, was: whole.clone() });
                        whole.mark = mark;
                    }
                }
                DecisionUnit::Hunk(file, hunk) | DecisionUnit::Lines(file, hunk, _) => {
                    let slot = self.lines_mut(*file);
                    let Some(slot) = slot.and_then(|lines| lines.hunks.get_mut(*hunk)) else { continue };
                    was.push(ReviewUndoItem::Hunk { file: *file, hunk: *hunk, was: slot.clone() });
                    match unit {
                        DecisionUnit::Lines(_, _, lines) => {
                            for n in lines {
                                if let Some(slot) = slot.marks.get_mut(*n) {
                                    *slot = mark;
                                }
                            }
                        }
                        _ => slot.marks.fill(mark),
                    }
                }
            }
        }
        self.follow_decisions();
        let unseen = if mark == ReviewDecision::Accepted { self.unseen_words(units) } else { String::new() };
        match unseen.as_str() {
            "" => self.say(words.as_str()),
            unseen => self.say(format!("{words}; not on the screen: {unseen}")),
        }
        self.push_undo(&words, was);
    }

    /// Cuts the hunk so that the cursor's line begins a hunk of its own.
    pub(in crate::review) fn split(&mut self) -> Vec<ReviewEffect> {
        let row = self.row();
        if self.file_here().is_some_and(|file| self.decider(file) != file) {
            return self.nothing_done("a commit is decided as a whole");
        }
        let cut = row.and_then(|row| row.hunk().zip(row.changed().next()));
        let halves = cut.and_then(|((f, h), n)| {
            let lines = self.lines_mut(f)?;
            let (first, second) = lines.hunks.get(h)?.split(n)?;
            let was = ReviewUndoItem::Lines { file: f, was: Box::new(lines.clone()) };
            lines.hunks.splice(h..=h, [first, second]);
            Some((f, h, was))
        });
        let Some((f, h, was)) = halves else {
            return self.nothing_done("a hunk is split above one of its lines, not above its first");
        };
        self.push_undo("split a hunk", vec![was]);
        self.say("split: the cursor is on the second part");
        self.lay_out();
        if let Some(row) = self.rows.of_hunk(f, h + 1) {
            self.window.cursor = row;
        }
        vec![ReviewEffect::Remember]
    }

    /// Marks the hunk as reviewed and moves on; on a file's own row, marks the file.
    pub(in crate::review) fn review_hunk(&mut self) -> Vec<ReviewEffect> {
        match self.here() {
            Some(DecisionUnit::Hunk(f, h)) => {
                let slot = self.lines_mut(f);
                let Some(slot) = slot.and_then(|lines| lines.hunks.get_mut(h)) else { return Vec::new() };
                let was = ReviewUndoItem::Hunk { file: f, hunk: h, was: slot.clone() };
                slot.reviewed = !slot.reviewed;
                let on = slot.reviewed;
                self.say(if on { "reviewed" } else { "not reviewed" });
                self.push_undo("a reviewed mark", vec![was]);
                if on {
                    self.go_to_next_hunk();
                }
                vec![ReviewEffect::Remember]
            }
            _ => self.review_file(),
        }
    }

    pub(in crate::review) fn review_file(&mut self) -> Vec<ReviewEffect> {
        let Some(file) = self.file_here() else { return Vec::new() };
        let Some(slot) = self.files.get_mut(file) else { return Vec::new() };
        let on = !slot.is_reviewed();
        let was = match &mut slot.body {
            ReviewBody::Whole(whole) => {
                let was = whole.clone();
                whole.reviewed = on;
                ReviewUndoItem::Whole { file, was }
            }
            ReviewBody::Lines(lines) => {
                let was = Box::new(lines.clone());
                lines.hunks.iter_mut().for_each(|h| h.reviewed = on);
                ReviewUndoItem::Lines { file, was }
            }
        };
        self.say(if on { "the file is reviewed" } else { "the file is not reviewed" });
        self.push_undo("a reviewed mark", vec![was]);
        vec![ReviewEffect::Remember]
    }
}
