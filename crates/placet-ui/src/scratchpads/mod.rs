//! The scratchpads of a conversation on a screen of their own: looked at, compared, and chosen for something.
//!
//! The screen decides nothing: what a key asks for is a [`ScratchpadRequest`]. The caller does it, and then opens the
//! screen again. The screen therefore needs no store and no workspace.

mod draw;
mod line_ui;

#[cfg(test)]
mod tests;

use super::help_page::HelpPage;
use super::line_ui::LineUi;
use super::terminal::full_screen::{FullScreenPane, PaneFlow};
use crate::input::is_plain;
use crate::keymap::{KeyBinding, Keymap, Move, row};
use crate::list::ListCursor;
use crate::text_field::{TextField, TextFieldKind};
use crate::{Theme, pager};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::buffer::Buffer;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScratchpadBrowserAction {
    Move(Move),
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

pub const KEYS: &[KeyBinding<ScratchpadBrowserAction>] = &[
    row(ScratchpadBrowserAction::Move(Move::Down), "down", "j Down", "the next one"),
    row(ScratchpadBrowserAction::Move(Move::Up), "up", "k Up", "the previous one"),
    row(ScratchpadBrowserAction::Move(Move::PageDown), "page-down", "Space PageDown Ctrl-F", "a screen down"),
    row(ScratchpadBrowserAction::Move(Move::PageUp), "page-up", "PageUp Ctrl-B", "a screen up"),
    row(ScratchpadBrowserAction::Move(Move::Top), "first", "g Home", "the first one"),
    row(ScratchpadBrowserAction::Move(Move::Bottom), "last", "G End", "the last one"),
    row(ScratchpadBrowserAction::View, "view", "Enter v", "all of it"),
    row(ScratchpadBrowserAction::Mark, "mark", "Tab", "mark it, to compare two"),
    row(ScratchpadBrowserAction::Diff, "diff", "d", "the diff of the two marked scratchpads"),
    row(ScratchpadBrowserAction::Edit, "edit", "e", "edit it in your editor"),
    row(ScratchpadBrowserAction::Delete, "delete", "x", "delete it; asks first"),
    row(ScratchpadBrowserAction::Promote, "promote", "p", "save it as a file, as a pending change"),
    row(ScratchpadBrowserAction::Pin, "pin", "P", "attach it to your next message"),
    row(ScratchpadBrowserAction::Help, "help", "?", "these keys"),
    row(ScratchpadBrowserAction::Close, "close", "q Esc", "close"),
];

/// A scratchpad as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchpadItem {
    pub name: String,
    pub bytes: usize,
    /// Its beginning, or its kind where it is not text.
    pub head: String,
    pub kind: ScratchpadItemKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScratchpadItemKind {
    Text,
    Picture,
}

/// What is to be done with a scratchpad.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScratchpadRequest {
    View(String),
    Diff(String, String),
    Edit(String),
    Delete(String),
    Promote { name: String, path: String },
    Pin(String),
}

/// What keys go to.
#[derive(Debug)]
enum ScratchpadBrowserFocus {
    List,
    /// The path of the file that the scratchpad becomes, as typed so far.
    Path(TextField),
    /// The question whether it is to go.
    Delete,
}

pub struct ScratchpadBrowser {
    pads: Vec<ScratchpadItem>,
    cursor: ListCursor,
    /// At most two names, in the order in which they were marked.
    marked: Vec<String>,
    focus: ScratchpadBrowserFocus,
    wish: Option<ScratchpadRequest>,
    note: Option<String>,
    help: HelpPage,
    keys: Keymap<ScratchpadBrowserAction>,
    /// The keys of the help page.
    pager: Keymap<pager::PagerAction>,
    theme: Theme,
    size: (u16, u16),
}

impl ScratchpadBrowser {
    pub fn new(
        pads: Vec<ScratchpadItem>,
        theme: &Theme,
        keys: Keymap<ScratchpadBrowserAction>,
        pager: Keymap<pager::PagerAction>,
    ) -> ScratchpadBrowser {
        ScratchpadBrowser {
            pads,
            cursor: ListCursor::default(),
            marked: Vec::new(),
            focus: ScratchpadBrowserFocus::List,
            wish: None,
            note: None,
            help: HelpPage::default(),
            keys,
            pager,
            theme: theme.clone(),
            size: (0, 0),
        }
    }

    /// The request with which the screen closed; `None` when the person is done.
    pub fn take_wish(&mut self) -> Option<ScratchpadRequest> {
        self.wish.take()
    }

    /// The scratchpads as they are now, and the result of a request.
    pub fn tell(&mut self, pads: Vec<ScratchpadItem>, words: Option<String>) {
        self.pads = pads;
        self.marked.retain(|name| self.pads.iter().any(|pad| pad.name == *name));
        self.note = words;
        self.cursor.select(self.cursor.selected, self.pads.len());
    }

    fn current(&self) -> Option<&ScratchpadItem> {
        self.pads.get(self.cursor.selected)
    }

