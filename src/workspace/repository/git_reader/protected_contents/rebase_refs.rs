//! The branches that a rebase moves when it ends: `head-name`, and those of `git rebase --update-refs`.
//!
//! git moves them whatever they lead to then. A branch of the person that is no part of the rebase would lose its commits.

use super::{ContentSearch, LARGEST_LIST};
use crate::workspace::repository::git_reader::ancestry::only_in;
use crate::workspace::repository::git_reader::git_sides::GitSides;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::read;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const OTHER_BRANCH: &str = "it moves a branch that is no part of the rebase";
const FILES: [(&str, &[&str]); 2] =
    [("rebase-merge", &["head-name", "update-refs", "git-rebase-todo"]), ("rebase-apply", &["head-name"])];

impl ContentSearch<'_> {
    pub(super) fn rebase_refs(&mut self, sides: &GitSides<'_>) {
        let text = |name: &str| read(sides.after, &sides.dir.join(name), LARGEST_LIST).unwrap_or_default();
        for (dir, names) in FILES {
            let begun_at = ObjectId::from_hex(text(&format!("{dir}/orig-head")).trim_ascii());
            for name in names.iter().map(|name| format!("{dir}/{name}")) {
                let text = text(&name);
                if refs_of(&text).any(|moved| !self.is_part_of_rebase(moved, begun_at)) {
                    return self.not_understood(sides.dir, Path::new(&name), OTHER_BRANCH);
                }
            }
        }
    }

    /// True for a branch whose commits the rebase has, and for one that does not exist.
    fn is_part_of_rebase(&self, name: &[u8], begun_at: Option<ObjectId>) -> bool {
        let Some(at) = self.after.refs.get(Path::new(OsStr::from_bytes(name))) else { return true };
        let others: Vec<ObjectId> = begun_at.into_iter().collect();
        let objects = [&self.after.objects, &self.before.objects];
        others.contains(&at) || {
            let found = only_in(&objects, at, &others, self.budget);
            found.number == 0 && !found.at_least
        }
    }
}

/// Lines with the name of a ref, also behind the command that moves it.
fn refs_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(|byte| *byte == b'\n').map(|line| {
        let line = line.trim_ascii();
        let (first, rest) = line.split_at(memchr::memchr2(b' ', b'\t', line).unwrap_or(line.len()));
        if matches!(first, b"update-ref" | b"u") { rest.trim_ascii() } else { line }
    });
    words.filter(|name| name.starts_with(b"refs/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refs_that_a_rebase_moves_are_found() {
        let text = b"refs/heads/a\n0123\n4567\npick 89ab refs/heads/x\nupdate-ref refs/heads/b\n\tu\trefs/heads/c\ndetached HEAD\n";
        let found: Vec<&[u8]> = refs_of(text).collect();
        assert_eq!(found, [&b"refs/heads/a"[..], b"refs/heads/b", b"refs/heads/c"]);
    }
}
