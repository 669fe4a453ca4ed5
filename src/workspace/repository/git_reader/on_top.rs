//! Whether the changes of a repository are on top of what the repository is now: their commits contain its commits.

use super::ancestry::only_in;
use super::budget::ReadBudget;
use super::commit_tree::CommitTree;
use super::git_index::{GitIndex, parse, read_index};
use super::git_sides::{GitSides, RepositorySide, width};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::refs::RefReader;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A ref that the pending changes move and that is another one now than when their command ran.
pub(in crate::workspace) struct MovedRef {
    pub(in crate::workspace) name: PathBuf,
    /// What its file said when the command ran; `None` where it had none.
    pub(in crate::workspace) then: Option<Vec<u8>>,
}

/// True where, after the changes, each of these refs leads to a commit that has the present one in its history, and none comes
/// back that was taken away from it since. What cannot be read is no such commit.
pub(in crate::workspace) fn are_on_top(sides: &GitSides<'_>, refs: &[MovedRef]) -> bool {
    let budget = ReadBudget::new(sides.deadline);
    let (before, after) = both(sides, &budget);
    refs.iter().all(|MovedRef { name, then }| {
        let then = match then {
            Some(line) => ObjectId::from_hex(line.trim_ascii()),
            None => before.refs.packed().and_then(|packed| packed.get(name)),
        };
        // Without a commit of that time, both sides made the ref.
        let (Some(then), Some(now), Some(pending)) = (then, before.refs.get(name), after.refs.get(name))
        else {
            return false;
        };
        let objects = [&before.objects, &after.objects];
        let taken_away = only_in(&objects, then, &[now], &budget);
        is_in_history(&after, now, pending, &budget)
            && !taken_away.at_least
            && only_in(&objects, then, &[now, pending], &budget) == taken_away
    })
}

fn is_in_history(side: &RepositorySide<'_>, commit: ObjectId, of: ObjectId, budget: &ReadBudget) -> bool {
    let left = only_in(&[&side.objects], commit, &[of], budget);
    left.number == 0 && !left.at_least && side.objects.has(&commit)
}

/// True where the pending index can take the place of the present one: its commit has the one at `HEAD`
/// in its history, and it has what the person changed in theirs since `then`, all of which they committed.
pub(in crate::workspace) fn index_is_on_top(sides: &GitSides<'_>, then: Option<&[u8]>) -> bool {
    let budget = ReadBudget::new(sides.deadline);
    let (before, after) = both(sides, &budget);
    let (Some(now), Some(pending)) = (before.refs.head_commit(), after.refs.head_commit()) else {
        return false;
    };
    is_in_history(&after, now, pending, &budget)
        && loses_nothing_staged((&before, &after), sides, then, &budget)
}

fn loses_nothing_staged(
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    sides: &GitSides<'_>,
    then: Option<&[u8]>,
    budget: &ReadBudget,
) -> bool {
    let width = width(&[&before.refs]);
    let read = |files| read_index(files, sides.dir, width);
    let then = then.map_or_else(|| Ok(GitIndex::default()), |bytes| parse(bytes, width));
    let (Ok(then), Ok(now), Ok(pending)) = (then, read(sides.before), read(sides.after)) else {
        return false;
    };
    if now.directories != then.directories || now.unexplained != then.unexplained {
        return false;
    }
    let mut head = CommitTree::new(&before.objects, before.refs.head_commit());
    let mut pending_head = CommitTree::new(&after.objects, after.refs.head_commit());
    let paths: BTreeSet<&Vec<u8>> = then.entries.keys().chain(now.entries.keys()).collect();
    paths.into_iter().all(|path| {
        let of = |index: &GitIndex| index.entries.get(path).map(|entry| entry.without_stat());
        let (was, is, becomes) = (of(&then), of(&now), of(&pending));
        let is_plain = is.is_none_or(|is| !is.is_hidden && !is.is_intent && is.staged.is_some());
        let mut committed = || head.get(path).is_ok_and(|entry| entry == is.and_then(|is| is.staged));
        // Otherwise the pending index was made without it, and the next commit would take it back.
        let staged = becomes.and_then(|becomes| becomes.staged);
        let mut is_known = || becomes == is || pending_head.get(path).is_ok_and(|entry| entry == staged);
        was == is || is_plain && committed() && is_known() && budget.has_time()
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
