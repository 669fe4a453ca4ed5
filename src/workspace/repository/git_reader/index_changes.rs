//! What a change set stages and takes out of the index, seen against the commit that `HEAD` leads to.

use super::budget::ReadBudget;
use super::commit_patch::{BlobContent, CommitPatch};
use super::event::GitEvent;
use super::git_index::{GitIndex, IndexEntries, IndexEntry};
use super::head_trees::HeadTrees;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::sparse_directories::SparseEntries;
use super::tree_diff::{SUBMODULE, TreeChanges, TreeEntry};
use super::unnoticed_changes::UnnoticedChanges;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Paths that are looked up in the trees of commits. Each of their directories is read once.
const MOST_LOOKED_UP: usize = 100_000;

/// Paths that a row names.
const MOST_NAMED: usize = 3;
/// How the versions of a path in conflict are named, in the order of [`IndexEntry::versions`].
const VERSIONS: [&str; 3] = ["base", "ours", "theirs"];

/// The index before the change set and after it.
pub(super) struct IndexSides<'a> {
    pub(super) before: &'a GitIndex,
    pub(super) after: &'a GitIndex,
    /// False where the file of the index stays as it was: then only the commit at `HEAD` can be another one.
    pub(super) has_changed: bool,
    pub(super) unnoticed: UnnoticedChanges,
}

impl IndexSides<'_> {
    /// The paths whose entries differ, and those in which the commits at `HEAD` differ: where a branch moves below an index that
    /// stays, the next commit takes back what the branch got.
    fn paths<'s>(&'s self, heads: &'s HeadTrees<'_>) -> BTreeSet<&'s [u8]> {
        let (before, after) = (&self.before.entries, &self.after.entries);
        let of = |entries: &IndexEntries, path: &[u8]| entries.get(path).map(|entry| entry.without_stat());
        let removed = before.keys().filter(|path| !after.contains_key(*path));
        let all = after.keys().chain(removed).map(Vec::as_slice).take_while(|_| self.has_changed);
        all.filter(|path| of(before, path) != of(after, path)).chain(heads.differing()).collect()
    }
}

