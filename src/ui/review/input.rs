//! What lies over the diff: the keys, the summary before applying, and lines that are typed: comments, searches,
//! filters.

use super::action::ReviewAction;
use super::comment::{CommentTarget, DiffSide, ReviewComment, anchor};
use super::file::ReviewFile;
use super::history::ReviewUndoItem;
use super::rows::ReviewRow;
use super::state::{Review, ReviewEffect, ReviewSubject};
use crate::ui::input::guard::{KeyRole, is_plain};
use crate::ui::keymap::{Keymap, Move};
use crate::ui::text_field::{TextField, TextFieldKind};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Debug)]
pub enum ReviewOverlay {
    None,
    Help { top: usize },
    Summary { top: usize },
    Typing { input: ReviewInput, field: TextField },
}

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewInput {
    Comment(CommentTarget),
    CommentTurn,
    Search,
    Filter,
}

impl Review {
    /// One key.
    pub fn key(&mut self, key: KeyEvent, map: &Keymap<ReviewAction>) -> Vec<ReviewEffect> {
        match std::mem::replace(&mut self.overlay, ReviewOverlay::None) {
            ReviewOverlay::None => map.action(key).map_or_else(Vec::new, |action| self.handle(action)),
            ReviewOverlay::Help { top } => {
                self.help_key(map.action(key), top, map.help().len());
                Vec::new()
            }
            ReviewOverlay::Summary { top } => self.summary_key(key, map.action(key), top),
            ReviewOverlay::Typing { input, field } => self.typing_key(key, input, field),
        }
    }

    /// A paste goes into what is typed, and nowhere else: it is no keys.
    pub fn paste(&mut self, text: &str) {
        if let ReviewOverlay::Typing { field, .. } = &mut self.overlay {
            field.insert(text);
            self.typed();
        }
    }

    fn help_key(&mut self, action: Option<ReviewAction>, top: usize, count: usize) {
        let Some(ReviewAction::Move(step)) = action else { return };
        let page = usize::from(self.size.1.saturating_sub(3));
        self.overlay = ReviewOverlay::Help { top: step.row(top, page, count.saturating_sub(page)) };
    }

    /// The keys that carry out what was decided, and those that decide.
    pub(super) fn guarded(&self, key: KeyEvent, map: &Keymap<ReviewAction>) -> Option<KeyRole> {
        match self.overlay {
            ReviewOverlay::Summary { .. } if matches!(key.code, KeyCode::Char('y' | 's')) => {
                Some(KeyRole::Confirm)
            }
            ReviewOverlay::None => {
                map.action(key).is_some_and(ReviewAction::decides).then_some(KeyRole::Mark)
            }
            _ => None,
        }
    }

    /// Only `y` and `s` carry anything out: Enter opened the summary, and a second one must not confirm it.
    fn summary_key(&mut self, key: KeyEvent, action: Option<ReviewAction>, top: usize) -> Vec<ReviewEffect> {
        let plain = is_plain(key);
        match (key.code, action) {
            (KeyCode::Char('y'), _) if plain => return vec![ReviewEffect::Apply { tell: false }],
            (KeyCode::Char('s'), _) if plain && self.has_news() => {
                return vec![ReviewEffect::Apply { tell: true }];
            }
            (KeyCode::Char('c'), _) => return self.begin(ReviewInput::CommentTurn),
            (_, Some(ReviewAction::Move(step @ (Move::Down | Move::Up)))) => {
                self.overlay = ReviewOverlay::Summary { top: step.row(top, 1, usize::MAX) }
            }
            (KeyCode::Esc | KeyCode::Char('q'), _) => self.say("nothing was applied"),
            _ => self.overlay = ReviewOverlay::Summary { top },
        }
        Vec::new()
    }

    /// Something that the agent would be told.
    pub fn has_news(&self) -> bool {
        self.visible_comments().next().is_some() || self.tally().1 > 0 || self.any_edit()
    }

    pub(super) fn begin(&mut self, input: ReviewInput) -> Vec<ReviewEffect> {
        let mut field = TextField::new(match input {
            ReviewInput::Comment(_) | ReviewInput::CommentTurn => TextFieldKind::Lines,
            ReviewInput::Search => TextFieldKind::Line,
            ReviewInput::Filter => TextFieldKind::Path,
        });
        match &input {
            ReviewInput::Filter => field.insert(&self.filter),
            ReviewInput::Search => self.search.clear(),
            _ => {}
        }
        if matches!(input, ReviewInput::Search) {
            self.history.search_from = self.cursor;
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

    fn typing_key(&mut self, key: KeyEvent, input: ReviewInput, mut field: TextField) -> Vec<ReviewEffect> {
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
                self.search = field.text().to_string();
                self.go_to_first_match(self.history.search_from);
            }
            ReviewInput::Filter => {
                self.filter = field.text().to_string();
                self.apply_filter();
            }
            _ => {}
        }
    }

