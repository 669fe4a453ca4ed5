//! Rows of refs: new, deleted, renamed or moved.

use super::commits::CommitLog;
use crate::git_file::worktree_path;
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use crate::question::RepositoryQuestion;
use crate::repository_move::Moved;
use crate::state::{CheckoutName, RefTarget, branch_of};
use crate::tree_lines::PathChange;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What happened to a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefMovement {
    New(RefTarget),
    Deleted(RefTarget),
    /// Deleted, and new under another name with the same target.
    Renamed {
        from: GitName,
        target: RefTarget,
    },
    Moved {
        from: RefTarget,
        to: RefTarget,
        /// Commits that it has more and fewer; `None` where they were not counted, as for tags.
        counts: Option<(usize, usize)>,
    },
}

/// One row of a ref.
#[derive(Clone, Debug)]
pub struct RefFact {
    pub name: GitName,
    pub movement: RefMovement,
    /// Listed new commits that this ref leads to, and no ref in a row above it.
    pub commits: Vec<ObjectId>,
    /// What is different in the commit that it leads to, where its new commits alone do not say it.
    pub changes: Option<Vec<PathChange>>,
    /// A work tree besides the main one in which this branch is checked out: git there shows the difference as a change.
    pub checked_out_in: Option<PathBuf>,
}

pub(super) fn facts(question: &RepositoryQuestion, log: &CommitLog) -> Vec<RefFact> {
    let moved = &question.comparison.moved.refs;
    let mut gone: BTreeMap<GitName, RefTarget> = BTreeMap::new();
    for (name, moved) in moved.iter() {
        if let Moved { before: Some(before), after: None } = moved {
            gone.insert(name.clone(), before.clone());
        }
    }
    let heads: Vec<&GitName> =
        question.agent.checkouts.values().filter_map(|c| branch_of(Some(&c.head))).collect();
    // The branch that is checked out is the one that a person looks for.
    let mut names: Vec<&GitName> = moved.keys().collect();
    names.sort_by_key(|name| !heads.contains(name));
    let mut owners = CommitOwners::new(log);
    let mut facts = Vec::new();
    for name in names {
        let Some(Moved { before, after }) = moved.get(name) else { continue };
        let movement = match (before, after) {
            (None, Some(to)) => {
                let is_old = |old: &GitName| is_branch(old) && is_branch(name);
                match gone.iter().find(|(old, target)| *target == to && is_old(old)) {
                    Some((from, _)) => {
                        let from = from.clone();
                        gone.remove(&from);
                        RefMovement::Renamed { from, target: to.clone() }
                    }
                    None => RefMovement::New(to.clone()),
                }
            }
            (Some(from), Some(to)) => {
                let pair = from.object().zip(to.object());
                let counts = pair.and_then(|pair| log.counts.get(&pair)).copied();
                RefMovement::Moved { from: from.clone(), to: to.clone(), counts }
            }
            (Some(_), None) | (None, None) => continue,
        };
        let changes = match &movement {
            RefMovement::Moved { from: RefTarget::Object(from), to: RefTarget::Object(to), .. } => {
                log.tips.get(&(*from, *to)).cloned()
            }
            _ => None,
        };
        let commits =
            after.as_ref().and_then(RefTarget::object).map(|id| owners.take(id)).unwrap_or_default();
        facts.push(RefFact {
            name: name.clone(),
            movement,
            commits,
            changes,
            checked_out_in: elsewhere(question, name),
        });
    }
    // What is left was not renamed.
    facts.extend(gone.into_iter().map(|(name, target)| RefFact {
        checked_out_in: elsewhere(question, &name),
        name,
        movement: RefMovement::Deleted(target),
        commits: Vec::new(),
        changes: None,
    }));
    facts.extend(own(question));
    facts
}

/// git renames branches, and nothing else.
fn is_branch(name: &GitName) -> bool {
    name.starts_with("refs/heads/")
}

/// Refs of a checkout's own. Those of a bisect are a part of it.
fn own(question: &RepositoryQuestion) -> impl Iterator<Item = RefFact> {
    let own = question.comparison.moved.checkouts.values().flat_map(|checkout| &checkout.own_refs);
    own.filter(|(name, _)| !name.starts_with("refs/bisect/")).filter_map(|(name, moved)| {
        let movement = match (moved.before.clone(), moved.after.clone()) {
            (None, Some(to)) => RefMovement::New(to),
            (Some(from), None) => RefMovement::Deleted(from),
            (Some(from), Some(to)) => RefMovement::Moved { from, to, counts: None },
            (None, None) => return None,
        };
        let name = name.clone();
        Some(RefFact { name, movement, commits: Vec::new(), changes: None, checked_out_in: None })
    })
}

fn elsewhere(question: &RepositoryQuestion, name: &GitName) -> Option<PathBuf> {
    question.person.checkouts.iter().find_map(|(checkout, state)| match checkout {
        CheckoutName::Linked(linked) if branch_of(Some(&state.head)) == Some(name) => {
            worktree_path(&question.person.files, linked)
        }
        _ => None,
    })
}

/// Gives each new commit to the first ref that leads to it.
struct CommitOwners<'a> {
    parents: BTreeMap<ObjectId, &'a [ObjectId]>,
    order: Vec<ObjectId>,
}

impl CommitOwners<'_> {
    fn new(log: &CommitLog) -> CommitOwners<'_> {
        let parents = log.commits.iter().map(|commit| (commit.id, commit.parents.as_slice())).collect();
        CommitOwners { parents, order: log.commits.iter().map(|commit| commit.id).collect() }
    }

    fn take(&mut self, tip: ObjectId) -> Vec<ObjectId> {
        let (mut found, mut next) = (Vec::new(), vec![tip]);
        while let Some(id) = next.pop() {
            if let Some(parents) = self.parents.remove(&id) {
                found.push(id);
                next.extend(parents);
            }
        }
        found.sort_by_key(|id| self.order.iter().position(|other| other == id));
        found
    }
}
