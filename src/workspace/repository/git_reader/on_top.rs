//! Whether the changes of a repository are on top of what the repository is now: their commits contain its commits.

use super::ancestry::only_in;
use super::budget::ReadBudget;
use super::commit_tree::CommitTree;
use super::event::HeadPosition;
use super::git_index::{GitIndex, parse, read_index};
use super::git_sides::{GitSides, RepositorySide, width};
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::refs::RefReader;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
        let then = commit_then(&before, name, then.as_deref());
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

/// True where the pending index can take the place of the present one: its commit has the one at `HEAD` in its history, and it
/// takes back neither what was committed nor what was staged since. `then` is the index when the command ran, `ref_then` what the
/// file of a ref said; `None` where there was none.
pub(in crate::workspace) fn index_is_on_top(
    sides: &GitSides<'_>,
    then: Option<&[u8]>,
    ref_then: &dyn Fn(&Path) -> Option<Vec<u8>>,
) -> bool {
    let budget = ReadBudget::new(sides.deadline);
    let (before, after) = both(sides, &budget);
    let (Some(now), Some(pending)) = (before.refs.head_commit(), after.refs.head_commit()) else {
        return false;
    };
    let head_then = match before.refs.head() {
        Some(HeadPosition::Branch(name)) => {
            let line = ref_then(&name);
            let then = commit_then(&before, &name, line.as_deref());
            // Another ref, or nothing that can be read.
            if line.is_some() && then.is_none() {
                return false;
            }
            then
        }
        Some(HeadPosition::Detached(_)) => Some(now),
        None => return false,
    };
    let trees = (
        CommitTree::new(&before.objects, head_then),
        CommitTree::new(&before.objects, Some(now)),
        CommitTree::new(&after.objects, Some(pending)),
    );
    let width = width(&[&before.refs]);
    let read = |files| read_index(files, sides.dir, width);
    let then = then.map_or_else(|| Ok(GitIndex::default()), |bytes| parse(bytes, width));
    let (Ok(then), Ok(now_index), Ok(pending_index)) = (then, read(sides.before), read(sides.after)) else {
        return false;
    };
    is_in_history(&after, now, pending, &budget)
        && takes_nothing_back([&then, &now_index, &pending_index], trees, &budget)
}

/// Looks at each path that the pending index has in another state than the present one.
fn takes_nothing_back(
    [then, now, pending]: [&GitIndex; 3],
    (mut head_then, mut head, mut pending_head): (CommitTree<'_>, CommitTree<'_>, CommitTree<'_>),
    budget: &ReadBudget,
) -> bool {
    let is_sparse_otherwise = |other: &GitIndex| now.directories != other.directories;
    if is_sparse_otherwise(then) || is_sparse_otherwise(pending) || now.unexplained != then.unexplained {
        return false;
    }
    let paths: BTreeSet<&Vec<u8>> =
        [then, now, pending].into_iter().flat_map(|index| index.entries.keys()).collect();
    paths.into_iter().all(|path| {
        let of = |index: &GitIndex| index.entries.get(path).map(|entry| entry.without_stat());
        let (was, is, becomes) = (of(then), of(now), of(pending));
        if becomes == is {
            return true;
        }
        let (staged, pending_staged) = (is.and_then(|is| is.staged), becomes.and_then(|one| one.staged));
        let Ok(in_head) = head.get(path) else { return false };
        // What the person changed in the index is in their commit.
        let is_plain = is.is_none_or(|is| !is.is_hidden && !is.is_intent && is.staged.is_some());
        let is_committed = was == is || is_plain && in_head == staged;
        // What their commit changed, the pending commit changed again.
        let is_as_then = was == is && head_then.get(path).is_ok_and(|then| then == in_head);
        let mut is_changed_again = || pending_head.get(path).is_ok_and(|entry| entry == pending_staged);
        is_committed && (is_as_then || is_changed_again()) && budget.has_time()
    })
}

/// The commit to which a ref led whose file said `line`; `None`: it had none.
fn commit_then(before: &RepositorySide<'_>, name: &Path, line: Option<&[u8]>) -> Option<ObjectId> {
    match line {
        Some(line) => ObjectId::from_hex(line.trim_ascii()),
        None => before.refs.packed()?.get(name),
    }
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
