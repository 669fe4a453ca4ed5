//! The field in which a person types: a cursor, the editing keys of bash, pastes, and the part of the text that fits.
//!
//! Drafts, answers, filters, searches, paths and comments are all typed in it, so every key does the same everywhere.
//! Enter, Esc and the history belong to the owner of the field.

#[cfg(test)]
mod tests;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use placet_text::text::visible::prose_line;
use placet_text::text::width;
use unicode_segmentation::UnicodeSegmentation;

/// What is typed in a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextFieldKind {
    /// One line: a line break in a paste becomes a blank.
    #[default]
    Line,
    /// One line with paths in it: Ctrl-W stops at a slash, too.
    Path,
    /// Several lines: Ctrl-J, and Enter with a modifier, begin the next line.
    Lines,
}

#[derive(Debug, Default)]
pub struct TextField {
    kind: TextFieldKind,
    text: String,
    /// A byte index on a grapheme boundary.
    at: usize,
    /// What was cut last, for Ctrl-Y.
    cut: String,
}

/// What a key does with the text between the cursor and the place that the key names.
enum TextFieldEdit {
    Move,
    Delete,
    Cut,
}

impl TextField {
    pub fn new(kind: TextFieldKind) -> TextField {
        TextField { kind, ..TextField::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn take(&mut self) -> String {
        self.at = 0;
        std::mem::take(&mut self.text)
    }

    pub fn set(&mut self, text: &str) {
        self.take();
        self.insert(text);
    }

    /// Inserts all of `text` at the cursor, as this kind of field can show it.
    pub fn insert(&mut self, text: &str) {
        let mut text = text.replace("\r\n", "\n").replace('\r', "\n");
        if self.kind != TextFieldKind::Lines {
            text = text.trim_end_matches('\n').replace('\n', " ");
        }
        self.text.insert_str(self.at, &text);
        self.at += text.len();
    }

    /// True for the key that ends what is typed. In a field of several lines, Enter with a modifier does not.
    pub fn is_end(&self, key: KeyEvent) -> bool {
        key.code == KeyCode::Enter && (self.kind != TextFieldKind::Lines || key.modifiers.is_empty())
    }

    /// Takes a key; true when the text has changed.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        use KeyCode::{Backspace, Char, Delete, End, Enter, Home, Left, Right};
        use TextFieldEdit::{Cut, Delete as Drop, Move};
        let held = |modifiers| key.modifiers.intersects(modifiers);
        if held(KeyModifiers::SUPER | KeyModifiers::HYPER | KeyModifiers::META) {
            return false;
        }
        let (ctrl, alt) = (held(KeyModifiers::CONTROL), held(KeyModifiers::ALT));
        let (edit, to) = match (key.code, ctrl, alt) {
            (Left, false, false) | (Char('b'), true, false) => (Move, self.previous()),
            (Right, false, false) | (Char('f'), true, false) => (Move, self.next()),
            (Left, ..) | (Char('b'), false, true) => (Move, self.word_start(is_letter)),
            (Right, ..) | (Char('f'), false, true) => (Move, self.word_end()),
            (Home, ..) | (Char('a'), true, false) => (Move, 0),
            (End, ..) | (Char('e'), true, false) => (Move, self.text.len()),
            (Backspace, false, false) | (Char('h'), true, false) => (Drop, self.previous()),
            (Delete, false, false) | (Char('d'), true, false) => (Drop, self.next()),
            (Char('w'), true, false) if self.kind == TextFieldKind::Path => (Cut, self.word_start(is_name)),
            (Char('w'), true, false) => (Cut, self.word_start(is_no_blank)),
            (Backspace, ..) => (Cut, self.word_start(is_letter)),
            (Delete, ..) | (Char('d'), false, true) => (Cut, self.word_end()),
            (Char('u'), true, false) => (Cut, 0),
            (Char('k'), true, false) => (Cut, self.text.len()),
            (Char('y'), true, false) => return self.type_text(&self.cut.clone()),
            (Char('j'), true, false) if self.kind == TextFieldKind::Lines => return self.type_text("\n"),
            (Enter, ..) if !self.is_end(key) => return self.type_text("\n"),
            (Char(c), false, false) => return self.type_text(c.encode_utf8(&mut [0; 4])),
            _ => return false,
        };
        let range = self.at.min(to)..self.at.max(to);
        self.at = if let Move = edit { to } else { range.start };
        if matches!(edit, Move) || range.is_empty() {
            return false;
        }
        let removed: String = self.text.drain(range).collect();
        if let Cut = edit {
            self.cut = removed;
        }
        true
    }

    fn type_text(&mut self, text: &str) -> bool {
        self.insert(text);
        !text.is_empty()
    }

    fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or("")
    }

    fn after(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn previous(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        self.at + self.after().graphemes(true).next().map_or(0, str::len)
    }

    /// Where the word before the cursor begins; what is in no word is passed over first.
    fn word_start(&self, is_in_word: fn(&str) -> bool) -> usize {
        let (mut at, mut has_begun) = (self.at, false);
        for (start, grapheme) in self.before().grapheme_indices(true).rev() {
            match is_in_word(grapheme) {
                true => has_begun = true,
                false if has_begun => break,
                false => {}
            }
            at = start;
        }
        at
    }

    /// Where the word after the cursor ends.
    fn word_end(&self) -> usize {
        let mut graphemes = self.after().grapheme_indices(true).skip_while(|(_, g)| !is_letter(g));
        let end = graphemes.find(|(_, grapheme)| !is_letter(grapheme));
        end.map_or(self.text.len(), |(offset, _)| self.at + offset)
    }

    /// The same for a secret: a dot for each letter, whatever the letter is, and no more dots than fit.
    pub fn masked_view(&self, columns: usize) -> (String, usize) {
        let dots = |text: &str| text.graphemes(true).count();
        let room = columns.saturating_sub(1).max(1);
        let (before, after) = (dots(self.before()), dots(self.after()));
        let at = before.min(room);
        ("•".repeat((at + after).min(room)), at)
    }

    /// The part that fits into `columns`, with the cursor in it, and the cursor's column. Line breaks are shown as ↵.
    pub fn view(&self, columns: usize) -> (String, usize) {
        let visible = |s: &str| prose_line(&s.replace('\n', "↵")).into_owned();
        let (before, after) = (visible(self.before()), visible(self.after()));
        let room = columns.saturating_sub(1).max(1);
        let mut start = before.len();
        let mut used = 0;
        for (at, grapheme) in before.grapheme_indices(true).rev() {
            let wide = width::of_grapheme(grapheme);
            if used + wide > room {
                break;
            }
            used += wide;
            start = at;
        }
        let shown = before.get(start..).unwrap_or("");
        let rest = width::prefix(&after, room.saturating_sub(used));
        (format!("{shown}{rest}"), used)
    }
}

fn is_letter(grapheme: &str) -> bool {
    grapheme.starts_with(char::is_alphanumeric)
}

fn is_no_blank(grapheme: &str) -> bool {
    !grapheme.starts_with(char::is_whitespace)
}

fn is_name(grapheme: &str) -> bool {
    is_no_blank(grapheme) && grapheme != "/"
}
