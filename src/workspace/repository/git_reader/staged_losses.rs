//! What the person had staged and is nowhere any more: `git add -p` stages lines that the file in the work tree may not have, and
//! a command that stages the file again, takes it out of the index or commits it by `-a` leaves no trace of them.

use super::budget::ReadBudget;
use super::commit::Commit;
use super::commit_patch::CommitPatch;
use super::commit_tree::CommitTree;
use super::event::GitEvent;
use super::git_index::GitIndex;
use super::git_sides::{GitSides, RepositorySide};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::repository_files::{RepositoryFiles, read};
use super::tree_diff::{SUBMODULE, TreeEntry, content};
use super::work_tree_content::is_content_of;
use super::work_trees::work_trees;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Commits that are looked through on the way from `HEAD` now to `HEAD` before.
const MOST_COMMITS: usize = 50;
/// Paths that a row names.
const MOST_NAMED: usize = 3;
/// The largest file that is compared with what was staged.
const LARGEST: u64 = 64 << 20;

/// The row; `None` where everything that was staged is in the index, in a commit, in a stash entry or in the file. What the file
/// in the work tree had before is not looked for either: the file has a row of its own. `head` is the commit at which the branch of
/// the work tree is now.
pub(super) fn staged_losses(
    sides: &GitSides<'_>,
    (old, new): (&GitIndex, &GitIndex),
    (before, after, head): (&RepositorySide<'_>, &RepositorySide<'_>, Option<ObjectId>),
    budget: &ReadBudget,
) -> Option<GitEvent> {
    let in_index: BTreeSet<ObjectId> =
        new.entries.values().filter_map(|entry| entry.staged).map(|entry| entry.id).collect();
    let mut old_head = CommitTree::new(&before.objects, before.refs.head_commit());
    let mut places: Option<(Vec<CommitTree<'_>>, Vec<PathBuf>)> = None;
    let mut lost: Vec<(&[u8], TreeEntry)> = Vec::new();
    for (path, entry) in &old.entries {
        let Some(staged) = entry.staged.filter(|staged| staged.mode != SUBMODULE && !entry.is_intent) else {
            continue;
        };
        let is_there = in_index.contains(&staged.id);
        if is_there || new.entries.get(path).and_then(|entry| entry.staged) == Some(staged) {
            continue;
        }
        // Without time nothing is claimed: the row of the index says that not all paths were compared.
        if !budget.has_time() {
            break;
        }
        if !matches!(old_head.get(path), Ok(committed) if committed.map(|one| one.id) != Some(staged.id)) {
            continue;
        }
        let (trees, dirs) = places
            .get_or_insert_with(|| (kept_trees(before, (after, head)), work_trees(sides.dir, sides.after)));
        let is_committed =
            trees.iter_mut().any(|tree| matches!(tree.get(path), Ok(Some(found)) if found.id == staged.id));
        let is_file = |files: &dyn RepositoryFiles, dir: &PathBuf| {
            is_file_of(&before.objects, files, &dir.join(OsStr::from_bytes(path)), staged.id)
        };
        if !is_committed && !dirs.iter().any(|dir| is_file(sides.after, dir) || is_file(sides.before, dir)) {
            lost.push((path, staged));
        }
    }
    if lost.is_empty() {
        return None;
    }
    let named =
        lost.iter().take(MOST_NAMED).map(|(path, _)| PathBuf::from(OsStr::from_bytes(path))).collect();
    let mut patch = CommitPatch::default();
    for (path, staged) in &lost {
        let now = new.entries.get(*path).and_then(|entry| entry.staged);
        let contents = (content(&before.objects, Some(*staged)), content(&after.objects, now));
        patch.add(path, (Some(staged.mode), now.map(|now| now.mode)), (&contents.0, &contents.1), budget);
    }
    // The row names them already.
    patch.files.clear();
    Some(GitEvent::StagedLost { number: lost.len(), named, patch })
}

/// The trees of the commits from `HEAD` now to `HEAD` before, and those of the newest stash entry: its files and its index.
fn kept_trees<'a>(
    before: &RepositorySide<'a>,
    (after, head): (&'a RepositorySide<'a>, Option<ObjectId>),
) -> Vec<CommitTree<'a>> {
    let end = before.refs.head_commit();
    let mut at = head;
    let mut commits = Vec::new();
    while let Some(id) = at.filter(|id| Some(*id) != end && commits.len() < MOST_COMMITS) {
        commits.push(id);
        at = Commit::read(&after.objects, &id).and_then(|commit| commit.parents.first().copied());
    }
    if let Some(stash) = after.refs.get(Path::new("refs/stash")) {
        let parents = Commit::read(&after.objects, &stash).map(|commit| commit.parents).unwrap_or_default();
        commits.extend([stash].into_iter().chain(parents));
    }
    commits.into_iter().map(|id| CommitTree::new(&after.objects, Some(id))).collect()
}

/// True where the file, or the target of the symbolic link, is what was staged.
fn is_file_of(objects: &ObjectReader<'_>, files: &dyn RepositoryFiles, file: &Path, id: ObjectId) -> bool {
    let found = files.real(file).and_then(|real| Some((real.symlink_metadata().ok()?, real)));
    match found {
        Some((found, real)) if found.is_symlink() => {
            let target = std::fs::read_link(&real).unwrap_or_default();
            id.names("blob", target.as_os_str().as_bytes())
        }
        Some((found, _)) if found.is_file() => {
            read(files, file, LARGEST).is_some_and(|content| is_content_of(objects, id, &content))
        }
        _ => false,
    }
}
