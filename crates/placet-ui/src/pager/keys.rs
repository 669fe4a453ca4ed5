//! The keys that every scrolling screen has: `keys.pager.ACTION`.

use super::scroll::PagerViewport;
use super::source::PagerSource;
use crate::keymap::{KeyBinding, Move, row};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagerAction {
    Move(Move),
    Search,
    Next,
    Previous,
    Goto,
    Wrap,
    Help,
    Close,
}

pub const KEYS: &[KeyBinding<PagerAction>] = &[
    row(PagerAction::Move(Move::Down), "down", "j Down", "a row down"),
    row(PagerAction::Move(Move::Up), "up", "k Up", "a row up"),
    row(PagerAction::Move(Move::HalfDown), "half-down", "Ctrl-D", "half a screen down"),
    row(PagerAction::Move(Move::HalfUp), "half-up", "Ctrl-U", "half a screen up"),
    row(PagerAction::Move(Move::PageDown), "page-down", "Space PageDown Ctrl-F", "a screen down"),
    row(PagerAction::Move(Move::PageUp), "page-up", "PageUp Ctrl-B", "a screen up"),
    row(PagerAction::Move(Move::Top), "top", "g Home", "the beginning"),
    row(PagerAction::Move(Move::Bottom), "bottom", "G End", "the end"),
    row(PagerAction::Move(Move::Left), "left", "h Left", "to the left, where lines are not wrapped"),
    row(PagerAction::Move(Move::Right), "right", "l Right", "to the right, where lines are not wrapped"),
    row(PagerAction::Search, "search", "/", "search while you type; lower case also matches upper case"),
    row(PagerAction::Next, "next", "n", "the next match"),
    row(PagerAction::Previous, "previous", "N", "the previous match"),
    row(PagerAction::Goto, "goto", ":", "go to a line by its number"),
    row(PagerAction::Wrap, "wrap", "w", "wrap long lines, or not"),
    row(PagerAction::Help, "help", "?", "these keys"),
    row(PagerAction::Close, "close", "q Esc", "close"),
];

/// What is left of a key for the screen itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagerRequest {
    Nothing,
    Help,
    Close,
}

impl PagerViewport {
    /// Does what a key does on every scrolling screen.
    pub fn act<S: PagerSource + ?Sized>(&mut self, source: &S, act: PagerAction) -> PagerRequest {
        match act {
            PagerAction::Move(step) => self.go(source, step),
            PagerAction::Search => self.begin_search(),
            PagerAction::Next => self.find_next(source),
            PagerAction::Previous => self.find_previous(source),
            PagerAction::Goto => self.begin_goto(),
            PagerAction::Wrap => self.toggle_wrap(source),
            PagerAction::Help => return PagerRequest::Help,
            PagerAction::Close => return PagerRequest::Close,
        }
        PagerRequest::Nothing
    }
}
