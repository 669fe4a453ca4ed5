//! The whole conversation on a screen of its own: messages, thinking, calls and results, none of it shortened.
//!
//! Entries are found by turn, by call and by words, folded and unfolded, copied exactly. The screen reads the messages
//! and changes nothing; it is given what it needs from outside (clipboard, editor).

mod entries;
pub(super) mod entry;
mod line_ui;
mod render;

#[cfg(test)]
mod tests;

use super::line_ui::LineUi;
use super::lines::margin_mark;
use super::terminal::full_screen::{FullScreenPane, PaneFlow};
use crate::Theme;
use crate::keymap::{KeyBinding, Move, row};
use crate::pager::{self, PagerPosition, PagerSource, WrapMode};
use crate::text_screen::{ScreenCallbacks, TextScreen, TextScreenKey};
use crossterm::event::KeyEvent;
use entries::TranscriptEntries;
use entry::{TranscriptContent, TranscriptEntry};
use placet_text::conversation::Message;
use ratatui::buffer::Buffer;
use ratatui::text::{Line, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptAction {
    Fold,
    FoldAll,
    NextTurn,
    PreviousTurn,
    NextCall,
    PreviousCall,
    Copy,
    CopyInput,
    Edit,
    View,
}

pub const KEYS: &[KeyBinding<TranscriptAction>] = &[
    row(TranscriptAction::Fold, "fold", "Enter z", "fold or unfold this entry"),
    row(TranscriptAction::FoldAll, "fold-all", "Z", "fold everything, or unfold everything"),
    row(TranscriptAction::NextTurn, "next-turn", "}", "the next turn"),
    row(TranscriptAction::PreviousTurn, "previous-turn", "{", "the previous turn"),
    row(TranscriptAction::NextCall, "next-call", "]", "the next call"),
    row(TranscriptAction::PreviousCall, "previous-call", "[", "the previous call"),
    row(TranscriptAction::Copy, "copy", "y", "copy the message, or the result of the call"),
    row(TranscriptAction::CopyInput, "copy-input", "Y", "copy the arguments of the call"),
    row(TranscriptAction::Edit, "edit", "e", "open it in your editor"),
    row(TranscriptAction::View, "view", "v", "view the file that the call is about"),
];

/// The editor opens the text of an entry.
pub type TranscriptCallbacks<'h> =
    ScreenCallbacks<'h, TranscriptAction, dyn Fn(&str) -> std::io::Result<()> + 'h>;

pub struct TranscriptView<'m> {
    entries: TranscriptEntries<'m>,
    screen: TextScreen,
    hands: TranscriptCallbacks<'m>,
    /// The file that is to be viewed.
    view: Option<String>,
}

