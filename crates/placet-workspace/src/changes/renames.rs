//! Files that were renamed and changed at once: a deleted file and a new file that has much of its text.
//!
//! The match is a guess, made as git makes it: more than half of the longer text is in the shorter text too. The guess
//! decides only what is shown and decided together. Without a match, both files are listed separately. A file that runs
//! later and what git writes are never matched: each of them is shown by itself.

use super::change_set::{ChangeKind, ChangeSet, FileChange, line_counts};
use super::classify::ChangeClasses;
use crate::history::file_rename::FileRename;
use crate::history::objects::ObjectStore;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files on each side that are compared, and bytes of one.
const MOST: usize = 300;
const LARGEST: u64 = 1 << 20;

/// The files of a change set that were renamed and changed.
#[derive(Clone, Debug, Default)]
pub struct RenamedFiles {
    /// The old path by the new one.
    old: HashMap<PathBuf, PathBuf>,
    gone: HashSet<PathBuf>,
    /// The old paths of files that were moved and not changed.
    moved: HashSet<PathBuf>,
    /// Those that were renamed and changed, in the order of the new paths.
    list: Vec<FileRename>,
}

/// What was found for the change set with this key.
pub(crate) type RenamedMemo = Option<(blake3::Hash, Arc<RenamedFiles>)>;

impl RenamedFiles {
    /// `runs_later` is true of a path that some program runs or obeys later.
    pub(crate) fn of(
        set: &ChangeSet,
        runs_later: &dyn Fn(&Path) -> bool,
        objects: &ObjectStore,
    ) -> RenamedFiles {
        let old = renames(set, runs_later, objects);
        let is_plain = |path: &Path| !runs_later(path) && set.repository_of(path).is_none();
        let moves = set.changes.iter().filter_map(|c| c.moved_from.as_ref().map(|old| (&c.path, old)));
        let plain = moves.filter(|(new, old)| is_plain(new) && is_plain(old));
        let moved = plain.map(|(_, old)| old.to_path_buf()).collect();
        RenamedFiles { old, moved, ..RenamedFiles::default() }.with_list()
    }

    fn with_list(mut self) -> RenamedFiles {
        self.gone = self.old.values().cloned().collect();
        self.list = self.old.iter().map(|(new, old)| FileRename::new(old, new)).collect();
        self.list.sort_by(|a, b| a.to.cmp(&b.to));
        self
    }

    /// Each file that was renamed and changed.
    pub fn list(&self) -> &[FileRename] {
        &self.list
    }

    /// Adds the other path of each renamed file of which `paths` has one. Returns what was added.
    pub fn add_other_ends(&self, paths: &mut BTreeSet<Arc<Path>>) -> Vec<FileRename> {
        let is_half = |one: &&FileRename| paths.contains(&one.from) != paths.contains(&one.to);
        let half: Vec<FileRename> = self.list.iter().filter(is_half).cloned().collect();
        paths.extend(half.iter().flat_map(|one| [Arc::clone(&one.from), Arc::clone(&one.to)]));
        half
    }

    /// The change of the old path, where `change` is of the new one.
    pub fn old_of<'a>(&self, change: &FileChange, set: &'a ChangeSet) -> Option<&'a FileChange> {
        self.old.get(&*change.path).and_then(|old| set.get(old))
    }

    /// Whether `path` is the old path of one.
    pub fn is_old(&self, path: &Path) -> bool {
        self.gone.contains(path)
    }

    /// The same for a file that was moved, whether it was changed or not.
    pub fn is_moved_away(&self, path: &Path) -> bool {
        self.gone.contains(path) || self.moved.contains(path)
    }

    /// The change of the old path of a file that was moved, whether it was changed or not.
    pub(super) fn moved_from<'a>(&self, change: &FileChange, set: &'a ChangeSet) -> Option<&'a FileChange> {
        let old = change.moved_from.as_ref().filter(|old| self.moved.contains(&***old));
        self.old_of(change, set).or_else(|| old.and_then(|old| set.get(old)))
    }

    /// Without those of which one path is not in `listed`.
    pub(super) fn among(mut self, listed: &HashSet<Arc<Path>>) -> RenamedFiles {
        self.old.retain(|new, old| listed.contains(&**new) && listed.contains(&**old));
        self.with_list()
    }
}

impl ChangeSet {
    /// Lines added and removed in the texts of the set: the sum of the rows of [`ChangeSet::listing`] that have a file. What
    /// git writes in a repository counts where it has a row of its own, and of a file that was renamed only the lines that
    /// changed.
    pub fn lines(
        &self,
        objects: &ObjectStore,
        renamed: &RenamedFiles,
        classes: &ChangeClasses,
    ) -> (usize, usize) {
        self.lines_with(objects, renamed, classes, &|_| None)
    }