    fn left(&mut self, input: ReviewInput, mut field: TextField) -> Vec<ReviewEffect> {
        match input {
            ReviewInput::Search => {
                self.search.clear();
                self.cursor = self.history.search_from;
                self.clamp();
            }
            ReviewInput::Filter => {
                self.filter.clear();
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
                self.search = text;
                if self.rows.list.is_empty() || self.search.is_empty() {
                    return Vec::new();
                }
                let here = self.cursor;
                self.go_to_first_match(here);
                return Vec::new();
            }
            ReviewInput::Filter => {
                self.filter = text;
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
        self.say(match self.subject {
            ReviewSubject::Pending => "commented; D deletes it, and applying sends it to the agent",
            ReviewSubject::Patch => "commented; D deletes it, and it is printed when you leave",
        });
        vec![ReviewEffect::Remember]
    }

    pub(super) fn add_comment(&mut self, target: CommentTarget, text: String) {
        self.push_undo("a comment", vec![ReviewUndoItem::Comments(self.comments.clone())]);
        let id = self.next_comment;
        self.next_comment += 1;
        self.comments.push(ReviewComment { id, target, text });
        self.lay_out();
    }

    /// A comment on the selected lines: of one side, the new one where both are selected.
    pub(super) fn begin_comment(&mut self) -> Vec<ReviewEffect> {
        let rows = self.rows.list.get(self.selection()).unwrap_or_default().to_vec();
        let file = rows.iter().find_map(ReviewRow::file);
        let target = file.and_then(|f| self.lines_target(f, &rows));
        match (target, file) {
            (Some(target), _) => {
                self.anchor = None;
                self.begin(ReviewInput::Comment(target))
            }
            (None, Some(_)) => self.begin_file_comment(),
            (None, None) => self.begin(ReviewInput::CommentTurn),
        }
    }

    pub(super) fn begin_file_comment(&mut self) -> Vec<ReviewEffect> {
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
        let (mut old, mut new): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut changed = |hunk: u32, n: u32| {
            let Some(hunk) = lines.hunks.get(hunk as usize) else { return };
            match (n as usize).checked_sub(hunk.old.len()) {
                None => old.push(hunk.old.start + n as usize),
                Some(n) => new.push(hunk.new.start + n),
            }
        };
        let mut same = Vec::new();
        for row in rows.iter().filter(|row| row.file() == Some(f)) {
            match *row {
                ReviewRow::Line { hunk, n, .. } => changed(hunk, n),
                ReviewRow::Pair { hunk, old, new, .. } => {
                    old.into_iter().chain(new).for_each(|n| changed(hunk, n))
                }
                ReviewRow::Same { new, .. } => same.push(new as usize),
                _ => {}
            }
        }
        new.extend(same);
        let (side, doc, picked) = match new.is_empty() {
            true => (DiffSide::Old, &lines.old, old),
            false => (DiffSide::New, &lines.new, new),
        };
        let (first, last) = (*picked.iter().min()?, *picked.iter().max()?);
        let range = first..last + 1;
        let anchor = anchor(doc, &range);
        Some(CommentTarget::Lines { path: file.path.clone(), side, lines: range, anchor, stale: false })
    }

    pub(super) fn delete_comment(&mut self) -> Vec<ReviewEffect> {
        let Some(ReviewRow::Note(n)) = self.row() else {
            self.say("no comment here");
            return Vec::new();
        };
        self.push_undo("the deletion of a comment", vec![ReviewUndoItem::Comments(self.comments.clone())]);
        if (n as usize) < self.comments.len() {
            self.comments.remove(n as usize);
        }
        self.lay_out();
        self.say("the comment is deleted; u restores it");
        vec![ReviewEffect::Remember]
    }

    pub(super) fn edit(&mut self) -> Vec<ReviewEffect> {
        match self.row().and_then(|row| row.hunk()) {
            Some((file, hunk)) => vec![ReviewEffect::Edit { file, hunk }],
            None => {
                self.say("no hunk here; ] goes to the next one");
                Vec::new()
            }
        }
    }

    pub(super) fn open(&mut self) -> Vec<ReviewEffect> {
        let Some(file) = self.file_here() else { return Vec::new() };
        let lines = self.files.get(file).and_then(ReviewFile::lines);
        let line = match (self.row(), lines) {
            (Some(ReviewRow::Same { new, .. }), Some(lines)) => lines.new_number(new as usize),
            (Some(row), Some(lines)) => {
                let hunk = row.hunk().and_then(|(_, h)| lines.hunks.get(h));
                hunk.map_or(1, |h| {
                    let within = match row {
                        ReviewRow::Line { n, .. } => (n as usize).saturating_sub(h.old.len()),
                        ReviewRow::Pair { new: Some(n), .. } => (n as usize).saturating_sub(h.old.len()),
                        _ => 0,
                    };
                    lines.new_number(h.new.start + within)
                })
            }
            _ => 1,
        };
        vec![ReviewEffect::Open { file, line }]
    }

    /// The exact text of the line, or of the lines selected, without gutters.
    pub(super) fn yank(&mut self) -> Vec<ReviewEffect> {
        let mut rows = self.rows.list.get(self.selection()).unwrap_or_default().to_vec();
        rows.iter_mut().for_each(|row| *row = row.whole());
        rows.dedup();
        let mut bytes: Vec<u8> = Vec::new();
        for row in rows {
            let Some(lines) = row.file().and_then(|f| self.files.get(f)).and_then(ReviewFile::lines) else {
                continue;
            };
            let mut changed = |hunk: u32, n: u32| {
                let Some(hunk) = lines.hunks.get(hunk as usize) else { return };
                match (n as usize).checked_sub(hunk.old.len()) {
                    None => bytes.extend(
                        lines.old.bytes(hunk.old.start + n as usize..hunk.old.start + n as usize + 1),
                    ),
                    Some(n) => bytes.extend(lines.new.bytes(hunk.new.start + n..hunk.new.start + n + 1)),
                }
            };
            match row {
                ReviewRow::Same { new, .. } => bytes.extend(lines.new.bytes(new as usize..new as usize + 1)),
                ReviewRow::Line { hunk, n, .. } => changed(hunk, n),
                ReviewRow::Pair { hunk, old, new, .. } => {
                    if let Some(n) = new.or(old) {
                        changed(hunk, n);
                    }
                }
                _ => {}
            }
        }
        if bytes.is_empty() {
            self.say("no line to copy here");
            return Vec::new();
        }
        self.anchor = None;
        vec![ReviewEffect::Copy(String::from_utf8_lossy(&bytes).into_owned())]
    }
}
