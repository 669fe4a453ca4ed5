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
use crate::workspace::repository::git_reader::repository_files::{exists, read};
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
    /// The commits of the steps that are left, the next one first.
    pub(super) left: Vec<(ObjectId, Commit)>,
    /// Each commit is picked, in the order of the branch, and there is no other step.
    pub(super) are_plain: bool,
    /// Each step that was done, but for the one at which git stopped, is a commit by now.
    pub(super) are_made: bool,
    /// The commit of the step `edit` at which git stopped: it is at `HEAD`, and the next commit goes in its place.
    pub(super) edited: Option<ObjectId>,
}

/// The commits that the files of a rebase name.
#[derive(Clone, Copy)]
pub(super) struct RebaseIds {
    pub(super) onto: ObjectId,
    pub(super) orig_head: ObjectId,
    /// git makes this commit when the rebase continues.
    pub(super) stopped: Option<ObjectId>,
}

impl RebaseSteps {
    /// `shown` are the commits that have rows. `None` where a list cannot be read, where there are too many commits, or where
    /// `HEAD` does not lead to `onto`.
    pub(super) fn find(
        sides: &GitSides<'_>,
        (after, shown): (&RepositorySide<'_>, &[ObjectId]),
        RebaseIds { onto, orig_head, stopped }: RebaseIds,
        budget: &ReadBudget,
    ) -> Option<RebaseSteps> {
        let list = |name: &str| {
            let text = read(sides.after, &sides.dir.join("rebase-merge").join(name), LARGEST_LIST)?;
            // git reads a list up to the first NUL.
            (!text.contains(&0)).then(|| steps(&text))
        };
        // No step was made where there is no such list.
        let has_done = exists(sides.after, &sides.dir.join("rebase-merge/done"));
        let (done, left) = (if has_done { list("done")? } else { Vec::new() }, list("git-rebase-todo")?);
        let readers = [&after.objects];
        let OnlyCommits { commits, at_least, .. } =
            commits_only_in(&readers, orig_head, &[onto], &BTreeSet::new(), budget);
        if at_least || done.len() + left.len() > MOST_STEPS || commits.len() > MOST_STEPS {
            return None;
        }
        let of_branch: BTreeSet<ObjectId> = commits.iter().map(|(id, _)| *id).collect();
        let commits: Vec<(ObjectId, Commit)> =
            commits.into_iter().filter(|(_, commit)| commit.parents.len() <= 1).collect();
        // What the rebase has made, and what git goes over without a step, because it stays as it is.
        let made = commits_on(after, onto, |id| shown.contains(id) || of_branch.contains(id))?;
        let find = |step: &ListedStep| commits.iter().find(|(id, _)| step.takes(id));
        let done = DoneList::new(&done, stopped, &commits, &made);
        let in_left: BTreeSet<ObjectId> = left.iter().filter_map(find).map(|(id, _)| *id).collect();
        let listed: BTreeSet<ObjectId> = done
            .steps
            .iter()
            .filter_map(find)
            .map(|(id, _)| *id)
            .filter(|id| !done.not_made.contains(id))
            .chain(in_left)
            .chain(stopped.filter(|id| of_branch.contains(id)))
            .collect();
        let mut at = Some(orig_head);
        let mut is_next = |step: &ListedStep| {
            let found = at.and_then(|id| commits.iter().find(|(known, _)| *known == id && step.takes(&id)));
            at = found.and_then(|(_, commit)| commit.parents.first().copied());
            step.is_pick() && found.is_some()
        };
        let are_in_order = done.steps.iter().chain(&left).rev().all(&mut is_next);
        let left: Vec<(ObjectId, Commit)> = left.iter().filter_map(find).cloned().collect();
        let is_left_out =
            |(id, _): &(ObjectId, Commit)| !listed.contains(id) && !made.iter().any(|(made, _)| made == id);
        // Commits of one second come in any order.
        let mut order = Vec::new();
        let mut at = Some(orig_head);
        while let Some((id, commit)) = at.and_then(|id| commits.iter().find(|(known, _)| *known == id)) {
            order.push(*id);
            at = commit.parents.first().copied();
        }
        let DoneList { are_made, edited, .. } = done;
        let mut left_out: Vec<(ObjectId, Commit)> = commits.into_iter().filter(is_left_out).collect();
        left_out.sort_by_key(|(id, _)| Reverse(order.iter().position(|known| known == id)));
        let are_plain = are_in_order && are_made && left_out.is_empty();
        Some(RebaseSteps {
            left_out,
            listed: listed.into_iter().collect(),
            left,
            are_plain,
            are_made,
            edited,
        })
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

/// True where `HEAD` is on `onto`, and every commit between them is one that the rebase made or goes over.
pub(super) fn is_base(
    after: &RepositorySide<'_>,
    shown: &[ObjectId],
    (onto, orig_head): (ObjectId, Option<ObjectId>),
    budget: &ReadBudget,
) -> bool {
    let of_branch =
        |orig_head| commits_only_in(&[&after.objects], orig_head, &[onto], &BTreeSet::new(), budget).commits;
    let of_branch: BTreeSet<ObjectId> =
        orig_head.map(of_branch).into_iter().flatten().map(|(id, _)| id).collect();
    commits_on(after, onto, |id| shown.contains(id) || of_branch.contains(id)).is_some()
}

/// The commits from `onto` to `HEAD`, the oldest first. `None` where one of them is not made by the rebase.
fn commits_on(
    after: &RepositorySide<'_>,
    onto: ObjectId,
    is_made: impl Fn(&ObjectId) -> bool,
) -> Option<Vec<(ObjectId, Commit)>> {
    let mut found = Vec::new();
    let mut at = after.refs.head_commit()?;
    while at != onto {
        if !is_made(&at) || found.len() > MOST_STEPS {
            return None;
        }
        let commit = Commit::read(&after.objects, &at)?;
        let parent = *commit.parents.first()?;
        found.push((at, commit));
        at = parent;
    }
    found.reverse();
    Some(found)
}

/// The steps that were done, compared with the commits that were made.
struct DoneList<'a> {
    steps: &'a [ListedStep],
    /// Commits of steps `pick` that are no commit on the new base.
    not_made: BTreeSet<ObjectId>,
    are_made: bool,
    edited: Option<ObjectId>,
}

impl DoneList<'_> {
    /// Each step has a commit of its own, in the order of the list; the last one may be that at which git stopped.
    fn new<'a>(
        steps: &'a [ListedStep],
        stopped: Option<ObjectId>,
        commits: &[(ObjectId, Commit)],
        made: &[(ObjectId, Commit)],
    ) -> DoneList<'a> {
        let mut found = DoneList { steps, not_made: BTreeSet::new(), are_made: true, edited: None };
        let mut next = 0;
        for (at, step) in steps.iter().enumerate() {
            if !step.takes_any() {
                continue;
            }
            let is_stop = at + 1 == steps.len() && stopped.is_some_and(|id| step.takes(&id));
            let commit = commits.iter().find(|(id, _)| step.takes(id));
            let commit = commit.filter(|_| step.is_pick() || is_stop && step.is_edit());
            let is_it = |(id, made): &(ObjectId, Commit)| {
                commit.is_some_and(|(known, commit)| {
                    id == known || (&made.subject, &made.author) == (&commit.subject, &commit.author)
                })
            };
            let place = made.iter().skip(next).position(is_it);
            if is_stop {
                let is_at_head = place.is_some_and(|at| next + at + 1 == made.len());
                found.edited = made.last().filter(|_| is_at_head && step.is_edit()).map(|(id, _)| *id);
                continue;
            }
            match place {
                Some(at) => next += at + 1,
                None => {
                    found.are_made = false;
                    found.not_made.extend(commit.map(|(id, _)| *id));
                }
            }
        }
        found
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

    fn is_edit(&self) -> bool {
        matches!(self.command.as_str(), "edit" | "e" | "reword" | "r")
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

/// What is no UTF-8 is neither a command nor a name.
fn steps(list: &[u8]) -> Vec<ListedStep> {
    let lines = list.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let step = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let mut words = line.split_ascii_whitespace();
        let command = words.next().unwrap_or_default().to_string();
        ListedStep { command, name: words.find(|word| !matches!(*word, "-C" | "-c")).map(String::from) }
    };
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).map(step).collect()
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
            let steps = steps(format!("# c\n\n{line}\n").as_bytes());
            let found: Vec<(bool, bool)> =
                steps.iter().map(|step| (step.takes(&id), step.is_pick())).collect();
            assert_eq!(found, [(takes, is_pick)], "{line}");
        }
    }
}
