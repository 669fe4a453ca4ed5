//! The `?` page of the screens for reading: their keys, as a text that is scrolled like any other.

use super::full_screen::PaneFlow;
use super::keymap::{Keymap, Move};
use super::pager::{PagerAction, PagerSource, PagerViewport, WrapMode, bar, help_page};
use super::theme::Theme;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::rc::Rc;

pub struct HelpPage {
    lines: HelpLines,
    scroll: PagerViewport,
    theme: Theme,
}

struct HelpLines(Rc<Vec<Line<'static>>>);

impl PagerSource for HelpLines {
    fn blocks(&self) -> usize {
        1
    }

    fn lines(&self, _: usize) -> Rc<Vec<Line<'static>>> {
        Rc::clone(&self.0)
    }
}

impl HelpPage {
    pub fn new(
        sections: &[(&str, Vec<(String, &'static str)>)],
        theme: &Theme,
        (columns, rows): (u16, u16),
    ) -> HelpPage {
        let lines = HelpLines(Rc::new(help_page(sections, theme)));
        let mut help = HelpPage { lines, scroll: PagerViewport::new(WrapMode::Rows), theme: theme.clone() };
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
    pub fn key(&mut self, key: KeyEvent, keys: &Keymap<PagerAction>) -> PaneFlow {
        match keys.action(key) {
            Some(PagerAction::Move(step)) => {
                self.scroll.go(&self.lines, step);
                PaneFlow::Stay
            }
            _ => PaneFlow::Close,
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
