//! What is in a reflog: its lines in git's own words, about commits that rows show, and in the order in which git writes them.

use super::reflog_lines::{LoggedHead, added_lines, are_moves_of_head, sources};
use super::{KnownCommits, lines};
use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::event::HeadPosition;
use crate::workspace::repository::git_reader::git_sides::RepositorySide;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::reflog_words::{is_ordinary, is_plain_identity};
use crate::workspace::repository::git_reader::refs::LARGEST_LOG;
use crate::workspace::repository::git_reader::repository_files::read;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// New lines of one reflog that are compared with their commits.
const MOST_LINES: usize = 2_000;

impl KnownCommits<'_> {
    pub(super) fn is_usual_log(&self, ref_name: &[&str], old: Option<&[u8]>, new: &[u8]) -> bool {
        let old = old.unwrap_or_default();
        if ref_name == ["refs", "stash"] {
            return self.is_usual_list_of_stashes(old, new);
        }
        // There was nothing of the person's: a copy of a repository may have any lines.
        if self.is_new {
            return self.are_usual_lines(&lines(new).collect::<Vec<_>>(), old, false);
        }
        let came_from = self.log_that_came_here(old, new);
        let old = came_from.as_deref().unwrap_or(old);
        let name: PathBuf = ref_name.iter().collect();
        let is_of_head = ref_name == ["HEAD"];
        let at = |side: &RepositorySide<'_>| match is_of_head {
            true => side.refs.head_commit(),
            false => side.refs.get(&name),
        };
        let Some(added) = added_lines(old, new, (at(self.before), at(self.after))) else { return false };
        let (was, is) = (logged_head(self.before), logged_head(self.after));
        if is_of_head && !are_moves_of_head(&added, was.as_ref(), is.as_ref()) {
            return false;
        }
        self.are_usual_lines(&added, old, false)
    }

    /// The log of another ref from before with which this one begins: a branch with another name has the log that it had.
    fn log_that_came_here(&self, old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
        if new.starts_with(old) && !old.is_empty() {
            return None;
        }
        sources(new).find_map(|name| {
            let log =
                read(self.sides.before, &self.sides.dir.join("logs").join(Path::new(name)), LARGEST_LOG)?;
            (!log.is_empty() && new.starts_with(&log)).then_some(log)
        })
    }

    /// `git stash pop` takes the last entry.
    fn is_usual_list_of_stashes(&self, old: &[u8], new: &[u8]) -> bool {
        // When an entry goes, git writes another old commit into the next one.
        let own = |line: &'_ [u8]| match memchr::memchr(b' ', line) {
            Some(at) => line.get(at..).unwrap_or_default().to_vec(),
            None => line.to_vec(),
        };
        let known: BTreeSet<Vec<u8>> = lines(old).map(own).collect();
        let left: BTreeSet<Vec<u8>> = lines(new).map(own).collect();
        let stay = |text, in_both: &BTreeSet<Vec<u8>>| {
            lines(text).map(own).filter(|line| in_both.contains(line)).collect::<Vec<_>>()
        };
        let added: Vec<&[u8]> = lines(new).filter(|line| !known.contains(&own(line))).collect();
        stay(old, &left) == stay(new, &known) && self.are_usual_lines(&added, old, true)
    }

    fn are_usual_lines(&self, added: &[&[u8]], old: &[u8], is_stash: bool) -> bool {
        let name_of =
            |line: &'_ [u8]| line.splitn(3, |byte| *byte == b' ').nth(2).map(|rest| identity(rest).to_vec());
        let known_names: BTreeSet<Vec<u8>> = lines(old).filter_map(name_of).collect();
        let is_usual = |line: &&[u8]| {
            let (head, message) = line.split_at(memchr::memchr(b'\t', line).unwrap_or(line.len()));
            let message = message.get(1..).unwrap_or_default();
            let mut words = head.splitn(3, |byte| *byte == b' ');
            let ids = (words.next().and_then(ObjectId::from_hex), words.next().and_then(ObjectId::from_hex));
            let ((Some(_), Some(id)), Some(who)) = (ids, words.next()) else { return false };
            let commit = Commit::read(&self.after.objects, &id);
            // `git reflog --format=%gn` shows the name.
            let is_of_commit = |commit: &Commit| {
                [&commit.author, &commit.committer].iter().any(|name| identity(who) == name.as_bytes())
            };
            if !is_plain_identity(identity(who))
                && !commit.as_ref().is_some_and(is_of_commit)
                && !known_names.contains(identity(who))
            {
                return false;
            }
            if message.is_empty() {
                return true;
            }
            let subject = commit.as_ref().map(|commit| commit.subject.as_bytes());
            // The list of stash entries shows this text, and the rows the subject.
            subject == Some(message) || !is_stash && is_ordinary(message, subject)
        };
        added.len() <= MOST_LINES && added.iter().all(is_usual)
    }
}

/// Where `HEAD` is, as a checkout names it.
fn logged_head(side: &RepositorySide<'_>) -> Option<LoggedHead> {
    match side.refs.head()? {
        HeadPosition::Branch(name) => {
            let name = name.to_str()?;
            Some(LoggedHead::Branch(name.strip_prefix("refs/heads/").unwrap_or(name).into()))
        }
        HeadPosition::Detached(_) => side.refs.head_commit().map(LoggedHead::Detached),
    }
}

/// `Name <address>`, without what follows in a line of a reflog.
fn identity(text: &[u8]) -> &[u8] {
    let text = text.split(|byte| *byte == b'\t').next().unwrap_or_default();
    let end = memchr::memrchr(b'>', text).map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or_default()
}
