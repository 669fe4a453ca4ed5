//! What a question shows, as facts: refs, commits, index, stash, operations. Sentences are made elsewhere.
//!
//! Everything is read from the quarantine, by hash. Each item that would be applied has a row.

mod commits;
mod index_rows;
mod objects;
mod operation;
mod refs;
mod signatures;

pub use commits::CommitFact;
pub use index_rows::{HiddenPaths, IndexFact, StagedKind};
pub use objects::ObjectFact;
pub use operation::OperationFact;
pub use refs::{RefFact, RefMovement};
pub use signatures::unsigned_commits;

use crate::error::Result;
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use crate::question::RepositoryQuestion;
use crate::repository_move::Moved;
use crate::runner::GitRunner;
use crate::state::{CheckoutName, Head, StashEntry};
use crate::tree_lines::PathChange;
use std::collections::BTreeMap;

/// All rows of a question.
#[derive(Clone, Debug)]
pub struct RepositoryRows {
    pub refs: Vec<RefFact>,
    /// New commits, the newest first.
    pub commits: Vec<CommitFact>,
    /// Commits that no ref of the agent's leads to any more, and that the person's did.
    pub dropped: Vec<CommitFact>,
    pub unlisted: UnlistedCommits,
    pub heads: Vec<HeadFact>,
    pub index: BTreeMap<CheckoutName, Vec<IndexFact>>,
    pub index_effects: IndexEffects,
    pub stash_added: Vec<StashFact>,
    pub stash_dropped: Vec<StashFact>,
    /// What new refs lead to that is no commit: annotated tags, and what they are about.
    pub objects: BTreeMap<ObjectId, ObjectFact>,
    pub operations: Vec<OperationFact>,
}

/// How many commits there are beyond the [`CommitFact`]s that are listed.
#[derive(Clone, Copy, Debug)]
pub struct UnlistedCommits {
    pub new: usize,
    pub dropped: usize,
}

/// What git shows afterwards because of index entries, and what it no longer shows.
#[derive(Clone, Debug)]
pub struct IndexEffects {
    /// Paths in which the commits at `HEAD` differ and whose index entries stay: git shows them as staged from then on.
    pub left_behind: BTreeMap<CheckoutName, Vec<GitName>>,
    pub hidden: BTreeMap<CheckoutName, HiddenPaths>,
}

/// A `HEAD` that moves to another branch or commit.
#[derive(Clone, Debug)]
pub struct HeadFact {
    pub checkout: CheckoutName,
    pub moved: Moved<Head>,
    /// The commit at `HEAD` afterwards; none on an unborn branch.
    pub commit: Option<ObjectId>,
    /// The person had something staged that is in no commit.
    pub had_staged: bool,
}

/// A stash entry with the commit that it was made on.
#[derive(Clone, Debug)]
pub struct StashFact {
    pub entry: StashEntry,
    /// The commit that it was made on; that of what was staged; that of untracked files, if there are any.
    pub parents: Vec<ObjectId>,
    pub changes: Vec<PathChange>,
    pub staged: Vec<PathChange>,
    pub untracked: Vec<PathChange>,
}

impl StashFact {
    fn of(entry: &StashEntry, log: &commits::CommitLog) -> StashFact {
        let changes = |id: Option<&ObjectId>| {
            id.and_then(|id| log.stash.get(id)).map(|commit| commit.changes.clone()).unwrap_or_default()
        };
        let parents = log.stash.get(&entry.id).map(|commit| commit.parents.clone()).unwrap_or_default();
        StashFact {
            entry: entry.clone(),
            changes: changes(Some(&entry.id)),
            staged: changes(parents.get(1)),
            untracked: changes(parents.get(2)),
            parents,
        }
    }
}

impl RepositoryRows {
    /// Reads the rows: one start, whose calls do not depend on each other.
    pub fn read(question: &RepositoryQuestion, runner: &dyn GitRunner) -> Result<RepositoryRows> {
        let log = commits::CommitLog::read(question, runner)?;
        let refs = refs::facts(question, &log);
        let heads = question.comparison.moved.checkouts.iter().filter_map(|(name, checkout)| {
            let moved = checkout.head.clone()?;
            let commit = question.agent.head_commit(name);
            Some(HeadFact {
                checkout: name.clone(),
                moved,
                commit,
                had_staged: log.has_staged(question, name),
            })
        });
        let stash = question.comparison.moved.stash.as_ref();
        let (before, after) = stash.map_or((&[][..], &[][..]), |stash| {
            (stash.before.as_deref().unwrap_or_default(), stash.after.as_deref().unwrap_or_default())
        });
        let missing = |list: &[StashEntry], other: &[StashEntry]| -> Vec<StashFact> {
            let changed = list.iter().filter(|entry| !other.contains(entry));
            changed.map(|entry| StashFact::of(entry, &log)).collect()
        };
        Ok(RepositoryRows {
            refs,
            heads: heads.collect(),
            index: index_rows::facts(question, &log),
            index_effects: IndexEffects {
                left_behind: index_rows::left_behind(question, &log),
                hidden: index_rows::hidden(question),
            },
            stash_added: missing(after, before),
            stash_dropped: missing(before, after),
            objects: objects::read(question, runner)?,
            operations: operation::facts(question),
            commits: log.commits,
            dropped: log.dropped,
            unlisted: UnlistedCommits { new: log.more_commits, dropped: log.more_dropped },
        })
    }
}
