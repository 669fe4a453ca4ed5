//! What a turn or a transaction applied, as a change set.

use crate::changes::change_count::repositories_of;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::history::journal::{AppliedChange, JournalEntry};
use crate::history::origin::OriginStep;
use crate::view::View;
use crate::view::undoing::undo::ComposedChanges;
use std::sync::Arc;

impl View {
    /// What the transactions of this turn came to, path by path. What was applied and undone in it is left
    /// out.
    pub fn applied_in(&self, turn: &str) -> ChangeSet {
        let entries = self.journal().entries_of(turn);
        let changes = ComposedChanges::of(&entries).into_vec().into_iter();
        ChangeSet::new(changes.map(|landed| change(landed, Arc::default())).collect())
    }

    /// What one transaction changed.
    pub fn applied_by(&self, entry: &JournalEntry) -> ChangeSet {
        let changes = entry.changes.iter().map(|landed| change(landed.clone(), entry.steps(landed).into()));
        ChangeSet { repositories: repositories_of(entry), ..ChangeSet::new(changes.collect()) }
    }
}

fn change(landed: AppliedChange, steps: Arc<[OriginStep]>) -> FileChange {
    FileChange {
        path: landed.path,
        before: landed.before,
        after: landed.after,
        content: None,
        moved_from: None,
        twin: landed.twin,
        raced: false,
        by_tool: false,
        steps,
    }
}
