//! Which files of a new linked worktree are as in its commit, where the repository led to that commit before: nothing of
//! them is new.

use super::budget::ReadBudget;
use super::commit_tree::CommitTree;
use super::git_sides::{GitSides, RepositorySide, common_dir, width};
use super::object_store::ObjectReader;
use super::reached_before::ReachedBefore;
use super::refs::RefReader;
use super::repository_files::exists;
use super::work_tree_content::is_content_of;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

const EXECUTABLE: u32 = 0o111;
const KIND: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;

/// A regular file in a work tree: a link leads elsewhere from there.
pub(in crate::workspace) struct WorkTreeFile {
    /// From the work tree on.
    pub(in crate::workspace) path: PathBuf,
    pub(in crate::workspace) mode: u32,
    pub(in crate::workspace) content: Vec<u8>,
}

/// Those of `files`, in the work tree of the new worktree that `sides` is about. None where that is no new worktree of a
/// repository that was there.
pub(in crate::workspace) fn checked_out(
    sides: &GitSides<'_>,
    mut files: Vec<WorkTreeFile>,
) -> Option<Vec<PathBuf>> {
    let common = common_dir(sides.after, sides.dir).filter(|common| common != sides.dir)?;
    let had = |name: &str| exists(sides.before, &common.join(name));
    if exists(sides.before, sides.dir) || !had("HEAD") || !had("objects") {
        return None;
    }
    let budget = ReadBudget::new(sides.deadline);
    let refs = RefReader::new(sides.before, &common, &common);
    let width = width(&[&refs]);
    let side = RepositorySide { refs, objects: ObjectReader::new(sides.before, &common, width, &budget) };
    let commit = RefReader::new(sides.after, sides.dir, &common).head_commit()?;
    let reached = ReachedBefore::new(&side, &[], &budget);
    if reached.is_new(&commit) || reached.is_unsure() {
        return None;
    }
    let mut tree = CommitTree::new(&side.objects, Some(commit));
    files.retain(|file| {
        let Ok(Some(entry)) = tree.get(file.path.as_os_str().as_bytes()) else { return false };
        let gains = file.mode & EXECUTABLE != 0 && entry.mode & EXECUTABLE == 0;
        entry.mode & KIND == REGULAR && !gains && is_content_of(&side.objects, entry.id, &file.content)
    });
    Some(files.into_iter().map(|file| file.path).collect())
}