    fn act(&mut self, act: ScratchpadBrowserAction) -> PaneFlow {
        match act {
            ScratchpadBrowserAction::Move(step) => self.cursor.go(step, self.pads.len()),
            ScratchpadBrowserAction::Mark => self.mark(),
            ScratchpadBrowserAction::Help => {
                let sections = [("Scratchpads", self.keys.help())];
                self.help.open(&sections, &self.theme, self.size);
            }
            ScratchpadBrowserAction::Close => return PaneFlow::Close,
            ScratchpadBrowserAction::Diff => return self.diff(),
            ScratchpadBrowserAction::View
            | ScratchpadBrowserAction::Edit
            | ScratchpadBrowserAction::Delete
            | ScratchpadBrowserAction::Promote
            | ScratchpadBrowserAction::Pin => return self.about(act),
        }
        PaneFlow::Stay
    }

    /// Starts `act` for the scratchpad under the cursor.
    fn about(&mut self, act: ScratchpadBrowserAction) -> PaneFlow {
        let Some(pad) = self.current() else { return PaneFlow::Stay };
        let (name, kind) = (pad.name.clone(), pad.kind);
        if kind == ScratchpadItemKind::Picture
            && matches!(act, ScratchpadBrowserAction::Edit | ScratchpadBrowserAction::Promote)
        {
            self.note = Some(format!("`{name}` is a picture: only text can be edited or saved as a file"));
            return PaneFlow::Stay;
        }
        match act {
            ScratchpadBrowserAction::Delete => self.focus = ScratchpadBrowserFocus::Delete,
            ScratchpadBrowserAction::Promote => {
                self.focus = ScratchpadBrowserFocus::Path(TextField::new(TextFieldKind::Path))
            }
            ScratchpadBrowserAction::Edit => return self.wish(ScratchpadRequest::Edit(name)),
            ScratchpadBrowserAction::Pin => return self.wish(ScratchpadRequest::Pin(name)),
            _ => return self.wish(ScratchpadRequest::View(name)),
        }
        PaneFlow::Stay
    }

    fn wish(&mut self, wish: ScratchpadRequest) -> PaneFlow {
        self.wish = Some(wish);
        PaneFlow::Close
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
        self.cursor.go(Move::Down, self.pads.len());
    }

    fn diff(&mut self) -> PaneFlow {
        match self.marked.as_slice() {
            [old, new] => {
                let wish = ScratchpadRequest::Diff(old.clone(), new.clone());
                self.wish(wish)
            }
            _ => {
                self.note = Some(format!(
                    "mark two with {} to compare them",
                    self.keys.key(ScratchpadBrowserAction::Mark)
                ));
                PaneFlow::Stay
            }
        }
    }

    /// A key while a path is typed.
    fn type_path(&mut self, key: KeyEvent) -> PaneFlow {
        let ScratchpadBrowserFocus::Path(path) = &mut self.focus else { return PaneFlow::Stay };
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => self.focus = ScratchpadBrowserFocus::List,
            KeyCode::Char('c' | 'g') if control => self.focus = ScratchpadBrowserFocus::List,
            KeyCode::Enter if !path.text().trim().is_empty() => {
                let path = path.text().trim().to_string();
                self.focus = ScratchpadBrowserFocus::List;
                if let Some(name) = self.current().map(|pad| pad.name.clone()) {
                    return self.wish(ScratchpadRequest::Promote { name, path });
                }
            }
            _ => drop(path.key(key)),
        }
        PaneFlow::Stay
    }

    /// Only `y` deletes.
    fn answer(&mut self, key: KeyEvent) -> PaneFlow {
        self.focus = ScratchpadBrowserFocus::List;
        match (key.code, self.current().map(|pad| pad.name.clone())) {
            (KeyCode::Char('y'), Some(name)) if is_plain(key) => self.wish(ScratchpadRequest::Delete(name)),
            _ => {
                self.note = Some("not deleted".into());
                PaneFlow::Stay
            }
        }
    }
}

impl FullScreenPane for ScratchpadBrowser {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        self.note = None;
        if self.help.key(key, &self.pager) {
            return PaneFlow::Stay;
        }
        match self.focus {
            ScratchpadBrowserFocus::Path(_) => self.type_path(key),
            ScratchpadBrowserFocus::Delete => self.answer(key),
            ScratchpadBrowserFocus::List => self.keys.action(key).map_or(PaneFlow::Stay, |act| self.act(act)),
        }
    }

    /// Pasted text is a path or nothing: it never answers and never acts.
    fn paste(&mut self, text: &str) {
        if let ScratchpadBrowserFocus::Path(path) = &mut self.focus {
            path.insert(text);
        }
    }

    fn run_line_ui(&mut self, talk: &mut dyn LineUi) {
        self.converse(talk);
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        self.size = (columns, rows);
        self.cursor.resize(rows, self.pads.len());
        self.help.resize(columns, rows);
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        if self.help.draw(buffer, &self.theme) { None } else { self.draw_list(buffer) }
    }
}
