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
    /// Where the branch that is checked out was, where it is, and the commits with rows between them.
    commits: BTreeSet<ObjectId>,
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
        let mut commits = BTreeSet::new();
        commits.extend(match &is {
            // The commit at the old `HEAD` belongs to another branch where the command switched.
            Some(HeadPosition::Branch(branch)) => before.refs.get(branch),
            _ => old_head,
        });
        let mut at = after.refs.head_commit();
        for _ in 0..MOST_COMMITS {
            let Some(id) = at.filter(|id| commits.insert(*id) && shown.contains(id)) else { break };
            at = Commit::read(&after.objects, &id).and_then(|commit| commit.parents.first().copied());
        }
        let moved = sides.changed.iter().filter_map(|(path, _)| path.strip_prefix(sides.dir).ok());
        let moved = moved.filter(|name| name.starts_with("refs")).filter_map(|name| before.refs.get(name));
        let known = moved.chain(old_head).chain(shown.iter().copied()).collect();
        let branch = |head| match head {
            Some(HeadPosition::Branch(name)) => Some(name),
            _ => None,
        };
        ReturnPlaces { commits, known, branches: [was, is].into_iter().filter_map(branch).collect() }
    }

    /// True where nothing of the person is lost when the branch that is checked out goes there.
    pub(in crate::workspace::repository::git_reader) fn has(&self, id: &ObjectId) -> bool {
        self.commits.contains(id)
    }

    /// True for what `ORIG_HEAD` has after an ordinary command that is over.
    pub(in crate::workspace::repository::git_reader) fn has_known(&self, id: &ObjectId) -> bool {
        self.commits.contains(id) || self.known.contains(id)
    }

    /// True for the short name of a branch that was or is checked out, and for a commit at which `HEAD` was.
    pub(in crate::workspace::repository::git_reader) fn has_start(&self, text: &[u8]) -> bool {
        match (ObjectId::from_hex(text), std::str::from_utf8(text)) {
            (Some(id), _) => self.has(&id),
            (None, Ok(name)) => self.branches.contains(&Path::new("refs/heads").join(name)),
            (None, Err(_)) => false,
        }
    }
}
