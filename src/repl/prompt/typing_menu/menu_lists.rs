//! Where the rows of the menu come from: a list that is always the same, or one that fills itself from threads.

use super::menu_list::MenuList;
use super::place::MenuPlace;
use super::source::{ListSource, MenuRows, MenuSources};
use crate::ui::input::pty_proxy::PtyProxy;
use crate::ui::picker::{PickerItem, PickerMatches};
use nucleo_matcher::{Config, Matcher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A list that is older is made again when the next word is begun.
const FRESH: Duration = Duration::from_secs(3);
/// A key waits this long for the matches of what is typed now, while its letter is on the screen already: the menu is
/// then drawn once. What takes longer is drawn when it comes.
const SOON: Duration = Duration::from_millis(5);

pub(super) struct MenuLists {
    /// It has a large memory of its own, so that there is one for all keys.
    pub(super) matcher: Matcher,
    sources: Option<MenuSources>,
    filling: Option<MenuList>,
    /// The last list that is always the same.
    known: Option<(ListSource, Vec<Arc<PickerItem>>)>,
}

impl MenuLists {
    pub(super) fn new() -> MenuLists {
        let matcher = Matcher::new(Config::DEFAULT.match_paths());
        MenuLists { matcher, sources: None, filling: None, known: None }
    }

    /// A line begins.
    pub(super) fn begin(&mut self, sources: &MenuSources) {
        self.sources = Some(sources.clone());
    }

    /// The line has ended: a walk has nobody left to walk for.
    pub(super) fn end(&mut self) {
        (self.filling, self.known) = (None, None);
    }

    pub(super) fn cwd(&self) -> Option<&Path> {
        self.sources.as_ref().map(|sources| sources.workspace.cwd())
    }

    pub(super) fn filling(&mut self) -> Option<&mut MenuList> {
        self.filling.as_mut()
    }

    /// The matches of what is typed, and whether they are the newest.
    pub(super) fn matches(
        &mut self,
        place: &MenuPlace,
        is_open: bool,
        pump: Option<&PtyProxy>,
    ) -> Option<(PickerMatches, bool)> {
        let is_stale = |list: &MenuList| {
            list.source != place.source || !is_open && list.asked.is_some() && list.made.elapsed() > FRESH
        };
        if self.filling.as_ref().is_none_or(is_stale) {
            self.filling = None;
            if let Some((_, items)) = self.known.as_ref().filter(|(source, _)| *source == place.source) {
                return Some((PickerMatches::of(items, &place.typed, &mut self.matcher), true));
            }
            match self.sources.as_ref()?.rows(place.source) {
                MenuRows::Known(items) => {
                    let matches = PickerMatches::of(&items, &place.typed, &mut self.matcher);
                    self.known = Some((place.source, items));
                    return Some((matches, true));
                }
                MenuRows::Filling(feed) => {
                    self.filling = Some(MenuList::new(place.source, feed, pump.cloned()))
                }
            }
        }
        let list = self.filling.as_mut()?;
        list.ask(&place.typed);
        list.wait(SOON);
        Some((list.matches_below(&place.typed), list.is_current))
    }
}
