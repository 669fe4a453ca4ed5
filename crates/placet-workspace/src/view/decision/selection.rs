//! The selected part of the pending changes, and the result of applying it.

use crate::files::metadata::path_state::PathState;
use crate::history::journal::JournalEntry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of a path's change is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectedPart {
    Whole,
    /// These of the change's hunks, as `hunks` numbers them.
    Hunks(BTreeSet<usize>),
    /// This content: an apply writes it to the workspace; after a discard it stays pending.
    Content(Arc<Vec<u8>>),
    /// The side that the person chose in a conflict. Only an apply knows it.
    Resolved(Arc<ResolvedPart>),
}

/// A change that the person chose although the workspace has something else than the change was made to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPart {
    /// What the person saw in the workspace.
    pub mine: PathState,
    /// What takes its place; `None` for all of the change.
    pub content: Option<Vec<u8>>,
    /// What stays pending after that, as a change of what was applied.
    pub left: Option<Vec<u8>>,
}

/// Paths, and how much of each.
pub type ChangeSelection = BTreeMap<Arc<Path>, SelectedPart>;

/// What an apply came to.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "one is made for each apply, and nearly always the large one")]
pub enum ApplyOutcome {
    Landed(JournalEntry),
    /// No chosen change was still pending.
    Nothing,
    /// The person changed files in the meantime, and nothing was applied. `merged` files are pending in their merged
    /// form and need another look; `conflicts` could not be merged.
    Changed {
        merged: Vec<PathBuf>,
        conflicts: Vec<PathBuf>,
    },
}

/// The directory of the repository that a path belongs to, if any: `/w/.git`.
pub fn repository_of(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|dir| dir.file_name().is_some_and(|n| n == ".git")).map(Path::to_path_buf)
}
