//! Rows of the index: what is staged afterwards, and what was staged and is gone.

use super::commits::{CommitLog, CommitSide};
use crate::git_name::GitName;
use crate::group::{Visibility, visibility};
use crate::object_id::ObjectId;
use crate::question::RepositoryQuestion;
use crate::repository_move::Moved;
use crate::state::{CheckoutName, IndexEntry};
use crate::tree_lines::PathChange;
use std::collections::{BTreeMap, BTreeSet};

/// What an entry is, compared with the commits at `HEAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StagedKind {
    /// The same as in the new commit at `HEAD`: the entry follows it, and needs no row of its own.
    AsCommitted,
    /// Differs from the new commit.
    Staged,
    /// The path is announced by `git add -N`.
    Announced,
    InConflict,
}

/// An index path that moves.
#[derive(Clone, Debug)]
pub struct IndexFact {
    pub path: GitName,
    pub moved: Moved<Vec<IndexEntry>>,
    pub state: StagedKind,
    /// What was staged there is in no new commit, and nowhere staged any more.
    pub loses_staged: bool,
}

pub(super) fn facts(
    question: &RepositoryQuestion,
    log: &CommitLog,
) -> BTreeMap<CheckoutName, Vec<IndexFact>> {
    let mut all = BTreeMap::new();
    // What a stash entry or a commit has is not lost.
    let commits = log.commits.iter().chain(log.stash.values()).flat_map(|commit| &commit.changes);
    let committed: BTreeSet<&(GitName, ObjectId)> =
        commits.filter_map(|change| change.after.as_ref()).collect();
    for (name, checkout) in &question.comparison.moved.checkouts {
        let tree = |side| log.trees.get(&(name.clone(), side));
        let (old_tree, new_tree) = (tree(CommitSide::Person), tree(CommitSide::Agent));
        let staged_now = |(mode, id): &(GitName, ObjectId)| {
            let index = question.agent.checkouts.get(name).map(|checkout| &checkout.index);
            let mut entries = index.into_iter().flat_map(|index| index.values()).flatten();
            entries.any(|entry| entry.id == *id && entry.mode == *mode)
        };
        let is_kept = |staged: &(GitName, ObjectId)| committed.contains(staged) || staged_now(staged);
        let facts: Vec<IndexFact> = checkout
            .index
            .iter()
            .map(|(path, moved)| {
                let old = old_tree.and_then(|tree| tree.get(path));
                let new = new_tree.and_then(|tree| tree.get(path));
                let entry = |entries: &Option<Vec<IndexEntry>>| {
                    let entry = entries.iter().flatten().find(|entry| entry.stage == 0);
                    entry.filter(|entry| !entry.intent_to_add).map(|entry| (entry.mode.clone(), entry.id))
                };
                let (before, after) = (entry(&moved.before), entry(&moved.after));
                // A removal, too; a path in conflict has versions and no staged one.
                let was_in_conflict = moved.before.iter().flatten().any(|entry| entry.stage > 0);
                let was_staged = before.as_ref() != old && !was_in_conflict;
                IndexFact {
                    path: path.clone(),
                    moved: moved.clone(),
                    state: state_of(moved.after.as_deref().unwrap_or_default(), new, after.as_ref()),
                    loses_staged: was_staged
                        && before.as_ref() != new
                        && before.is_none_or(|staged| !is_kept(&staged)),
                }
            })
            .collect();
        if !facts.is_empty() {
            all.insert(name.clone(), facts);
        }
    }
    all
}

fn state_of(
    entries: &[IndexEntry],
    committed: Option<&(GitName, crate::ObjectId)>,
    after: Option<&(GitName, crate::ObjectId)>,
) -> StagedKind {
    match entries {
        entries if entries.iter().any(|entry| entry.stage > 0) => StagedKind::InConflict,
        entries if entries.iter().any(|entry| entry.intent_to_add) => StagedKind::Announced,
        _ if after == committed => StagedKind::AsCommitted,
        _ => StagedKind::Staged,
    }
}

/// What the branch at `HEAD` moved below, without the index. An operation or a switch takes the index along.
pub(super) fn left_behind(
    question: &RepositoryQuestion,
    log: &CommitLog,
) -> BTreeMap<CheckoutName, Vec<GitName>> {
    let mut all = BTreeMap::new();
    for (name, changes) in &log.between {
        let moved = question.comparison.moved.checkouts.get(name);
        let index = question.agent.checkouts.get(name).map(|checkout| &checkout.index);
        // A bare repository has none.
        if index.is_none_or(|index| index.is_empty())
            && moved.is_none_or(|checkout| checkout.index.is_empty())
        {
            continue;
        }
        let stays = |change: &&PathChange| {
            let entry = index.and_then(|index| index.get(&change.path)).and_then(|entries| entries.first());
            let entry =
                entry.filter(|entry| !entry.intent_to_add).map(|entry| (entry.mode.clone(), entry.id));
            entry != change.after && moved.is_none_or(|checkout| !checkout.index.contains_key(&change.path))
        };
        let paths: Vec<GitName> = changes.iter().filter(stays).map(|change| change.path.clone()).collect();
        if !paths.is_empty() {
            all.insert(name.clone(), paths);
        }
    }
    all
}

/// Index entries at which git no longer looks, and those at which it looks again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HiddenPaths {
    pub hidden: Vec<GitName>,
    pub visible: Vec<GitName>,
}

pub(super) fn hidden(question: &RepositoryQuestion) -> BTreeMap<CheckoutName, HiddenPaths> {
    let mut all: BTreeMap<CheckoutName, HiddenPaths> = BTreeMap::new();
    for (name, checkout) in &question.comparison.moved.checkouts {
        for (path, moved) in &checkout.index {
            match visibility(moved, question.comparison.sparse.contains(name)) {
                Visibility::Same => {}
                Visibility::Hidden => all.entry(name.clone()).or_default().hidden.push(path.clone()),
                Visibility::Shown => all.entry(name.clone()).or_default().visible.push(path.clone()),
            }
        }
    }
    all
}
