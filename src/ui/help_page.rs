//! The `?` page of the screens for reading: their keys, as a text that is scrolled like any other.

use super::keymap::{Keymap, Move};
use super::pager::{MARGIN, PagerAction, PagerSource, PagerViewport, WrapMode, bar};
use super::prose::{self, ProseIndent, ProseWidth};
use super::theme::Theme;
use crate::config::WrapSetting;
use crate::text::width;
use crossterm::event::KeyEvent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::rc::Rc;

/// The page while it is open.
#[derive(Default)]
pub struct HelpPage(Option<(HelpLines, PagerViewport)>);

/// A title, and its keys with what each does.
type HelpSection = (String, Vec<(String, &'static str)>);

struct HelpLines {
    sections: Vec<HelpSection>,
    theme: Theme,
    /// For the width of the screen.
    rows: Rc<Vec<Line<'static>>>,
}

impl HelpLines {
    fn layout(&mut self, columns: u16) {
        let rows = help_rows(&self.sections, &self.theme, usize::from(columns));
        self.rows = Rc::new(rows);
    }
}

impl PagerSource for HelpLines {
    fn blocks(&self) -> usize {
        1
    }

    fn lines(&self, _: usize) -> Rc<Vec<Line<'static>>> {
        Rc::clone(&self.rows)
    }
}

impl HelpPage {
    pub fn open(
        &mut self,
        sections: &[(&str, Vec<(String, &'static str)>)],
        theme: &Theme,
        (columns, rows): (u16, u16),
    ) {
        let sections = sections.iter().map(|(title, rows)| ((*title).to_string(), rows.clone())).collect();
        let mut lines = HelpLines { sections, theme: theme.clone(), rows: Rc::default() };
        lines.layout(columns);
        let mut scroll = PagerViewport::new(WrapMode::Rows);
        scroll.resize(&lines, columns, rows.saturating_sub(1));
        // The cursor is not shown here: as near to the last row as it gets, the first step down scrolls.
        for _ in 2 + MARGIN..usize::from(rows) {
            scroll.go(&lines, Move::Down);
        }
        self.0 = Some((lines, scroll));
    }

    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    pub fn resize(&mut self, columns: u16, rows: u16) {
        if let Some((lines, scroll)) = &mut self.0 {
            lines.layout(columns);
            scroll.resize(lines, columns, rows.saturating_sub(1));
        }
    }

    /// Handles every key while the page is open: a movement key scrolls, and any other key closes the page.
    pub fn key(&mut self, key: KeyEvent, keys: &Keymap<PagerAction>) -> bool {
        let Some((lines, scroll)) = &mut self.0 else { return false };
        match keys.action(key) {
            Some(PagerAction::Move(step)) => scroll.go(lines, step),
            _ => self.0 = None,
        }
        true
    }

    /// Draws the page if it is open: the screen below it is not drawn then.
    pub fn draw(&self, buffer: &mut Buffer, theme: &Theme) -> bool {
        let Some((lines, scroll)) = &self.0 else { return false };
        let area = buffer.area;
        let text = Rect { height: area.height.saturating_sub(1), ..area };
        scroll.draw(lines, theme, buffer, text);
        let words = Line::styled(" keys can be changed: `keys.SCREEN.ACTION`", theme.style("hint"));
        bar(buffer, area.height.saturating_sub(1), theme, &words, "j k scroll, others close ");
        true
    }
}

/// Actions and their keys in rows, broken at words for a screen of `columns`: the `?` page, as lines to be scrolled.
fn help_rows(sections: &[HelpSection], theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let all = || sections.iter().flat_map(|(_, rows)| rows);
    let wide = all().map(|(keys, _)| width::of(keys)).max().unwrap_or(0).min(24);
    let width = ProseWidth::new(columns, WrapSetting::Words);
    let mut out = Vec::new();
    for (title, rows) in sections {
        if !out.is_empty() {
            out.push(Line::default());
        }
        out.push(Line::styled(title.clone(), theme.style("title")));
        for (keys, help) in rows {
            let pad = " ".repeat(wide.saturating_sub(width::of(keys)) + 2);
            let indent = ProseIndent {
                first: vec![Span::raw("  "), Span::styled(keys.clone(), theme.style("key")), Span::raw(pad)],
                further: " ".repeat(wide + 4),
                ..ProseIndent::default()
            };
            out.extend(prose::lines(indent, prose::of_spans([Span::raw(*help)]), width));
        }
    }
    out
}
