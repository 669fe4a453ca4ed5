//! What the checks after edits found before a turn.

use super::lock::lock;
use placet_checks::CheckResult;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What each check found before the first edit of a turn that concerns it; `None` where nobody knows. A conversation and its
/// sub-agents share it.
#[derive(Clone, Default)]
pub(super) struct EditBaselines(Arc<Mutex<BTreeMap<String, Option<CheckResult>>>>);

impl EditBaselines {
    /// The turn of a conversation begins.
    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    pub(super) fn has(&self, check: &str) -> bool {
        lock(&self.0).contains_key(check)
    }

    pub(super) fn of(&self, check: &str) -> Option<CheckResult> {
        lock(&self.0).get(check).cloned().flatten()
    }

    pub(super) fn add(&self, check: &str, result: Option<CheckResult>) {
        lock(&self.0).insert(check.into(), result);
    }
}
