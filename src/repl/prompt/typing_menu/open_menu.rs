//! The rows below the line, and what the keys do with them.

use super::completed::completed;
use super::hint::{NOTHING, PromptHint};
use super::layout::ScreenPlace;
use super::place::{MenuKind, MenuPlace, needs_argument};
use super::source::ListSource;
use crate::ui::picker::PickerItem;
use std::sync::Arc;

/// What Enter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MenuEnter {
    Send,
    Complete,
    CompleteAndSend,
}

pub(super) struct OpenMenu {
    pub(super) place: MenuPlace,
    pub(super) rows: Vec<Arc<PickerItem>>,
    pub(super) total: usize,
    /// The rows match what is typed now.
    pub(super) is_current: bool,
    pub(super) selected: usize,
    pub(super) top: usize,
    /// The person moved to it.
    pub(super) is_chosen: bool,
    pub(super) end: ScreenPlace,
    /// What is typed is the path of something on the disk.
    pub(super) exists: bool,
}

impl OpenMenu {
    /// What Enter does with the line `line`: a command that was begun is run, an argument is what was typed.
    pub(super) fn enter(&self, line: &str, pos: usize) -> MenuEnter {
        let Some(item) = self.rows.get(self.selected).filter(|_| self.is_current) else {
            return MenuEnter::Send;
        };
        let typed = line.get(self.place.start..pos).unwrap_or_default();
        if completed(&self.place, item).text.trim_end() == typed {
            return MenuEnter::Send;
        }
        match self.place.kind {
            MenuKind::Command if !self.is_chosen && self.is_typed_out() => MenuEnter::Send,
            MenuKind::Command if self.is_chosen || self.begins(item) => match needs_argument(item.value()) {
                true => MenuEnter::Complete,
                false => MenuEnter::CompleteAndSend,
            },
            // A command that only has the letters somewhere is shown in the line before it runs.
            MenuKind::Command => MenuEnter::Complete,
            // An argument may be something that is not in the list, or more than the row that it begins.
            MenuKind::Argument(_) if self.is_marked() => MenuEnter::CompleteAndSend,
            MenuKind::Argument(_) => MenuEnter::Send,
            MenuKind::Mention if !self.is_chosen && self.exists => MenuEnter::Send,
            MenuKind::Mention => MenuEnter::Complete,
        }
    }

    /// False where Enter sends the line as it is: for an argument, unless the person moved to a row or typed all of it.
    pub(super) fn is_marked(&self) -> bool {
        let is_argument = matches!(self.place.kind, MenuKind::Argument(_));
        let is_row = || self.rows.get(self.selected).is_some_and(|item| item.is(&self.place.typed));
        self.is_chosen || !is_argument || is_row()
    }

    /// What is typed is all of a row, or a path on the disk.
    fn is_typed_out(&self) -> bool {
        let typed = &self.place.typed;
        let is_path = matches!(self.place.source, ListSource::Pending | ListSource::Files) && self.exists;
        is_path || self.rows.iter().any(|item| item.is(typed))
    }

    /// True when the typed text is the beginning of the row's value.
    fn begins(&self, item: &PickerItem) -> bool {
        let typed = &self.place.typed;
        // A session is found by its title; a number or an ID needs no list.
        let is_title = self.place.source == ListSource::Sessions && typed.parse::<usize>().is_err();
        !typed.is_empty() && (is_title || item.value().starts_with(typed))
    }

    /// The rest of the selected row, where what is typed is its beginning.
    pub(super) fn hint(&self, line: &str, pos: usize) -> PromptHint {
        let nothing = || PromptHint::usage(NOTHING);
        let is_argument = matches!(self.place.kind, MenuKind::Argument(_));
        if pos < line.len() || !self.is_current || is_argument && !self.is_chosen && self.is_typed_out() {
            return nothing();
        }
        if self.place.typed.is_empty()
            && let (MenuKind::Argument(name), false) = (self.place.kind, self.is_marked())
        {
            let usage = crate::repl::commands::COMMANDS.iter().find(|row| row.name == name);
            return usage.map_or_else(nothing, |row| PromptHint::usage(row.arguments));
        }
        let typed = line.get(self.place.start..pos).unwrap_or_default();
        let Some(item) = self.rows.get(self.selected) else { return nothing() };
        let text = completed(&self.place, item).text;
        match text
            .trim_end()
            .strip_prefix(typed)
            .filter(|rest| !rest.is_empty() && !self.place.typed.is_empty())
        {
            Some(rest) => PromptHint::rest(rest.into()),
            None => nothing(),
        }
    }
}