/// The rows about the index; none where it says the same of the same commit. The difference of each path to the commit at `HEAD`
/// is below the row: the next commit has it, whether its content is new or was stored before.
pub(super) fn index_events(
    index: &IndexSides<'_>,
    mut heads: HeadTrees<'_>,
    (old_objects, new_objects): (&ObjectReader<'_>, &ObjectReader<'_>),
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let (old_index, new_index) = (index.before, index.after);
    let (before, after) = (&old_index.entries, &new_index.entries);
    let (mut old_entries, mut new_entries) =
        (SparseEntries::new(old_index, old_objects), SparseEntries::new(new_index, new_objects));
    let (mut unstaged, mut announced, mut conflicts, mut looked_up) = (0, 0, false, 0);
    let mut staged: Vec<StagedPath<'_>> = Vec::new();
    let unnoticed = &index.unnoticed;
    let mut hidden: Vec<&[u8]> = unnoticed.paths.iter().map(Vec::as_slice).collect();
    let mut at_least = unnoticed.at_least || !heads.is_complete();
    let (mut counts, mut patch) = (TreeChanges::default(), CommitPatch::default());
    let in_conflict = |entry: Option<IndexEntry>| entry.is_some_and(|entry| entry.staged.is_none());
    let paths: Vec<Vec<u8>> = index.paths(&heads).into_iter().map(<[u8]>::to_vec).collect();
    for path in &paths {
        let (Ok(was), Ok(is)) = (old_entries.get(path), new_entries.get(path)) else {
            at_least = true;
            continue;
        };
        let (was, is) = (was.map(IndexEntry::without_stat), is.map(IndexEntry::without_stat));
        if is.is_some_and(|is| is.is_hidden) && !was.is_some_and(|was| was.is_hidden) {
            hidden.push(path);
        }
        conflicts |= in_conflict(was) || in_conflict(is);
        if let Some(is) = is.filter(|_| in_conflict(is)) {
            let head = heads.now(path).ok().flatten();
            add_versions(new_objects, (path, head), (is.versions, ""), &mut patch, budget);
            continue;
        }
        if let Some(is) = is.filter(|is| is.is_intent) {
            let is_new = !was.is_some_and(|was| was.is_intent);
            announced += usize::from(is_new);
            // The next commit does not have the path.
            match heads.now(path).ok().flatten() {
                Some(head) if is_new => {
                    counts.add_file(new_objects, (Some(head), None), path, &mut patch, budget);
                }
                head @ Some(_) => staged.push(StagedPath { path, head, is: None }),
                None if Some(is) != was => {
                    let nothing = BlobContent::Text(Vec::new());
                    let mode = is.staged.map(|entry| entry.mode);
                    patch.add(path, (None, mode), (&nothing, &nothing), budget);
                }
                None => {}
            }
            continue;
        }
        let was_in_conflict = in_conflict(was);
        let (was, is) = (was.and_then(|entry| entry.staged), is.and_then(|entry| entry.staged));
        if was == is && !heads.differs_at(path) {
            continue;
        }
        looked_up += 1;
        if looked_up > MOST_LOOKED_UP || !budget.has_time() {
            at_least = true;
            break;
        }
        let Ok((old, new)) = heads.both(path) else {
            at_least = true;
            break;
        };
        if is != new {
            staged.push(StagedPath { path, head: new, is });
        } else if was != is && was != old && old == new && !was_in_conflict {
            unstaged += 1;
        }
    }
    add_staged(new_objects, &staged, (&mut counts, &mut patch), budget);
    let staged = staged.len();
    let in_conflict = match conflicts {
        true => after.values().filter(|entry| entry.staged.is_none()).count(),
        false => 0,
    };
    // `git checkout -m` brings these versions back.
    let mut resolved = 0;
    for (path, versions) in &new_index.resolved {
        let were = before.get(path).map(|entry| entry.versions);
        let is_known =
            were == Some(*versions) || old_index.resolved.iter().any(|old| *old == (path.clone(), *versions));
        if is_known || !budget.has_time() {
            at_least |= !is_known;
            continue;
        }
        resolved += 1;
        let head = heads.now(path).ok().flatten();
        add_versions(new_objects, (path, head), (*versions, "resolved, "), &mut patch, budget);
    }
    patch.is_staged = true;
    let mut events = Vec::new();
    if staged + unstaged + announced + in_conflict + resolved > 0 || at_least {
        events.push(GitEvent::Index { staged, unstaged, announced, in_conflict, resolved, at_least, patch });
    }
    if !hidden.is_empty() {
        events.push(hidden_files(&hidden, budget));
    }
    let forgotten = forgotten_conflicts((old_index, new_index), &mut heads);
    if !forgotten.is_empty() {
        let named = forgotten.iter().take(MOST_NAMED).map(|path| PathBuf::from(OsStr::from_bytes(path)));
        events.push(GitEvent::ConflictsForgotten { number: forgotten.len(), named: named.collect() });
    }
    // One that is as it was says something else where an entry changed.
    let unexplained = new_index.unexplained.iter().filter(|_| index.has_changed);
    events.extend(unexplained.cloned().map(GitEvent::IndexExtension));
    events
}

/// The row where nothing could be compared.
pub(super) fn not_compared() -> GitEvent {
    GitEvent::Index {
        staged: 0,
        unstaged: 0,
        announced: 0,
        in_conflict: 0,
        resolved: 0,
        at_least: true,
        patch: CommitPatch::default(),
    }
}

