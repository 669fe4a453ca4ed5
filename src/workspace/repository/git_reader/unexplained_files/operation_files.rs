//! Files of an operation that takes several commands: a rebase, `git am`, a cherry-pick, a merge, a bisect.
//!
//! Where the operation was in progress before, its next command is the person's: it takes the steps, the message, the author, the
//! strategy and the place to which it returns from these files. So a change there is explained only by a step of git that the
//! rows show, or by the end of the operation. Where the command itself began the operation, a row says so, and what git writes
//! there is explained where it can be proved.

use super::operation_steps::{DoneSteps, StepSides};
use super::operation_values::is_number;
use super::{KnownCommits, lines};
use crate::workspace::repository::git_reader::event::GitEvent;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::operation_facts::NamedCommit;
use crate::workspace::repository::git_reader::repository_files::exists;

/// Each has its operation in progress while it is there.
const MESSAGE_IS_FOR: [&str; 5] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "sequencer"];

impl KnownCommits<'_> {
    /// Whether the change of a file is explained, where its operation was in progress before and is not over; `None` for every
    /// other file.
    pub(super) fn explain_in_progress(
        &self,
        names: &[&str],
        (old, new): (Option<&[u8]>, Option<&[u8]>),
    ) -> Option<bool> {
        let goes_on = |marker: &str| {
            let marker = self.sides.dir.join(marker);
            exists(self.sides.before, &marker) && exists(self.sides.after, &marker)
        };
        match names {
            // git writes it again before it reads it.
            ["rebase-apply", "patch-merge-index"] => Some(true),
            ["rebase-merge", name] if goes_on("rebase-merge") => Some(self.is_step_of_rebase(name, new)),
            ["rebase-apply", name] if goes_on("rebase-apply") => Some(self.is_step_of_am(name, new)),
            ["sequencer", name] if goes_on("sequencer") => Some(match *name {
                "todo" => self.sequencer_steps().is_some(),
                "abort-safety" => self.sequencer_steps().is_some() && self.is_head(new),
                _ => false,
            }),
            // The row that the operation ended says it, unless it is still there.
            ["sequencer", "todo"] if new.is_none() => {
                let ended = ["CHERRY_PICK_HEAD", "REVERT_HEAD"].iter().any(|head| {
                    let head = self.sides.dir.join(head);
                    exists(self.sides.before, &head) && !exists(self.sides.after, &head)
                });
                let has_steps = old.is_some_and(|old| lines(old).any(|line| !line.starts_with(b"#")));
                Some(ended || !has_steps || self.sequencer_steps().is_some())
            }
            ["CHERRY_PICK_HEAD" | "REVERT_HEAD" | "REBASE_HEAD"] if old.is_some() && new.is_some() => {
                let is_current = |steps: Option<&DoneSteps>| {
                    steps.is_some_and(|steps| steps.is_current(new.unwrap_or_default()))
                };
                Some(is_current(self.rebase_steps()) || is_current(self.sequencer_steps()))
            }
            ["MERGE_HEAD" | "MERGE_MODE" | "MERGE_AUTOSTASH"] if goes_on("MERGE_HEAD") => Some(false),
            // `git am --abort` returns there, and a person who gives up a rebase looks for the branch there.
            ["ORIG_HEAD"] if goes_on("rebase-apply") || goes_on("rebase-merge") => Some(false),
            ["MERGE_MSG"] if old.is_some() && self.is_message_of_person() => {
                // `git commit` in the middle of a rebase takes it.
                let is_taken = self.after.refs.head_commit().is_some_and(|head| self.shown.contains(&head));
                Some(new.is_none() && (is_taken || old.is_some_and(|old| old.trim_ascii().is_empty())))
            }
            [
                "BISECT_START"
                | "BISECT_TERMS"
                | "BISECT_NAMES"
                | "BISECT_FIRST_PARENT"
                | "BISECT_ANCESTORS_OK",
            ] if old.is_some() && goes_on("BISECT_LOG") => Some(false),
            _ => None,
        }
    }

    /// True where an operation is in progress whose next commit takes `MERGE_MSG`.
    pub(super) fn has_message_for_next(&self) -> bool {
        MESSAGE_IS_FOR.iter().any(|marker| exists(self.sides.after, &self.sides.dir.join(marker)))
    }

    /// True where the next message belongs to an operation that goes on, and no step of it was made.
    fn is_message_of_person(&self) -> bool {
        let is_there = |files, marker: &&str| exists(files, &self.sides.dir.join(marker));
        let (before, after): (Vec<&str>, Vec<&str>) = (
            MESSAGE_IS_FOR.into_iter().filter(|marker| is_there(self.sides.before, marker)).collect(),
            MESSAGE_IS_FOR.into_iter().filter(|marker| is_there(self.sides.after, marker)).collect(),
        );
        let has_begun = after.iter().any(|marker| !before.contains(marker));
        let goes_on = after.iter().any(|marker| before.contains(marker));
        goes_on && !has_begun && self.rebase_steps().is_none() && self.sequencer_steps().is_none()
    }

    fn step_sides(&self) -> StepSides<'_> {
        let KnownCommits { sides, before, after, shown, .. } = self;
        StepSides { sides, before, after, shown }
    }

    /// The row of a commit that a rebase of the person left out.
    pub(super) fn skipped_step(&self) -> Option<GitEvent> {
        let marker = self.sides.dir.join("rebase-merge");
        if !exists(self.sides.before, &marker) || !exists(self.sides.after, &marker) {
            return None;
        }
        let (name, subject) = self.rebase_steps()?.skipped.clone()?;
        let id = name.get(..7).unwrap_or(&name).to_string();
        Some(GitEvent::StepSkipped(NamedCommit { id, on: None, subject }))
    }

    fn rebase_steps(&self) -> Option<&DoneSteps> {
        self.rebase_steps.get_or_init(|| DoneSteps::of_rebase(&self.step_sides())).as_ref()
    }

    fn sequencer_steps(&self) -> Option<&DoneSteps> {
        self.sequencer_steps.get_or_init(|| DoneSteps::of_sequencer(&self.step_sides())).as_ref()
    }

    /// The commit at `HEAD`, which is another one than before.
    fn is_head(&self, text: Option<&[u8]>) -> bool {
        let head = self.after.refs.head_commit();
        let named = text.and_then(|text| ObjectId::from_hex(text.trim_ascii()));
        head.is_some() && head == named && head != self.before.refs.head_commit()
    }

    fn is_step_of_rebase(&self, name: &str, new: Option<&[u8]>) -> bool {
        // Only shown to the person.
        if matches!(name, "patch" | "msgnum" | "end") {
            return new.is_none_or(|new| name == "patch" || is_number(new));
        }
        let Some(steps) = self.rebase_steps() else { return false };
        let Some(new) = new else {
            return matches!(name, "message" | "author-script" | "stopped-sha" | "rewritten-pending");
        };
        match name {
            "git-rebase-todo" | "done" => true,
            "stopped-sha" => steps.is_current(new),
            "message" => self.is_message_of_stop(new),
            "author-script" => self.is_known_author(new),
            "rewritten-list" | "rewritten-pending" => self.are_names(new),
            _ => false,
        }
    }

    /// A patch that was made or left out has the row of `next`.
    fn is_step_of_am(&self, name: &str, new: Option<&[u8]>) -> bool {
        match (name, new) {
            ("abort-safety", new) => self.is_head(new),
            ("patch", Some(patch)) => self.is_patch_of_mail(patch),
            _ => false,
        }
    }
}
