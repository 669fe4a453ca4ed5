//! Lines that are typed: comments, searches, filters; and what becomes of them.

use super::history::ReviewUndoItem;
use super::overlay::{ReviewInput, ReviewOverlay};
use crate::review::content::comment::CommentTarget;
use crate::review::content::side_text::DiffSide;
use crate::review::picture::rows::ReviewRow;
use crate::review::state::{Review, ReviewEffect, ReviewSubject};
use crate::text_field::{TextField, TextFieldKind};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

impl Review {
    /// A paste goes into the typed text, and nowhere else: its characters are never keys.
    pub fn paste(&mut self, text: &str) {
        if let ReviewOverlay::Typing { field, .. } = &mut self.overlay {
            field.insert(text);
            self.typed();
        }
    }

    pub(in crate::review) fn begin(&mut self, input: ReviewInput) -> Vec<ReviewEffect> {
        let mut field = TextField::new(match input {
            ReviewInput::Comment(_) | ReviewInput::CommentTurn => TextFieldKind::Lines,
            ReviewInput::Search => TextFieldKind::Line,
            ReviewInput::Filter => TextFieldKind::Path,
        });
        match &input {
            ReviewInput::Filter => field.insert(&self.finder.filter),
            ReviewInput::Search => self.finder.search.clear(),
            _ => {}
        }
        if matches!(input, ReviewInput::Search) {
            self.finder.search_from = self.window.cursor;
        }
        // A comment that was left with Escape is not lost.
        if let Some((of, text)) = self.history.draft.take() {
            if of == input {
                field.insert(&text);
            } else {
                self.history.draft = Some((of, text));
            }
        }
        self.overlay = ReviewOverlay::Typing { input, field };
        Vec::new()
    }

    pub(in crate::review) fn typing_key(
        &mut self,
        key: KeyEvent,
        input: ReviewInput,
        mut field: TextField,
    ) -> Vec<ReviewEffect> {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return self.left(input, field),
            KeyCode::Char('c') if ctrl => return self.left(input, field),
            _ if field.is_end(key) => return self.entered(input, field.take()),
            _ => drop(field.key(key)),
        }
        self.overlay = ReviewOverlay::Typing { input, field };
        self.typed();
        Vec::new()
    }

    /// Searches and filters act while they are typed.
    fn typed(&mut self) {
        let ReviewOverlay::Typing { input, field } = &self.overlay else { return };
        match input {
            ReviewInput::Search => {
                self.finder.search = field.text().to_string();
                self.go_to_first_match(self.finder.search_from);
            }
            ReviewInput::Filter => {
                self.finder.filter = field.text().to_string();
                self.apply_filter();
            }
            _ => {}
        }
    }

    fn left(&mut self, input: ReviewInput, mut field: TextField) -> Vec<ReviewEffect> {
        match input {
            ReviewInput::Search => {
                self.finder.search.clear();
                self.window.cursor = self.finder.search_from;
                self.clamp();
            }
            ReviewInput::Filter => {
                self.finder.filter.clear();
                self.apply_filter();
            }
            _ if field.is_empty() => {}
            _ => {
                self.say("the comment was not added; the same key restores its text");
                self.history.draft = Some((input, field.take()));
            }
        }
        Vec::new()
    }

    fn entered(&mut self, input: ReviewInput, text: String) -> Vec<ReviewEffect> {
        let target = match input {
            ReviewInput::Search => {
                self.finder.search = text;
                if self.rows.list.is_empty() || self.finder.search.is_empty() {
                    return Vec::new();
                }
                let here = self.window.cursor;
                self.go_to_first_match(here);
                return Vec::new();
            }
            ReviewInput::Filter => {
                self.finder.filter = text;
                self.apply_filter();
                if self.rows.files.is_empty() {
                    self.say("no file matches; f changes the filter, Esc ends it");
                }
                return Vec::new();
            }
            ReviewInput::CommentTurn => CommentTarget::Turn,
            ReviewInput::Comment(target) => target,
        };
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.add_comment(target, text);
        let words = match (self.task.subject, &self.task.program) {
            (ReviewSubject::Pending, _) if self.task.is_unread => {
                "commented; D deletes it, and it is kept with these changes".into()
            }
            (ReviewSubject::Pending, Some(program)) => {
                format!("commented; D deletes it, and the question offers to run {program} again with it")
            }
            (ReviewSubject::Pending, None) => {
                "commented; D deletes it, and applying sends it to the agent".into()
            }
            (ReviewSubject::Compare, _) => {
                "commented; D deletes it, and it is saved with this comparison".into()
            }
            (ReviewSubject::Patch | ReviewSubject::Stage | ReviewSubject::Unstage, _) => {
                "commented; D deletes it, and it is printed when you leave".into()
            }
        };
        self.say(words);
        vec![ReviewEffect::Remember]
    }

    pub(in crate::review) fn add_comment(&mut self, target: CommentTarget, text: String) {
        self.push_undo("a comment", vec![ReviewUndoItem::Comments(self.comments.list.clone())]);
        self.comments.add(target, text);
        self.lay_out();
    }

    /// A comment on the selected lines: of one side, the new one where both are selected.
    pub(in crate::review) fn begin_comment(&mut self) -> Vec<ReviewEffect> {
        let rows = self.rows.list.get(self.window.selection()).unwrap_or_default().to_vec();
        let file = rows.iter().find_map(ReviewRow::file);
        let target = file.and_then(|f| self.lines_target(f, &rows));
        match (target, file) {
            (Some(target), _) => {
                self.window.anchor = None;
                self.begin(ReviewInput::Comment(target))
            }
            (None, Some(_)) => self.begin_file_comment(),
            (None, None) => self.begin(ReviewInput::CommentTurn),
        }
    }

    pub(in crate::review) fn begin_file_comment(&mut self) -> Vec<ReviewEffect> {
        match self.file_here().and_then(|f| self.files.get(f)) {
            Some(file) => {
                let path = file.path.clone();
                self.begin(ReviewInput::Comment(CommentTarget::File { path }))
            }
            None => Vec::new(),
        }
    }

    fn lines_target(&self, f: usize, rows: &[ReviewRow]) -> Option<CommentTarget> {
        let file = self.files.get(f)?;
        let lines = file.lines()?;
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for row in rows.iter().filter(|row| row.file() == Some(f)) {
            if let ReviewRow::Same { new: line, .. } = *row {
                new.push(line as usize);
            }
            for (side, line) in self.changed_lines(*row) {
                if side == DiffSide::Old { old.push(line) } else { new.push(line) }
            }
        }
        let (side, picked) = if new.is_empty() { (DiffSide::Old, old) } else { (DiffSide::New, new) };
        let (first, last) = (*picked.iter().min()?, *picked.iter().max()?);
        Some(CommentTarget::of(&file.path, lines, side, first..last + 1))
    }

    pub(in crate::review) fn delete_comment(&mut self) -> Vec<ReviewEffect> {
        let Some(ReviewRow::Note(n)) = self.row() else {
            return self.nothing_done("no comment here");
        };
        self.push_undo(
            "the deletion of a comment",
            vec![ReviewUndoItem::Comments(self.comments.list.clone())],
        );
        if (n as usize) < self.comments.list.len() {
            self.comments.list.remove(n as usize);
        }
        self.lay_out();
        self.say("the comment is deleted; u restores it");
        vec![ReviewEffect::Remember]
    }
}
