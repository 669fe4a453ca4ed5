//! What differs between two trees: files, and the lines of those that are text, counted and as a patch.

use super::budget::ReadBudget;
use super::commit::Commit;
use super::commit_patch::{BlobContent, CommitPatch};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::plain_path::is_plain_name;
use crate::text::LineDiff;
use std::collections::BTreeMap;

/// Files of one commit that are looked at.
const MOST_FILES: usize = 1_000;
/// Directories that are nested.
const DEEPEST: usize = 256;
/// The largest text whose lines are counted.
const LARGEST_TEXT: usize = 1 << 20;

const KIND: u32 = 0o170_000;
pub(super) const DIRECTORY: u32 = 0o40_000;
/// A commit of a submodule: no object of this repository.
pub(super) const SUBMODULE: u32 = 0o160_000;

/// One name in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeEntry {
    pub(super) mode: u32,
    pub(super) id: ObjectId,
}

impl TreeEntry {
    pub(super) fn is_directory(&self) -> bool {
        self.mode == DIRECTORY
    }
}

/// What a commit changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeChanges {
    pub files: usize,
    pub added: usize,
    pub removed: usize,
    /// Files whose lines are not counted: no text, too large, or not to be read.
    pub uncounted: usize,
    /// Submodules that lead to another commit. They are no files.
    pub submodules: usize,
    /// There are more files than were looked at.
    pub at_least: bool,
}

/// The names in the tree; `None` where it cannot be read.
pub(super) fn entries(objects: &ObjectReader<'_>, tree: &ObjectId) -> Option<BTreeMap<Vec<u8>, TreeEntry>> {
    let bytes = objects.get_of(tree, "tree")?;
    let mut rest = bytes.as_slice();
    let mut found = BTreeMap::new();
    while !rest.is_empty() {
        let (mode, after) = rest.split_at_checked(memchr::memchr(b' ', rest)?)?;
        let after = after.get(1..)?;
        let (name, after) = after.split_at_checked(memchr::memchr(0, after)?)?;
        let (id, after) = after.get(1..)?.split_at_checked(tree.width())?;
        let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
        // git looks only at the kind of a directory's mode.
        let mode = if mode & KIND == DIRECTORY { DIRECTORY } else { mode };
        let entry = TreeEntry { mode, id: ObjectId::from_bytes(id)? };
        // git writes no name twice, and programs do not agree which of two counts.
        if !is_plain_name(name) || found.insert(name.to_vec(), entry).is_some() {
            return None;
        }
        rest = after;
    }
    Some(found)
}

/// The differences between two trees, of which either may be missing.
pub(super) fn compare_trees(
    objects: &ObjectReader<'_>,
    before: Option<ObjectId>,
    after: Option<ObjectId>,
    budget: &ReadBudget,
) -> (TreeChanges, CommitPatch) {
    let mut found = (TreeChanges::default(), CommitPatch::default());
    descend(objects, (before, after), budget, &mut found, &mut Vec::new(), 0);
    found
}

/// The patch of a commit with its message in front, where the subject in the row is not all of it.
pub(super) fn with_message(patch: CommitPatch, commit: &Commit, budget: &ReadBudget) -> CommitPatch {
    if commit.text.is_empty() {
        return patch;
    }
    let mut all = CommitPatch { is_unreached: patch.is_unreached, ..CommitPatch::default() };
    all.add_content("message", &blob_content(Some(commit.text.clone())), budget);
    all.message = all.bytes.len();
    all.append(patch);
    all
}

