//! What git itself writes into the files of an operation that the command began. A file is explained only where its name is in
//! these lists and its value is proved by the refs, by the commits that have rows, or by another file that has a row.
//!
//! Everything else has a row, and so has a name that is new in git.

use super::mails::Mail;
use super::message_text::{has_message, without_comments};
use super::{KnownCommits, lines};
use crate::workspace::repository::git_reader::budget::LARGEST_OBJECT;
use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::git_index::read_index;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use crate::workspace::repository::git_reader::repository_files::{exists, read};
use std::path::Path;

impl KnownCommits<'_> {
    pub(super) fn is_proved(&self, names: &[&str], text: &[u8]) -> bool {
        let word = text.trim_ascii();
        let is_empty = word.is_empty();
        let id = ObjectId::from_hex(word);
        let is_head = || id.is_some() && id == self.after.refs.head_commit();
        match names {
            ["MERGE_MODE"] => is_empty || word == b"no-ff",
            // Its reader lets the repository wait where something else is in it.
            ["MERGE_RR"] => true,
            // Only `git diff AUTO_MERGE` reads it.
            ["AUTO_MERGE"] => id.is_some_and(|id| self.after.objects.get_of(&id, "tree").is_some()),
            ["ORIG_HEAD"] => id.is_some_and(|id| match self.operations.is_open {
                true => self.operations.places.has(&id),
                false => self.operations.places.has_known(&id),
            }),
            // A rebase that is over leaves it, and only a rebase reads it.
            ["REBASE_HEAD"] => {
                !exists(self.sides.after, &self.sides.dir.join("rebase-merge"))
                    && id.is_some_and(|id| self.before.objects.has(&id))
            }
            // An entry that the person has is put back in no ordinary command.
            ["MERGE_AUTOSTASH"] | ["rebase-merge" | "rebase-apply", "autostash"] => {
                id.is_some_and(|id| !self.before.objects.has(&id))
            }
            ["BISECT_START"] => self.operations.places.has_start(word),
            ["BISECT_TERMS"] => matches!(word, b"bad\ngood" | b"new\nold"),
            ["BISECT_LOG"] => lines(text).all(|line| self.is_usual_step_of_bisect(line)),
            ["BISECT_EXPECTED_REV"] => is_head(),
            ["BISECT_NAMES" | "BISECT_ANCESTORS_OK" | "gc.log" | "gc.pid"] => is_empty,
            ["sequencer", "head"] => id.is_some_and(|id| self.operations.places.has(&id)),
            // An abort goes nowhere unless it is the commit at `HEAD`.
            ["sequencer" | "rebase-apply", "abort-safety"] => {
                is_empty || is_head() || id.is_some_and(|id| self.operations.places.has(&id))
            }
            ["sequencer", "todo"] => has_command(text),
            ["sequencer", "opts"] => is_empty,
            ["rebase-merge", name] => self.is_proved_of_rebase(name, text),
            ["rebase-apply", name] => self.is_proved_of_am(name, text),
            _ => false,
        }
    }

    fn is_proved_of_rebase(&self, name: &str, text: &[u8]) -> bool {
        let word = text.trim_ascii();
        let is_empty = word.is_empty();
        match name {
            // What is shown to the person; no command takes anything from there.
            "git-rebase-todo.backup" | "patch" => true,
            // Steps that were made are commits with rows.
            "done" => lines(text).count() <= 1,
            "msgnum" | "end" => is_number(text),
            // Where nothing compared the list with the branch, it may leave out every step.
            "git-rebase-todo" => has_command(text) || self.operations.are_compared && !has_step(text),
            "message" => is_empty || self.is_message_of_stop(text),
            "message-squash" | "message-fixup" => is_empty || self.is_next_message(text),
            "author-script" => is_empty || self.is_known_author(text),
            "strategy" => is_empty || matches!(word, b"ort" | b"recursive"),
            "strategy_opts" => is_empty,
            "amend" => ObjectId::from_hex(word)
                .is_some_and(|id| self.operations.edited == Some(id) && !self.has_conflict()),
            // git makes such a commit where a rebase begins without one.
            "squash-onto" => {
                let commit = ObjectId::from_hex(word).and_then(|id| Commit::read(&self.after.objects, &id));
                let is_empty =
                    commit.is_some_and(|it| it.parents.is_empty() && it.message.trim_ascii().is_empty());
                is_empty && self.text_of("rebase-merge/onto").is_some_and(|onto| onto.trim_ascii() == word)
            }
            "rewritten-list" | "rewritten-pending" => self.are_names(text),
            "current-fixups" => lines(text).all(|line| {
                let line = line.strip_prefix(b"squash ").or_else(|| line.strip_prefix(b"fixup "));
                let id = line.and_then(ObjectId::from_hex);
                id.is_some_and(|id| self.operations.steps.contains(&id))
            }),
            // Options that change no commit.
            "interactive"
            | "quiet"
            | "verbose"
            | "reschedule-failed-exec"
            | "no-reschedule-failed-exec"
            | "drop_redundant_commits"
            | "keep_redundant_commits" => is_flag(word),
            _ => false,
        }
    }

    fn has_conflict(&self) -> bool {
        let index = read_index(self.sides.after, self.sides.dir, self.width);
        index.map_or(true, |index| index.entries.values().any(|entry| entry.staged.is_none()))
    }

    fn is_proved_of_am(&self, name: &str, text: &[u8]) -> bool {
        let word = text.trim_ascii();
        let is_empty = word.is_empty();
        match name {
            "patch" => is_empty || self.is_patch_of_mail(text),
            "final-commit" => {
                is_empty || self.is_next_message(text) || self.is_of_mail(|mail| mail.has_message(text))
            }
            "msg" => is_empty || self.is_next_message(text) || self.is_of_mail(|mail| mail.has_body(text)),
            "info" => is_empty || self.is_of_mail(|mail| mail.has_info(text)),
            "author-script" => {
                let (author, date) = author_of(text).unwrap_or_default();
                let is_of = |mail: &Mail| mail.author == author && mail.date == date;
                // A rebase writes the date in another form than the commit has.
                let is_rebase = || exists(self.sides.after, &self.sides.dir.join("rebase-apply/rebasing"));
                let has_author = || self.commits().iter().any(|(_, commit)| commit.author == author);
                is_empty || self.is_of_mail(is_of) || is_rebase() && has_author()
            }
            "apply-opt" | "applying" | "dirtyindex" | "rebasing" => is_empty,
            "orig-head" => ObjectId::from_hex(word).is_some_and(|id| self.operations.places.has(&id)),
            "original-commit" | "rewritten" => self.are_names(text),
            "threeway" | "quiet" => matches!(word, b"t" | b"f" | b""),
            "sign" | "messageid" => matches!(word, b"f" | b""),
            "keep" | "scissors" | "quoted-cr" => matches!(word, b"f" | b""),
            "utf8" => word == b"t",
            // A mail has a row.
            name if name.bytes().all(|byte| byte.is_ascii_digit()) => is_empty,
            _ => false,
        }
    }

    /// True where other rows say that the operation ended, or that the person has the content.
    pub(super) fn is_usual_removal(&self, rel: &Path, names: &[&str], old: &[u8]) -> bool {
        let is_there = |name: &str| exists(self.sides.after, &self.sides.dir.join(name));
        match names {
            ["info", "exclude" | "sparse-checkout"]
            | ["description" | "locked" | "ORIG_HEAD"]
            | ["hooks", ..] => false,
            // git solves the conflict no more as the person did.
            ["rr-cache", _, name] if name.starts_with("postimage") || self.has_resolution(rel, name) => {
                self.is_expired(rel)
            }
            // git itself writes it again, and removes it never.
            ["COMMIT_EDITMSG"] => {
                let message = without_comments(old);
                let head = self.before.refs.head_commit();
                let commit = head.and_then(|head| Commit::read(&self.before.objects, &head));
                self.is_known_message(&message) || commit.is_some_and(|commit| has_message(&commit, &message))
            }
            // The rest of the operation is still there.
            ["CHERRY_PICK_HEAD" | "REVERT_HEAD"] if is_there("sequencer") => {
                self.after.refs.head_commit() != self.before.refs.head_commit()
            }
            [name] if name.starts_with("BISECT_") => {
                !is_there("BISECT_LOG") || matches!(*name, "BISECT_ANCESTORS_OK" | "BISECT_EXPECTED_REV")
            }
            _ => true,
        }
    }

    /// True for a `preimage` with a `postimage`: git finds the resolution by the one and takes it from the other.
    pub(super) fn has_resolution(&self, rel: &Path, name: &str) -> bool {
        let Some(number) = name.strip_prefix("preimage") else { return false };
        let file = self.sides.dir.join(rel).with_file_name(format!("postimage{number}"));
        exists(self.sides.after, &file)
    }

    fn text_of(&self, rel: &str) -> Option<Vec<u8>> {
        read(self.sides.after, &self.sides.dir.join(rel), LARGEST_OBJECT as u64)
    }

    pub(super) fn are_names(&self, text: &[u8]) -> bool {
        let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.all(|word| word.len() == 2 * self.width && word.iter().all(u8::is_ascii_hexdigit))
    }

    /// The author of a commit, with the date that the commit has.
    pub(super) fn is_known_author(&self, text: &[u8]) -> bool {
        let Some((author, date)) = author_of(text) else { return false };
        let date_of = |id: &ObjectId| {
            let commit = self.after.objects.get_of(id, "commit")?;
            let line = lines(&commit).find_map(|line| line.strip_prefix(b"author "))?;
            let at = memchr::memrchr(b'>', line)?;
            Some(format!("@{}", String::from_utf8_lossy(line.get(at + 1..)?).trim()))
        };
        let is_it = |(id, commit): &(ObjectId, Commit)| {
            commit.author == author && date_of(id).as_ref() == Some(&date)
        };
        self.commits().iter().any(is_it)
    }

    /// The mail of the patch that is applied next. It has a row if it is not the person's.
    fn mail(&self) -> Option<Vec<u8>> {
        let number =
            String::from_utf8(self.text_of("rebase-apply/next")?).ok()?.trim().parse::<u32>().ok()?;
        self.text_of(&format!("rebase-apply/{number:04}"))
    }

    fn is_of_mail(&self, holds: impl FnOnce(&Mail) -> bool) -> bool {
        self.mail().and_then(|mail| Mail::parse(&mail)).is_some_and(|mail| holds(&mail))
    }

    /// True where the patch that is applied next is all of that in its mail.
    pub(super) fn is_patch_of_mail(&self, patch: &[u8]) -> bool {
        let Some(mail) = self.mail() else { return false };
        let patch = patch.trim_ascii();
        let Some(at) = memchr::memmem::rfind(&mail, patch).filter(|_| !patch.is_empty()) else {
            return false;
        };
        let (before, rest) = (mail.get(..at), mail.get(at + patch.len()..));
        let is_first = before.is_some_and(|text| {
            text.ends_with(b"\n") && memchr::memmem::find(text, b"\ndiff --git ").is_none()
        });
        let is_last = rest.is_some_and(|text| text.trim_ascii().is_empty() || text.starts_with(b"\n-- \n"));
        is_first && is_last
    }

    /// `# bad: [ID] SUBJECT` and the commands.
    fn is_usual_step_of_bisect(&self, line: &[u8]) -> bool {
        let Ok(line) = std::str::from_utf8(line) else { return false };
        if let Some(words) = line.strip_prefix("git bisect ") {
            return words.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" '-./_~^".contains(&byte))
                && words.split(' ').count() <= 8;
        }
        let Some((word, rest)) = line.strip_prefix("# ").and_then(|rest| rest.split_once(": ")) else {
            return false;
        };
        if word == "status" {
            return rest.starts_with("waiting for ") && rest.len() < 80;
        }
        let usual = ["bad", "good", "skip", "new", "old", "first bad commit", "first new commit"];
        let found = rest.strip_prefix('[').and_then(|rest| rest.split_once("] "));
        let commit = found.and_then(|(id, subject)| {
            let commit = Commit::read(&self.after.objects, &ObjectId::from_hex(id.as_bytes())?)?;
            (commit.subject == subject).then_some(commit)
        });
        usual.contains(&word) && commit.is_some()
    }
}

