//! New objects to which no ref, index or other file of git leads, except a reflog. Nobody gets them without typing their
//! names, and they are in the repository all the same: each has its content.

use super::budget::{LARGEST_OBJECT, ReadBudget};
use super::commit::Commit;
use super::event::{GitEvent, StoredContent, StoredKind};
use super::git_index::read_index;
use super::git_sides::{GitSides, width};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::pack::Pack;
use super::refs::RefReader;
use super::repository_files::{RepositoryFiles, read};
use super::stored_content::{ContentFate, tree_lines};
use super::tree_diff::{blob_content, compare_trees, entries, with_message};
use super::work_trees::work_trees;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// New objects that are looked at, of loose ones and of each pack.
const MOST_NEW: usize = 20_000;
/// Commits that have a row.
const MOST_COMMITS: usize = 20;
/// Other objects whose content is shown.
const MOST_OTHERS: usize = 200;
/// Linked worktrees whose `HEAD` and index are looked at.
const MOST_WORKTREES: usize = 50;
/// Directories in each other that are looked at in a tree which only a merge made.
const DEEPEST: usize = 256;

/// Where to begin: everything that has a name.
pub(super) struct ReachedRoots {
    /// Objects that refs, stash entries and files of git name.
    pub(super) ids: Vec<ObjectId>,
    /// New objects in new lines of reflogs, each with its file. A command can go back there without a hash.
    pub(super) logged: Vec<(PathBuf, ObjectId)>,
    pub(super) common: PathBuf,
    /// All refs could be read.
    pub(super) are_all: bool,
}

/// The rows of what no name leads to. Reading has a time of its own: a large commit would otherwise leave none.
pub(super) fn unreached_events(sides: &GitSides<'_>, roots: &ReachedRoots) -> Vec<GitEvent> {
    let objects_dir = roots.common.join("objects");
    let new_files =
        || sides.changed.iter().filter(|(path, is_gone)| !is_gone && path.starts_with(&objects_dir));
    if new_files().next().is_none() {
        return Vec::new();
    }
    let budget = ReadBudget::new(sides.deadline);
    let refs = RefReader::new(sides.after, sides.dir, &roots.common);
    let width = width(&[&refs]);
    let before = ObjectReader::new(sides.before, &roots.common, width, &budget);
    let after = ObjectReader::new(sides.after, &roots.common, width, &budget);
    let mut all_known = true;
    let mut new: BTreeSet<ObjectId> = BTreeSet::new();
    for (path, _) in new_files() {
        let Ok(rel) = path.strip_prefix(&objects_dir) else { continue };
        let room = MOST_NEW.saturating_sub(new.len());
        match loose_name(rel) {
            Some(id) if room > 0 => drop(new.insert(id)),
            Some(_) => all_known = false,
            None if rel.starts_with("pack") && path.extension() == Some(OsStr::new("idx")) => {
                let Some(pack) = Pack::open(sides.after, path, width) else { continue };
                all_known &= pack.count() <= room as u64;
                let names = (0..pack.count().min(room as u64)).filter_map(|at| pack.name(at));
                new.extend(names.take_while(|_| budget.has_time()));
            }
            None => {}
        }
    }
    new.retain(|id| budget.has_time() && !before.has(id));
    let is_known = roots.are_all;
    let linked = roots.common.join("worktrees");
    let linked = sides.after.names(&linked).into_iter().take(MOST_WORKTREES).map(|name| linked.join(name));
    let repositories = [roots.common.clone()].into_iter().chain(linked);
    let work_trees = repositories.flat_map(|dir| work_trees(&dir, sides.after)).collect();
    let files = sides.after;
    let mut search =
        UnreachedSearch { after: &after, files, work_trees, budget: &budget, left: new, is_known };
    roots.ids.iter().for_each(|id| search.reach(*id));
    search.reach_state_of(sides, sides.dir, &roots.common, width);
    let worktrees = roots.common.join("worktrees");
    for name in sides.after.names(&worktrees).iter().take(MOST_WORKTREES) {
        search.reach_state_of(sides, &worktrees.join(name), &roots.common, width);
    }
    let events = if all_known { search.events(&roots.logged) } else { Vec::new() };
    match all_known && budget.reached().is_empty() {
        true => events,
        false => vec![GitEvent::UnreachedNotRead],
    }
}

/// `ab/cdef...` as the object `abcdef...`.
fn loose_name(rel: &Path) -> Option<ObjectId> {
    let (dir, name) = (rel.parent()?.to_str()?, rel.file_name()?.to_str()?);
    (dir.len() == 2).then(|| ObjectId::from_hex(format!("{dir}{name}").as_bytes())).flatten()
}

