//! A tree that a command removes, and the files that name it: the manifest and the lock file of a package manager.
//!
//! No names of programs and files are known here. A file belongs to the tree if the same command changed it, and the lines
//! that it changed name a directory that goes. Both are applied or wait together, because one without the other is a state
//! that nobody made; the person parts them by choosing one of them.

use crate::text::hunk::hunks;
use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::history::objects::ObjectStore;
use crate::workspace::history::origin::ChangeOrigin;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// What goes of a tree by one command, and the files that name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeGroup {
    pub(super) tree: BTreeSet<Arc<Path>>,
    pub(super) named_in: BTreeSet<Arc<Path>>,
}

impl TreeGroup {
    pub(super) fn paths(&self) -> impl Iterator<Item = &Arc<Path>> {
        self.tree.iter().chain(&self.named_in)
    }
}

/// The trees of which `lost` are files, with the files that name them.
pub(super) fn tree_groups(set: &ChangeSet, lost: &BTreeSet<&Path>, objects: &ObjectStore) -> Vec<TreeGroup> {
    let mut of_call: BTreeMap<(&str, &str), Vec<&FileChange>> = BTreeMap::new();
    for change in &set.changes {
        if let Some(origin) = change.steps.last().and_then(|step| step.origin.as_deref()) {
            of_call.entry(call_of(origin)).or_default().push(change);
        }
    }
    let group = |changes: Vec<&FileChange>| {
        let tree: BTreeSet<Arc<Path>> = of(&changes, |c| lost.contains(&*c.path));
        let goes = |c: &&&FileChange| c.before.is_directory() && c.after.is_absent();
        let names: HashSet<&[u8]> = changes
            .iter()
            .filter(goes)
            .filter_map(|c| c.path.file_name().map(|name| name.as_bytes()))
            .collect();
        if tree.is_empty() || names.is_empty() {
            return None;
        }
        let named_in = of(&changes, |c| !lost.contains(&*c.path) && names_one(c, &names, objects));
        (!named_in.is_empty()).then_some(TreeGroup { tree, named_in })
    };
    of_call.into_values().filter_map(group).collect()
}

fn call_of(origin: &ChangeOrigin) -> (&str, &str) {
    (&origin.turn, &origin.call)
}

fn of(changes: &[&FileChange], is_meant: impl Fn(&FileChange) -> bool) -> BTreeSet<Arc<Path>> {
    changes.iter().filter(|change| is_meant(change)).map(|change| Arc::clone(&change.path)).collect()
}

/// True where a changed line of the file has one of `names` as a word.
fn names_one(change: &FileChange, names: &HashSet<&[u8]>, objects: &ObjectStore) -> bool {
    if !change.before.is_file() || !change.after.is_file() {
        return false;
    }
    let Some((before, after)) = change.bytes(objects) else { return false };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-.@".contains(byte);
    let has_name = |lines: &[u8]| lines.split(|byte| !is_word(byte)).any(|word| names.contains(word));
    hunks(&before, &after)
        .into_iter()
        .any(|hunk| before.get(hunk.old).is_some_and(has_name) || after.get(hunk.new).is_some_and(has_name))
}
