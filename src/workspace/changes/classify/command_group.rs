//! What one command did as a whole: the tree that a package manager removes, and the manifest and the lock file that say so.
//!
//! Where a part of it is a large loss, it is applied or waits as a whole: half of it is a state that nobody made. The person
//! parts it by choosing a part. A program of the person's own (`placet run`) is no command: what it changed in hours is not
//! one thing.

use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::history::origin::ChangeOrigin;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The changes of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandGroup {
    /// What the command says of itself, in one line that is fit for a terminal.
    pub title: String,
    pub paths: BTreeSet<Arc<Path>>,
}

/// The call that changed the path last, if that was a command.
fn command_of(change: &FileChange) -> Option<&ChangeOrigin> {
    let origin = change.steps.last()?.origin.as_deref()?;
    (!change.by_tool && !origin.call.is_empty() && origin.program.is_none()).then_some(origin)
}

/// The commands that changed a path of `lost`, each with everything that it changed.
pub(super) fn groups_of(set: &ChangeSet, lost: &BTreeSet<&Path>) -> Vec<CommandGroup> {
    let key = |origin: &'_ ChangeOrigin| -> (String, String) { (origin.turn.clone(), origin.call.clone()) };
    let mut groups: BTreeMap<(String, String), CommandGroup> = BTreeMap::new();
    for change in set.changes.iter().filter(|change| lost.contains(&*change.path)) {
        if let Some(origin) = command_of(change) {
            let group = || CommandGroup { title: origin.title.clone(), paths: BTreeSet::new() };
            groups.entry(key(origin)).or_insert_with(group);
        }
    }
    if groups.is_empty() {
        return Vec::new();
    }
    for change in &set.changes {
        let group = command_of(change).and_then(|origin| groups.get_mut(&key(origin)));
        if let Some(group) = group {
            group.paths.insert(Arc::clone(&change.path));
        }
    }
    groups.into_values().collect()
}
