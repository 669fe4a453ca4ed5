//! Moving: lines, screens, hunks, files, matches; and the parts of the picture that are switched on the way.

use super::query::ReviewQuery;
use crate::keymap::Move;
use crate::review::action::ReviewAction;
use crate::review::content::side_text::DiffSide;
use crate::review::picture::rows::ReviewRow;
use crate::review::state::{Review, ReviewFocus};

impl Review {
    pub(in crate::review) fn go(&mut self, action: ReviewAction) {
        let page = usize::from(self.window.size.1.saturating_sub(3).max(1));
        let last = self.rows.list.len().saturating_sub(1);
        let at = self.window.cursor;
        match action {
            ReviewAction::Move(Move::Top) => (self.window.cursor, self.window.top) = (0, (0, 0)),
            ReviewAction::Move(Move::Right) => self.window.left = (self.window.left + 8).min(100_000),
            ReviewAction::Move(Move::Left) => self.window.left = self.window.left.saturating_sub(8),
            ReviewAction::Move(step) => self.window.cursor = step.row(at, page, last),
            ReviewAction::NextHunk => self.jump(self.hunk_rows(), 1, "hunk"),
            ReviewAction::PrevHunk => self.jump(self.hunk_rows(), -1, "hunk"),
            ReviewAction::NextFile => self.jump(self.file_rows(), 1, "file"),
            ReviewAction::PrevFile => self.jump(self.file_rows(), -1, "file"),
            ReviewAction::NextOpen => self.go_to_open(),
            ReviewAction::NextMatch => self.go_to_match(1),
            ReviewAction::PrevMatch => self.go_to_match(-1),
            ReviewAction::Visual => {
                self.window.anchor = if self.window.anchor.is_some() { None } else { Some(at) }
            }
            ReviewAction::More => self.context(1),
            ReviewAction::Less => self.context(-1),
            ReviewAction::Side => {
                self.layout.side = !self.layout.side;
                self.lay_out();
            }
            ReviewAction::Whitespace => {
                self.layout.hide_blanks = !self.layout.hide_blanks;
                self.lay_out();
                self.say(match self.layout.hide_blanks {
                    true => "hunks that change only blanks are hidden",
                    false => "hunks that change only blanks are shown",
                });
            }
            ReviewAction::Invisibles => self.look.invisibles = !self.look.invisibles,
            ReviewAction::Wrap => {
                self.look.wrap = !self.look.wrap;
                self.window.left = 0;
                self.say(if self.look.wrap {
                    "long lines are wrapped"
                } else {
                    "long lines: h and l scroll"
                });
            }
            ReviewAction::Fold => self.fold(),
            ReviewAction::Tree => {
                self.look.tree = Some(!self.shows_tree());
                self.look.focus = ReviewFocus::Diff;
            }
            ReviewAction::Focus => {
                self.look.focus = ReviewFocus::Tree;
                self.look.tree = Some(true);
                let here = self.file_here().and_then(|f| self.tree.of_file(f));
                self.tree.cursor = here.unwrap_or(0);
            }
            _ => {}
        }
        self.clamp();
    }

    pub(in crate::review) fn go_to_next_hunk(&mut self) {
        let at = self.window.cursor;
        let hunk = self.row().and_then(|row| row.hunk());
        let mut later = self.rows.hunks.iter().filter(|(f, h, row)| *row > at && Some((*f, *h)) != hunk);
        if let Some((_, _, row)) = later.next() {
            self.window.cursor = *row;
        }
    }

    fn hunk_rows(&self) -> Vec<usize> {
        self.rows.hunks.iter().map(|(_, _, row)| *row).collect()
    }

    fn file_rows(&self) -> Vec<usize> {
        self.rows.files.iter().map(|(_, row)| *row).collect()
    }

    fn jump(&mut self, rows: Vec<usize>, direction: isize, what: &str) {
        let at = self.window.cursor;
        let (found, place) = match direction {
            1.. => (rows.into_iter().find(|row| *row > at), "after"),
            _ => (rows.into_iter().rev().find(|row| *row < at), "before"),
        };
        match found {
            Some(row) => self.window.cursor = row,
            None => self.say(format!("no {what} {place} this one")),
        }
    }

    /// The next hunk that is not decided, from the beginning again after the last.
    fn go_to_open(&mut self) {
        let at = self.window.cursor;
        let is_open = |f: usize, h: usize| {
            let Some(file) = self.files.get(f) else { return false };
            match file.lines() {
                Some(lines) => lines.hunks.get(h).is_some_and(|hunk| !hunk.is_decided()),
                None => file.decided() == 0,
            }
        };
        let open: Vec<usize> =
            self.rows.hunks.iter().filter(|(f, h, _)| is_open(*f, *h)).map(|(_, _, row)| *row).collect();
        match open.iter().find(|row| **row > at).or(open.first()) {
            Some(row) => self.window.cursor = *row,
            None => self.say("all hunks are decided"),
        }
    }

    /// Moves to a row with a match, in this direction and around the end.
    pub(in crate::review) fn go_to_match(&mut self, direction: isize) {
        if self.finder.search.is_empty() {
            self.say("no search; / starts one");
            return;
        }
        let count = self.rows.list.len();
        let needle = ReviewQuery::new(&self.finder.search);
        let step = |n: usize| match direction {
            1.. => (self.window.cursor + n) % count.max(1),
            _ => (self.window.cursor + count - n % count.max(1)) % count.max(1),
        };
        match (1..=count).map(step).find(|row| self.has(*row, &needle)) {
            Some(row) => self.window.cursor = row,
            None => {
                self.say(format!("no match for `{}`", placet_text::text::sanitize::line(&self.finder.search)))
            }
        }
    }

    /// The first match at or after the cursor: while the search is typed.
    pub(in crate::review) fn go_to_first_match(&mut self, from: usize) {
        let count = self.rows.list.len();
        let needle = ReviewQuery::new(&self.finder.search);
        let found = (0..count).map(|n| (from + n) % count.max(1)).find(|row| self.has(*row, &needle));
        self.window.cursor = found.unwrap_or(from);
    }

    fn has(&self, row: usize, needle: &ReviewQuery) -> bool {
        self.rows.list.get(row).is_some_and(|row| self.texts(*row).iter().any(|text| needle.is_in(text)))
    }

    /// What a row says, for searching: both sides where there are two.
    fn texts(&self, row: ReviewRow) -> Vec<&str> {
        match row {
            ReviewRow::File(f) => self.files.get(f as usize).map(|f| f.name.as_str()).into_iter().collect(),
            ReviewRow::Note(n) => {
                self.comments.list.get(n as usize).map(|c| c.text.as_str()).into_iter().collect()
            }
            ReviewRow::Same { file, new, part, .. } => {
                let new_line = (DiffSide::New, new as usize);
                self.part_of(file, new_line, part).into_iter().collect()
            }
            ReviewRow::Line { file, part, .. } | ReviewRow::Pair { file, part, .. } => {
                self.changed_lines(row).into_iter().filter_map(|at| self.part_of(file, at, part)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn part_of(&self, file: u32, (side, line): (DiffSide, usize), part: u32) -> Option<&str> {
        let doc = self.lines(file as usize)?.side(side);
        doc.line(line).get(doc.part(line, part as usize))
    }
}
