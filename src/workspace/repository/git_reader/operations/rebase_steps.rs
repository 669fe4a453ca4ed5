//! The steps of a rebase that the command began, compared with the commits of the branch: what is in neither the list of the
//! steps that are left nor in that of those that were done is not on the branch when the rebase ends.

use crate::workspace::repository::git_reader::ancestry::{OnlyCommits, commits_only_in};
use crate::workspace::repository::git_reader::budget::ReadBudget;
use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::commit_patch::{BlobContent, CommitPatch};
use crate::workspace::repository::git_reader::event::GitEvent;
use crate::workspace::repository::git_reader::git_sides::{GitSides, RepositorySide};
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::operation_facts::NamedCommit;
use crate::workspace::repository::git_reader::repository_files::read;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A list of more bytes is not compared.
const LARGEST_LIST: u64 = 1 << 20;
/// Each step is compared with each commit.
const MOST_STEPS: usize = 1_000;
/// Commits that the row names. Where there are more, all are below it.
const MOST_NAMED: usize = 3;

pub(super) struct RebaseSteps {
    /// The oldest first.
    left_out: Vec<(ObjectId, Commit)>,
    /// Those that are in a step.
    pub(super) listed: Vec<ObjectId>,
    /// Each commit is picked, in the order of the branch, and there is no other step.
    pub(super) are_plain: bool,
    /// Each step that was done, but for the one at which git stopped, is a commit by now.
    pub(super) are_made: bool,
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
        let (done, left) = (list("done").unwrap_or_default(), list("git-rebase-todo")?);
        let (done, left) = (steps(&done), steps(&left));
        let readers = [&after.objects];
        let only = |from, base| commits_only_in(&readers, from, &[base], &BTreeSet::new(), budget);
        let OnlyCommits { commits, at_least } = only(orig_head, onto);
        if at_least || done.len() + left.len() > MOST_STEPS || commits.len() > MOST_STEPS {
            return None;
        }
        let commits: Vec<(ObjectId, Commit)> =
            commits.into_iter().filter(|(_, commit)| commit.parents.len() <= 1).collect();
        // What the rebase has made, and what git goes over without a step, because it stays as it is.
        let made = after.refs.head_commit().map(|head| only(head, onto).commits).unwrap_or_default();
        let find = |step: &ListedStep| commits.iter().find(|(id, _)| step.takes(id));
        let is_made = |step: &&ListedStep| {
            let found = find(step).filter(|_| step.is_pick());
            let is_it = |(_, made): &(ObjectId, Commit)| {
                found.is_some_and(|(_, commit)| made.subject == commit.subject)
            };
            !step.takes_any() || made.iter().any(is_it)
        };
        let (current, before) =
            done.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
        let not_made = before.iter().filter(|step| step.is_pick() && !is_made(step));
        let not_made: BTreeSet<ObjectId> = not_made.filter_map(find).map(|(id, _)| *id).collect();
        let listed: BTreeSet<ObjectId> = before
            .iter()
            .chain(current)
            .chain(&left)
            .filter_map(find)
            .map(|(id, _)| *id)
            .filter(|id| !not_made.contains(id))
            .collect();
        let mut at = Some(orig_head);
        let mut is_next = |step: &ListedStep| {
            let found = at.and_then(|id| commits.iter().find(|(known, _)| *known == id && step.takes(&id)));
            at = found.and_then(|(_, commit)| commit.parents.first().copied());
            step.is_pick() && found.is_some()
        };
        let are_in_order = done.iter().chain(&left).rev().all(&mut is_next);
        let are_made = before.iter().all(|step| is_made(&step));
        let is_left_out =
            |(id, _): &(ObjectId, Commit)| !listed.contains(id) && !made.iter().any(|(made, _)| made == id);
        // Commits of one second come in any order.
        let mut order = Vec::new();
        let mut at = Some(orig_head);
        while let Some((id, commit)) = at.and_then(|id| commits.iter().find(|(known, _)| *known == id)) {
            order.push(*id);
            at = commit.parents.first().copied();
        }
        let mut left_out: Vec<(ObjectId, Commit)> = commits.into_iter().filter(is_left_out).collect();
        left_out.sort_by_key(|(id, _)| Reverse(order.iter().position(|known| known == id)));
        let are_plain = are_in_order && are_made && left_out.is_empty();
        Some(RebaseSteps { left_out, listed: listed.into_iter().collect(), are_plain, are_made })
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

/// A step of a list, with the beginning of the name of a commit.
#[derive(Debug, PartialEq, Eq)]
struct ListedStep {
    command: String,
    name: Option<String>,
}

impl ListedStep {
    fn is_pick(&self) -> bool {
        matches!(self.command.as_str(), "pick" | "p")
    }

    /// A step `drop` leaves its commit out.
    fn takes_any(&self) -> bool {
        const TAKING: [&str; 10] = ["pick", "p", "reword", "r", "edit", "e", "squash", "s", "fixup", "f"];
        TAKING.contains(&self.command.as_str())
    }

    fn takes(&self, id: &ObjectId) -> bool {
        let is_it = |name: &String| name.len() >= 4 && id.to_hex().starts_with(name);
        self.takes_any() && self.name.as_ref().is_some_and(is_it)
    }
}

fn steps(list: &str) -> Vec<ListedStep> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let step = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let command = words.next().unwrap_or_default().to_string();
        ListedStep { command, name: words.find(|word| !matches!(*word, "-C" | "-c")).map(String::from) }
    };
    lines.map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_takes_the_commit_that_it_names() {
        let id = ObjectId::from_hex("1234567890123456789012345678901234567890".as_bytes()).unwrap();
        for (line, takes, is_pick) in [
            ("pick 1234567 a", true, true),
            ("  p 1234567890123456789012345678901234567890", true, true),
            ("fixup -C 1234567 a", true, false),
            ("squash 1234567", true, false),
            ("drop 1234567 a", false, false),
            ("pick 7654321 a", false, true),
            ("pick 12 a", false, true),
            ("pick", false, true),
            ("noop", false, false),
        ] {
            let steps = steps(&format!("# c\n\n{line}\n"));
            let found: Vec<(bool, bool)> =
                steps.iter().map(|step| (step.takes(&id), step.is_pick())).collect();
            assert_eq!(found, [(takes, is_pick)], "{line}");
        }
    }
}
