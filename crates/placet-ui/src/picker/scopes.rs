//! The lists to choose from, of which one is shown.

use super::rank::PickerItem;

/// A list that the person can change to: more things, or fewer.
pub struct PickerScope {
    /// What it shows, after `show `: `all directories`.
    pub name: String,
    /// The same where there is little room: `all`.
    pub short_name: String,
    pub items: Vec<PickerItem>,
}

/// Empty where there is one list only.
#[derive(Default)]
pub(super) struct ScopeList {
    pub(super) all: Vec<PickerScope>,
    at: usize,
}

impl ScopeList {
    /// Other lists, of which that in the same place is shown.
    pub(super) fn replace(&mut self, all: Vec<PickerScope>) {
        self.at = self.at.min(all.len().saturating_sub(1));
        self.all = all;
    }

    pub(super) fn shown(&self) -> Option<&PickerScope> {
        self.all.get(self.at)
    }

    /// What the key for more shows next.
    pub(super) fn next(&self) -> Option<&PickerScope> {
        let next = (self.at + 1) % self.all.len().max(1);
        self.all.get(next).filter(|_| self.all.len() > 1)
    }

    /// Goes to the next list; false where there is none.
    pub(super) fn go_on(&mut self) -> bool {
        let has_next = self.all.len() > 1;
        if has_next {
            self.at = (self.at + 1) % self.all.len();
        }
        has_next
    }
}
