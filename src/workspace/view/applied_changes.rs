//! What a turn applied, as a change set.

use super::View;
use super::undo::ComposedChanges;
use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::history::journal::AppliedChange;
use std::sync::Arc;

impl View {
    /// What the transactions of this turn came to, path by path. What was applied and undone in it is left
    /// out.
    pub fn applied_in(&self, turn: &str) -> ChangeSet {
        let entries = self.journal().entries_of(turn);
        let change = |landed: AppliedChange| FileChange {
            path: landed.path,
            before: landed.before,
            after: landed.after,
            content: None,
            moved_from: None,
            twin: landed.twin,
            raced: false,
            by_tool: false,
            steps: Arc::default(),
        };
        ChangeSet::new(ComposedChanges::of(&entries).into_vec().into_iter().map(change).collect())
    }
}
