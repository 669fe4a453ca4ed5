//! What git stores besides the commits of branches, with its content: stash entries, notes, tags, and objects that files of
//! git name.

use super::budget::{LARGEST_OBJECT, ReadBudget};
use super::commit::Commit;
use super::commit_patch::{BlobContent, CommitPatch};
use super::commit_tree::CommitTree;
use super::event::{GitEvent, RefKind, RefTarget, StoredContent, StoredKind};
use super::git_sides::{GitSides, RepositorySide};
use super::object_id::ObjectId;
use super::object_store::{GitObject, ObjectReader};
use super::reached_before::{DEEPEST_TAG, ReachedBefore, peeled};
use super::refs::LARGEST_LOG;
use super::refs::RefChange;
use super::repository_files::{RepositoryFiles, exists, read};
use super::tree_diff::{
    DIRECTORY, SUBMODULE, TreeChanges, TreeEntry, blob_content, compare_trees, entries, with_message,
};
use crate::text::patch::quoted;
use crate::workspace::repository::StateFileReader;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Stash entries that have rows.
const MOST_STASHES: usize = 50;
/// Commits of notes that have rows.
const MOST_NOTES: usize = 100;
/// Notes that one row names.
const MOST_NAMED: usize = 3;
const LONGEST_SUBJECT: usize = 60;
/// Objects that files of git name and that have rows.
const MOST_NAMED_OBJECTS: usize = 50;
/// Files that name objects.
const LARGEST_LIST: u64 = 4 << 20;

/// What is new in `git stash list`, the oldest entry first.
#[derive(Default)]
pub(super) struct NewStashes {
    entries: Vec<ObjectId>,
    removed: usize,
}

impl NewStashes {
    /// When an entry goes, git writes another old commit into the entry after it, so the first word of a line does not count.
    /// `tips` are the objects that `refs/stash` names.
    pub(super) fn find(sides: &GitSides<'_>, tips: (Option<ObjectId>, Option<ObjectId>)) -> NewStashes {
        let log = sides.dir.join("logs/refs/stash");
        let lines = |files| match exists(files, &log) {
            true => read(files, &log, LARGEST_LOG),
            false => Some(Vec::new()),
        };
        let (Some(before), Some(after)) = (lines(sides.before), lines(sides.after)) else {
            return NewStashes::default();
        };
        let entry = |line: &'_ [u8]| Some(line.get(memchr::memchr(b' ', line)?..)?.to_vec());
        let entries = |text: &[u8]| text.split(|byte| *byte == b'\n').filter_map(entry).collect::<Vec<_>>();
        let (old, new) = (entries(&before), entries(&after));
        let (old_set, new_set): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
        let id = |rest: &Vec<u8>| {
            let mut words = rest.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            ObjectId::from_hex(words.next()?)
        };
        let mut seen = BTreeSet::new();
        let added = new.iter().filter(|entry| !old_set.contains(entry) && seen.insert(*entry));
        // git reads no other line as an entry.
        let mut added: Vec<ObjectId> = added.filter_map(id).collect();
        // git takes the newest entry from the ref, whatever the log says.
        let newest = tips.1.filter(|tip| Some(*tip) != tips.0 && new.last().and_then(id) != Some(*tip));
        added.extend(newest.filter(|tip| !added.contains(tip)));
        NewStashes { entries: added, removed: old_set.difference(&new_set).count() }
    }

    /// The commits on which the entries were made. Those of an entry with what was staged and untracked files are made on
    /// the same one, and git itself makes no other parents.
    pub(super) fn bases(&self, objects: &ObjectReader<'_>) -> Vec<ObjectId> {
        let listed = self.entries.iter().rev().take(MOST_STASHES);
        let parents =
            |id: &ObjectId| Commit::read(objects, id).map(|commit| commit.parents).unwrap_or_default();
        let of_entry = |id: &ObjectId| {
            let own = parents(id);
            let below: Vec<ObjectId> = own.iter().skip(1).take(2).flat_map(parents).collect();
            own.into_iter().enumerate().filter(|(at, _)| ![1, 2].contains(at)).map(|(_, id)| id).chain(below)
        };
        listed.flat_map(of_entry).collect()
    }

