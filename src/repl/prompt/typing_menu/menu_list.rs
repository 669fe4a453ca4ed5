//! A list that fills itself from threads, and the newest matches in it.

use super::source::ListSource;
use crate::ui::input::pty_proxy::PtyProxy;
use crate::ui::picker::{PickerFeed, PickerMatches};
use crate::ui::worker::WorkerFailure;
use std::time::{Duration, Instant};

pub(super) struct MenuList {
    pub(super) source: ListSource,
    pub(super) made: Instant,
    pub(super) feed: PickerFeed,
    pub(super) asked: Option<String>,
    pub(super) matches: PickerMatches,
    pub(super) is_current: bool,
}

impl MenuList {
    pub(super) fn new(source: ListSource, feed: PickerFeed, pump: Option<PtyProxy>) -> MenuList {
        if let Some(pump) = pump {
            feed.with_wake(move || pump.refresh());
        }
        let (asked, matches) = (None, PickerMatches::default());
        MenuList { source, made: Instant::now(), feed, asked, matches, is_current: false }
    }

    pub(super) fn ask(&mut self, query: &str) {
        if self.asked.as_deref() != Some(query) {
            self.asked = Some(query.into());
            self.is_current = false;
            self.feed.ask(query);
        }
    }

    /// Takes the newest matches, and waits for those of what was asked last.
    pub(super) fn wait(&mut self, patience: Duration) {
        self.poll();
        let deadline = Instant::now() + patience;
        while !self.is_current
            && let Some(found) = self.feed.poll_until(deadline)
        {
            self.take(found);
        }
    }

    /// Without the directory that is typed out itself: what is in it is what is looked for.
    pub(super) fn matches_below(&self, typed: &str) -> PickerMatches {
        let mut matches = self.matches.clone();
        if typed.ends_with('/') {
            let listed = matches.top.len();
            matches.top.retain(|item| item.value() != typed);
            matches.matched -= listed - matches.top.len();
        }
        matches
    }

    /// Takes the newest matches; true where there are some.
    pub(super) fn poll(&mut self) -> bool {
        let found = self.feed.poll();
        found.is_some_and(|found| self.take(found))
    }

    fn take(&mut self, found: Result<PickerMatches, WorkerFailure>) -> bool {
        match found {
            Ok(matches) => (self.matches, self.is_current) = (matches, true),
            Err(e) => {
                tracing::warn!("no list under the line: {e}");
                return false;
            }
        }
        true
    }
}
