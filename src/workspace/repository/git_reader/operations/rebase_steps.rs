//! The steps of a rebase that the command began, compared with the commits of the branch: what is in neither the list of the
//! steps that are left nor in that of those that were done is not on the branch when the rebase ends.

use super::operation_facts::NamedCommit;
use crate::workspace::repository::git_reader::ancestry::{OnlyCommits, commits_only_in};
use crate::workspace::repository::git_reader::budget::ReadBudget;
use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::commit_patch::{BlobContent, CommitPatch};
use crate::workspace::repository::git_reader::event::GitEvent;
use crate::workspace::repository::git_reader::git_sides::{GitSides, RepositorySide};
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::read;
use std::collections::BTreeSet;

/// A list of more bytes is not compared.
const LARGEST_LIST: u64 = 1 << 20;
/// Commits that the row names. Where there are more, all are below it.
const MOST_NAMED: usize = 3;

pub(super) struct RebaseSteps {
    /// The oldest first.
    left_out: Vec<(ObjectId, Commit)>,
    /// Those that are in a step.
    pub(super) listed: Vec<ObjectId>,
    /// Each commit is picked, in the order of the branch, and there is no other step.
    pub(super) are_plain: bool,
}

impl RebaseSteps {
    /// `None` where a list cannot be read, or where there are too many commits.
    pub(super) fn find(
        sides: &GitSides<'_>,
        after: &RepositorySide<'_>,
        (onto, orig_head): (ObjectId, ObjectId),
        budget: &ReadBudget,
    ) -> Option<RebaseSteps> {
        let list = |name: &str| {
            let path = sides.dir.join("rebase-merge").join(name);
            String::from_utf8(read(sides.after, &path, LARGEST_LIST)?).ok()
        };
        // No step was made where there is no such list.
        let steps = steps(&list("done").unwrap_or_default(), &list("git-rebase-todo")?);
        let readers = [&after.objects];
        let OnlyCommits { commits, at_least } =
            commits_only_in(&readers, orig_head, &[onto], &BTreeSet::new(), budget);
        if at_least {
            return None;
        }
        let commits: Vec<(ObjectId, Commit)> =
            commits.into_iter().filter(|(_, commit)| commit.parents.len() <= 1).collect();
        let are_plain = steps.are_picks && steps.names.len() == commits.len() && {
            let mut at = Some(orig_head);
            steps.names.iter().rev().all(|name| {
                let is_it = at.is_some_and(|id| name.len() >= 4 && id.to_hex().starts_with(name));
                let commit = at.and_then(|id| commits.iter().find(|(known, _)| *known == id));
                at = commit.and_then(|(_, commit)| commit.parents.first().copied());
                is_it
            })
        };
        let is_listed = |id: &ObjectId| {
            let hex = id.to_hex();
            steps.names.iter().any(|name| name.len() >= 4 && hex.starts_with(name))
        };
        let (listed, left_out): (Vec<_>, Vec<_>) =
            commits.into_iter().partition(|(id, _)| are_plain || is_listed(id));
        let listed = listed.into_iter().map(|(id, _)| id).collect();
        Some(RebaseSteps { left_out, listed, are_plain })
    }

    /// The row of the commits that are in no step.
    pub(super) fn event(&self, budget: &ReadBudget) -> Option<GitEvent> {
        if self.left_out.is_empty() {
            return None;
        }
        let name = |(id, commit): &(ObjectId, Commit)| NamedCommit {
            id: id.short(),
            on: None,
            subject: commit.subject.clone(),
        };
        let named = self.left_out.iter().take(MOST_NAMED).map(name).collect();
        let mut patch = CommitPatch::default();
        if self.left_out.len() > MOST_NAMED {
            let lines =
                self.left_out.iter().map(|(id, commit)| format!("{} {}\n", id.short(), commit.subject));
            patch.add_content("left out", &BlobContent::Text(lines.collect::<String>().into_bytes()), budget);
        }
        Some(GitEvent::StepsLeftOut { number: self.left_out.len(), named, patch })
    }
}

#[derive(Debug, PartialEq, Eq)]
struct ListedSteps {
    /// The beginnings of names of commits.
    names: Vec<String>,
    /// There is no other step than `pick`.
    are_picks: bool,
}

fn steps(done: &str, left: &str) -> ListedSteps {
    let mut found = ListedSteps { names: Vec::new(), are_picks: true };
    for line in done.lines().chain(left.lines()).map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let command = words.next().unwrap_or_default();
        let mut words = words.skip_while(|word| matches!(*word, "-C" | "-c"));
        found.are_picks &= matches!(command, "pick" | "p");
        // A step `drop` leaves its commit out.
        let takes = ["pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f"];
        if takes.contains(&command) {
            found.names.extend(words.next().map(String::from));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commits_of_both_lists_are_found() {
        let found = |done: &str, left: &str| {
            let ListedSteps { names, are_picks } = steps(done, left);
            (names.join(" "), are_picks)
        };
        for (done, left, want) in [
            ("", "", ("", true)),
            ("pick 1111 a\n", "# c\n\npick 2222 # b\np 3333 c\n", ("1111 2222 3333", true)),
            ("pick 1111 a\nexec true\n", "pick 2222 b\n", ("1111 2222", false)),
            ("", "fixup -C 1111 a\nsquash 2222 b\nreword 3333 c", ("1111 2222 3333", false)),
            ("", "drop 1111 a\npick 2222 b", ("2222", false)),
            ("noop\n", "", ("", false)),
        ] {
            assert_eq!(found(done, left), (want.0.to_string(), want.1), "{done} {left}");
        }
    }
}
