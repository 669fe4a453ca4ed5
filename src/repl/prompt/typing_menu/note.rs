//! Words below the line while no menu is open there: what the mode means that was just chosen.

use super::draw::ROWS;
use super::hint::{NOTHING, PromptHint};
use super::layout::ScreenPlace;
use super::{MenuCause, MenuNote, MenuState, TypingMenu};
use crate::ui::{Theme, ansi, margin_mark, term};
use ratatui::text::Line;
use std::fmt::Write as _;

impl TypingMenu {
    /// Says something below the line until something is typed. The caller has the line drawn again.
    pub(in crate::repl::prompt) fn say_below(&self, words: &str) {
        self.lock().note = Some(MenuNote { words: words.into(), end: ScreenPlace::default() });
    }

    /// What is shown behind the line where only something below it is said.
    pub(in crate::repl::prompt) fn note_hint(&self) -> Option<PromptHint> {
        self.lock().note.is_some().then(|| PromptHint::usage(NOTHING))
    }
}

impl MenuState {
    /// The line is drawn again: where the note is, if nothing was typed since it was given.
    pub(super) fn place_note(&mut self, line: &str, cause: MenuCause) {
        if matches!(cause, MenuCause::Typed | MenuCause::Asked) {
            self.note = None;
        }
        let columns = usize::from(term::size().0);
        let end = ScreenPlace::after_prompt(&self.prompt, columns).after(line, columns);
        if let Some(note) = &mut self.note {
            note.end = end;
        }
    }

    pub(super) fn paint_note(&mut self, (columns, rows): (usize, usize)) -> String {
        let Some(note) = self.note.as_ref().filter(|_| !self.is_searching) else { return String::new() };
        let drawn = paint(&note.words, self.colors.theme(), note.end, (columns, rows));
        self.is_painted |= !drawn.is_empty();
        drawn
    }
}

/// Words below the line, broken at words; the cursor is in the line again afterwards.
fn paint(words: &str, theme: &Theme, end: ScreenPlace, (columns, rows): (usize, usize)) -> String {
    let free = rows.saturating_sub(end.row + 1).min(ROWS);
    let line = Line::styled(words.to_string(), theme.style("hint"));
    let wrapped = margin_mark::under(&line, columns.saturating_sub(1));
    let mut out = if end.is_wrapped() { "\r\n".to_string() } else { String::new() };
    let mut down = usize::from(end.is_wrapped());
    for row in wrapped.iter().take(free) {
        out.push_str("\r\n");
        out.push_str(&ansi::line(row));
        down += 1;
    }
    if down > 0 {
        let _ = write!(out, "\x1b[{down}A");
    }
    out
}
