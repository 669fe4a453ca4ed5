//! What a command of git left for its next one: stash entries, commits to merge, changes that git puts back when a merge or
//! a rebase ends, and the versions of files in conflict.

use super::{ContentSearch, LARGEST_LIST, MOST_FOUND, ProtectedContent, ids_of_lines};
use crate::workspace::repository::git_reader::commit_tree::CommitTree;
use crate::workspace::repository::git_reader::compare::GitSides;
use crate::workspace::repository::git_reader::git_index::IndexEntry;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::refs::LARGEST_LOG;
use crate::workspace::repository::git_reader::repository_files::{RepositoryFiles, exists, read};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Files with the commit that `git merge --abort` and `git rebase --continue` write into the work tree.
const AUTOSTASHES: [&str; 3] = ["MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash"];

/// A list of commits; empty where there is none. `None` where there is something else, or a larger one.
fn list(files: &dyn RepositoryFiles, path: &Path, most: u64) -> Option<Vec<u8>> {
    if exists(files, path) { read(files, path, most) } else { Some(Vec::new()) }
}

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
        let file = Path::new(OsStr::from_bytes(path));
        let versions = is.versions.iter().flatten();
        let mut judged = versions.clone().filter_map(|version| (self.judge)(file, version.mode));
        let Some(runner) = judged.next() else { return true };
        let Ok(committed) = head.get(path) else { return false };
        if versions.into_iter().any(|version| committed != Some(*version)) && self.found.len() < MOST_FOUND {
            self.found.push(ProtectedContent::InConflict { file: file.to_path_buf(), runner });
        }
        true
    }
}
