//! Directories in a sparse index (gitformat-index(5), "sparse directory entries"): one entry has a whole tree.
//!
//! Where both indexes have the same tree nothing differs, and the tree is not read. So the cost grows with what changed, and
//! not with the repository around it.

use super::budget::ReadBudget;
use super::commit_tree::CommitTree;
use super::event::IndexNotRead;
use super::git_index::{GitIndex, IndexEntries, IndexEntry};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::tree_diff::{DIRECTORY, TreeEntry, entries};
use std::collections::{BTreeMap, BTreeSet};

/// Directories in each other.
const DEEPEST: usize = 256;

/// Puts the files of directories into the entries of the two indexes, where the two do not have the same tree.
pub(super) fn expand_differing(
    (old, new): (&mut GitIndex, &mut GitIndex),
    (old_objects, new_objects): (&ObjectReader<'_>, &ObjectReader<'_>),
    budget: &ReadBudget,
) -> Result<(), IndexNotRead> {
    let paths: BTreeSet<Vec<u8>> = old.directories.keys().chain(new.directories.keys()).cloned().collect();
    for path in paths {
        let trees = [old.directories.get(&path).copied(), new.directories.get(&path).copied()];
        let expansion =
            Expansion { objects: [old_objects, new_objects], budget, is_hidden: trees.contains(&None) };
        expansion.directory(&mut path.clone(), trees, [&mut old.entries, &mut new.entries], 0)?;
    }
    Ok(())
}

/// The entries of an index, also those of files in its directories. Each tree is read once.
pub(super) struct SparseEntries<'a> {
    index: &'a GitIndex,
    objects: &'a ObjectReader<'a>,
    trees: BTreeMap<&'a [u8], CommitTree<'a>>,
}

impl<'a> SparseEntries<'a> {
    pub(super) fn new(index: &'a GitIndex, objects: &'a ObjectReader<'a>) -> SparseEntries<'a> {
        SparseEntries { index, objects, trees: BTreeMap::new() }
    }

    /// The entry at a path.
    pub(super) fn get(&mut self, path: &[u8]) -> Result<Option<IndexEntry>, IndexNotRead> {
        if let Some(entry) = self.index.entries.get(path) {
            return Ok(Some(*entry));
        }
        for end in memchr::memchr_iter(b'/', path).map(|at| at + 1) {
            let Some((directory, below)) = path.split_at_checked(end) else { break };
            if let Some((directory, tree)) = self.index.directories.get_key_value(directory) {
                let objects = self.objects;
                let tree = self.trees.entry(directory).or_insert_with(|| CommitTree::of_tree(objects, *tree));
                return Ok(tree.get(below).map_err(|_| IndexNotRead::Sparse)?.map(of_file));
            }
        }
        Ok(None)
    }
}

fn of_file(file: TreeEntry) -> IndexEntry {
    IndexEntry { staged: Some(file), ..IndexEntry::default() }
}

struct Expansion<'a> {
    objects: [&'a ObjectReader<'a>; 2],
    budget: &'a ReadBudget,
    /// False where git looked at no file of the directory before either: nothing becomes hidden.
    is_hidden: bool,
}

impl Expansion<'_> {
    fn directory(
        &self,
        path: &mut Vec<u8>,
        trees: [Option<ObjectId>; 2],
        into: [&mut IndexEntries; 2],
        depth: usize,
    ) -> Result<(), IndexNotRead> {
        if trees[0] == trees[1] {
            return Ok(());
        }
        if depth > DEEPEST || !self.budget.has_time() {
            return Err(IndexNotRead::Sparse);
        }
        let read = |tree: Option<ObjectId>| match tree {
            None => Ok(BTreeMap::new()),
            Some(tree) => {
                self.objects.iter().find_map(|objects| entries(objects, &tree)).ok_or(IndexNotRead::Sparse)
            }
        };
        let both = [read(trees[0])?, read(trees[1])?];
        let names: BTreeSet<&Vec<u8>> = both.iter().flat_map(BTreeMap::keys).collect();
        let [old, new] = into;
        for name in names {
            let sides = [both[0].get(name), both[1].get(name)];
            if sides[0] == sides[1] {
                continue;
            }
            let above = path.len();
            path.extend_from_slice(name);
            for (file, entries) in sides.into_iter().zip([&mut *old, &mut *new]) {
                if let Some(file) = file.filter(|file| file.mode != DIRECTORY) {
                    entries.insert(path.clone(), IndexEntry { is_hidden: self.is_hidden, ..of_file(*file) });
                }
            }
            let directories =
                sides.map(|side| side.filter(|side| side.mode == DIRECTORY).map(|side| side.id));
            path.push(b'/');
            self.directory(path, directories, [&mut *old, &mut *new], depth + 1)?;
            path.truncate(above);
        }
        Ok(())
    }
}
