//! The difference of one file, over placet's page of a running program: how the file was before, and how it is now.

use super::colors::theme::Theme;
use super::keymap::Keymap;
use super::pager::{PagerAction, PagerSource, WrapMode};
use super::review::{Differences, UnchangedText};
use super::terminal::full_screen::PaneFlow;
use super::text_screen::{ScreenCallbacks, TextScreen, TextScreenKey};
use crossterm::event::KeyEvent;
use placet_text::text::{visible, width};
use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};
use std::rc::Rc;

/// See the module.
pub(super) struct RunDifferenceScreen {
    name: String,
    patch: Vec<u8>,
    differences: Differences,
    rows: DifferenceRows,
    screen: TextScreen,
    hands: ScreenCallbacks<'static, PagerAction, ()>,
}

#[derive(Default)]
struct DifferenceRows(Vec<Rc<Vec<Line<'static>>>>);

impl PagerSource for DifferenceRows {
    fn blocks(&self) -> usize {
        self.0.len()
    }

    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>> {
        self.0.get(block).cloned().unwrap_or_default()
    }
}

impl RunDifferenceScreen {
    pub(super) fn new(
        (name, patch): (String, Vec<u8>),
        theme: &Theme,
        pager: Keymap<PagerAction>,
        size: (u16, u16),
    ) -> RunDifferenceScreen {
        let differences = Differences::new(std::iter::once(patch.as_slice()), theme);
        // The screen has no keys of its own.
        let hands = ScreenCallbacks {
            keys: Keymap::usual("pager", &[]),
            pager,
            copy: Box::new(|_| String::new()),
            edit: Box::new(()),
        };
        let screen = TextScreen::new(WrapMode::Rows, theme);
        let mut shown =
            RunDifferenceScreen { name, patch, differences, rows: DifferenceRows::default(), screen, hands };
        shown.resize(size);
        shown
    }

    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.screen.size = size;
        self.lay_out();
    }

    fn lay_out(&mut self) {
        let theme = self.screen.theme.clone();
        let columns = usize::from(self.screen.size.0);
        let drawn = self.differences.rows(0, &theme, (columns, UnchangedText::All));
        let lines = drawn.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(&self.patch);
            text.lines().map(|line| Line::raw(visible::guard_line(line).into_owned())).collect()
        });
        self.rows = DifferenceRows(lines.into_iter().map(|line| Rc::new(vec![line])).collect());
        self.screen.resize(&self.rows, self.screen.size);
    }

    /// True when it looks different now.
    pub(super) fn tick(&mut self) -> bool {
        let is_new = self.differences.poll();
        if is_new {
            self.lay_out();
        }
        is_new
    }

    /// `Close` leads back to the page.
    pub(super) fn key(&mut self, key: KeyEvent) -> PaneFlow {
        match self.screen.key(&self.rows, key, "Difference", &self.hands) {
            TextScreenKey::Own(_) | TextScreenKey::Goto(_) => PaneFlow::Stay,
            TextScreenKey::Done(flow) => flow,
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.screen.scroll.pasted(&self.rows, text);
    }

    pub(super) fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let hint = format!("? keys  {} back ", self.hands.pager.key(PagerAction::Close));
        let theme = &self.screen.theme;
        let room = usize::from(buffer.area.width).saturating_sub(width::of(&hint) + 3);
        let title = Span::styled(" placet ", theme.style("title"));
        let name = width::cut_middle(&format!(" {}", self.name), room.saturating_sub(title.width()));
        let status = || Line::from(vec![title, Span::styled(name, theme.style("status"))]);
        let empty = Line::styled(" the file is as it was before", theme.style("dim"));
        self.screen.draw(&self.rows, buffer, empty, (status, &hint))
    }
}
