//! What lies over the diff: the keys, the summary before applying, and lines that are typed: comments, searches,
//! filters.

use super::action::Action;
use super::comment::{Comment, Side, Target, anchor};
use super::file::File;
use super::history::Was;
use super::rows::Row;
use super::state::{Effect, Review, Subject};
use crate::ui::composer::Composer;
use crate::ui::input::guard::{Role, is_plain};
use crate::ui::keymap::Keymap;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

#[derive(Debug)]
pub enum Overlay {
    None,
    Help { top: usize },
    Summary { top: usize },
    Typing { input: Input, composer: Composer },
}

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Comment(Target),
    CommentTurn,
    Search,
    Filter,
}

impl Review {
    /// One key.
    pub fn key(&mut self, key: KeyEvent, map: &Keymap<Action>) -> Vec<Effect> {
        match std::mem::replace(&mut self.overlay, Overlay::None) {
            Overlay::None => map.action(key).map_or_else(Vec::new, |action| self.handle(action)),
            Overlay::Help { top } => {
                self.help_key(map.action(key), top, map.help().len());
                Vec::new()
            }
            Overlay::Summary { top } => self.summary_key(key, map.action(key), top),
            Overlay::Typing { input, composer } => self.typing_key(key, input, composer),
        }
    }

    /// A paste goes into what is typed, and nowhere else: it is no keys.
    pub fn paste(&mut self, text: &str) {
        if let Overlay::Typing { input, composer } = &mut self.overlay {
            let text = text.replace("\r\n", "\n").replace('\r', "\n");
            match input {
                Input::Comment(_) | Input::CommentTurn => composer.insert(&text),
                _ => composer.insert(text.lines().next().unwrap_or("")),
            }
            self.typed();
        }
    }

    fn help_key(&mut self, action: Option<Action>, top: usize, count: usize) {
        let last = count.saturating_sub(usize::from(self.size.1.saturating_sub(3)));
        let top = match action {
            Some(Action::Down) => top + 1,
            Some(Action::Up) => top.saturating_sub(1),
            Some(Action::PageDown | Action::HalfDown) => top + usize::from(self.size.1 / 2),
            Some(Action::PageUp | Action::HalfUp) => top.saturating_sub(usize::from(self.size.1 / 2)),
            Some(Action::Top) => 0,
            Some(Action::Bottom) => last,
            _ => return,
        };
        self.overlay = Overlay::Help { top: top.min(last) };
    }

    /// The keys that carry out what was decided, and those that decide.
    pub(super) fn guarded(&self, key: KeyEvent, map: &Keymap<Action>) -> Option<Role> {
        match self.overlay {
            Overlay::Summary { .. } if matches!(key.code, KeyCode::Char('y' | 's')) => Some(Role::Confirm),
            Overlay::None => map.action(key).is_some_and(Action::decides).then_some(Role::Mark),
            _ => None,
        }
    }

    /// Only `y` and `s` carry anything out: Enter opened the summary, and a second one must not confirm it.
    fn summary_key(&mut self, key: KeyEvent, action: Option<Action>, top: usize) -> Vec<Effect> {
        let plain = is_plain(key);
        match (key.code, action) {
            (KeyCode::Char('y'), _) if plain => return vec![Effect::Apply { tell: false }],
            (KeyCode::Char('s'), _) if plain && self.has_news() => return vec![Effect::Apply { tell: true }],
            (KeyCode::Char('c'), _) => return self.begin(Input::CommentTurn),
            (_, Some(Action::Down)) => self.overlay = Overlay::Summary { top: top + 1 },
            (_, Some(Action::Up)) => self.overlay = Overlay::Summary { top: top.saturating_sub(1) },
            (KeyCode::Esc | KeyCode::Char('q'), _) => self.say("nothing was applied"),
            _ => self.overlay = Overlay::Summary { top },
        }
        Vec::new()
    }

