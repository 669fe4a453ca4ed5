//! What a turn applied, as a change set.

use super::View;
use super::undo::composed;
use crate::workspace::changes::change_set::{ChangeSet, FileChange};

impl View {
    /// What the transactions of this turn came to, path by path. What was applied and undone in it is left
    /// out.
    pub fn applied_in(&self, turn: &str) -> ChangeSet {
        let entries = self.journal().entries_of(turn);
        let change = |(path, landed): (_, crate::workspace::history::journal::AppliedChange)| FileChange {
            path,
            before: landed.before,
            after: landed.after,
            content: None,
            moved_from: None,
            twin: landed.twin,
            raced: false,
            by_tool: false,
            steps: Vec::new(),
        };
        ChangeSet::new(composed(&entries).into_iter().map(change).collect())
    }
}
