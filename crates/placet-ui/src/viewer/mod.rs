//! A file on a screen of its own, with what the model has seen of it.
//!
//! The viewer is given an open file and reads what becomes visible. It opens no file itself: the caller knows the rules
//! about files, and what is pending.

mod check_output;
mod line_ui;
mod picture;
mod provenance;
mod source;
mod text;

#[cfg(test)]
mod tests;

pub use check_output::CheckOutputScreen;
pub use picture::PictureViewer;
pub use provenance::ProvenanceFn;
pub use text::ViewerText;

use super::line_ui::LineUi;
use super::terminal::full_screen::{FullScreenPane, PaneFlow};
use crate::Theme;
use crate::keymap::{KeyBinding, row};
use crate::pager::{self, PagerSource, WrapMode};
use crate::text_screen::{ScreenCallbacks, TextScreen, TextScreenKey};
use crossterm::event::KeyEvent;
use placet_text::text::{RangeSet, width};
use placet_workspace::{SeenLines, SeenWindow};
use provenance::ProvenanceState;
use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};
pub use source::LineNumbers;
use source::{ProvenanceColumn, ViewerLines};
pub use source::{exact, styled};
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewerAction {
    Provenance,
    NextSeen,
    Edit,
    Copy,
    Follow,
}

pub const KEYS: &[KeyBinding<ViewerAction>] = &[
    row(ViewerAction::Provenance, "provenance", "b", "show who wrote each line, or not"),
    row(ViewerAction::NextSeen, "next-seen", "s", "the next part that the model has seen"),
    row(ViewerAction::Edit, "edit", "e", "open the file in your editor, at this line"),
    row(ViewerAction::Copy, "copy", "y", "copy this line exactly"),
    row(ViewerAction::Follow, "follow", "Enter", "in the output of a check: the file that this line names"),
];

/// Screens with fewer columns get shorter words in the row at the bottom.
const NARROW: u16 = 60;
/// The most that is read of a file to see whether a window is still the same.
const WINDOW: usize = 8 << 20;

/// The editor opens the file at a line, counted from 1.
/// Why the person's editor did not open the file.
#[derive(Debug, Error)]
pub enum ViewerEditError {
    /// The file on disk has other content until the change is applied.
    #[error("the file is pending: apply it first with /apply, or edit it in /review")]
    Pending,
    #[error(transparent)]
    Editor(#[from] std::io::Error),
}

/// Opens what a line names, counted from 0; returns why that is not possible.
pub type ViewerLinkFn<'h> = Box<dyn Fn(usize) -> Option<String> + 'h>;

pub type ViewerCallbacks<'h> =
    ScreenCallbacks<'h, ViewerAction, dyn Fn(usize) -> Result<(), ViewerEditError> + 'h>;

pub struct Viewer<'h> {
    lines: ViewerLines,
    screen: TextScreen,
    hands: ViewerCallbacks<'h>,
    name: String,
    /// Facts about the file: its encoding, that it is pending.
    facts: Vec<String>,
    windows: Vec<SeenWindow>,
    /// A line to go to once it is known.
    ahead: Option<usize>,
    /// Opens what a line names, counted from 0; returns why that is not possible.
    link: Option<ViewerLinkFn<'h>>,
}

