//! The keys that every scrolling screen has: `keys.pager.ACTION`.

use super::{Move, Scroll, Source};
use crate::ui::keymap::{Row, row};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Move(Move),
    Search,
    Next,
    Previous,
    Goto,
    Wrap,
    Help,
    Close,
}

pub const KEYS: &[Row<Act>] = &[
    row(Act::Move(Move::Down), "down", "j Down", "a row down"),
    row(Act::Move(Move::Up), "up", "k Up", "a row up"),
    row(Act::Move(Move::HalfDown), "half-down", "Ctrl-D", "half a screen down"),
    row(Act::Move(Move::HalfUp), "half-up", "Ctrl-U", "half a screen up"),
    row(Act::Move(Move::PageDown), "page-down", "Space PageDown Ctrl-F", "a screen down"),
    row(Act::Move(Move::PageUp), "page-up", "PageUp Ctrl-B", "a screen up"),
    row(Act::Move(Move::Top), "top", "g Home", "the beginning"),
    row(Act::Move(Move::Bottom), "bottom", "G End", "the end"),
    row(Act::Move(Move::Left), "left", "h Left", "to the left, where lines are not wrapped"),
    row(Act::Move(Move::Right), "right", "l Right", "to the right, where lines are not wrapped"),
    row(Act::Search, "search", "/", "search while typing; small letters find capitals too"),
    row(Act::Next, "next", "n", "the next match"),
    row(Act::Previous, "previous", "N", "the match before"),
    row(Act::Goto, "goto", ":", "go to a line by its number"),
    row(Act::Wrap, "wrap", "w", "wrap long lines, or not"),
    row(Act::Help, "help", "?", "these keys"),
    row(Act::Close, "close", "q Esc", "close"),
];

/// What is left of a key for the screen itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Nothing,
    Help,
    Close,
}

impl Scroll {
    /// Does what a key does on every scrolling screen.
    pub fn act<S: Source + ?Sized>(&mut self, source: &S, act: Act) -> Left {
        match act {
            Act::Move(step) => self.go(source, step),
            Act::Search => self.begin_search(),
            Act::Next => self.find_next(source),
            Act::Previous => self.find_previous(source),
            Act::Goto => self.begin_goto(),
            Act::Wrap => self.toggle_wrap(source),
            Act::Help => return Left::Help,
            Act::Close => return Left::Close,
        }
        Left::Nothing
    }
}
