//! The steps that a rebase or a cherry-pick in progress has made: taken off the list of steps that are left, with a commit in the
//! rows for each.

use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::git_sides::{GitSides, RepositorySide};
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::{RepositoryFiles, exists, read};

/// A list of more bytes is not explained.
const LARGEST_LIST: u64 = 1 << 20;
/// Steps of one command.
const MOST_STEPS: usize = 500;

/// The two states between which steps are looked for, and the commits that have rows.
pub(super) struct StepSides<'a> {
    pub(super) sides: &'a GitSides<'a>,
    pub(super) before: &'a RepositorySide<'a>,
    pub(super) after: &'a RepositorySide<'a>,
    pub(super) shown: &'a [ObjectId],
}

/// Steps that are proved: each is a commit that has a row, with the subject that the list of the state before has.
pub(super) struct DoneSteps {
    /// The beginning of the name of the commit at which git stopped again.
    current: Option<String>,
    /// The name and the subject of the commit at which it had stopped, where that was left out.
    pub(super) skipped: Option<(String, String)>,
}

impl DoneSteps {
    /// True for the name of the commit at which git stopped again.
    pub(super) fn is_current(&self, text: &[u8]) -> bool {
        self.current.as_ref().is_some_and(|current| is_name_of(current, text))
    }

    /// Of a rebase, where the commit at which it had stopped was made, too.
    pub(super) fn of_rebase(known: &StepSides<'_>) -> Option<DoneSteps> {
        let (todo, left) = known.lists("rebase-merge/git-rebase-todo")?;
        let (done, all_done) = known.lists("rebase-merge/done")?;
        let moved = todo.strip_suffix(left.as_slice()).filter(|moved| !moved.is_empty())?;
        if all_done != [done.as_slice(), moved].concat() {
            return None;
        }
        let (current, before_it) = moved.split_last()?;
        let committed: Vec<&String> = done.last().into_iter().chain(before_it).collect();
        let current = picked(current)?.0.to_string();
        if known.are_commits(&committed) {
            return Some(DoneSteps { current: Some(current), skipped: None });
        }
        // `git rebase --skip`: git stopped again, and the commit before is not there.
        let (name, subject) = picked(done.last()?)?;
        let stopped_again = ["REBASE_HEAD", "rebase-merge/stopped-sha"].iter().all(|file| {
            let text = read(known.sides.after, &known.sides.dir.join(file), LARGEST_LIST);
            text.is_some_and(|text| is_name_of(&current, &text))
        });
        let committed: Vec<&String> = before_it.iter().collect();
        let is_skipped = stopped_again
            && (committed.is_empty() && known.is_head_as_before() || known.are_commits(&committed));
        let skipped = Some((name.to_string(), subject.to_string()));
        is_skipped.then_some(DoneSteps { current: Some(current), skipped })
    }

    /// Of a cherry-pick or a revert. The step at which it stopped is still in the list.
    pub(super) fn of_sequencer(known: &StepSides<'_>) -> Option<DoneSteps> {
        let (todo, left) = known.lists("sequencer/todo")?;
        let moved = todo.strip_suffix(left.as_slice()).filter(|moved| !moved.is_empty())?;
        let current = match left.first() {
            Some(step) => Some(picked(step)?.0.to_string()),
            None => None,
        };
        known.are_commits(&moved.iter().collect::<Vec<_>>()).then_some(DoneSteps { current, skipped: None })
    }
}

/// True for the whole name of a commit that begins with `short`.
fn is_name_of(short: &str, text: &[u8]) -> bool {
    let name = text.trim_ascii();
    ObjectId::from_hex(name).is_some() && name.starts_with(short.as_bytes())
}

/// The name and the subject of a step `pick NAME SUBJECT`.
fn picked(step: &str) -> Option<(&str, &str)> {
    let rest = step.strip_prefix("pick ").or_else(|| step.strip_prefix("p "))?;
    let (name, subject) = rest.split_once(' ')?;
    let is_name = name.len() >= 4 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    // git 2.50 puts a sign before the subject.
    is_name.then(|| (name, subject.strip_prefix("# ").unwrap_or(subject)))
}

impl StepSides<'_> {
    /// The steps of a list in both states; none where the file is gone.
    fn lists(&self, rel: &str) -> Option<(Vec<String>, Vec<String>)> {
        let path = self.sides.dir.join(rel);
        let steps = |files: &dyn RepositoryFiles| {
            if !exists(files, &path) {
                return Some(Vec::new());
            }
            // git reads a list up to the first NUL.
            let text = String::from_utf8(read(files, &path, LARGEST_LIST)?).ok()?;
            if text.contains('\0') {
                return None;
            }
            let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
            Some(lines.map(String::from).collect())
        };
        Some((steps(self.sides.before)?, steps(self.sides.after)?))
    }

    fn is_head_as_before(&self) -> bool {
        let head = self.before.refs.head_commit();
        head.is_some() && head == self.after.refs.head_commit()
    }

    /// True where these steps and no other commits are between the two `HEAD`s, and all commits have rows.
    fn are_commits(&self, steps: &[&String]) -> bool {
        let of = |side: &RepositorySide<'_>| side.refs.head_commit();
        let (Some(begin), Some(end)) = (of(self.before), of(self.after)) else { return false };
        if steps.is_empty() || steps.len() > MOST_STEPS {
            return false;
        }
        let mut at = end;
        for step in steps.iter().rev() {
            let Some(commit) = Commit::read(&self.after.objects, &at) else { return false };
            let is_step = picked(step).is_some_and(|(_, subject)| subject == commit.subject);
            let [parent] = commit.parents.as_slice() else { return false };
            if !is_step || !self.shown.contains(&at) {
                return false;
            }
            at = *parent;
        }
        at == begin
    }
}