    pub(super) fn ids(&self) -> &[ObjectId] {
        &self.entries
    }

    /// Each entry against the commit on which it was made, then what it has staged, then its untracked files.
    pub(super) fn events(&self, objects: &ObjectReader<'_>, budget: &ReadBudget) -> Vec<GitEvent> {
        let left_out = self.entries.len().saturating_sub(MOST_STASHES);
        let more = |number| GitEvent::MoreStored { kind: StoredKind::Stash, number };
        let mut events: Vec<GitEvent> = (left_out > 0).then(|| more(left_out)).into_iter().collect();
        for id in self.entries.iter().skip(left_out) {
            stash_entry(objects, id, budget, &mut events);
        }
        events.extend((self.removed > 0).then_some(GitEvent::StashRemoved(self.removed)));
        events
    }
}

fn stash_entry(objects: &ObjectReader<'_>, id: &ObjectId, budget: &ReadBudget, events: &mut Vec<GitEvent>) {
    let commit = Commit::read(objects, id);
    let of = |kind, subject: &str, (changes, patch)| {
        let id = id.short();
        let content = StoredContent { id, subject: subject.into(), changes, patch, not_shown: None };
        GitEvent::Stored { kind, content }
    };
    let Some(commit) = commit else {
        let unread = TreeChanges { at_least: true, ..TreeChanges::default() };
        return events.push(of(StoredKind::Stash, "", (unread, CommitPatch::default())));
    };
    let tree = |at: usize| Some(Commit::read(objects, commit.parents.get(at)?)?.tree);
    let base = tree(0);
    let (changes, patch) = compare_trees(objects, base, Some(commit.tree), budget);
    events.push(of(StoredKind::Stash, &commit.subject, (changes, with_message(patch, &commit, budget))));
    if let Some(staged) = tree(1).filter(|staged| *staged != commit.tree && Some(*staged) != base) {
        let changes = compare_trees(objects, base, Some(staged), budget);
        events.push(of(StoredKind::StashStaged, &commit.subject, changes));
    }
    if let Some(untracked) = tree(2) {
        let changes = compare_trees(objects, None, Some(untracked), budget);
        events.push(of(StoredKind::StashUntracked, &commit.subject, changes));
    }
}

/// The new commits of refs below `refs/notes`, each with the notes that it changes.
pub(super) fn note_events(
    after: &RepositorySide<'_>,
    changes: &[RefChange],
    reached: &ReachedBefore<'_, '_>,
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let mut events = Vec::new();
    for change in changes.iter().filter(|change| RefKind::of(&change.name) == RefKind::Notes) {
        let mut commits = Vec::new();
        let mut todo: Vec<ObjectId> = change.new.map(|id| peeled(&after.objects, id)).into_iter().collect();
        let mut seen = BTreeSet::new();
        let mut left_out = 0;
        while let Some(id) = todo.pop() {
            if !reached.is_new(&id) || !seen.insert(id) {
                continue;
            }
            if commits.len() >= MOST_NOTES || !budget.has_time() {
                left_out += 1;
                continue;
            }
            let Some(commit) = Commit::read(&after.objects, &id) else { continue };
            todo.extend(commit.parents.iter().rev());
            commits.push((id, commit));
        }
        if left_out > 0 {
            events.push(GitEvent::MoreStored {
                kind: StoredKind::Notes(change.name.clone()),
                number: left_out,
            });
        }
        // The oldest first.
        for (id, commit) in commits.iter().rev() {
            events.push(note_event(&after.objects, &change.name, (id, commit), budget));
        }
    }
    events
}

fn note_event(
    objects: &ObjectReader<'_>,
    on: &Path,
    (id, commit): (&ObjectId, &Commit),
    budget: &ReadBudget,
) -> GitEvent {
    let parent = commit.parents.first().and_then(|id| Commit::read(objects, id)).map(|parent| parent.tree);
    let (changes, mut patch) = compare_trees(objects, parent, Some(commit.tree), budget);
    let noted: BTreeSet<PathBuf> = patch.files.drain(..).map(|(file, _)| file).collect();
    let mut names: Vec<String> =
        noted.iter().take(MOST_NAMED).map(|file| noted_object(objects, file)).collect();
    if noted.len() > names.len() {
        names.push(format!("{} more", noted.len() - names.len()));
    }
    let (id, subject) = (id.short(), names.join(", "));
    let content = StoredContent { id, subject, changes, patch, not_shown: None };
    GitEvent::Stored { kind: StoredKind::Notes(on.to_path_buf()), content }
}

