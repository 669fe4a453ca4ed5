//! Messages of commits in files of git: what the next commit takes for its message, and what the last one took.

use super::message_text::{combined, has_message, is_cherry_pick, is_revert, tidy};
use super::{KnownCommits, lines};
use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::event::HeadPosition;
use crate::workspace::repository::git_reader::git_index::read_index;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::{exists, read};
use std::collections::BTreeSet;
use std::path::Path;

/// Files of the state that name a commit whose message git gives to the next one.
const STOPPED_AT: [&str; 4] = ["REBASE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge/stopped-sha", "REVERT_HEAD"];

impl KnownCommits<'_> {
    /// The commits that rows show, that at `HEAD`, and those at which an operation stopped.
    pub(super) fn commits(&self) -> &[(ObjectId, Commit)] {
        self.commits.get_or_init(|| {
            let named = |name: &&str| {
                let text = read(self.sides.after, &self.sides.dir.join(name), 4 << 10)?;
                ObjectId::from_hex(text.trim_ascii())
            };
            // Only a rebase in progress takes its message from there.
            let has_rebase = exists(self.sides.after, &self.sides.dir.join("rebase-merge"));
            let stopped = STOPPED_AT.iter().filter(|name| has_rebase || **name != "REBASE_HEAD");
            let stopped = stopped.filter_map(named);
            let ids: BTreeSet<ObjectId> =
                self.shown.iter().copied().chain(self.after.refs.head_commit()).chain(stopped).collect();
            ids.into_iter().filter_map(|id| Some((id, Commit::read(&self.after.objects, &id)?))).collect()
        })
    }

    pub(super) fn is_known_message(&self, message: &[u8]) -> bool {
        tidy(message).is_empty() || self.commits().iter().any(|(_, commit)| has_message(commit, message))
    }

    /// The message that the next commit gets, as git itself writes it.
    pub(super) fn is_next_message(&self, text: &[u8]) -> bool {
        let message = self.without_conflicts(text);
        if self.is_known_message(&message) {
            return true;
        }
        let Ok(message) = std::str::from_utf8(message.trim_ascii()) else { return false };
        let is_made_of = |(id, commit): &(ObjectId, Commit)| {
            is_revert(message, id, commit) || is_cherry_pick(message, id, commit)
        };
        self.is_merge_message(message)
            || self.commits().iter().any(is_made_of)
            || combined(message).is_some_and(|parts| parts.iter().all(|part| self.is_of_step(part)))
    }

    /// The message that a rebase has for the commit at which it stopped, alone or in a squash.
    pub(super) fn is_message_of_stop(&self, text: &[u8]) -> bool {
        let message = self.without_conflicts(text);
        let stopped = read(self.sides.after, &self.sides.dir.join("REBASE_HEAD"), 4 << 10);
        let stopped = stopped.and_then(|text| ObjectId::from_hex(text.trim_ascii()));
        let commit = stopped.and_then(|id| Commit::read(&self.after.objects, &id));
        let parts = std::str::from_utf8(message.trim_ascii()).ok().and_then(combined);
        commit.is_some_and(|commit| has_message(&commit, &message))
            || parts.is_some_and(|parts| parts.iter().all(|part| self.is_of_step(part)))
    }

    /// True for the message of a commit that is a step of the rebase which the command began, and for any other that is known.
    fn is_of_step(&self, message: &str) -> bool {
        let is_step = |id| {
            let commit = Commit::read(&self.after.objects, id);
            commit.is_some_and(|commit| has_message(&commit, message.as_bytes()))
        };
        self.is_known_message(message.as_bytes()) || self.operations.steps.iter().any(is_step)
    }

    /// Without the list of conflicts, where each path of it is in conflict in the index.
    fn without_conflicts(&self, text: &[u8]) -> Vec<u8> {
        let Some(at) = memchr::memmem::find(text, b"# Conflicts:\n") else { return text.to_vec() };
        let (message, list) = text.split_at(at);
        let Ok(index) = read_index(self.sides.after, self.sides.dir, self.width) else {
            return text.to_vec();
        };
        let is_conflict = |line: &[u8]| {
            let path = line.strip_prefix(b"#\t");
            path.and_then(|path| index.entries.get(path)).is_some_and(|entry| entry.staged.is_none())
        };
        match lines(list).skip(1).all(is_conflict) {
            true => message.to_vec(),
            false => text.to_vec(),
        }
    }

    /// `Merge branch 'topic' into fix`, where that branch is what is merged.
    fn is_merge_message(&self, message: &str) -> bool {
        let Some(rest) = message.strip_prefix("Merge ") else { return false };
        let kinds =
            [("branch '", "refs/heads/"), ("remote-tracking branch '", "refs/remotes/"), ("commit '", "")];
        let found = kinds.iter().find_map(|(word, dir)| Some((rest.strip_prefix(word)?, *dir)));
        let Some(((name, into), dir)) = found.and_then(|(rest, dir)| Some((rest.split_once('\'')?, dir)))
        else {
            return false;
        };
        let merged = read(self.sides.after, &self.sides.dir.join("MERGE_HEAD"), 4 << 10);
        let Some(merged) = merged.and_then(|text| ObjectId::from_hex(text.trim_ascii())) else {
            return false;
        };
        let is_merged = match dir {
            "" => name == merged.to_hex(),
            dir => self.after.refs.get(Path::new(&format!("{dir}{name}"))) == Some(merged),
        };
        let current = match self.after.refs.head() {
            Some(HeadPosition::Branch(branch)) => {
                branch.strip_prefix("refs/heads").map(|name| format!(" into {}", name.display())).ok()
            }
            _ => Some(" into HEAD".into()),
        };
        is_merged && (into.is_empty() || Some(into) == current.as_deref())
    }
}
