//! Reflogs of branches that name commits which the branch does not have.
//!
//! `git rebase` and `git pull --rebase` look in the reflog of the upstream branch for the commit from which the person's branch
//! began (`git merge-base --fork-point`), and leave out what comes before it. A commit of the person in that reflog is left out,
//! too, although no ref has moved.

use super::ContentSearch;
use crate::workspace::repository::git_reader::ancestry::only_in;
use crate::workspace::repository::git_reader::git_sides::GitSides;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::read;
use crate::workspace::repository::git_reader::state_contents::NameLookup;
use std::collections::BTreeSet;
use std::path::Path;

const OTHER_COMMIT: &str =
    "it names a commit that is not part of its branch: `git pull --rebase` may leave the commit out";

impl ContentSearch<'_> {
    /// Fails where new lines of the reflog at `rel` name a commit that was there before and that its ref neither had nor has.
    /// Commits that are new do not count: no branch of the person can have begun at one. `known` is the reflog before.
    pub(super) fn is_log_of_its_ref(
        &self,
        sides: &GitSides<'_>,
        rel: &Path,
        (named, known): (&BTreeSet<ObjectId>, &[u8]),
        names: &NameLookup<'_>,
    ) -> Result<(), &'static str> {
        let Ok(name) = rel.strip_prefix("logs") else { return Ok(()) };
        // `HEAD` goes from branch to branch, and each stash entry is a commit of its own.
        if !name.starts_with("refs") || name == Path::new("refs/stash") {
            return Ok(());
        }
        let (old, new) = (self.before.refs.get(name), self.after.refs.get(name));
        // Nobody can have begun a branch at one that is new.
        if old.is_none() && new.is_some() {
            return Ok(());
        }
        let ends: Vec<ObjectId> = old.into_iter().chain(new).collect();
        let mut known = names.columns(known);
        let is_other = |id: &&ObjectId| !ends.contains(id) && self.before.objects.has(id);
        let mut others = named.iter().filter(is_other).filter(|id| !known.contains(*id)).peekable();
        if others.peek().is_none() {
            return Ok(());
        }
        let others: Vec<&ObjectId> = others.collect();
        known.extend(self.logs_of_removed_refs(sides).iter().flat_map(|log| names.columns(log)));
        let objects = [&self.after.objects, &self.before.objects];
        let is_reached = |id: &ObjectId| {
            let found = only_in(&objects, *id, &ends, self.budget);
            found.number == 0 && !found.at_least
        };
        match others.into_iter().all(|id| known.contains(id) || is_reached(id)) {
            true => Ok(()),
            false => Err(OTHER_COMMIT),
        }
    }

    /// A branch with another name keeps its reflog.
    fn logs_of_removed_refs(&self, sides: &GitSides<'_>) -> Vec<Vec<u8>> {
        let logs = sides.dir.join("logs");
        let is_removed = |path: &Path| {
            let name = path.strip_prefix(&logs);
            name.is_ok_and(|name| self.before.refs.get(name).is_some() && self.after.refs.get(name).is_none())
        };
        let gone = sides.changed.iter().filter(|(path, is_gone)| *is_gone && is_removed(path));
        gone.filter_map(|(path, _)| read(sides.before, path, super::state_files::LARGEST_LOG)).collect()
    }
}
