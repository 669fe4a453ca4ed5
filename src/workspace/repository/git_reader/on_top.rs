//! Whether the changes of a repository are on top of what the repository is now: their commits contain its commits.

use super::ancestry::only_in;
use super::budget::ReadBudget;
use super::commit_tree::CommitTree;
use super::git_index::{GitIndex, parse, read_index};
use super::git_sides::{GitSides, RepositorySide, width};
use super::object_store::ObjectReader;
use super::refs::RefReader;
use std::path::{Path, PathBuf};

/// True where, after the changes, each of these refs leads to a commit that has the present one in its history. `HEAD` is the
/// commit that is checked out. What cannot be read is no such commit.
pub(in crate::workspace) fn are_on_top(sides: &GitSides<'_>, refs: &[PathBuf]) -> bool {
    let budget = ReadBudget::new(sides.deadline);
    let (before, after) = both(sides, &budget);
    refs.iter().all(|name| {
        let of = |side: &RepositorySide<'_>| match name == Path::new("HEAD") {
            true => side.refs.head_commit(),
            false => side.refs.get(name),
        };
        let (Some(now), Some(pending)) = (of(&before), of(&after)) else { return false };
        let left = only_in(&[&after.objects], now, &[pending], &budget);
        left.number == 0 && !left.at_least && after.objects.has(&now)
    })
}

/// True where the present index has nothing that the commit at `HEAD` lacks and that was not in the index `then` either: to
/// replace it loses nothing that somebody staged.
pub(in crate::workspace) fn has_staged_nothing_since(sides: &GitSides<'_>, then: Option<&[u8]>) -> bool {
    let budget = ReadBudget::new(sides.deadline);
    let (before, _) = both(sides, &budget);
    let width = width(&[&before.refs]);
    let then = then.map_or_else(|| Ok(GitIndex::default()), |bytes| parse(bytes, width));
    let (Ok(then), Ok(now)) = (then, read_index(sides.before, sides.dir, width)) else { return false };
    if now.directories != then.directories || now.unexplained != then.unexplained {
        return false;
    }
    let mut head = CommitTree::new(&before.objects, before.refs.head_commit());
    let mut paths = then.entries.keys().chain(now.entries.keys());
    paths.all(|path| {
        let of = |index: &GitIndex| index.entries.get(path).map(|entry| entry.without_stat());
        let (was, is) = (of(&then), of(&now));
        let is_plain = is.is_none_or(|is| !is.is_hidden && !is.is_intent && is.staged.is_some());
        let mut committed = || head.get(path).is_ok_and(|entry| entry == is.and_then(|is| is.staged));
        was == is || is_plain && committed() && budget.has_time()
    })
}

fn both<'a>(sides: &GitSides<'a>, budget: &'a ReadBudget) -> (RepositorySide<'a>, RepositorySide<'a>) {
    let (before, after) = (
        RefReader::new(sides.before, sides.dir, sides.dir),
        RefReader::new(sides.after, sides.dir, sides.dir),
    );
    let width = width(&[&after, &before]);
    let side =
        |refs, files| RepositorySide { refs, objects: ObjectReader::new(files, sides.dir, width, budget) };
    (side(before, sides.before), side(after, sides.after))
}