/// Paths whose conflict was resolved and could be brought back, and cannot now. A commit, a reset and a switch forget them, too:
/// then the path is in the commit at `HEAD` as it is in the index.
fn forgotten_conflicts<'a>(
    (old, new): (&'a GitIndex, &GitIndex),
    heads: &mut HeadTrees<'_>,
) -> Vec<&'a [u8]> {
    let left: BTreeSet<&[u8]> = new.resolved.iter().map(|(path, _)| path.as_slice()).collect();
    let gone = old.resolved.iter().map(|(path, _)| path.as_slice()).filter(|path| !left.contains(path));
    let is_forgotten = |path: &&[u8]| {
        let staged = |index: &GitIndex| index.entries.get(*path).map(|entry| (entry.staged, entry.versions));
        let (was, is) = (staged(old), staged(new));
        was == is && heads.now(path).ok() != Some(is.and_then(|(staged, _)| staged))
    };
    gone.filter(is_forgotten).collect()
}

/// A row names some of them; where there are more, all are below it.
fn hidden_files(hidden: &[&[u8]], budget: &ReadBudget) -> GitEvent {
    let named = hidden.iter().take(MOST_NAMED).map(|path| PathBuf::from(OsStr::from_bytes(path))).collect();
    let mut patch = CommitPatch::default();
    if hidden.len() > MOST_NAMED {
        let list = hidden.iter().flat_map(|path| [path, &b"\n"[..]].concat()).collect();
        patch.add_content("hidden", &BlobContent::Text(list), budget);
    }
    GitEvent::HiddenFiles { number: hidden.len(), named, patch }
}

/// A path that the next commit changes.
struct StagedPath<'a> {
    path: &'a [u8],
    head: Option<TreeEntry>,
    is: Option<TreeEntry>,
}

/// Adds the difference of each path. A file that only has another name is one part: its lines stay as they are.
fn add_staged(
    objects: &ObjectReader<'_>,
    staged: &[StagedPath<'_>],
    (counts, patch): (&mut TreeChanges, &mut CommitPatch),
    budget: &ReadBudget,
) {
    let mut gone: BTreeMap<(u32, ObjectId), Vec<&[u8]>> = BTreeMap::new();
    for StagedPath { path, head, .. } in staged.iter().rev().filter(|one| one.is.is_none()) {
        if let Some(head) = head.filter(|head| head.mode != SUBMODULE) {
            gone.entry((head.mode, head.id)).or_default().push(path);
        }
    }
    let mut renamed: BTreeMap<&[u8], (&[u8], u32)> = BTreeMap::new();
    let mut is_old: BTreeSet<&[u8]> = BTreeSet::new();
    for StagedPath { path, is, .. } in staged.iter().filter(|one| one.head.is_none()) {
        let Some(is) = is else { continue };
        if let Some(from) = gone.get_mut(&(is.mode, is.id)).and_then(Vec::pop) {
            renamed.insert(path, (from, is.mode));
            is_old.insert(from);
        }
    }
    for StagedPath { path, head, is } in staged.iter().filter(|one| !is_old.contains(one.path)) {
        match renamed.get(path) {
            Some((from, mode)) => patch.add_rename((from, path), *mode, budget),
            None => counts.add_file(objects, (*head, *is), path, patch, budget),
        }
    }
}

/// Adds the versions of a path in conflict that differ from the commit at `HEAD`: `git checkout --theirs` writes one.
fn add_versions(
    objects: &ObjectReader<'_>,
    (path, head): (&[u8], Option<TreeEntry>),
    (versions, kind): ([Option<TreeEntry>; 3], &str),
    patch: &mut CommitPatch,
    budget: &ReadBudget,
) {
    for (version, word) in versions.into_iter().zip(VERSIONS) {
        let Some(version) = version.filter(|version| Some(*version) != head) else { continue };
        let name = [path, format!(" ({kind}{word})").as_bytes()].concat();
        let mut part = CommitPatch::default();
        TreeChanges::default().add_file(objects, (head, Some(version)), &name, &mut part, budget);
        part.files = vec![(PathBuf::from(OsStr::from_bytes(path)), version.mode)];
        patch.append(part);
    }
}