fn descend(
    objects: &ObjectReader<'_>,
    (before, after): (Option<ObjectId>, Option<ObjectId>),
    budget: &ReadBudget,
    found: &mut (TreeChanges, CommitPatch),
    path: &mut Vec<u8>,
    depth: usize,
) {
    if before == after {
        return;
    }
    let read = |tree: Option<ObjectId>| match tree {
        Some(tree) => entries(objects, &tree),
        None => Some(BTreeMap::new()),
    };
    let (Some(old), Some(new)) = (read(before), read(after)) else {
        found.0.at_least = true;
        return;
    };
    let mut names: Vec<&Vec<u8>> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let (was, is) = (old.get(name), new.get(name));
        if was == is {
            continue;
        }
        if found.0.files + found.0.submodules >= MOST_FILES || depth > DEEPEST || !budget.has_time() {
            found.0.at_least = true;
            return;
        }
        let directory = |entry: Option<&TreeEntry>| entry.filter(|e| e.mode == DIRECTORY).map(|e| e.id);
        let (old_dir, new_dir) = (directory(was), directory(is));
        let above = path.len();
        path.extend_from_slice(name);
        if old_dir.is_some() || new_dir.is_some() {
            path.push(b'/');
            descend(objects, (old_dir, new_dir), budget, found, path, depth + 1);
            path.pop();
        }
        let file = |entry: Option<&TreeEntry>| entry.filter(|e| e.mode != DIRECTORY).copied();
        let (was, is) = (file(was), file(is));
        if was.is_some() || is.is_some() {
            file_changes(objects, was, is, budget, found, path);
        }
        path.truncate(above);
    }
}

/// Counts the lines of a file and adds it to the patch.
fn file_changes(
    objects: &ObjectReader<'_>,
    was: Option<TreeEntry>,
    is: Option<TreeEntry>,
    budget: &ReadBudget,
    (changes, patch): &mut (TreeChanges, CommitPatch),
    path: &[u8],
) {
    let is_submodule = |entry: Option<TreeEntry>| entry.is_some_and(|entry| entry.mode == SUBMODULE);
    match is_submodule(is.or(was)) {
        true => changes.submodules += 1,
        false => changes.files += 1,
    }
    changes.add_file(objects, (was, is), path, patch, budget);
}

impl TreeChanges {
    /// Counts the lines of a file that changes from one entry to the other, and adds it to `patch`.
    pub(super) fn add_file(
        &mut self,
        objects: &ObjectReader<'_>,
        (was, is): (Option<TreeEntry>, Option<TreeEntry>),
        path: &[u8],
        patch: &mut CommitPatch,
        budget: &ReadBudget,
    ) {
        let modes = (was.map(|entry| entry.mode), is.map(|entry| entry.mode));
        if was.map(|entry| entry.id) == is.map(|entry| entry.id) {
            let same = BlobContent::Text(Vec::new());
            return patch.add(path, modes, (&same, &same), budget);
        }
        let (before, after) = (content(objects, was), content(objects, is));
        self.count(&before, &after);
        patch.add(path, modes, (&before, &after), budget);
    }

    /// Counts the lines between two contents.
    pub(super) fn count(&mut self, before: &BlobContent, after: &BlobContent) {
        match (before, after) {
            (BlobContent::Text(before), BlobContent::Text(after)) => {
                let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
                let (added, removed) = LineDiff::new(&before, &after).counts();
                self.added += added;
                self.removed += removed;
            }
            (BlobContent::Submodule(_), _) | (_, BlobContent::Submodule(_)) => {}
            _ => self.uncounted += 1,
        }
    }
}

/// The content of a file, empty when the file does not exist.
pub(super) fn content(objects: &ObjectReader<'_>, entry: Option<TreeEntry>) -> BlobContent {
    match entry {
        None => BlobContent::Text(Vec::new()),
        Some(entry) if entry.mode == SUBMODULE => BlobContent::Submodule(entry.id),
        Some(entry) => blob_content(objects.get_of(&entry.id, "blob")),
    }
}

/// What of an object can be shown; `None` for one that cannot be read.
pub(super) fn blob_content(bytes: Option<Vec<u8>>) -> BlobContent {
    match bytes {
        None => BlobContent::Unread,
        Some(bytes) if memchr::memchr(0, &bytes).is_some() => BlobContent::NotText(bytes.len()),
        Some(bytes) if bytes.len() > LARGEST_TEXT => BlobContent::TooLarge(bytes.len()),
        Some(bytes) if crate::text::is_binary(&bytes) => BlobContent::NotText(bytes.len()),
        Some(bytes) => BlobContent::Text(bytes),
    }
}
