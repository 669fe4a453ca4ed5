//! Linked worktrees that stay as they are while a command moves the branch that is checked out there. Their index is then behind
//! the branch, and their next commit takes back what the branch got.

use super::budget::ReadBudget;
use super::compare::compare_moved_worktree;
use super::event::RepositoryEvents;
use super::git_sides::{GitSides, common_dir};
use super::refs::RefReader;
use super::repository_files::exists;
use std::path::{Path, PathBuf};

/// The rows of these worktrees of the repository. `is_listed` is true for one that has changes of its own: it has its rows anyway.
pub(in crate::workspace) fn moved_worktrees(
    sides: &GitSides<'_>,
    is_listed: &dyn Fn(&Path) -> bool,
) -> Vec<RepositoryEvents> {
    let rows = |path: PathBuf| {
        let own = GitSides { dir: &path, changed: &[], loose_objects: &[], ..*sides };
        let events = compare_moved_worktree(&own);
        RepositoryEvents { path, events }
    };
    let found = moved(sides, is_listed).into_iter().map(rows);
    found.filter(|worktree| !worktree.events.is_empty()).collect()
}

/// Where no time is left, the first that was not looked at is among them, and says that in its row.
fn moved(sides: &GitSides<'_>, is_listed: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let changes_refs = ["refs", "packed-refs"].iter().any(|name| {
        let at = sides.dir.join(name);
        sides.changed.iter().any(|(path, _)| path.starts_with(&at))
    });
    let worktrees = sides.dir.join("worktrees");
    if !changes_refs || !exists(sides.before, &worktrees) || !exists(sides.after, &worktrees) {
        return Vec::new();
    }
    let budget = ReadBudget::new(sides.deadline);
    let before = RefReader::new(sides.before, sides.dir, sides.dir);
    let after = RefReader::new(sides.after, sides.dir, sides.dir);
    let mut found = Vec::new();
    for dir in sides.after.names(&worktrees).into_iter().map(|name| worktrees.join(name)) {
        let is_own = || common_dir(sides.after, &dir).as_deref() == Some(sides.dir);
        if is_listed(&dir) || !exists(sides.before, &dir.join("HEAD")) || !is_own() {
            continue;
        }
        let has_time = budget.has_time();
        if !has_time || before.head_commit_at(&dir) != after.head_commit_at(&dir) {
            found.push(dir);
        }
        if !has_time {
            break;
        }
    }
    found
}
