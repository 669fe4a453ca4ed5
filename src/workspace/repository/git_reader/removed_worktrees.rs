//! Linked worktrees that are removed with a detached `HEAD`: nothing else may lead to its commits, and the reflog that did is gone
//! with it.

use super::budget::ReadBudget;
use super::event::{GitEvent, HeadPosition};
use super::git_index::{GitIndex, read_index};
use super::git_sides::{GitSides, RepositorySide, width};
use super::object_store::ObjectReader;
use super::ref_changes::dropped_commits;
use super::refs::RefReader;
use super::repository_files::exists;
use super::staged_losses::staged_losses;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Worktrees that are looked at, on each side.
const MOST: usize = 1_000;

/// The rows of those whose commits no other ref has.
pub(super) fn removed_worktrees(
    sides: &GitSides<'_>,
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    common: &Path,
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let worktrees = sides.dir.join("worktrees");
    let old = sides.before.names(&worktrees);
    if old.is_empty() {
        return Vec::new();
    }
    let is_there = |name: &OsString| exists(sides.after, &worktrees.join(name).join("HEAD"));
    let mut all = None;
    let mut events = Vec::new();
    for name in old.iter().take(MOST).filter(|name| !is_there(name)) {
        let dir = worktrees.join(name);
        let refs = RefReader::new(sides.before, &dir, common);
        events.extend(lost_with(sides, (name, &dir), common, budget));
        let (Some(HeadPosition::Detached(at)), Some(head)) = (refs.head(), refs.head_commit()) else {
            continue;
        };
        let mut all_after = || {
            all.get_or_insert_with(|| {
                let mut refs = after.refs.all(budget)?;
                // A detached `HEAD` of another worktree has its commits, too.
                for name in sides.after.names(&worktrees).iter().take(MOST) {
                    let dir = worktrees.join(name);
                    let head = RefReader::new(sides.after, &dir, common).head_commit();
                    refs.extend(head.map(|head| (PathBuf::from("worktrees").join(name), head)));
                }
                Some(refs)
            })
            .clone()
        };
        let dropped = dropped_commits((before, after), head, None, &mut all_after, budget);
        if dropped.are_lost {
            events.push(GitEvent::WorktreeRemoved { name: PathBuf::from(name), at, dropped });
        }
    }
    events
}

/// What was staged in a removed worktree and is nowhere else. Its files have rows of their own.
fn lost_with(
    sides: &GitSides<'_>,
    (name, dir): (&OsString, &Path),
    common: &Path,
    budget: &ReadBudget,
) -> Option<GitEvent> {
    if !budget.has_time() {
        return None;
    }
    let refs = [sides.before, sides.after].map(|files| RefReader::new(files, dir, common));
    let width = width(&refs.each_ref());
    let old = read_index(sides.before, dir, width).ok()?;
    let [before, after] = refs;
    let before =
        RepositorySide { refs: before, objects: ObjectReader::new(sides.before, common, width, budget) };
    let after =
        RepositorySide { refs: after, objects: ObjectReader::new(sides.after, common, width, budget) };
    // Where its files were is written in the directory that is gone.
    let own = GitSides { dir, after: sides.before, ..*sides };
    let head = match before.refs.head() {
        Some(HeadPosition::Branch(branch)) => after.refs.get(&branch),
        _ => None,
    };
    let sides = (&before, &after, head);
    let mut lost = staged_losses(&own, (&old, &GitIndex::default()), sides, budget)?;
    if let GitEvent::StagedLost { named, .. } = &mut lost {
        named.iter_mut().for_each(|path| *path = Path::new(name).join(&path));
    }
    Some(lost)
}