    /// The same for a caller that has compared some of the texts already.
    pub fn lines_with(
        &self,
        objects: &ObjectStore,
        renamed: &RenamedFiles,
        classes: &ChangeClasses,
        known: &dyn Fn(&Path) -> Option<(usize, usize)>,
    ) -> (usize, usize) {
        let moved: HashSet<&Arc<Path>> = self.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect();
        let files = self
            .changes
            .iter()
            .filter(|c| classes.runner(&c.path).is_some() || !self.repositories.is_written_by_git(&c.path));
        let files = files.filter(|c| {
            let is_gone = c.verb() == ChangeKind::Deleted && moved.contains(&c.path);
            c.moved_from.is_none() && !is_gone && !renamed.is_old(&c.path)
        });
        let counts = files.filter_map(|c| {
            known(&c.path).or_else(|| match renamed.old_of(c, self) {
                Some(old) => c.counts_from(old, objects),
                None => c.counts(objects),
            })
        });
        counts.fold((0, 0), |(a, r), (added, removed)| (a + added, r + removed))
    }
}

impl FileChange {
    /// Lines added and removed between what `old` was and what this file is.
    pub(super) fn counts_from(&self, old: &FileChange, objects: &ObjectStore) -> Option<(usize, usize)> {
        let ((before, _), (_, after)) = (old.bytes(objects)?, self.bytes(objects)?);
        line_counts(&before, &after)
    }
}

/// The new path of each file that was renamed and changed, with its old path.
fn renames(
    set: &ChangeSet,
    runs_later: &dyn Fn(&Path) -> bool,
    objects: &ObjectStore,
) -> HashMap<PathBuf, PathBuf> {
    let moved: HashSet<&Arc<Path>> = set.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect();
    let is_plain = |c: &&FileChange| {
        fits(c) && !moved.contains(&c.path) && !runs_later(&c.path) && set.repository_of(&c.path).is_none()
    };
    let of =
        |verb: ChangeKind| set.changes.iter().filter(move |c| c.verb() == verb).filter(is_plain).take(MOST);
    let gone: Vec<(&Path, LineCounts)> = of(ChangeKind::Deleted)
        .filter(|change| change.before.is_file())
        .filter_map(|change| Some((&*change.path, lines(&change.bytes(objects)?.0)?)))
        .collect();
    if gone.is_empty() {
        return HashMap::new();
    }
    let mut pairs: Vec<(bool, u64, &Path, &Path)> = Vec::new();
    for change in of(ChangeKind::Created).filter(|change| change.after.is_file()) {
        let Some(new) = change.bytes(objects).and_then(|(_, after)| lines(&after)) else { continue };
        for (path, old) in &gone {
            let same = old.shared(&new);
            if same * 2 > old.bytes.max(new.bytes) {
                let named = path.file_name() == change.path.file_name();
                pairs.push((named, same, &change.path, path));
            }
        }
    }
    // The same name in another place first, then the pair with most in common.
    pairs.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)).then(a.2.cmp(b.2)).then(a.3.cmp(b.3)));
    let mut found: HashMap<PathBuf, PathBuf> = HashMap::new();
    for (_, _, new, old) in pairs {
        if !found.contains_key(new) && !found.values().any(|taken| taken == old) {
            found.insert(new.to_path_buf(), old.to_path_buf());
        }
    }
    found
}

fn fits(change: &FileChange) -> bool {
    (1..=LARGEST).contains(&change.before.size().max(change.after.size())) && !change.raced
}

/// How often each line occurs; blank lines do not count.
struct LineCounts {
    counts: HashMap<Vec<u8>, u64>,
    bytes: u64,
}

fn lines(content: &[u8]) -> Option<LineCounts> {
    if memchr::memchr(0, content).is_some() {
        return None;
    }
    let mut all = LineCounts { counts: HashMap::new(), bytes: 0 };
    for line in content.split_inclusive(|b| *b == b'\n') {
        let line = line.trim_ascii();
        if !line.is_empty() {
            all.bytes += line.len() as u64;
            *all.counts.entry(line.to_vec()).or_default() += 1;
        }
    }
    Some(all)
}

impl LineCounts {
    /// Bytes of the lines that are in both.
    fn shared(&self, other: &LineCounts) -> u64 {
        let both = |(line, count): (&Vec<u8>, &u64)| {
            other.counts.get(line).map_or(0, |there| count.min(there) * line.len() as u64)
        };
        self.counts.iter().map(both).sum()
    }
}
