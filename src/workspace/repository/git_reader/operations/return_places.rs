//! The commits to which an operation may return when the person gives it up, without the loss of any commit of the person.
//!
//! `git cherry-pick --abort`, `git am --abort` and `git bisect reset` take the place from a file. Only the place at which the
//! command began, and what its own commits lead back to, is such a place.

use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::event::HeadPosition;
use crate::workspace::repository::git_reader::git_sides::{GitSides, RepositorySide};
use crate::workspace::repository::git_reader::object_id::ObjectId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Commits of the command that are walked.
const MOST_COMMITS: usize = 500;

pub(in crate::workspace::repository::git_reader) struct ReturnPlaces {
    /// Where the branch that is checked out is; where it was, and the commits with rows between them, if its commits lead back
    /// there: otherwise they are in place of commits of the person.
    commits: BTreeSet<ObjectId>,
    /// Where `HEAD` was.
    old_head: Option<ObjectId>,
    /// Where refs were that the command changed, and what has a row.
    known: BTreeSet<ObjectId>,
    /// What was checked out before and after, by the full names.
    branches: BTreeSet<PathBuf>,
}

impl ReturnPlaces {
    /// `shown` are the commits that have rows.
    pub(in crate::workspace::repository::git_reader) fn find(
        sides: &GitSides<'_>,
        (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
        shown: &[ObjectId],
    ) -> ReturnPlaces {
        let (was, is) = (before.refs.head(), after.refs.head());
        let old_head = before.refs.head_commit();
        let base = match (&was, &is) {
            (_, Some(HeadPosition::Branch(branch))) if before.refs.get(branch).is_some() => {
                before.refs.get(branch)
            }
            // The commits of a new branch are the command's where the branch before has those of the person.
            (Some(HeadPosition::Branch(was)), Some(HeadPosition::Branch(_)))
                if after.refs.get(was) == old_head =>
            {
                None
            }
            _ => old_head,
        };
        let head = after.refs.head_commit();
        let mut commits = BTreeSet::new();
        let mut at = head;
        for _ in 0..MOST_COMMITS {
            let Some(id) = at.filter(|id| commits.insert(*id) && base != Some(*id) && shown.contains(id))
            else {
                break;
            };
            at = Commit::read(&after.objects, &id).and_then(|commit| commit.parents.first().copied());
        }
        if base.is_some_and(|base| !commits.contains(&base)) {
            commits = head.into_iter().collect();
        }
        let moved = sides.changed.iter().filter_map(|(path, _)| path.strip_prefix(sides.dir).ok());
        // A ref that was only packed is where it was.
        let moved = moved.filter(|name| name.starts_with("refs"));
        let moved =
            moved.filter_map(|name| before.refs.get(name).filter(|id| after.refs.get(name) != Some(*id)));
        let known = moved.chain(old_head).chain(shown.iter().copied()).collect();
        let branch = |head| match head {
            Some(HeadPosition::Branch(name)) => Some(name),
            _ => None,
        };
        let branches = [was, is].into_iter().filter_map(branch).collect();
        ReturnPlaces { commits, old_head, known, branches }
    }

    /// True where nothing of the person is lost when the branch that is checked out goes there.
    pub(in crate::workspace::repository::git_reader) fn has(&self, id: &ObjectId) -> bool {
        self.commits.contains(id)
    }

    /// True for where `HEAD` was, too: an operation with a detached `HEAD` returns there, and moves no branch.
    pub(in crate::workspace::repository::git_reader) fn has_detached(&self, id: &ObjectId) -> bool {
        self.has(id) || self.old_head == Some(*id)
    }

    /// True for what `ORIG_HEAD` has after an ordinary command that is over.
    pub(in crate::workspace::repository::git_reader) fn has_known(&self, id: &ObjectId) -> bool {
        self.commits.contains(id) || self.known.contains(id)
    }

    /// True for the short name of a branch that was or is checked out, and for a commit at which `HEAD` was.
    pub(in crate::workspace::repository::git_reader) fn has_start(&self, text: &[u8]) -> bool {
        match (ObjectId::from_hex(text), std::str::from_utf8(text)) {
            (Some(id), _) => self.has_detached(&id),
            (None, Ok(name)) => self.branches.contains(&Path::new("refs/heads").join(name)),
            (None, Err(_)) => false,
        }
    }
}