struct UnreachedSearch<'a> {
    after: &'a ObjectReader<'a>,
    files: &'a dyn RepositoryFiles,
    /// Where files of the repository may be.
    work_trees: Vec<PathBuf>,
    budget: &'a ReadBudget,
    /// New objects to which nothing has led so far.
    left: BTreeSet<ObjectId>,
    /// All that could lead to them was read.
    is_known: bool,
}

impl UnreachedSearch<'_> {
    /// Takes out `id` and everything new to which it leads. What was there before leads to nothing new.
    fn reach(&mut self, id: ObjectId) {
        let mut todo = vec![id];
        while let Some(id) = todo.pop() {
            if !self.left.remove(&id) || !self.budget.has_time() {
                continue;
            }
            let Some(object) = self.after.get(&id) else { continue };
            match object.kind {
                "commit" => {
                    let commit = Commit::read(self.after, &id);
                    todo.extend(commit.iter().flat_map(|commit| commit.parents.iter().chain([&commit.tree])));
                }
                "tree" => {
                    let entries = entries(self.after, &id).unwrap_or_default();
                    for entry in entries.values() {
                        match entry.is_directory() {
                            true => todo.push(entry.id),
                            // A file needs not be read.
                            false => drop(self.left.remove(&entry.id)),
                        }
                    }
                }
                "tag" => {
                    let line = object.content.split(|byte| *byte == b'\n').next().unwrap_or_default();
                    todo.extend(line.strip_prefix(b"object ").and_then(ObjectId::from_hex));
                }
                _ => {}
            }
        }
    }

    /// What `HEAD` and the index of a work tree lead to.
    fn reach_state_of(&mut self, sides: &GitSides<'_>, dir: &Path, common: &Path, width: usize) {
        let head = RefReader::new(sides.after, dir, common).head_commit();
        head.into_iter().for_each(|id| self.reach(id));
        if self.left.is_empty() {
            return;
        }
        let Ok(index) = read_index(sides.after, dir, width) else {
            self.is_known = false;
            return;
        };
        for entry in index.entries.values() {
            for staged in entry.staged.iter().chain(entry.versions.iter().flatten()) {
                self.left.remove(&staged.id);
            }
        }
        let resolved = index.resolved.iter().flat_map(|(_, versions)| versions.iter().flatten());
        resolved.for_each(|version| _ = self.left.remove(&version.id));
        index.directories.values().for_each(|tree| self.reach(*tree));
    }

    fn events(mut self, logged: &[(PathBuf, ObjectId)]) -> Vec<GitEvent> {
        let mut events = Vec::new();
        let mut commits: Vec<(ObjectId, Commit)> = Vec::new();
        let mut others: BTreeMap<ObjectId, &'static str> = BTreeMap::new();
        for id in &self.left {
            let kind = self.after.get(id).map_or("object", |object| object.kind);
            match Commit::read(self.after, id).filter(|_| kind == "commit") {
                Some(commit) => commits.push((*id, commit)),
                None => drop(others.insert(*id, kind)),
            }
        }
        // Parents before their children, as far as the clock was right; the newest have rows.
        commits.sort_by_key(|(id, commit)| (commit.time, *id));
        let left_out = commits.len().saturating_sub(MOST_COMMITS);
        let mut with_log: BTreeSet<ObjectId> = logged.iter().map(|(_, id)| *id).collect();
        // A clock may be wrong: until nothing is added.
        let mut known = 0;
        while known < with_log.len() {
            known = with_log.len();
            for (_, commit) in
                commits.iter().rev().filter(|(id, _)| with_log.contains(id)).collect::<Vec<_>>()
            {
                with_log.extend(&commit.parents);
            }
        }
        if left_out > 0 {
            events.push(GitEvent::MoreStored { kind: StoredKind::UnreachedCommit, number: left_out });
        }
        let mut without_files = BTreeMap::new();
        for (id, commit) in commits.iter().skip(left_out) {
            let parent = commit.parents.first().and_then(|id| Commit::read(self.after, id));
            let trees = (parent.map(|parent| parent.tree), Some(commit.tree));
            let (changes, mut patch) = compare_trees(self.after, trees.0, trees.1, self.budget);
            // The row of the stash says all that is in it.
            if patch.is_empty() && !changes.at_least && self.is_index_of_stash((*id, commit), &commits) {
                continue;
            }
            // `git stash pop` leaves one of the index, which says no more than its name.
            if patch.is_empty() && !changes.at_least {
                without_files.insert(*id, "commit");
                continue;
            }
            patch = with_message(patch, commit, self.budget);
            patch.is_logged = self.is_known && with_log.contains(id);
            patch.is_unreached = self.is_known && !patch.is_logged;
            let (id, subject) = (id.short(), commit.subject.clone());
            let content = StoredContent { id, subject, changes, patch, not_shown: None };
            events.push(GitEvent::Stored { kind: StoredKind::UnreachedCommit, content });
        }
        for (id, _) in &commits {
            self.reach(*id);
        }
        others.retain(|id, _| self.left.contains(id));
        let quiet = self.merged_trees(&others);
        others.retain(|id, _| !quiet.contains(id));
        others.extend(without_files);
        if !others.is_empty() {
            events.push(self.others(&others));
        }
        events
    }

    /// True for the part of a stash that has the index, where nothing was staged and git itself wrote the commit: `git merge`
    /// makes a stash of what is not committed.
    fn is_index_of_stash(&self, (id, commit): (ObjectId, &Commit), commits: &[(ObjectId, Commit)]) -> bool {
        let [base] = commit.parents.as_slice() else { return false };
        let stash = commits.iter().find(|(_, stash)| stash.parents.get(..2) == Some(&[*base, id]));
        let (Some((stash_id, _)), Some(base_commit)) = (stash, Commit::read(self.after, base)) else {
            return false;
        };
        let parts = |id: &ObjectId| {
            let text = String::from_utf8(self.after.get_of(id, "commit")?).ok()?;
            let (head, message) = text.split_once("\n\n")?;
            let is_own = |line: &&str| !line.starts_with("tree ") && !line.starts_with("parent ");
            let head: Vec<String> = head.lines().filter(is_own).map(String::from).collect();
            Some((head, message.to_string()))
        };
        let (Some((head, message)), Some((stash_head, stash_message))) = (parts(&id), parts(stash_id)) else {
            return false;
        };
        let Some((branch, at)) = message.strip_prefix("index on ").and_then(|rest| rest.split_once(": "))
        else {
            return false;
        };
        let Some((short, subject)) = at.trim_end().split_once(' ') else { return false };
        let is_of_branch =
            ["WIP on ", "On "].iter().any(|word| stash_message.starts_with(&format!("{word}{branch}: ")));
        head == stash_head
            && is_of_branch
            && short.len() >= 4
            && base.to_hex().starts_with(short)
            && subject == base_commit.subject
    }

    /// The trees that only a merge made, with their files: each file of them was there before, or is in the index or the work
    /// tree, where it has a row.
    fn merged_trees(&self, others: &BTreeMap<ObjectId, &'static str>) -> BTreeSet<ObjectId> {
        let trees = || others.iter().filter(|(_, kind)| **kind == "tree").map(|(id, _)| id);
        let below = |id: &ObjectId| entries(self.after, id).unwrap_or_default().into_values();
        let inner: BTreeSet<ObjectId> = trees().flat_map(below).map(|entry| entry.id).collect();
        let mut quiet = BTreeSet::new();
        for root in trees().filter(|id| !inner.contains(id)) {
            let mut found = BTreeSet::new();
            if self.is_merged(root, Path::new(""), others, &mut found) {
                quiet.extend(found);
            }
        }
        quiet
    }

    /// Adds the new objects of a tree to `found`. False where a file of it is nowhere else.
    fn is_merged(
        &self,
        tree: &ObjectId,
        dir: &Path,
        others: &BTreeMap<ObjectId, &'static str>,
        found: &mut BTreeSet<ObjectId>,
    ) -> bool {
        if dir.components().count() > DEEPEST || !self.budget.has_time() {
            return false;
        }
        let Some(entries) = entries(self.after, tree) else { return false };
        found.insert(*tree);
        entries.into_iter().all(|(name, entry)| {
            let path = dir.join(OsStr::from_bytes(&name));
            match others.contains_key(&entry.id) {
                // Not new, or something leads to it.
                false => true,
                true if entry.is_directory() => self.is_merged(&entry.id, &path, others, found),
                true => {
                    found.insert(entry.id);
                    let has = |place: &PathBuf| {
                        let content = read(self.files, &place.join(&path), LARGEST_OBJECT as u64);
                        content.is_some_and(|content| entry.id.names("blob", &content))
                    };
                    self.work_trees.iter().any(has)
                }
            }
        })
    }

    fn others(&self, others: &BTreeMap<ObjectId, &'static str>) -> GitEvent {
        let mut content = StoredContent::default();
        content.patch.is_unreached = self.is_known;
        for (id, kind) in others.iter().take(MOST_OTHERS) {
            let text = match *kind {
                "tree" => tree_lines(self.after, id),
                kind => blob_content(self.after.get_of(id, kind)),
            };
            let name = format!("{kind}-{}", id.to_hex());
            content.add_text(&name, &text, ContentFate::Added, self.budget);
        }
        let count = |kind| others.values().filter(|other| **other == kind).count();
        let counts = ["commit", "tag", "tree", "blob", "object"].map(|kind| (kind, count(kind)));
        let more = others.len().saturating_sub(MOST_OTHERS);
        GitEvent::Stored { kind: StoredKind::UnreachedObjects { counts, more }, content }
    }
}
