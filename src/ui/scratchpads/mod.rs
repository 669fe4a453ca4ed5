//! The scratchpads of a conversation on a screen of their own: looked at, compared, and chosen for something.
//!
//! The screen decides nothing: what a key asks for is a [`Wish`], which whoever opened it grants, and opens it again.
//! So it needs no store and no workspace.

mod draw;
mod talk;

#[cfg(test)]
mod tests;

use crate::ui::Theme;
use crate::ui::full::{Flow, Pane};
use crate::ui::input::guard::is_plain;
use crate::ui::keymap::{Keymap, Row, row};
use crate::ui::pager;
use crate::ui::reading::Help;
use crate::ui::talk::Talk;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Down,
    Up,
    PageDown,
    PageUp,
    First,
    Last,
    Mark,
    View,
    Diff,
    Edit,
    Delete,
    Promote,
    Pin,
    Help,
    Close,
}

pub const KEYS: &[Row<Act>] = &[
    row(Act::Down, "down", "j Down", "the next one"),
    row(Act::Up, "up", "k Up", "the one before"),
    row(Act::PageDown, "page-down", "Space PageDown Ctrl-F", "a screen down"),
    row(Act::PageUp, "page-up", "PageUp Ctrl-B", "a screen up"),
    row(Act::First, "first", "g Home", "the first one"),
    row(Act::Last, "last", "G End", "the last one"),
    row(Act::View, "view", "Enter v", "all of it"),
    row(Act::Mark, "mark", "Tab", "mark it, to compare two"),
    row(Act::Diff, "diff", "d", "how the two that are marked differ"),
    row(Act::Edit, "edit", "e", "change it in your editor"),
    row(Act::Delete, "delete", "x", "delete it; asks first"),
    row(Act::Promote, "promote", "p", "make it a file, as a pending change"),
    row(Act::Pin, "pin", "P", "attach it to your next message"),
    row(Act::Help, "help", "?", "these keys"),
    row(Act::Close, "close", "q Esc", "close"),
];

/// A scratchpad as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub bytes: usize,
    /// Its beginning, or what it is where it is no text.
    pub head: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Picture,
}

/// What is to be done with a scratchpad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    View(String),
    Diff(String, String),
    Edit(String),
    Delete(String),
    Promote { name: String, path: String },
    Pin(String),
}

/// What keys go to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Focus {
    List,
    /// The path of the file that the scratchpad becomes, as typed so far.
    Path(String),
    /// The question whether it is to go.
    Delete,
}

pub struct Browser {
    pads: Vec<Listed>,
    selected: usize,
    top: usize,
    /// At most two names, in the order in which they were marked.
    marked: Vec<String>,
    focus: Focus,
    wish: Option<Wish>,
    note: Option<String>,
    help: Option<Help>,
    keys: Keymap<Act>,
    /// Those of the help page.
    pager: Keymap<pager::Act>,
    theme: Theme,
    size: (u16, u16),
}

impl Browser {
    pub fn new(pads: Vec<Listed>, theme: &Theme, keys: Keymap<Act>, pager: Keymap<pager::Act>) -> Browser {
        Browser {
            pads,
            selected: 0,
            top: 0,
            marked: Vec::new(),
            focus: Focus::List,
            wish: None,
            note: None,
            help: None,
            keys,
            pager,
            theme: theme.clone(),
            size: (0, 0),
        }
    }

    /// What was asked for when it closed; nothing when the person is done with it.
    pub fn take_wish(&mut self) -> Option<Wish> {
        self.wish.take()
    }

    /// The scratchpads as they are now, and what came of a wish.
    pub fn tell(&mut self, pads: Vec<Listed>, words: Option<String>) {
        self.pads = pads;
        self.marked.retain(|name| self.pads.iter().any(|pad| pad.name == *name));
        self.note = words;
        self.select(self.selected);
    }

    fn rows(&self) -> usize {
        usize::from(self.size.1).saturating_sub(3).max(1)
    }

    fn current(&self) -> Option<&Listed> {
        self.pads.get(self.selected)
    }

    fn select(&mut self, at: usize) {
        self.selected = at.min(self.pads.len().saturating_sub(1));
        self.top = self.top.clamp((self.selected + 1).saturating_sub(self.rows()), self.selected);
    }

