//! The `?` page of the screens for reading: their keys, as a text that is scrolled like any other.

use super::colors::theme::Theme;
use super::keymap::{Keymap, Move};
use super::lines::prose::{self, ProseIndent, ProseWidth, SECOND_COLUMN, STACKED_INDENT};
use super::pager::{MARGIN, PagerAction, PagerSource, PagerViewport, WrapMode, bar};
use crossterm::event::KeyEvent;
use placet_config::WrapSetting;
use placet_text::text::width;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::rc::Rc;

/// The page while it is open.
#[derive(Default)]
pub struct HelpPage(Option<(HelpLines, PagerViewport)>);

/// Keys, and what they do.
type KeyRow = (String, &'static str);

/// A title, and its keys with what each does.
type HelpSection = (String, Vec<KeyRow>);

/// The most columns of the keys.
const MOST_OF_KEYS: usize = 24;

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
        let (words, keys) = (" keys can be changed: `keys.SCREEN.ACTION`", "j k scroll, others close ");
        // Without room for both, how to leave matters more.
        let has_room = width::of(words) + width::of(keys) + 3 <= usize::from(area.width);
        let words = Line::styled(if has_room { words } else { "" }, theme.style("hint"));
        bar(buffer, area.height.saturating_sub(1), theme, &words, keys);
        true
    }
}

/// Actions and their keys in rows, broken at words for a screen of `columns`: the `?` page, as lines to be scrolled.
fn help_rows(sections: &[HelpSection], theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let wide = sections.iter().map(|(_, rows)| keys_column(rows)).max().unwrap_or(0);
    let mut out = Vec::new();
    for (title, rows) in sections {
        if !out.is_empty() {
            out.push(Line::default());
        }
        out.push(Line::styled(title.clone(), theme.style("title")));
        out.extend(rows_of_keys(rows, wide, theme, columns));
    }
    out
}

/// Keys with what each does, in one section.
pub fn rows_of_table(rows: &[KeyRow], theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    rows_of_keys(rows, keys_column(rows), theme, columns)
}

fn keys_column(rows: &[KeyRow]) -> usize {
    rows.iter().map(|(keys, _)| width::of(keys)).max().unwrap_or(0).min(MOST_OF_KEYS)
}

/// On a narrow screen what a key does is below the key, as in `/help`.
fn rows_of_keys(rows: &[KeyRow], wide: usize, theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let width = ProseWidth::new(columns, WrapSetting::Words);
    let second = wide + 4;
    let is_narrow = second + SECOND_COLUMN > columns;
    let further = " ".repeat(if is_narrow { STACKED_INDENT } else { second });
    let mut out = Vec::new();
    for (keys, help) in rows {
        let mut first = vec![Span::raw("  "), Span::styled(keys.clone(), theme.style("key"))];
        if is_narrow {
            out.push(Line::from(std::mem::replace(&mut first, vec![Span::raw(further.clone())])));
        } else {
            first.push(Span::raw(" ".repeat(wide.saturating_sub(width::of(keys)) + 2)));
        }
        let indent = ProseIndent { first, further: further.clone(), ..ProseIndent::default() };
        out.extend(prose::lines(indent, prose::of_spans([Span::raw(*help)]), width));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: usize) -> Vec<String> {
        let keys = vec![
            ("Space PageDown Ctrl-F".to_string(), "a screen down"),
            ("/".to_string(), "search while you type; lower case also matches upper case"),
        ];
        let sections = vec![("Moving".to_string(), keys)];
        help_rows(&sections, &Theme::plain(), columns).iter().map(Line::to_string).collect()
    }

    #[test]
    fn what_a_key_does_is_below_it_on_a_narrow_screen() {
        assert_eq!(
            rows(40),
            [
                "Moving",
                "  Space PageDown Ctrl-F",
                "      a screen down",
                "  /",
                "      search while you type; lower case",
                "      also matches upper case",
            ]
        );
        assert_eq!(
            rows(60),
            [
                "Moving",
                "  Space PageDown Ctrl-F  a screen down",
                "  /                      search while you type; lower case",
                "                         also matches upper case",
            ]
        );
    }
}