pub(super) fn is_number(text: &[u8]) -> bool {
    text.trim_ascii().iter().all(u8::is_ascii_digit)
}

fn is_flag(word: &[u8]) -> bool {
    word.len() <= 20 && word.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-')
}

/// Commands in a list of steps are a fact, and the file is listed by itself.
fn has_command(text: &[u8]) -> bool {
    let is_command = |line: &[u8]| matches!(line.split(u8::is_ascii_whitespace).next(), Some(b"exec" | b"x"));
    lines(text).any(is_command)
}

/// Comments are no steps.
fn has_step(text: &[u8]) -> bool {
    text.contains(&0) || lines(text).any(|line| !line.starts_with(b"#"))
}

/// `Name <address>` and the date of three assignments for a shell.
fn author_of(text: &[u8]) -> Option<(String, String)> {
    let value = |key: &str| {
        let line = lines(text).find_map(|line| line.strip_prefix(key.as_bytes()))?;
        let quoted = std::str::from_utf8(line).ok()?.strip_prefix('\'')?.strip_suffix('\'')?;
        Some(quoted.replace("'\\''", "'"))
    };
    let (name, mail) = (value("GIT_AUTHOR_NAME=")?, value("GIT_AUTHOR_EMAIL=")?);
    let date = value("GIT_AUTHOR_DATE=")?;
    (lines(text).count() == 3).then(|| (format!("{name} <{mail}>"), date))
}
