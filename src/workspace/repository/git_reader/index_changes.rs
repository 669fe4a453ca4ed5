//! What a change set stages and takes out of the index, seen against the commit that `HEAD` leads to.

use super::budget::ReadBudget;
use super::commit_patch::CommitPatch;
use super::commit_tree::CommitTree;
use super::event::GitEvent;
use super::git_index::{IndexEntries, IndexEntry};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::tree_diff::{TreeChanges, TreeEntry};

/// Paths that are looked up in the tree of a commit. Each of its directories is read once.
const MOST_LOOKED_UP: usize = 100_000;

/// The rows about the index; none where it says the same.
pub(super) fn index_events(
    (before, after): (&IndexEntries, &IndexEntries),
    (old_head, new_head): (Option<ObjectId>, Option<ObjectId>),
    (old_objects, new_objects): (&ObjectReader<'_>, &ObjectReader<'_>),
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let mut old_tree = CommitTree::new(old_objects, old_head);
    let mut new_tree = CommitTree::new(new_objects, new_head);
    let (mut staged, mut unstaged, mut announced, mut hidden, mut conflicts, mut looked_up) =
        (0, 0, 0, 0, false, 0);
    let mut at_least = false;
    let (mut counts, mut patch) = (TreeChanges::default(), CommitPatch::default());
    // What was stored before is not applied with the index.
    let is_new = |entry: Option<TreeEntry>| entry.is_some_and(|entry| !old_objects.has(&entry.id));
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
            for version in is.versions.into_iter().flatten().filter(|version| is_new(Some(*version))) {
                counts.add_file(new_objects, (None, Some(version)), path, &mut patch, budget);
            }
            continue;
        }
        if is.is_some_and(|is| is.is_intent) {
            announced += usize::from(!was.is_some_and(|was| was.is_intent));
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
            if is_new(is) {
                counts.add_file(new_objects, (new, is), path, &mut patch, budget);
            }
        } else if was != old && old == new && !was_in_conflict {
            unstaged += 1;
        }
    }
    let in_conflict = match conflicts {
        true => after.values().filter(|entry| entry.staged.is_none()).count(),
        false => 0,
    };
    let mut events = Vec::new();
    if staged + unstaged + announced + in_conflict > 0 || at_least {
        events.push(GitEvent::Index { staged, unstaged, announced, in_conflict, at_least, patch });
    }
    if hidden > 0 {
        events.push(GitEvent::HiddenFiles(hidden));
    }
    events
}