    fn act(&mut self, act: Act) -> Flow {
        let page = self.rows();
        match act {
            Act::Down => self.select(self.selected + 1),
            Act::Up => self.select(self.selected.saturating_sub(1)),
            Act::PageDown => self.select(self.selected.saturating_add(page)),
            Act::PageUp => self.select(self.selected.saturating_sub(page)),
            Act::First => self.select(0),
            Act::Last => self.select(usize::MAX),
            Act::Mark => self.mark(),
            Act::Help => {
                let sections = [("Scratchpads", self.keys.help())];
                self.help = Some(Help::new(&sections, &self.theme, self.size));
            }
            Act::Close => return Flow::Close,
            Act::Diff => return self.diff(),
            Act::View | Act::Edit | Act::Delete | Act::Promote | Act::Pin => return self.about(act),
        }
        Flow::Stay
    }

    /// What is asked of the one under the cursor.
    fn about(&mut self, act: Act) -> Flow {
        let Some(pad) = self.current() else { return Flow::Stay };
        let (name, kind) = (pad.name.clone(), pad.kind);
        if kind == Kind::Picture && matches!(act, Act::Edit | Act::Promote) {
            self.note = Some(format!("`{name}` is a picture: only text is edited or made a file"));
            return Flow::Stay;
        }
        match act {
            Act::Delete => self.focus = Focus::Delete,
            Act::Promote => self.focus = Focus::Path(String::new()),
            Act::Edit => return self.wish(Wish::Edit(name)),
            Act::Pin => return self.wish(Wish::Pin(name)),
            _ => return self.wish(Wish::View(name)),
        }
        Flow::Stay
    }

    fn wish(&mut self, wish: Wish) -> Flow {
        self.wish = Some(wish);
        Flow::Close
    }

    /// Two at most: a third takes the place of the first.
    fn mark(&mut self) {
        let Some(name) = self.current().map(|pad| pad.name.clone()) else { return };
        match self.marked.iter().position(|marked| *marked == name) {
            Some(at) => drop(self.marked.remove(at)),
            None => {
                self.marked.push(name);
                let extra = self.marked.len().saturating_sub(2);
                self.marked.drain(..extra);
            }
        }
        self.select(self.selected + 1);
    }

    fn diff(&mut self) -> Flow {
        match self.marked.as_slice() {
            [old, new] => {
                let wish = Wish::Diff(old.clone(), new.clone());
                self.wish(wish)
            }
            _ => {
                self.note = Some(format!("mark two with {} to compare them", self.keys.key(Act::Mark)));
                Flow::Stay
            }
        }
    }

    /// A key while a path is typed.
    fn type_path(&mut self, key: KeyEvent) -> Flow {
        let Focus::Path(path) = &mut self.focus else { return Flow::Stay };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => self.focus = Focus::List,
            KeyCode::Char('c' | 'g') if control => self.focus = Focus::List,
            KeyCode::Char('u') if control => path.clear(),
            KeyCode::Char(c) if !control && !key.modifiers.contains(KeyModifiers::ALT) => path.push(c),
            KeyCode::Backspace => drop(path.pop()),
            KeyCode::Enter if !path.trim().is_empty() => {
                let path = path.trim().to_string();
                self.focus = Focus::List;
                if let Some(name) = self.current().map(|pad| pad.name.clone()) {
                    return self.wish(Wish::Promote { name, path });
                }
            }
            _ => {}
        }
        Flow::Stay
    }

    /// Only `y` deletes.
    fn answer(&mut self, key: KeyEvent) -> Flow {
        self.focus = Focus::List;
        match (key.code, self.current().map(|pad| pad.name.clone())) {
            (KeyCode::Char('y'), Some(name)) if is_plain(key) => self.wish(Wish::Delete(name)),
            _ => {
                self.note = Some("it is kept".into());
                Flow::Stay
            }
        }
    }
}

impl Pane for Browser {
    fn key(&mut self, key: KeyEvent) -> Flow {
        self.note = None;
        if let Some(help) = &mut self.help {
            if help.key(key, &self.pager) == Flow::Close {
                self.help = None;
            }
            return Flow::Stay;
        }
        match self.focus {
            Focus::Path(_) => self.type_path(key),
            Focus::Delete => self.answer(key),
            Focus::List => self.keys.action(key).map_or(Flow::Stay, |act| self.act(act)),
        }
    }

    /// Pasted text is a path or nothing: it never answers and never acts.
    fn paste(&mut self, text: &str) {
        if let Focus::Path(path) = &mut self.focus {
            path.push_str(text.lines().next().unwrap_or(""));
        }
    }

    fn talk(&mut self, talk: &mut dyn Talk) {
        self.converse(talk);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
        self.select(self.selected);
        if let Some(help) = &mut self.help {
            help.resize(columns, rows);
        }
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        match &self.help {
            Some(help) => {
                help.draw(buffer);
                None
            }
            None => self.draw_list(buffer),
        }
    }
}