    /// Something that the agent would be told.
    pub fn has_news(&self) -> bool {
        self.said().next().is_some() || self.tally().1 > 0 || self.any_edit()
    }

    pub(super) fn begin(&mut self, input: Input) -> Vec<Effect> {
        let mut composer = Composer::default();
        match &input {
            Input::Filter => composer.insert(&self.filter),
            Input::Search => self.search.clear(),
            _ => {}
        }
        if matches!(input, Input::Search) {
            self.history.search_from = self.cursor;
        }
        // A comment that was left with Escape is not lost.
        if let Some((of, text)) = self.history.draft.take() {
            if of == input {
                composer.insert(&text);
            } else {
                self.history.draft = Some((of, text));
            }
        }
        self.overlay = Overlay::Typing { input, composer };
        Vec::new()
    }

    fn typing_key(&mut self, key: KeyEvent, input: Input, mut composer: Composer) -> Vec<Effect> {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let newline = key.code == KeyCode::Enter
            && key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SHIFT)
            || key.code == KeyCode::Char('j') && ctrl;
        match key.code {
            KeyCode::Esc => return self.left(input, composer),
            KeyCode::Char('c') if ctrl => return self.left(input, composer),
            _ if newline && matches!(input, Input::Comment(_) | Input::CommentTurn) => composer.insert("\n"),
            KeyCode::Enter => return self.entered(input, composer.take()),
            _ => composer.key(key),
        }
        self.overlay = Overlay::Typing { input, composer };
        self.typed();
        Vec::new()
    }

    /// Searches and filters act while they are typed.
    fn typed(&mut self) {
        let Overlay::Typing { input, composer } = &self.overlay else { return };
        match input {
            Input::Search => {
                self.search = composer.text().to_string();
                self.go_to_first_match(self.history.search_from);
            }
            Input::Filter => {
                self.filter = composer.text().to_string();
                self.apply_filter();
            }
            _ => {}
        }
    }

    fn left(&mut self, input: Input, mut composer: Composer) -> Vec<Effect> {
        match input {
            Input::Search => {
                self.search.clear();
                self.cursor = self.history.search_from;
                self.clamp();
            }
            Input::Filter => {
                self.filter.clear();
                self.apply_filter();
            }
            _ if composer.is_empty() => {}
            _ => {
                self.say("the comment was not added; the same key brings its text back");
                self.history.draft = Some((input, composer.take()));
            }
        }
        Vec::new()
    }

    fn entered(&mut self, input: Input, text: String) -> Vec<Effect> {
        let target = match input {
            Input::Search => {
                self.search = text;
                if self.rows.list.is_empty() || self.search.is_empty() {
                    return Vec::new();
                }
                let here = self.cursor;
                self.go_to_first_match(here);
                return Vec::new();
            }
            Input::Filter => {
                self.filter = text;
                self.apply_filter();
                if self.rows.files.is_empty() {
                    self.say("no file matches; f changes the filter, Esc ends it");
                }
                return Vec::new();
            }
            Input::CommentTurn => Target::Turn,
            Input::Comment(target) => target,
        };
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.add_comment(target, text);
        self.say(match self.subject {
            Subject::Pending => "commented; D deletes it, and applying sends it to the agent",
            Subject::Patch => "commented; D deletes it, and it is printed when you leave",
        });
        vec![Effect::Remember]
    }

    pub(super) fn add_comment(&mut self, target: Target, text: String) {
        self.keep("a comment", vec![Was::Comments(self.comments.clone())]);
        let id = self.next_comment;
        self.next_comment += 1;
        self.comments.push(Comment { id, target, text });
        self.lay_out();
    }

    /// A comment on the selected lines: of one side, the new one where both are selected.
    pub(super) fn begin_comment(&mut self) -> Vec<Effect> {
        let rows = self.rows.list.get(self.selection()).unwrap_or_default().to_vec();
        let file = rows.iter().find_map(Row::file);
        let target = file.and_then(|f| self.lines_target(f, &rows));
        match (target, file) {
            (Some(target), _) => {
                self.anchor = None;
                self.begin(Input::Comment(target))
            }
            (None, Some(_)) => self.begin_file_comment(),
            (None, None) => self.begin(Input::CommentTurn),
        }
    }

    pub(super) fn begin_file_comment(&mut self) -> Vec<Effect> {
        match self.file_here().and_then(|f| self.files.get(f)) {
            Some(file) => {
                let path = file.path.clone();
                self.begin(Input::Comment(Target::File { path }))
            }
            None => Vec::new(),
        }
    }

    fn lines_target(&self, f: usize, rows: &[Row]) -> Option<Target> {
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
                Row::Line { hunk, n, .. } => changed(hunk, n),
                Row::Pair { hunk, old, new, .. } => old.into_iter().chain(new).for_each(|n| changed(hunk, n)),
                Row::Same { new, .. } => same.push(new as usize),
                _ => {}
            }
        }
        new.extend(same);
        let (side, doc, picked) = match new.is_empty() {
            true => (Side::Old, &lines.old, old),
            false => (Side::New, &lines.new, new),
        };
        let (first, last) = (*picked.iter().min()?, *picked.iter().max()?);
        let range = first..last + 1;
        let anchor = anchor(doc, &range);
        Some(Target::Lines { path: file.path.clone(), side, lines: range, anchor, stale: false })
    }

    pub(super) fn delete_comment(&mut self) -> Vec<Effect> {
        let Some(Row::Note(n)) = self.row() else {
            self.say("no comment here");
            return Vec::new();
        };
        self.keep("the deletion of a comment", vec![Was::Comments(self.comments.clone())]);
        if (n as usize) < self.comments.len() {
            self.comments.remove(n as usize);
        }
        self.lay_out();
        self.say("the comment is deleted; u brings it back");
        vec![Effect::Remember]
    }

    pub(super) fn edit(&mut self) -> Vec<Effect> {
        match self.row().and_then(|row| row.hunk()) {
            Some((file, hunk)) => vec![Effect::Edit { file, hunk }],
            None => {
                self.say("no hunk here; ] goes to the next one");
                Vec::new()
            }
        }
    }

    pub(super) fn open(&mut self) -> Vec<Effect> {
        let Some(file) = self.file_here() else { return Vec::new() };
        let lines = self.files.get(file).and_then(File::lines);
        let line = match (self.row(), lines) {
            (Some(Row::Same { new, .. }), Some(lines)) => lines.new_number(new as usize),
            (Some(row), Some(lines)) => {
                let hunk = row.hunk().and_then(|(_, h)| lines.hunks.get(h));
                hunk.map_or(1, |h| {
                    let within = match row {
                        Row::Line { n, .. } => (n as usize).saturating_sub(h.old.len()),
                        Row::Pair { new: Some(n), .. } => (n as usize).saturating_sub(h.old.len()),
                        _ => 0,
                    };
                    lines.new_number(h.new.start + within)
                })
            }
            _ => 1,
        };
        vec![Effect::Open { file, line }]
    }

    /// The exact text of the line, or of the lines selected, without gutters.
    pub(super) fn yank(&mut self) -> Vec<Effect> {
        let mut rows = self.rows.list.get(self.selection()).unwrap_or_default().to_vec();
        rows.iter_mut().for_each(|row| *row = row.whole());
        rows.dedup();
        let mut bytes: Vec<u8> = Vec::new();
        for row in rows {
            let Some(lines) = row.file().and_then(|f| self.files.get(f)).and_then(File::lines) else {
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
                Row::Same { new, .. } => bytes.extend(lines.new.bytes(new as usize..new as usize + 1)),
                Row::Line { hunk, n, .. } => changed(hunk, n),
                Row::Pair { hunk, old, new, .. } => {
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
        vec![Effect::Copy(String::from_utf8_lossy(&bytes).into_owned())]
    }
}
