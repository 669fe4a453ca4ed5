//! The commits at `HEAD` of both states, and the paths in which they differ.
//!
//! Equal subtrees are not read, so the cost grows with the difference and not with the repository around it.

use super::budget::ReadBudget;
use super::commit::Commit;
use super::commit_tree::{CommitTree, UnreadTree};
use super::event::HeadPosition;
use super::git_index::GitIndex;
use super::git_sides::RepositorySide;
use super::object_id::ObjectId;
use super::tree_diff::{TreeEntry, entries};
use std::collections::{BTreeMap, BTreeSet};

/// Paths that differ. More of them are compared only where their entries in the index differ, too.
const MOST_PATHS: usize = 100_000;
/// Directories in each other.
const DEEPEST: usize = 256;

/// A path before and after the change.
pub(super) type BothEntries = (Option<TreeEntry>, Option<TreeEntry>);

pub(super) struct HeadTrees<'a> {
    old: CommitTree<'a>,
    new: CommitTree<'a>,
    differing: BTreeMap<Vec<u8>, BothEntries>,
    /// All paths that differ are in `differing`.
    is_complete: bool,
}

impl<'a> HeadTrees<'a> {
    /// The two indexes say which directories need no look: a sparse index that has the tree of the new commit takes nothing back.
    pub(super) fn find(
        (before, after): (&'a RepositorySide<'_>, &'a RepositorySide<'_>),
        indexes: (&GitIndex, &GitIndex),
        budget: &ReadBudget,
    ) -> HeadTrees<'a> {
        let mut walk = HeadWalk {
            sides: (before, after),
            indexes,
            budget,
            differing: BTreeMap::new(),
            is_complete: true,
        };
        match both_trees(before, after) {
            Ok((old, new)) => walk.directory((old, new), &mut Vec::new(), 0),
            Err(UnreadTree) => walk.is_complete = false,
        }
        HeadTrees {
            old: CommitTree::new(&before.objects, before.refs.head_commit()),
            new: CommitTree::new(&after.objects, after.refs.head_commit()),
            differing: walk.differing,
            is_complete: walk.is_complete,
        }
    }

    /// True where the commits have the same files.
    pub(super) fn are_equal((before, after): (&RepositorySide<'_>, &RepositorySide<'_>)) -> bool {
        before.refs.head_commit() == after.refs.head_commit()
            || both_trees(before, after).is_ok_and(|(old, new)| old == new)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The paths that differ, in their order.
    pub(super) fn differing(&self) -> impl Iterator<Item = &[u8]> {
        self.differing.keys().map(Vec::as_slice)
    }

    pub(super) fn differs_at(&self, path: &[u8]) -> bool {
        self.differing.contains_key(path)
    }

    /// The path in both commits. It is not for paths in a sparse directory that was not looked at.
    pub(super) fn both(&mut self, path: &[u8]) -> Result<BothEntries, UnreadTree> {
        match self.differing.get(path) {
            Some(both) => Ok(*both),
            None if self.is_complete => self.new.get(path).map(|entry| (entry, entry)),
            None => Ok((self.old.get(path)?, self.new.get(path)?)),
        }
    }

    /// The path in the commit at which `HEAD` is now.
    pub(super) fn now(&mut self, path: &[u8]) -> Result<Option<TreeEntry>, UnreadTree> {
        match self.differing.get(path) {
            Some((_, new)) => Ok(*new),
            None => self.new.get(path),
        }
    }
}

/// The trees of both commits; `None` on a branch without a commit.
fn both_trees(
    before: &RepositorySide<'_>,
    after: &RepositorySide<'_>,
) -> Result<(Option<ObjectId>, Option<ObjectId>), UnreadTree> {
    if before.refs.head_commit() == after.refs.head_commit() {
        return Ok((None, None));
    }
    let tree = |side: &RepositorySide<'_>| match (side.refs.head_commit(), side.refs.head()) {
        (Some(id), _) => Commit::read(&side.objects, &id).map(|commit| Some(commit.tree)).ok_or(UnreadTree),
        // git may read something there that is no ref here.
        (None, Some(HeadPosition::Branch(name))) if side.refs.is_broken(&name) => Err(UnreadTree),
        (None, None) if side.refs.has_file("HEAD") => Err(UnreadTree),
        (None, _) => Ok(None),
    };
    Ok((tree(before)?, tree(after)?))
}

struct HeadWalk<'a, 's> {
    sides: (&'a RepositorySide<'s>, &'a RepositorySide<'s>),
    indexes: (&'a GitIndex, &'a GitIndex),
    budget: &'a ReadBudget,
    differing: BTreeMap<Vec<u8>, BothEntries>,
    is_complete: bool,
}

impl HeadWalk<'_, '_> {
    fn directory(
        &mut self,
        (before, after): (Option<ObjectId>, Option<ObjectId>),
        path: &mut Vec<u8>,
        depth: usize,
    ) {
        if before == after || self.is_followed(path, after) {
            return;
        }
        let read = |side: &RepositorySide<'_>, tree: Option<ObjectId>| match tree {
            Some(tree) => entries(&side.objects, &tree),
            None => Some(BTreeMap::new()),
        };
        let both = || Some((read(self.sides.0, before)?, read(self.sides.1, after)?));
        let may_read = depth <= DEEPEST && self.budget.has_time();
        let Some((old, new)) = may_read.then(both).flatten() else {
            self.is_complete = false;
            return;
        };
        let names: BTreeSet<&Vec<u8>> = old.keys().chain(new.keys()).collect();
        for name in names {
            let (was, is) = (old.get(name), new.get(name));
            if was == is {
                continue;
            }
            if self.differing.len() >= MOST_PATHS {
                self.is_complete = false;
                return;
            }
            let above = path.len();
            path.extend_from_slice(name);
            let file = |entry: Option<&TreeEntry>| entry.filter(|entry| !entry.is_directory()).copied();
            let files = (file(was), file(is));
            if files != (None, None) {
                self.differing.insert(path.clone(), files);
            }
            let directory =
                |entry: Option<&TreeEntry>| entry.filter(|entry| entry.is_directory()).map(|entry| entry.id);
            path.push(b'/');
            self.directory((directory(was), directory(is)), path, depth + 1);
            path.truncate(above);
        }
    }

    /// True for a directory of which both sparse indexes have the tree of the new commit.
    fn is_followed(&self, path: &[u8], tree: Option<ObjectId>) -> bool {
        let of = |index: &GitIndex| index.directories.get(path).copied();
        tree.is_some() && of(self.indexes.0) == tree && of(self.indexes.1) == tree
    }
}
