//! One line of typing while a turn runs. Its text goes back to the prompt, so nothing typed is lost.

use crate::text::width;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

#[derive(Debug, Default)]
pub struct Composer {
    text: String,
    /// A byte index on a grapheme boundary.
    at: usize,
}

impl Composer {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The keys of every line that is typed in a pane.
    pub(super) fn key(&mut self, key: KeyEvent) {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match (key.code, ctrl) {
            (KeyCode::Left, _) | (KeyCode::Char('b'), true) => self.left(),
            (KeyCode::Right, _) | (KeyCode::Char('f'), true) => self.right(),
            (KeyCode::Home, _) | (KeyCode::Char('a'), true) => self.home(),
            (KeyCode::End, _) | (KeyCode::Char('e'), true) => self.end(),
            (KeyCode::Backspace, _) | (KeyCode::Char('h'), true) => self.backspace(),
            (KeyCode::Delete, _) | (KeyCode::Char('d'), true) => self.delete(),
            (KeyCode::Char('w'), true) => self.delete_word(),
            (KeyCode::Char('u'), true) => self.delete_to_start(),
            (KeyCode::Char('k'), true) => self.delete_to_end(),
            (KeyCode::Char(c), false) => self.insert(c.encode_utf8(&mut [0; 4])),
            _ => {}
        }
    }

    pub(super) fn insert(&mut self, text: &str) {
        self.text.insert_str(self.at, text);
        self.at += text.len();
    }

    pub(super) fn take(&mut self) -> String {
        self.at = 0;
        std::mem::take(&mut self.text)
    }

    pub(super) fn set(&mut self, text: String) {
        self.at = text.len();
        self.text = text;
    }

    pub(super) fn left(&mut self) {
        let step = self.before().graphemes(true).next_back().map_or(0, str::len);
        self.at -= step;
    }

    pub(super) fn right(&mut self) {
        let step = self.after().graphemes(true).next().map_or(0, str::len);
        self.at += step;
    }

    pub(super) fn home(&mut self) {
        self.at = 0;
    }

    pub(super) fn end(&mut self) {
        self.at = self.text.len();
    }

    pub(super) fn backspace(&mut self) {
        let end = self.at;
        self.left();
        self.text.replace_range(self.at..end, "");
    }

    pub(super) fn delete(&mut self) {
        let step = self.after().graphemes(true).next().map_or(0, str::len);
        self.text.replace_range(self.at..self.at + step, "");
    }

    pub(super) fn delete_word(&mut self) {
        let before = self.before().trim_end();
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |i| i + before.get(i..).and_then(|r| r.chars().next()).map_or(1, char::len_utf8));
        self.text.replace_range(start..self.at, "");
        self.at = start;
    }

    pub(super) fn delete_to_start(&mut self) {
        self.text.replace_range(..self.at, "");
        self.at = 0;
    }

    pub(super) fn delete_to_end(&mut self) {
        self.text.truncate(self.at);
    }

    fn before(&self) -> &str {
        self.text.get(..self.at).unwrap_or("")
    }

    fn after(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The part that fits into `columns`, with the cursor in it, and the cursor's column. Line breaks are shown as ↵.
    pub(super) fn view(&self, columns: usize) -> (String, usize) {
        let visible = |s: &str| crate::text::visible::prose_line(&s.replace('\n', "↵")).into_owned();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn composer(before: &str, after: &str) -> Composer {
        Composer { text: format!("{before}{after}"), at: before.len() }
    }

    #[test]
    fn editing_moves_by_what_a_person_sees_as_one_character() {
        let mut c = composer("a👩\u{200d}👧", "é b");
        c.backspace();
        assert_eq!((c.text.as_str(), c.at), ("aé b", 1));
        c.delete();
        c.end();
        c.delete_word();
        assert_eq!(c.text, "a ");
        c.delete_word();
        assert_eq!(c.text, "");
        c.backspace();
        c.delete();
        c.left();
        c.right();
        assert!(c.is_empty());
    }

    #[test]
    fn the_view_keeps_the_cursor_in_sight() {
        assert_eq!(composer("hello", "").view(20), ("hello".into(), 5));
        assert_eq!(composer("0123456789", "abc").view(6), ("56789".into(), 5));
        assert_eq!(composer("a\nb", "").view(20), ("a↵b".into(), 3));
        assert_eq!(composer("日本語", "").view(5), ("本語".into(), 4));
    }
}