/// The object that a note is on: its name is the path of the note, which may be divided into directories.
fn noted_object(objects: &ObjectReader<'_>, file: &Path) -> String {
    let digits: String = file.to_string_lossy().chars().filter(|c| *c != '/').collect();
    let Some(id) = ObjectId::from_hex(digits.as_bytes()) else { return file.to_string_lossy().into_owned() };
    match Commit::read(objects, &id) {
        Some(commit) => {
            let subject: String = commit.subject.chars().take(LONGEST_SUBJECT).collect();
            format!("commit {} \"{subject}\"", id.short())
        }
        None => format!("object {}", id.short()),
    }
}

/// What a ref leads to, if it is no commit: the messages of tags, and the content of a blob or a tree.
pub(super) fn ref_content(
    after: &RepositorySide<'_>,
    id: ObjectId,
    budget: &ReadBudget,
) -> Option<(RefTarget, StoredContent)> {
    let object = after.objects.get(&id)?;
    if object.kind == "commit" {
        return None;
    }
    let mut content = StoredContent { id: id.short(), ..StoredContent::default() };
    let is_annotated = object.kind == "tag";
    let kind = add_object(after, (id, object), &mut content, budget);
    Some((RefTarget { is_annotated, kind }, content))
}

/// Adds an object that is no commit, also one that was stored before: nobody knows whether anything led to it. Returns what
/// it leads to.
fn add_object(
    after: &RepositorySide<'_>,
    (mut id, mut object): (ObjectId, GitObject),
    content: &mut StoredContent,
    budget: &ReadBudget,
) -> &'static str {
    for depth in 0..DEEPEST_TAG {
        match object.kind {
            "tag" => {
                let name = if depth == 0 { "message".into() } else { format!("message-{}", depth + 1) };
                content.add_text(&name, &blob_content(Some(message_of_tag(&object.content))), budget);
                let line = object.content.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let next = line.strip_prefix(b"object ").and_then(ObjectId::from_hex);
                let Some((next, found)) = next.and_then(|next| Some((next, after.objects.get(&next)?)))
                else {
                    return "tag";
                };
                (id, object) = (next, found);
            }
            "blob" => {
                content.add_text("content", &blob_content(Some(object.content)), budget);
                return "blob";
            }
            "tree" => {
                let (changes, patch) = compare_trees(&after.objects, None, Some(id), budget);
                content.add(changes, patch);
                return "tree";
            }
            kind => return kind,
        }
    }
    "tag"
}

/// A tag without the lines about its object, which the rows name: its name, who made it, and the message.
fn message_of_tag(tag: &[u8]) -> Vec<u8> {
    let head = [&b"object "[..], b"type "];
    let mut rest = tag;
    for prefix in head {
        let Some(end) = memchr::memchr(b'\n', rest).filter(|_| rest.starts_with(prefix)) else { break };
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    rest.to_vec()
}

impl StoredContent {
    pub(super) fn add_text(&mut self, name: &str, text: &BlobContent, budget: &ReadBudget) {
        self.changes.files += 1;
        self.changes.count(&BlobContent::Text(Vec::new()), text);
        let not_shown = (!matches!(text, BlobContent::Text(_))).then(|| text.words());
        self.not_shown = self.not_shown.take().or(not_shown);
        self.patch.add_content(name, text, budget);
    }

    fn add(&mut self, changes: TreeChanges, patch: CommitPatch) {
        let own = &mut self.changes;
        own.files += changes.files;
        own.added += changes.added;
        own.removed += changes.removed;
        own.uncounted += changes.uncounted;
        own.submodules += changes.submodules;
        own.at_least |= changes.at_least;
        self.patch.append(patch);
    }
}

/// An object that a file of git names, such as `ORIG_HEAD`. A command of git takes it from there.
pub(super) struct NamedObject {
    pub(super) file: PathBuf,
    pub(super) id: ObjectId,
}

/// The objects that changed files of git name: commits, and others that are new. Refs, the index and reflogs are read elsewhere.
pub(super) fn named_objects(
    sides: &GitSides<'_>,
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    width: usize,
    budget: &ReadBudget,
) -> Vec<NamedObject> {
    let mut found: Vec<NamedObject> = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, _) in sides.changed.iter().filter(|(_, is_gone)| !is_gone) {
        let Ok(rel) = path.strip_prefix(sides.dir) else { continue };
        let names_objects = matches!(
            StateFileReader::of(rel),
            Some(
                StateFileReader::Names
                    | StateFileReader::Words
                    | StateFileReader::Start
                    | StateFileReader::Steps
                    | StateFileReader::PatchRebase
            )
        );
        if !names_objects || !budget.has_time() {
            continue;
        }
        let text = read(sides.after, path, LARGEST_LIST).unwrap_or_default();
        let words = text.split(|byte| !byte.is_ascii_hexdigit()).filter(|word| word.len() == 2 * width);
        for id in words.filter_map(ObjectId::from_hex) {
            if seen.len() < MOST_NAMED_OBJECTS
                && seen.insert(id)
                && (!before.objects.has(&id) || Commit::read(&after.objects, &id).is_some())
                && after.objects.has(&id)
            {
                found.push(NamedObject { file: rel.to_path_buf(), id });
            }
        }
    }
    found
}