impl<'m> TranscriptView<'m> {
    /// Opens at the end of the conversation.
    pub fn new(messages: &'m [Message], theme: &Theme, hands: TranscriptCallbacks<'m>) -> TranscriptView<'m> {
        let entries = TranscriptEntries::new(entry::entries(messages), theme);
        TranscriptView { entries, screen: TextScreen::new(WrapMode::Rows, theme), hands, view: None }
    }

    /// The file that the person asked to see; the screen was closed for it.
    pub fn take_view(&mut self) -> Option<String> {
        self.view.take()
    }

    /// A sentence for the last row, until the next key.
    pub fn tell(&mut self, words: String) {
        self.screen.note = Some(words);
    }

    fn current(&self) -> Option<TranscriptEntry<'m>> {
        self.entries.all.get(self.entries.current).copied()
    }

    fn follow(&mut self) {
        self.entries.current = self.screen.scroll.cursor().block;
    }

    fn act(&mut self, act: TranscriptAction) -> PaneFlow {
        match act {
            TranscriptAction::Fold => {
                let at = self.entries.current;
                self.entries.toggle(at);
                self.screen.scroll.to(&self.entries, PagerPosition::of(at, 0));
            }
            TranscriptAction::FoldAll => {
                self.entries.toggle_all();
                self.screen.scroll.to(&self.entries, PagerPosition::of(self.entries.current, 0));
            }
            TranscriptAction::NextTurn => self.jump(TranscriptDirection::Down, |entry| entry.begins),
            TranscriptAction::PreviousTurn => self.jump(TranscriptDirection::Up, |entry| entry.begins),
            TranscriptAction::NextCall => self
                .jump(TranscriptDirection::Down, |entry| matches!(entry.what, TranscriptContent::Call(..))),
            TranscriptAction::PreviousCall => {
                self.jump(TranscriptDirection::Up, |entry| matches!(entry.what, TranscriptContent::Call(..)))
            }
            TranscriptAction::Copy => self.copy(self.current().map(|entry| entry.text())),
            TranscriptAction::CopyInput => self.copy(self.current().and_then(|entry| entry.input())),
            TranscriptAction::Edit => return PaneFlow::Lend,
            TranscriptAction::View => match self.current().and_then(|entry| entry.path()) {
                Some(path) => {
                    self.view = Some(path.to_string());
                    return PaneFlow::Close;
                }
                None => self.screen.note = Some("this entry is not a call with a path".into()),
            },
        }
        PaneFlow::Stay
    }

    fn copy(&mut self, text: Option<String>) {
        self.screen.note = Some(match text {
            Some(text) => (self.hands.copy)(&text),
            None => "this entry is not a call: `y` copies it".into(),
        });
    }

    fn jump(&mut self, seek: TranscriptDirection, wanted: impl Fn(&TranscriptEntry<'_>) -> bool) {
        let at = self.entries.current;
        let hit = |(_, entry): &(usize, &TranscriptEntry<'m>)| wanted(entry);
        let numbered = self.entries.all.iter().enumerate();
        let found = match seek {
            TranscriptDirection::Down => numbered.skip(at + 1).find(hit),
            // From inside an entry, the up key moves to the entry's own head first.
            TranscriptDirection::Up if self.screen.scroll.cursor().line > 0 => {
                numbered.take(at + 1).rev().find(hit)
            }
            TranscriptDirection::Up => numbered.take(at).rev().find(hit),
        };
        match found.map(|(at, _)| at) {
            Some(at) => self.screen.scroll.to_top(&self.entries, PagerPosition::of(at, 0)),
            None => self.screen.note = Some("no more".into()),
        }
    }

    /// The person's `turn`-th words.
    fn go_to_turn(&mut self, turn: usize) {
        let wanted = |entry: &TranscriptEntry<'_>| entry.turn >= turn;
        let at = self.entries.all.iter().position(wanted).unwrap_or(self.entries.all.len());
        self.screen.scroll.to_top(&self.entries, PagerPosition::of(at, 0));
    }

    fn status(&self) -> Line<'static> {
        let dim = self.screen.theme.style("status");
        let turns = self.entries.all.last().map_or(0, |entry| entry.turn);
        let turn = self.current().map_or(0, |entry| entry.turn);
        let (at, all) = (self.entries.current + 1, self.entries.all.len());
        Line::from(vec![
            Span::styled(" transcript ", self.screen.theme.style("title")),
            Span::styled(format!(" turn {turn} of {turns}  entry {} of {all}", at.min(all)), dim),
        ])
    }
}

#[derive(Clone, Copy)]
enum TranscriptDirection {
    Down,
    Up,
}

impl FullScreenPane for TranscriptView<'_> {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        let flow = match self.screen.key(&self.entries, key, "Transcript", &self.hands) {
            TextScreenKey::Own(act) => self.act(act),
            TextScreenKey::Goto(turn) => {
                self.go_to_turn(turn);
                PaneFlow::Stay
            }
            TextScreenKey::Done(flow) => flow,
        };
        self.follow();
        flow
    }

    fn paste(&mut self, text: &str) {
        self.screen.scroll.pasted(&self.entries, text);
        self.follow();
    }

    fn run_line_ui(&mut self, talk: &mut dyn LineUi) {
        self.converse(talk);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        let first = self.screen.size == (0, 0);
        self.entries.resize(usize::from(columns.saturating_sub(self.entries.gutter_width())));
        self.screen.resize(&self.entries, (columns, rows));
        if first {
            self.screen.scroll.go(&self.entries, Move::Bottom);
            self.follow();
        }
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let empty = Line::styled("no messages yet", self.screen.theme.style("hint"));
        let empty = margin_mark::line(empty, &self.screen.theme);
        let close = self.hands.pager.key(pager::PagerAction::Close);
        let hint = format!(
            "{} fold  {} copy  ? keys  {close} close ",
            self.hands.keys.key(TranscriptAction::Fold),
            self.hands.keys.key(TranscriptAction::Copy)
        );
        self.screen.draw(&self.entries, buffer, empty, (|| self.status(), &hint))
    }

    fn tick(&mut self) -> bool {
        let searched = self.screen.scroll.tick(&self.entries);
        if searched {
            self.follow();
        }
        let coloured = self.entries.tick();
        searched || coloured
    }

    fn has_background_work(&self) -> bool {
        self.entries.is_busy() || self.screen.scroll.search.is_busy()
    }

    fn run_released(&mut self) {
        let Some(entry) = self.current() else { return };
        if let Err(error) = (self.hands.edit)(&entry.text()) {
            self.screen.note = Some(error.to_string());
        }
    }
}
