//! The whole conversation on a screen of its own: what was said, thought, called and answered, none of it shortened.
//!
//! Entries are found by turn, by call and by words, folded and unfolded, copied exactly. It reads the messages and
//! changes nothing; what needs the world outside (clipboard, editor) it is given.

mod entry;
mod render;
mod source;
mod talk;

#[cfg(test)]
mod tests;

use crate::conversation::Message;
use crate::text::width;
use crate::ui::Theme;
use crate::ui::full::{Flow, Pane};
use crate::ui::keymap::{Keymap, Row, row};
use crate::ui::own;
use crate::ui::pager::{self, Left, Pos, Scroll, Source, Taken, Wrap, bar};
use crate::ui::reading::Help;
use crate::ui::talk::Talk;
use crossterm::event::KeyEvent;
use entry::{Entry, What};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use source::Entries;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
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

pub const KEYS: &[Row<Act>] = &[
    row(Act::Fold, "fold", "Enter z", "fold or unfold this entry"),
    row(Act::FoldAll, "fold-all", "Z", "fold everything, or unfold everything"),
    row(Act::NextTurn, "next-turn", "}", "the next turn"),
    row(Act::PreviousTurn, "previous-turn", "{", "the turn before"),
    row(Act::NextCall, "next-call", "]", "the next call"),
    row(Act::PreviousCall, "previous-call", "[", "the call before"),
    row(Act::Copy, "copy", "y", "copy exactly what was said, or what came of the call"),
    row(Act::CopyInput, "copy-input", "Y", "copy what the call was given"),
    row(Act::Edit, "edit", "e", "open it in your editor"),
    row(Act::View, "view", "v", "view the file that the call is about"),
];

/// Opens a text for the person, or says why it cannot.
pub type Editor<'h> = Box<dyn Fn(&str) -> Result<(), String> + 'h>;

/// What the screen is given of the world outside.
pub struct Hands<'h> {
    pub keys: Keymap<Act>,
    pub pager: Keymap<pager::Act>,
    /// Copies exactly this; says what was done.
    pub copy: Box<dyn Fn(&str) -> String + 'h>,
    /// Opens this in the person's editor.
    pub edit: Editor<'h>,
}

pub struct Transcript<'m> {
    entries: Entries<'m>,
    scroll: Scroll,
    hands: Hands<'m>,
    theme: Theme,
    size: (u16, u16),
    note: Option<String>,
    help: Option<Help>,
    /// The file that is to be viewed.
    view: Option<String>,
}

impl<'m> Transcript<'m> {
    /// Opens at the end of the conversation.
    pub fn new(messages: &'m [Message], theme: &Theme, hands: Hands<'m>) -> Transcript<'m> {
        let entries = Entries::new(entry::entries(messages), theme);
        Transcript {
            entries,
            scroll: Scroll::new(Wrap::Rows),
            hands,
            theme: theme.clone(),
            size: (0, 0),
            note: None,
            help: None,
            view: None,
        }
    }

    /// The file that the person asked to see; the screen was closed for it.
    pub fn take_view(&mut self) -> Option<String> {
        self.view.take()
    }

    /// A sentence for the last row, until the next key.
    pub fn tell(&mut self, words: String) {
        self.note = Some(words);
    }

    fn current(&self) -> Option<Entry<'m>> {
        self.entries.all.get(self.entries.current).copied()
    }

    fn follow(&mut self) {
        self.entries.current = self.scroll.cursor().block;
    }

    fn act(&mut self, act: Act) -> Flow {
        match act {
            Act::Fold => {
                let at = self.entries.current;
                self.entries.toggle(at);
                self.scroll.to(&self.entries, Pos::of(at, 0));
            }
            Act::FoldAll => {
                self.entries.toggle_all();
                self.scroll.to(&self.entries, Pos::of(self.entries.current, 0));
            }
            Act::NextTurn => self.jump(Seek::Down, |entry| entry.begins),
            Act::PreviousTurn => self.jump(Seek::Up, |entry| entry.begins),
            Act::NextCall => self.jump(Seek::Down, |entry| matches!(entry.what, What::Call(..))),
            Act::PreviousCall => self.jump(Seek::Up, |entry| matches!(entry.what, What::Call(..))),
            Act::Copy => self.copy(self.current().map(|entry| entry.text())),
            Act::CopyInput => self.copy(self.current().and_then(|entry| entry.input())),
            Act::Edit => return Flow::Lend,
            Act::View => match self.current().and_then(|entry| entry.path()) {
                Some(path) => {
                    self.view = Some(path.to_string());
                    return Flow::Close;
                }
                None => self.note = Some("this is no call with a path".into()),
            },
        }
        Flow::Stay
    }

    fn copy(&mut self, text: Option<String>) {
        self.note = Some(match text {
            Some(text) => (self.hands.copy)(&text),
            None => "this is no call: `y` copies it".into(),
        });
    }

    fn jump(&mut self, seek: Seek, wanted: impl Fn(&Entry<'_>) -> bool) {
        let at = self.entries.current;
        let hit = |(_, entry): &(usize, &Entry<'m>)| wanted(entry);
        let numbered = self.entries.all.iter().enumerate();
        let found = match seek {
            Seek::Down => numbered.skip(at + 1).find(hit),
            // From inside an entry, the way up leads to its own head first.
            Seek::Up if self.scroll.cursor().line > 0 => numbered.take(at + 1).rev().find(hit),
            Seek::Up => numbered.take(at).rev().find(hit),
        };
        match found.map(|(at, _)| at) {
            Some(at) => self.scroll.to_top(&self.entries, Pos::of(at, 0)),
            None => self.note = Some("there is none further".into()),
        }
    }

    fn page(&mut self, act: pager::Act) -> Flow {
        match self.scroll.act(&self.entries, act) {
            Left::Nothing => {}
            Left::Help => {
                let sections = [("Transcript", self.hands.keys.help()), ("Moving", self.hands.pager.help())];
                self.help = Some(Help::new(&sections, &self.theme, self.size));
            }
            Left::Close => return Flow::Close,
        }
        Flow::Stay
    }

    /// The person's `turn`-th words.
    fn go_to_turn(&mut self, turn: usize) {
        let wanted = |entry: &Entry<'_>| entry.turn >= turn;
        let at = self.entries.all.iter().position(wanted).unwrap_or(self.entries.all.len());
        self.scroll.to_top(&self.entries, Pos::of(at, 0));
    }

    fn status(&self) -> Line<'static> {
        let dim = self.theme.style("status");
        let words = self.note.clone().or_else(|| self.scroll.search.words(self.scroll.cursor()));
        if let Some(words) = words {
            let safe = crate::text::sanitize::line(&words).into_owned();
            return Line::styled(format!(" {safe}"), self.theme.style("notice"));
        }
        let turns = self.entries.all.last().map_or(0, |entry| entry.turn);
        let turn = self.current().map_or(0, |entry| entry.turn);
        let (at, all) = (self.entries.current + 1, self.entries.all.len());
        Line::from(vec![
            Span::styled(" transcript ", self.theme.style("title")),
            Span::styled(format!(" turn {turn} of {turns}  entry {} of {all}", at.min(all)), dim),
        ])
    }
}

