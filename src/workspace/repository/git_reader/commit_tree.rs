//! Paths in the tree of one commit.

use super::commit::Commit;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::tree_diff::{DIRECTORY, TreeEntry, entries};
use std::collections::BTreeMap;

/// A tree cannot be read, so nobody knows what is in the commit.
#[derive(Debug)]
pub(super) struct UnreadTree;

/// The trees of one commit, each read once.
pub(super) struct CommitTree<'a> {
    objects: &'a ObjectReader<'a>,
    /// `None`: there is no commit.
    root: Option<Result<ObjectId, UnreadTree>>,
    read: BTreeMap<ObjectId, Option<BTreeMap<Vec<u8>, TreeEntry>>>,
}

impl<'a> CommitTree<'a> {
    pub(super) fn new(objects: &'a ObjectReader<'a>, commit: Option<ObjectId>) -> CommitTree<'a> {
        let root = commit.map(|id| Commit::read(objects, &id).map(|commit| commit.tree).ok_or(UnreadTree));
        CommitTree { objects, root, read: BTreeMap::new() }
    }

    /// The paths below one tree.
    pub(super) fn of_tree(objects: &'a ObjectReader<'a>, tree: ObjectId) -> CommitTree<'a> {
        CommitTree { objects, root: Some(Ok(tree)), read: BTreeMap::new() }
    }

    /// False for the empty tree of a branch without a commit.
    pub(super) fn has_commit(&self) -> bool {
        self.root.is_some()
    }

    /// The entry at a path.
    pub(super) fn get(&mut self, path: &[u8]) -> Result<Option<TreeEntry>, UnreadTree> {
        let mut at = match &self.root {
            None => return Ok(None),
            Some(Ok(root)) => *root,
            Some(Err(UnreadTree)) => return Err(UnreadTree),
        };
        let mut names = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = names.next() {
            let objects = self.objects;
            let tree =
                self.read.entry(at).or_insert_with(|| entries(objects, &at)).as_ref().ok_or(UnreadTree)?;
            let Some(found) = tree.get(name) else { return Ok(None) };
            if names.peek().is_none() {
                return Ok(Some(*found));
            }
            if found.mode != DIRECTORY {
                return Ok(None);
            }
            at = found.id;
        }
        Ok(None)
    }
}
