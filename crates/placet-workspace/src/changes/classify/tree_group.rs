//! A tree that a command makes or removes, and the files that name it: a package with the manifest and the lock file, a
//! worktree or a submodule with its registration.
//!
//! No names of programs and files are known here. A file belongs to the tree if the same command changed it, and the lines
//! that it changed name a directory that comes or goes. All of it is applied or waits together, because one without the other
//! is a state that nobody made; the person parts them by choosing one of them.

use super::staying::holds;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::history::objects::ObjectStore;
use crate::history::origin::ChangeOrigin;
use placet_text::text::hunk::hunks;
use placet_text::text::{count, visible};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A command that changes more files beside its trees registers nothing in them, and each would be read at every look.
const MOST_NAMING: usize = 200;

/// What one command makes or removes of directories, and the files that name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeGroup {
    /// The outermost directories.
    tops: Vec<Arc<Path>>,
    paths: BTreeSet<Arc<Path>>,
    named_in: BTreeSet<Arc<Path>>,
}

impl TreeGroup {
    pub(super) fn paths(&self) -> impl Iterator<Item = &Arc<Path>> {
        self.paths.iter().chain(&self.named_in)
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.paths.contains(path) || self.named_in.contains(path)
    }

    /// For a person: `many` and `deps.json`, which names it. `name` shows a path.
    pub fn words(&self, name: &dyn Fn(&Path) -> PathBuf) -> String {
        const NAMED: usize = 3;
        let listed = |paths: &mut dyn Iterator<Item = &Arc<Path>>, all: usize| {
            let named = paths.take(NAMED).map(|path| format!("`{}`", visible::path(&name(path))));
            let more = (all > NAMED).then(|| format!("{} more", count::of(all - NAMED, "path")));
            named.chain(more).collect::<Vec<String>>().join(", ")
        };
        let trees = listed(&mut self.tops.iter(), self.tops.len());
        let files = listed(&mut self.named_in.iter(), self.named_in.len());
        format!("{trees} and what names it: {files}")
    }
}

/// The trees of `set` that hold one of `waiting`, with the files that name them.
pub(super) fn tree_groups(
    set: &ChangeSet,
    waiting: &BTreeSet<&Path>,
    objects: &ObjectStore,
) -> Vec<TreeGroup> {
    let mut of_call: BTreeMap<(&str, &str), Vec<&FileChange>> = BTreeMap::new();
    for change in &set.changes {
        if let Some(origin) = change.steps.last().and_then(|step| step.origin.as_deref()) {
            of_call.entry(call_of(origin)).or_default().push(change);
        }
    }
    of_call.into_values().filter_map(|changes| group_of_call(set, &changes, waiting, objects)).collect()
}

fn call_of(origin: &ChangeOrigin) -> (&str, &str) {
    (&origin.turn, &origin.call)
}

fn group_of_call(
    set: &ChangeSet,
    changes: &[&FileChange],
    waiting: &BTreeSet<&Path>,
    objects: &ObjectStore,
) -> Option<TreeGroup> {
    let is_of_tree = |c: &&&FileChange| c.before.is_directory() != c.after.is_directory();
    let dirs = || changes.iter().filter(is_of_tree).map(|change| &change.path);
    let waits: BTreeSet<&Path> = dirs().map(|dir| &**dir).filter(|dir| holds(waiting, dir)).collect();
    if waits.is_empty() {
        return None;
    }
    let is_within = |path: &Path| path.ancestors().any(|dir| waits.contains(dir));
    let names: HashSet<&[u8]> = dirs()
        .filter(|dir| is_within(dir))
        .filter_map(|dir| dir.file_name().map(|name| name.as_bytes()))
        .collect();
    let (within, others): (Vec<&FileChange>, Vec<&FileChange>) =
        changes.iter().partition(|change| is_within(&change.path));
    // A new file names what belongs to it only in a repository: any project's first `.gitignore` names `.vscode`.
    let counts = |change: &FileChange| change.before.is_file() || set.repositories.of(&change.path).is_some();
    let others: Vec<&FileChange> = others.into_iter().filter(|change| counts(change)).collect();
    if others.len() > MOST_NAMING {
        return None;
    }
    let named_in = others.iter().filter(|change| names_one(change, &names, objects));
    let named_in: BTreeSet<Arc<Path>> = named_in.map(|change| Arc::clone(&change.path)).collect();
    let is_top = |path: &Path| path.ancestors().skip(1).all(|dir| !waits.contains(dir));
    let tops = dirs().filter(|dir| waits.contains(&***dir) && is_top(dir)).cloned().collect();
    let paths = within.iter().map(|change| Arc::clone(&change.path)).collect();
    (!named_in.is_empty()).then_some(TreeGroup { tops, paths, named_in })
}

/// True where a changed line of the file has one of `names` as a word.
fn names_one(change: &FileChange, names: &HashSet<&[u8]>, objects: &ObjectStore) -> bool {
    if !change.before.is_file() && !change.after.is_file() {
        return false;
    }
    let Some((before, after)) = change.bytes(objects) else { return false };
    // A binary file has no lines: git's index names every file of a work tree.
    if before.contains(&0) || after.contains(&0) {
        return false;
    }
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-.@".contains(byte);
    let has_name = |lines: &[u8]| lines.split(|byte| !is_word(byte)).any(|word| names.contains(word));
    hunks(&before, &after)
        .into_iter()
        .any(|hunk| before.get(hunk.old).is_some_and(has_name) || after.get(hunk.new).is_some_and(has_name))
}
