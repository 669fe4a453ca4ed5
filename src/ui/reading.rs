//! The `?` page of the screens for reading: their keys, as a text that is scrolled like any other.

use super::full::Flow;
use super::keymap::Keymap;
use super::pager::{Act, Move, Scroll, Source, Wrap, bar, help_page};
use super::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::rc::Rc;

pub struct Help {
    lines: Lines,
    scroll: Scroll,
    theme: Theme,
}

struct Lines(Rc<Vec<Line<'static>>>);

impl Source for Lines {
    fn blocks(&self) -> usize {
        1
    }

    fn lines(&self, _: usize) -> Rc<Vec<Line<'static>>> {
        Rc::clone(&self.0)
    }
}

impl Help {
    pub fn new(
        sections: &[(&str, Vec<(String, &'static str)>)],
        theme: &Theme,
        (columns, rows): (u16, u16),
    ) -> Help {
        let lines = Lines(Rc::new(help_page(sections, theme)));
        let mut help = Help { lines, scroll: Scroll::new(Wrap::Rows), theme: theme.clone() };
        help.resize(columns, rows);
        // The cursor is not shown here: at the last row, the first step down scrolls.
        for _ in 2..rows {
            help.scroll.go(&help.lines, Move::Down);
        }
        help
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.scroll.resize(&self.lines, columns, rows.saturating_sub(1));
    }

    /// Moves; any other key closes the page.
    pub fn key(&mut self, key: KeyEvent, keys: &Keymap<Act>) -> Flow {
        match keys.action(key) {
            Some(Act::Move(step)) => {
                self.scroll.go(&self.lines, step);
                Flow::Stay
            }
            _ => Flow::Close,
        }
    }

    pub fn draw(&self, buffer: &mut Buffer) {
        let area = buffer.area;
        let text = Rect { height: area.height.saturating_sub(1), ..area };
        self.scroll.draw(&self.lines, &self.theme, buffer, text);
        let words = Line::styled(" keys can be changed: `keys.SCREEN.ACTION`", self.theme.style("hint"));
        bar(buffer, area.height.saturating_sub(1), &self.theme, &words, "j k scroll, others close ");
    }
}
