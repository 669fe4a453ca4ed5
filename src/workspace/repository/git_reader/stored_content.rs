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
use super::refs::RefChange;
use super::repository_files::{RepositoryFiles, exists, read};
use super::tree_diff::{DIRECTORY, SUBMODULE, TreeChanges, TreeEntry, blob_content, compare_trees, entries};
use crate::text::patch::quoted;
use crate::workspace::repository::StateFileReader;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Commits of notes that have rows.
const MOST_NOTES: usize = 100;
/// Notes that one row names.
const MOST_NAMED: usize = 3;
const LONGEST_SUBJECT: usize = 60;
/// Objects that files of git name and that have rows.
const MOST_NAMED_OBJECTS: usize = 50;
/// Files that name objects.
const LARGEST_LIST: u64 = 4 << 20;

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
    let message = match (commit.text.is_empty(), is_of_git_notes(&commit.subject)) {
        (true, true) => None,
        (true, false) => Some([&*commit.message, b"\n"].concat()),
        (false, _) => Some(commit.text.clone()),
    };
    if let Some(message) = message {
        let mut all = CommitPatch::default();
        all.add_content("message", &blob_content(Some(message)), budget);
        all.append(std::mem::take(&mut patch));
        patch = all;
    }
    let (id, subject) = (id.short(), names.join(", "));
    let content = StoredContent { id, subject, changes, patch, not_shown: None };
    GitEvent::Stored { kind: StoredKind::Notes(on.to_path_buf()), content }
}

/// What `git notes` itself writes: `Notes added by 'git notes add'`.
fn is_of_git_notes(subject: &str) -> bool {
    let rest = ["added", "removed", "copied"].iter().find_map(|verb| {
        subject
            .strip_prefix("Notes ")?
            .strip_prefix(verb)?
            .strip_prefix(" by 'git notes ")?
            .strip_suffix('\'')
    });
    rest.is_some_and(|command| command.bytes().all(|byte| byte.is_ascii_lowercase()))
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

/// Whether a content came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentFate {
    Added,
    Removed,
}

impl ContentFate {
    /// The two sides of a content that is on one of them.
    fn sides<T>(self, content: T) -> (Option<T>, Option<T>) {
        match self {
            ContentFate::Added => (None, Some(content)),
            ContentFate::Removed => (Some(content), None),
        }
    }
}

/// What a ref leads to, if it is no commit: the messages of tags, and the content of a blob or a tree.
pub(super) fn ref_content(
    side: &RepositorySide<'_>,
    id: ObjectId,
    fate: ContentFate,
    budget: &ReadBudget,
) -> Option<(RefTarget, StoredContent)> {
    let object = side.objects.get(&id)?;
    if object.kind == "commit" {
        return None;
    }
    let mut content = StoredContent { id: id.short(), ..StoredContent::default() };
    let is_annotated = object.kind == "tag";
    let kind = add_object(side, (id, object), fate, &mut content, budget);
    Some((RefTarget { is_annotated, kind }, content))
}

/// All notes of a ref that is gone.
pub(super) fn removed_notes(
    before: &RepositorySide<'_>,
    id: ObjectId,
    budget: &ReadBudget,
) -> Option<(RefTarget, StoredContent)> {
    let commit = Commit::read(&before.objects, &id)?;
    let (changes, mut patch) = compare_trees(&before.objects, Some(commit.tree), None, budget);
    // Their names are no paths of the work tree.
    patch.files.clear();
    let content = StoredContent { id: id.short(), changes, patch, ..StoredContent::default() };
    Some((RefTarget { is_annotated: false, kind: "commit" }, content))
}

/// Adds an object that is no commit, also one that was stored before: nobody knows whether anything led to it. Returns what
/// it leads to.
fn add_object(
    side: &RepositorySide<'_>,
    (mut id, mut object): (ObjectId, GitObject),
    fate: ContentFate,
    content: &mut StoredContent,
    budget: &ReadBudget,
) -> &'static str {
    for depth in 0..DEEPEST_TAG {
        match object.kind {
            "tag" => {
                let name = if depth == 0 { "message".into() } else { format!("message-{}", depth + 1) };
                content.add_text(&name, &blob_content(Some(message_of_tag(&object.content))), fate, budget);
                let line = object.content.split(|byte| *byte == b'\n').next().unwrap_or_default();
                let next = line.strip_prefix(b"object ").and_then(ObjectId::from_hex);
                let Some((next, found)) = next.and_then(|next| Some((next, side.objects.get(&next)?))) else {
                    return "tag";
                };
                (id, object) = (next, found);
            }
            "blob" => {
                content.add_text("content", &blob_content(Some(object.content)), fate, budget);
                return "blob";
            }
            "tree" => {
                let (old, new) = fate.sides(id);
                let (changes, patch) = compare_trees(&side.objects, old, new, budget);
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
    pub(super) fn add_text(
        &mut self,
        name: &str,
        text: &BlobContent,
        fate: ContentFate,
        budget: &ReadBudget,
    ) {
        self.changes.files += 1;
        let none = BlobContent::Text(Vec::new());
        let (old, new) = fate.sides(text);
        self.changes.count(old.unwrap_or(&none), new.unwrap_or(&none));
        let not_shown = (!matches!(text, BlobContent::Text(_))).then(|| text.words());
        self.not_shown = self.not_shown.take().or(not_shown);
        self.patch.add_file_of_git(Path::new(name), (old, new), budget);
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
        // Of a linked worktree, the refs that it has for itself.
        let is_own_ref = rel.starts_with("refs") && exists(sides.after, &sides.dir.join("commondir"));
        if !names_objects && !is_own_ref || !budget.has_time() {
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
            _ => drop(add_object(after, (named.id, object), ContentFate::Added, &mut content, budget)),
        }
        Some(GitEvent::Stored { kind: StoredKind::Named { file: named.file.clone(), what }, content })
    };
    named.iter().filter_map(event).collect()
}

/// True where the files of `patch` are in the work tree as `tree` has them: their rows show them. `git merge` leaves such a tree.
pub(super) fn is_in_work_tree(
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
