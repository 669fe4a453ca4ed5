//! What a command of git left for its next one: stash entries, commits to merge, changes that git puts back when a merge or
//! a rebase ends, and the versions of files in conflict.

use super::{ContentSearch, LARGEST_LIST, MOST_FOUND, ProtectedContent, ids_of_lines, list};
use crate::permission::Runner;
use crate::workspace::repository::git_reader::commit_tree::CommitTree;
use crate::workspace::repository::git_reader::git_index::{IndexEntry, ResolvedConflict};
use crate::workspace::repository::git_reader::git_sides::GitSides;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::refs::LARGEST_LOG;
use crate::workspace::repository::git_reader::tree_diff::TreeEntry;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Files with the commit that `git merge --abort` and `git rebase --continue` write into the work tree.
const AUTOSTASHES: [&str; 3] = ["MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"];

/// The commits that a list has, one a line. `None` where a line is anything else.
fn only_commits(text: &[u8]) -> Option<Vec<ObjectId>> {
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(ObjectId::from_hex).collect()
}

impl ContentSearch<'_> {
    /// All entries but the newest are only in the reflog.
    pub(super) fn stash(&mut self, sides: &GitSides<'_>) {
        let log = |files| list(files, &sides.dir.join("logs/refs/stash"), LARGEST_LOG);
        // Without the old entries all of them are new.
        let before = log(sides.before).unwrap_or_default();
        let Some(after) = log(sides.after) else {
            return self.not_read("the list of stash entries is larger than 4 MB, or no regular file");
        };
        let known: BTreeSet<ObjectId> = ids_of_lines(&before, 1).collect();
        for id in ids_of_lines(&after, 1).filter(|id| !known.contains(id)).collect::<Vec<_>>() {
            self.tip(Path::new("refs/stash"), id, None);
        }
    }

    /// The commits that the next commit merges. git takes any name for one; it writes only whole ones.
    pub(super) fn merge(&mut self, sides: &GitSides<'_>) {
        let lines = list(sides.after, &sides.dir.join("MERGE_HEAD"), LARGEST_LIST);
        let Some(commits) = lines.as_deref().and_then(only_commits) else {
            return self.not_read("MERGE_HEAD is no list of commits, or is larger than 4 MB");
        };
        for id in commits {
            self.tip(Path::new("MERGE_HEAD"), id, None);
        }
    }

    /// The changes that git stored when a merge or a rebase began. `touches` says whether something at this name changed.
    pub(super) fn autostashes(&mut self, sides: &GitSides<'_>, touches: &dyn Fn(&str) -> bool) {
        for name in AUTOSTASHES {
            let place = name.split('/').next().unwrap_or(name);
            if touches(place) {
                self.autostash(sides, name);
            }
        }
    }

    fn autostash(&mut self, sides: &GitSides<'_>, name: &str) {
        let path = sides.dir.join(name);
        // git follows a link there, and placet does not.
        let place = path.parent().and_then(|dir| sides.after.real(dir));
        let place = place.and_then(|dir| dir.symlink_metadata().ok());
        if place.is_some_and(|found| !found.is_dir()) {
            return self.not_read("a file is where git has a directory of a rebase");
        }
        let read = |files| list(files, &path, LARGEST_LIST);
        let Some(commits) = read(sides.after).as_deref().and_then(only_commits) else {
            return self.not_read("an autostash is not the name of a commit");
        };
        let known = read(sides.before).as_deref().and_then(only_commits).unwrap_or_default();
        for id in commits.into_iter().filter(|id| !known.contains(id)) {
            self.tip(Path::new(name), id, None);
        }
    }

    /// Looks at the versions of a file in conflict. False where the commit at `HEAD`, whose content is known, cannot be read.
    pub(super) fn sides_are_known(
        &mut self,
        path: &[u8],
        is: &IndexEntry,
        head: &mut CommitTree<'_>,
    ) -> bool {
        let Some(other) = self.other_version(path, &is.versions, head) else { return false };
        self.found.extend(other.map(|(file, runner)| ProtectedContent::InConflict { file, runner }));
        true
    }

    /// The same of a conflict that was resolved.
    pub(super) fn resolved_is_known(
        &mut self,
        (path, versions): &ResolvedConflict,
        head: &mut CommitTree<'_>,
    ) -> bool {
        let Some(other) = self.other_version(path, versions, head) else { return false };
        self.found.extend(other.map(|(file, runner)| ProtectedContent::Resolved { file, runner }));
        true
    }

    /// The file that runs later, if it has a version that the commit at `HEAD` does not have. `None` where that is not known.
    fn other_version(
        &self,
        path: &[u8],
        versions: &[Option<TreeEntry>; 3],
        head: &mut CommitTree<'_>,
    ) -> Option<Option<(PathBuf, Runner)>> {
        let file = Path::new(OsStr::from_bytes(path));
        let versions = || versions.iter().flatten();
        let Some(runner) = versions().find_map(|version| (self.judge)(file, version.mode)) else {
            return Some(None);
        };
        let committed = head.get(path).ok()?;
        let is_other = versions().any(|version| committed != Some(*version)) && self.found.len() < MOST_FOUND;
        Some(is_other.then(|| (file.to_path_buf(), runner)))
    }
}