/// The rows of those that are no commits. A tree is compared with that of the commit at `HEAD`: `git merge` stores the work
/// tree with its conflicts as one.
pub(super) fn named_events(
    named: &[NamedObject],
    files: (&dyn RepositoryFiles, &Path),
    after: &RepositorySide<'_>,
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let head = after.refs.head_commit().and_then(|id| Commit::read(&after.objects, &id));
    let event = |named: &NamedObject| {
        let object = after.objects.get(&named.id)?;
        let mut content = StoredContent { id: named.id.short(), ..StoredContent::default() };
        let what = object.kind;
        match object.kind {
            "commit" => return None,
            "tree" => {
                let base = head.as_ref().map(|commit| commit.tree);
                let (changes, patch) = compare_trees(&after.objects, base, Some(named.id), budget);
                let tree = CommitTree::of_tree(&after.objects, named.id);
                if !changes.at_least && changes.submodules == 0 && is_in_work_tree(files, tree, &patch) {
                    return None;
                }
                content.add(changes, patch);
            }
            _ => drop(add_object(after, (named.id, object), &mut content, budget)),
        }
        Some(GitEvent::Stored { kind: StoredKind::Named { file: named.file.clone(), what }, content })
    };
    named.iter().filter_map(event).collect()
}

/// True where the files of `patch` are in the work tree as `tree` has them: their rows show them. `git merge` leaves such a tree.
fn is_in_work_tree(
    (files, git_dir): (&dyn RepositoryFiles, &Path),
    mut tree: CommitTree<'_>,
    patch: &CommitPatch,
) -> bool {
    let Some(work_tree) = git_dir.parent().filter(|_| git_dir.ends_with(".git")) else { return false };
    patch.files.iter().all(|(file, _)| {
        let path = work_tree.join(file);
        match tree.get(file.as_os_str().as_bytes()) {
            Ok(Some(entry)) => {
                let content = read(files, &path, LARGEST_OBJECT as u64);
                content.is_some_and(|content| entry.id.names("blob", &content))
            }
            Ok(None) => !exists(files, &path),
            Err(_) => false,
        }
    })
}

/// The names and objects in a tree, a line each, as `git ls-tree` prints them.
pub(super) fn tree_lines(objects: &ObjectReader<'_>, id: &ObjectId) -> BlobContent {
    let Some(entries) = entries(objects, id) else { return BlobContent::Unread };
    let line = |(name, entry): (&Vec<u8>, &TreeEntry)| {
        let kind = match entry.mode {
            DIRECTORY => "tree",
            SUBMODULE => "commit",
            _ => "blob",
        };
        let head = format!("{:06o} {kind} {}\t", entry.mode, entry.id.to_hex());
        format!("{head}{}\n", quoted("", name)).into_bytes()
    };
    blob_content(Some(entries.iter().flat_map(line).collect()))
}
