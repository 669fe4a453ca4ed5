//! What is typed, what matches it, and which of that is selected.

use super::rank::{PickerFeed, PickerItem, PickerMatches};
use crate::list::ListCursor;
use crate::text_field::{TextField, TextFieldKind};
use crate::worker::WorkerFailure;
use std::sync::Arc;

pub(super) struct PickerSearch {
    pub(super) feed: PickerFeed,
    pub(super) query: TextField,
    pub(super) ranked: PickerMatches,
    pub(super) failure: Option<WorkerFailure>,
    pub(super) cursor: ListCursor,
    /// The row that is selected first, until the list is there.
    pub(super) begins_at: Option<usize>,
}

impl PickerSearch {
    pub(super) fn new(feed: PickerFeed) -> PickerSearch {
        PickerSearch {
            feed,
            query: TextField::new(TextFieldKind::Path),
            ranked: PickerMatches::default(),
            failure: None,
            cursor: ListCursor::default(),
            begins_at: None,
        }
    }

    pub(super) fn ask(&mut self) {
        self.feed.ask(self.query.text());
        self.cursor.select(0, 0);
    }

    /// Searches another list.
    pub(super) fn replace(&mut self, feed: PickerFeed) {
        self.feed = feed;
        self.ranked = PickerMatches::default();
        self.ask();
    }

    pub(super) fn current(&self) -> Option<&Arc<PickerItem>> {
        self.ranked.top.get(self.cursor.selected)
    }

    /// Receives what was found in the background; true when there is something new.
    pub(super) fn take_ranked(&mut self) -> bool {
        match self.feed.poll() {
            Some(Ok(ranked)) => self.ranked = ranked,
            Some(Err(failure)) => (self.failure, self.ranked.is_done) = (Some(failure), true),
            None => return false,
        }
        let rows = self.ranked.top.len();
        let first = self.begins_at.take_if(|row| self.query.is_empty() && *row < rows);
        self.cursor.select(first.unwrap_or(self.cursor.selected), rows);
        true
    }

    pub(super) fn is_busy(&self) -> bool {
        self.feed.is_busy() || !self.ranked.is_done
    }
}
