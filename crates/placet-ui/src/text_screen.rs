//! A text on a full screen, as the viewer and the transcript show it: its keys, the `?` page, the row at the bottom.

use super::colors::theme::Theme;
use super::help_page::HelpPage;
use super::keymap::Keymap;
use super::pager::{PagerAction, PagerPromptResult, PagerRequest, PagerSource, PagerViewport, WrapMode, bar};
use super::terminal::full_screen::PaneFlow;
use crossterm::event::KeyEvent;
use placet_text::text::sanitize;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub struct TextScreen {
    pub scroll: PagerViewport,
    pub theme: Theme,
    pub size: (u16, u16),
    /// A sentence for the last row, until the next key.
    pub note: Option<String>,
    help: HelpPage,
}

/// What the screen is given from outside. `E` opens the shown text in the person's editor, or gives the error.
pub struct ScreenCallbacks<'h, A: 'static, E: ?Sized> {
    pub keys: Keymap<A>,
    pub pager: Keymap<PagerAction>,
    /// Copies exactly this text; returns a message about the result.
    pub copy: Box<dyn Fn(&str) -> String + 'h>,
    pub edit: Box<E>,
}

/// What a key asks for.
pub enum TextScreenKey<A> {
    Own(A),
    /// To a place that was typed, counted from 1.
    Goto(usize),
    Done(PaneFlow),
}

impl TextScreen {
    pub fn new(wrap: WrapMode, theme: &Theme) -> TextScreen {
        let scroll = PagerViewport::new(wrap);
        TextScreen { scroll, theme: theme.clone(), size: (0, 0), note: None, help: HelpPage::default() }
    }

    /// Does what a key does on every such screen. `title` is the heading above the screen's own keys.
    pub fn key<A: Copy + PartialEq + 'static, E: ?Sized>(
        &mut self,
        source: &dyn PagerSource,
        key: KeyEvent,
        title: &str,
        ScreenCallbacks { keys: own, pager, .. }: &ScreenCallbacks<'_, A, E>,
    ) -> TextScreenKey<A> {
        self.note = None;
        if self.help.key(key, pager) {
            return TextScreenKey::Done(PaneFlow::Stay);
        }
        match (self.scroll.typed(source, key), own.action(key)) {
            (PagerPromptResult::Yes, _) => return TextScreenKey::Done(PaneFlow::Stay),
            (PagerPromptResult::Goto(place), _) => return TextScreenKey::Goto(place),
            (PagerPromptResult::No, Some(act)) => return TextScreenKey::Own(act),
            (PagerPromptResult::No, None) => {}
        }
        match pager.action(key).map(|act| self.scroll.act(source, act)) {
            Some(PagerRequest::Help) => {
                let sections = [(title, own.help()), ("Moving", pager.help())];
                self.help.open(&sections, &self.theme, self.size);
            }
            Some(PagerRequest::Close) => return TextScreenKey::Done(PaneFlow::Close),
            Some(PagerRequest::Nothing) | None => {}
        }
        TextScreenKey::Done(PaneFlow::Stay)
    }

    /// The text has what the gutter and the last row leave.
    pub fn resize(&mut self, source: &dyn PagerSource, (columns, rows): (u16, u16)) {
        self.size = (columns, rows);
        let text = columns.saturating_sub(source.gutter_width());
        self.scroll.resize(source, text, rows.saturating_sub(1));
        self.help.resize(columns, rows);
    }

    /// Draws the text, or `empty`, and the row at the bottom: the line that is typed, or the note, or what is known of
    /// the search, or `status`. Returns where the cursor is while a line is typed.
    pub fn draw(
        &self,
        source: &dyn PagerSource,
        buffer: &mut Buffer,
        empty: Line<'static>,
        (status, hint): (impl FnOnce() -> Line<'static>, &str),
    ) -> Option<(u16, u16)> {
        if self.help.draw(buffer, &self.theme) {
            return None;
        }
        let area = buffer.area;
        let text = Rect { height: area.height.saturating_sub(1), ..area };
        if source.blocks() == 0 && text.height > 0 {
            buffer.set_line(0, 0, &empty, area.width);
        }
        self.scroll.draw(source, &self.theme, buffer, text);
        let (columns, y) = (area.width, area.height - 1);
        let search = &self.scroll.search;
        let typed = search.typed(usize::from(columns).saturating_sub(1));
        let (words, at) = typed.map_or((None, None), |(text, at)| (Some(text), Some(at)));
        let words = words.or_else(|| self.note.clone()).or_else(|| search.words(self.scroll.cursor()));
        let left = match words {
            Some(words) => Line::styled(format!(" {}", sanitize::line(&words)), self.theme.style("notice")),
            None => status(),
        };
        bar(buffer, y, &self.theme, &left, hint);
        at.map(|at| (u16::try_from(at + 1).unwrap_or(0).min(columns - 1), y))
    }
}