#[derive(Clone, Copy)]
enum Seek {
    Down,
    Up,
}

impl Pane for Transcript<'_> {
    fn key(&mut self, key: KeyEvent) -> Flow {
        self.note = None;
        if let Some(help) = &mut self.help {
            if help.key(key, &self.hands.pager) == Flow::Close {
                self.help = None;
            }
            return Flow::Stay;
        }
        let flow = match self.scroll.typed(&self.entries, key) {
            Taken::Yes => Flow::Stay,
            Taken::Goto(turn) => {
                self.go_to_turn(turn);
                Flow::Stay
            }
            Taken::No => match (self.hands.keys.action(key), self.hands.pager.action(key)) {
                (Some(act), _) => self.act(act),
                (None, Some(act)) => self.page(act),
                (None, None) => Flow::Stay,
            },
        };
        self.follow();
        flow
    }

    fn paste(&mut self, text: &str) {
        self.scroll.pasted(&self.entries, text);
        self.follow();
    }

    fn talk(&mut self, talk: &mut dyn Talk) {
        self.converse(talk);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        let first = self.size == (0, 0);
        self.size = (columns, rows);
        let text = columns.saturating_sub(self.entries.gutter_width());
        self.entries.resize(usize::from(text));
        self.scroll.resize(&self.entries, text, rows.saturating_sub(1));
        if first {
            self.scroll.go(&self.entries, pager::Move::Bottom);
            self.follow();
        }
        if let Some(help) = &mut self.help {
            help.resize(columns, rows);
        }
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        if let Some(help) = &self.help {
            help.draw(buffer);
            return None;
        }
        let area = buffer.area;
        let text = Rect { height: area.height.saturating_sub(1), ..area };
        if self.entries.all.is_empty() {
            let empty = Line::styled("nothing was said yet", self.theme.style("hint"));
            buffer.set_line(0, 0, &own::line(empty, &self.theme), area.width);
        }
        self.scroll.draw(&self.entries, &self.theme, buffer, text);
        let status = self.status();
        let close = self.hands.pager.key(pager::Act::Close);
        let hint = format!(
            "{} fold  {} copy  ? keys  {close} close ",
            self.hands.keys.key(Act::Fold),
            self.hands.keys.key(Act::Copy)
        );
        bar(buffer, area.height - 1, &self.theme, &status, &hint);
        let typed = self.scroll.search.is_typing();
        let end: usize = status.spans.iter().map(|span| width::of(&span.content)).sum();
        typed.then(|| (u16::try_from(end).unwrap_or(0).min(area.width - 1), area.height - 1))
    }

    fn tick(&mut self) -> bool {
        let searched = self.scroll.tick(&self.entries);
        if searched {
            self.follow();
        }
        let coloured = self.entries.tick();
        searched || coloured
    }

    fn waits(&self) -> bool {
        self.entries.is_busy() || self.scroll.search.is_busy()
    }

    fn lent(&mut self) {
        let Some(entry) = self.current() else { return };
        if let Err(why) = (self.hands.edit)(&entry.text()) {
            self.note = Some(why);
        }
    }
}
