//! What a change set stages and takes out of the index, seen against the commit that `HEAD` leads to.

use super::budget::ReadBudget;
use super::commit_patch::{BlobContent, CommitPatch};
use super::commit_tree::CommitTree;
use super::event::GitEvent;
use super::git_index::{GitIndex, IndexEntries, IndexEntry};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::tree_diff::{TreeChanges, TreeEntry};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Paths that are looked up in the tree of a commit. Each of its directories is read once.
const MOST_LOOKED_UP: usize = 100_000;

/// How the versions of a path in conflict are named, in the order of [`IndexEntry::versions`].
const VERSIONS: [&str; 3] = ["base", "ours", "theirs"];

/// The rows about the index; none where it says the same. The difference of each changed path to the commit at `HEAD` is below
/// the row: the next commit has it, whether its content is new or was stored before.
pub(super) fn index_events(
    (old_index, new_index): (&GitIndex, &GitIndex),
    (old_head, new_head): (Option<ObjectId>, Option<ObjectId>),
    (old_objects, new_objects): (&ObjectReader<'_>, &ObjectReader<'_>),
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let (before, after) = (&old_index.entries, &new_index.entries);
    let mut old_tree = CommitTree::new(old_objects, old_head);
    let mut new_tree = CommitTree::new(new_objects, new_head);
    let (mut staged, mut unstaged, mut announced, mut hidden, mut conflicts, mut looked_up) =
        (0, 0, 0, 0, false, 0);
    let mut at_least = false;
    let (mut counts, mut patch) = (TreeChanges::default(), CommitPatch::default());
    let of = |entries: &IndexEntries, path: &[u8]| entries.get(path).copied();
    let in_conflict = |entry: Option<IndexEntry>| entry.is_some_and(|entry| entry.staged.is_none());
    let removed = before.keys().filter(|path| !after.contains_key(*path));
    for path in after.keys().chain(removed) {
        let (was, is) = (of(before, path), of(after, path));
        if was == is {
            continue;
        }
        hidden += usize::from(is.is_some_and(|is| is.is_hidden) && !was.is_some_and(|was| was.is_hidden));
        conflicts |= in_conflict(was) || in_conflict(is);
        if let Some(is) = is.filter(|_| in_conflict(is)) {
            let head = new_tree.get(path).ok().flatten();
            add_versions(new_objects, (path, head), (is.versions, ""), &mut patch, budget);
            continue;
        }
        if let Some(is) = is.filter(|is| is.is_intent) {
            announced += usize::from(!was.is_some_and(|was| was.is_intent));
            // The next commit does not have the path.
            match new_tree.get(path).ok().flatten() {
                Some(head) => counts.add_file(new_objects, (Some(head), None), path, &mut patch, budget),
                None => {
                    let nothing = BlobContent::Text(Vec::new());
                    let mode = is.staged.map(|entry| entry.mode);
                    patch.add(path, (None, mode), (&nothing, &nothing), budget);
                }
            }
            continue;
        }
        let was_in_conflict = in_conflict(was);
        let (was, is) = (was.and_then(|entry| entry.staged), is.and_then(|entry| entry.staged));
        if was == is {
            continue;
        }
        looked_up += 1;
        if looked_up > MOST_LOOKED_UP || !budget.has_time() {
            at_least = true;
            break;
        }
        let (Ok(old), Ok(new)) = (old_tree.get(path), new_tree.get(path)) else {
            at_least = true;
            break;
        };
        if is != new {
            staged += 1;
            counts.add_file(new_objects, (new, is), path, &mut patch, budget);
        } else if was != old && old == new && !was_in_conflict {
            unstaged += 1;
        }
    }
    let in_conflict = match conflicts {
        true => after.values().filter(|entry| entry.staged.is_none()).count(),
        false => 0,
    };
    // `git checkout -m` brings these versions back.
    let mut resolved = 0;
    for (path, versions) in &new_index.resolved {
        let were = of(before, path).map(|entry| entry.versions);
        let is_known =
            were == Some(*versions) || old_index.resolved.iter().any(|old| *old == (path.clone(), *versions));
        if is_known || !budget.has_time() {
            at_least |= !is_known;
            continue;
        }
        resolved += 1;
        let head = new_tree.get(path).ok().flatten();
        add_versions(new_objects, (path, head), (*versions, "resolved, "), &mut patch, budget);
    }
    let mut events = Vec::new();
    if staged + unstaged + announced + in_conflict + resolved > 0 || at_least {
        events.push(GitEvent::Index { staged, unstaged, announced, in_conflict, resolved, at_least, patch });
    }
    if hidden > 0 {
        events.push(GitEvent::HiddenFiles(hidden));
    }
    events
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