impl<'h> Viewer<'h> {
    /// `line` is where it opens, counted from 1.
    pub fn new(
        text: ViewerText,
        name: &str,
        line: Option<usize>,
        theme: &Theme,
        hands: ViewerCallbacks<'h>,
    ) -> Viewer<'h> {
        Viewer {
            lines: ViewerLines::new(text, name, theme),
            screen: TextScreen::new(WrapMode::Cut, theme),
            hands,
            name: name.into(),
            facts: Vec::new(),
            windows: Vec::new(),
            ahead: line.map(|line| line.saturating_sub(1)),
            link: None,
        }
    }

    /// Lines name other files.
    #[must_use]
    pub fn with_link(mut self, link: ViewerLinkFn<'h>) -> Viewer<'h> {
        self.link = Some(link);
        self
    }

    #[must_use]
    pub fn with_numbers(mut self, numbers: LineNumbers) -> Viewer<'h> {
        self.lines.numbers = numbers;
        self
    }

    /// Lines the model has seen as they are now.
    #[must_use]
    pub fn with_seen(mut self, seen: SeenLines) -> Viewer<'h> {
        self.lines.seen = seen;
        self
    }

    /// Lines the model was shown of a file that is too large to be known as a whole: marked where they are the same.
    #[must_use]
    pub fn with_windows(mut self, windows: Vec<SeenWindow>) -> Viewer<'h> {
        self.windows = windows;
        self
    }

    #[must_use]
    pub fn with_facts(mut self, facts: Vec<String>) -> Viewer<'h> {
        self.facts = facts;
        self
    }

    /// Who wrote which line.
    #[must_use]
    pub fn with_provenance(mut self, who: ProvenanceFn) -> Viewer<'h> {
        self.lines.who = ProvenanceState::asleep(who);
        self
    }

    fn act(&mut self, act: ViewerAction) -> PaneFlow {
        match act {
            ViewerAction::Provenance if self.lines.who.is_unknown() => {
                self.screen.note = Some("unknown who wrote this".into());
            }
            ViewerAction::Provenance => {
                self.lines.column = match self.lines.column {
                    ProvenanceColumn::Shown => ProvenanceColumn::Hidden,
                    ProvenanceColumn::Hidden => ProvenanceColumn::Shown,
                };
                self.lines.who.want();
                self.screen.resize(&self.lines, self.screen.size);
            }
            ViewerAction::NextSeen => self.next_seen(),
            ViewerAction::Follow if self.link.is_none() => {
                self.screen.note = Some("nothing to open in this line".into());
            }
            ViewerAction::Follow => return PaneFlow::Cover,
            ViewerAction::Edit => return PaneFlow::Lend,
            ViewerAction::Copy => {
                let line = self.lines.text.line(self.lines.line_of(self.screen.scroll.cursor()));
                self.screen.note = Some((self.hands.copy)(line.strip_suffix('\r').unwrap_or(&line)));
            }
        }
        PaneFlow::Stay
    }

    fn next_seen(&mut self) {
        let here = self.lines.line_of(self.screen.scroll.cursor());
        let seen = &self.lines.seen.lines;
        let next = seen.ranges().find(|range| range.start > here).or_else(|| seen.ranges().next());
        match next {
            Some(range) => self.screen.scroll.to_top(&self.lines, self.lines.place_of(range.start)),
            None => self.screen.note = Some("the model has not seen the current version".into()),
        }
    }

    /// Goes to a line, now or once it is known.
    fn go_to(&mut self, line: usize) {
        let last = self.lines.text.line_count().saturating_sub(1);
        if line > last && !self.lines.text.is_whole() {
            self.ahead = Some(line);
            return;
        }
        if line > last {
            self.screen.note = Some(format!("the last line is {}", last + 1));
        }
        self.ahead = None;
        self.screen.scroll.to(&self.lines, self.lines.place_of(line.min(last)));
    }

    /// Marks windows whose content is the same as when the model saw them, as far as lines are known.
    fn check_windows(&mut self) -> bool {
        let text = &self.lines.text;
        let known = if text.is_whole() { usize::MAX } else { text.line_count() };
        let Some(at) = self.windows.iter().position(|window| window.lines.end < known) else { return false };
        let window = self.windows.swap_remove(at);
        let bytes = self.lines.text.bytes_of(&window.lines, WINDOW);
        if bytes.is_some_and(|bytes| blake3::hash(&bytes) == window.hash) {
            self.lines.seen.turns.show(&RangeSet::of(window.lines.clone()), window.turn);
            self.lines.seen.lines.insert(window.lines);
            return true;
        }
        false
    }

    fn status(&self) -> Line<'static> {
        let line = self.lines.line_of(self.screen.scroll.cursor());
        let count = self.lines.text.line_count();
        let more = if self.lines.text.is_whole() { "" } else { "+" };
        let room = usize::from(self.screen.size.0).saturating_sub(30).max(10);
        let name = width::cut_middle(&placet_text::text::sanitize::name(&self.name), room);
        let mut spans = vec![
            Span::styled(format!(" {name} "), self.screen.theme.style("title")),
            Span::styled(
                format!(" {} of {count}{more}", (line + 1).min(count)),
                self.screen.theme.style("status"),
            ),
        ];
        if !self.lines.seen.lines.is_empty() {
            let is_narrow = self.screen.size.0 < NARROW;
            let words = match self.lines.seen.turns.of(line) {
                Some(turn) if is_narrow => format!("turn {turn}"),
                Some(turn) => format!("seen in turn {turn}"),
                None if is_narrow => "seen".into(),
                None => "seen by the model".into(),
            };
            spans.push(Span::styled("  ▎", self.screen.theme.style("seen")));
            spans.push(Span::styled(words, self.screen.theme.style("status")));
        }
        spans.extend(
            self.facts.iter().map(|f| Span::styled(format!("  {f}"), self.screen.theme.style("status"))),
        );
        Line::from(spans)
    }
}

impl FullScreenPane for Viewer<'_> {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        match self.screen.key(&self.lines, key, "Viewer", &self.hands) {
            TextScreenKey::Own(act) => self.act(act),
            TextScreenKey::Goto(line) => {
                self.go_to(line.saturating_sub(1));
                PaneFlow::Stay
            }
            TextScreenKey::Done(flow) => flow,
        }
    }

    fn paste(&mut self, text: &str) {
        self.screen.scroll.pasted(&self.lines, text);
    }

    fn run_line_ui(&mut self, talk: &mut dyn LineUi) {
        self.converse(talk);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.resize(&self.lines, (columns, rows));
        if let Some(line) = self.ahead.take() {
            self.go_to(line);
        }
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let empty = Line::styled("the file is empty", self.screen.theme.style("hint"));
        let hint = format!("/ search  ? keys  {} close ", self.hands.pager.key(pager::PagerAction::Close));
        self.screen.draw(&self.lines, buffer, empty, (|| self.status(), &hint))
    }

    fn tick(&mut self) -> bool {
        let gutter = self.lines.gutter_width();
        let coloured = self.lines.tick();
        let searched = self.screen.scroll.tick(&self.lines);
        let marked = self.check_windows();
        let grown = !self.lines.text.is_whole() || self.ahead.is_some();
        self.screen.note = self.lines.text.failure().or(self.screen.note.take());
        if let Some(line) = self.ahead {
            self.go_to(line);
        }
        if self.lines.gutter_width() != gutter {
            self.screen.resize(&self.lines, self.screen.size);
        }
        coloured || searched || marked || grown
    }

    fn has_background_work(&self) -> bool {
        self.lines.is_busy()
            || self.screen.scroll.search.is_busy()
            || !self.lines.text.is_whole()
            || self.ahead.is_some()
            || !self.windows.is_empty()
    }

    fn run_covered(&mut self) {
        let line = self.lines.line_of(self.screen.scroll.cursor());
        self.screen.note = self.link.as_ref().and_then(|link| link(line));
    }

    fn run_released(&mut self) {
        let line = self.lines.line_of(self.screen.scroll.cursor());
        if let Err(error) = (self.hands.edit)(line + 1) {
            self.screen.note = Some(error.to_string());
        }
    }
}
