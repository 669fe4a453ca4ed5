//! Files of git that no other row explains: what git ignores, the message of the next commit, the steps of a rebase, new lines
//! of a reflog. A file that has something else than git itself writes there gets a row with its difference.
//!
//! An ordinary command leaves such files, too, and must stay quiet: the message of a commit that a row shows, a line of a
//! reflog in git's own words about such a commit, and files without any effect are explained.

use super::budget::{LARGEST_OBJECT, ReadBudget};
use super::commit::Commit;
use super::commit_patch::BlobContent;
use super::event::{GitEvent, HeadPosition, StoredContent, StoredKind};
use super::git_index::read_index;
use super::git_sides::{GitSides, RepositorySide};
use super::object_id::ObjectId;
use super::repository_files::{RepositoryFiles, exists, read};
use super::tree_diff::blob_content;
use crate::workspace::repository::git_files::GitFileKind;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

#[path = "unexplained_files/fetched_refs.rs"]
mod fetched_refs;
#[path = "unexplained_files/operation_files.rs"]
mod operation_files;
#[path = "unexplained_files/operation_steps.rs"]
mod operation_steps;
#[path = "unexplained_files/reflog_lines.rs"]
mod reflog_lines;
#[path = "unexplained_files/reflogs.rs"]
mod reflogs;

use operation_steps::DoneSteps;

/// Files that have rows; further ones are counted in a row of their own.
const MOST_FILES: usize = 50;
const DEFAULT_DESCRIPTION: &[u8] =
    b"Unnamed repository; edit this file 'description' to name the repository.\n";
/// Files of the state that name a commit whose message git gives to the next one.
const STOPPED_AT: [&str; 4] = ["REBASE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge/stopped-sha", "REVERT_HEAD"];
/// After so long `git gc` removes a resolution that was not used (`gc.rerereResolved`).
const RESOLUTION_AGE: Duration = Duration::from_secs(60 * 24 * 60 * 60);
/// Text after this line is not part of a message.
const SCISSORS: &[u8] = b"# ------------------------ >8 ------------------------";

/// The rows. `shown` are the commits that have rows of their own, and `logged` those to which only reflogs lead.
pub(super) fn unexplained_events(
    sides: &GitSides<'_>,
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    (common, width): (&Path, usize),
    (shown, logged): (&[ObjectId], &[ObjectId]),
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let known = KnownCommits {
        sides,
        before,
        after,
        common,
        shown,
        logged,
        width,
        is_new: !exists(sides.before, sides.dir),
        commits: OnceCell::new(),
        rebase_steps: OnceCell::new(),
        sequencer_steps: OnceCell::new(),
    };
    let mut events = Vec::new();
    let mut more = 0;
    for (path, _) in sides.changed {
        let Ok(rel) = path.strip_prefix(sides.dir) else { continue };
        // Every other file is listed by itself, with its difference.
        if !GitFileKind::at(rel).is_some_and(|kind| may_need_row(rel, kind)) {
            continue;
        }
        let content = |files| is_no_directory(files, path).then(|| read(files, path, LARGEST_OBJECT as u64));
        let (before, after) = (content(sides.before), content(sides.after));
        if before == after && before != Some(None) {
            continue;
        }
        // What is too large to be read is not explained.
        let is_read = before != Some(None) && after != Some(None);
        let texts = (before.as_ref().and_then(Option::as_deref), after.as_ref().and_then(Option::as_deref));
        if is_read && known.explain(rel, texts) {
            continue;
        }
        if events.len() >= MOST_FILES || !budget.has_time() {
            more += 1;
            continue;
        }
        let sides = (before.map(blob_content), after.map(blob_content));
        let mut content = StoredContent::default();
        content.changes.files = 1;
        let none = BlobContent::Text(Vec::new());
        let (old, new) = (sides.0.as_ref().unwrap_or(&none), sides.1.as_ref().unwrap_or(&none));
        content.changes.count(old, new);
        let is_text = |content: &&BlobContent| !matches!(content, BlobContent::Text(_));
        content.not_shown = [new, old].into_iter().find(is_text).map(BlobContent::words);
        if content.not_shown.is_none() {
            content.patch.add_file_of_git(rel, (sides.0.as_ref(), sides.1.as_ref()), budget);
        }
        events.push(GitEvent::Stored { kind: StoredKind::StateFile(rel.to_path_buf()), content });
    }
    if more > 0 {
        events.push(GitEvent::MoreStored { kind: StoredKind::StateFile(Default::default()), number: more });
    }
    events
}

/// Something is there that is no directory.
fn is_no_directory(files: &dyn RepositoryFiles, path: &Path) -> bool {
    let found = files.real(path).and_then(|path| path.symlink_metadata().ok());
    found.is_some_and(|found| !found.is_dir())
}

/// False for what other rows are made of: refs, the index, objects.
fn may_need_row(rel: &Path, kind: GitFileKind) -> bool {
    let first = rel.iter().next().unwrap_or_default();
    match kind {
        GitFileKind::Index => false,
        GitFileKind::Data => first == "hooks",
        GitFileKind::Ref => first != "HEAD" && first != "refs",
        GitFileKind::Commits => first != "packed-refs" && first != "shallow",
        GitFileKind::Text => !rel.ends_with("commondir") && !rel.ends_with("gitdir"),
    }
}

struct KnownCommits<'a> {
    sides: &'a GitSides<'a>,
    before: &'a RepositorySide<'a>,
    after: &'a RepositorySide<'a>,
    common: &'a Path,
    shown: &'a [ObjectId],
    /// No command takes their messages from a branch.
    logged: &'a [ObjectId],
    width: usize,
    /// The repository is new.
    is_new: bool,
    commits: OnceCell<Vec<(ObjectId, Commit)>>,
    rebase_steps: OnceCell<Option<DoneSteps>>,
    sequencer_steps: OnceCell<Option<DoneSteps>>,
}

impl KnownCommits<'_> {
    /// True where other rows say what the change of a file means, and where nothing of git obeys it.
    fn explain(&self, rel: &Path, (old, new): (Option<&[u8]>, Option<&[u8]>)) -> bool {
        let names: Option<Vec<&str>> = rel.iter().map(|name| name.to_str()).collect();
        let names = names.unwrap_or_default();
        if let Some(is_explained) = self.explain_in_progress(&names, (old, new)) {
            return is_explained;
        }
        let Some(new) = new else {
            return match names.as_slice() {
                ["info", "exclude" | "sparse-checkout"] | ["description" | "locked"] | ["hooks", ..] => false,
                // git solves the conflict no more as the person did.
                ["rr-cache", _, name] if name.starts_with("postimage") => self.is_expired(rel),
                _ => true,
            };
        };
        let is_empty = new.trim_ascii().is_empty();
        match names.as_slice() {
            ["logs", ref_name @ ..] => self.is_usual_log(ref_name, old, new),
            // What `git init` copies there.
            ["hooks", ..] => self.is_new,
            ["info", "exclude" | "sparse-checkout"] => {
                old.is_none() && lines(new).all(|line| line.starts_with(b"#"))
            }
            ["info", "refs"] => lines(new).all(|line| is_listed_ref(line, 2 * self.width)),
            ["description"] => old.is_none() && new == DEFAULT_DESCRIPTION,
            // No command takes a message from there.
            ["COMMIT_EDITMSG"] => {
                let message = without_comments(new);
                let is_logged = |id| {
                    let commit = Commit::read(&self.after.objects, id);
                    commit.is_some_and(|commit| has_message(&commit, &message))
                };
                is_empty || self.is_known_message(&message) || self.logged.iter().any(is_logged)
            }
            ["MERGE_MSG" | "SQUASH_MSG" | "TAG_EDITMSG"] => is_empty || self.is_next_message(new),
            ["MERGE_MODE"] => is_empty || new.trim_ascii() == b"no-ff",
            // Their readers let the repository wait where something else is in them.
            ["MERGE_RR" | "BISECT_START"] => true,
            ["BISECT_TERMS"] => {
                let usual: [&[u8]; 4] = [b"good", b"bad", b"old", b"new"];
                lines(new).all(|line| usual.contains(&line))
            }
            ["BISECT_LOG"] => lines(new).all(|line| self.is_usual_step_of_bisect(line)),
            ["FETCH_HEAD"] => {
                let known: BTreeSet<&[u8]> = old.map(lines).into_iter().flatten().collect();
                lines(new).all(|line| known.contains(line) || self.is_fetched_ref(line))
            }
            ["rr-cache", _, name] => !name.starts_with("postimage"),
            [dir @ ("rebase-merge" | "rebase-apply" | "sequencer"), name] => {
                self.is_usual_state(dir, name, new)
            }
            // Why `git worktree` neither moves nor removes the work tree.
            ["locked"] => false,
            _ => is_empty || lines(new).all(|line| self.is_name(line)),
        }
    }

    /// True for a recorded resolution that `git gc` takes away.
    fn is_expired(&self, rel: &Path) -> bool {
        let found =
            self.sides.before.real(&self.sides.dir.join(rel)).and_then(|path| path.symlink_metadata().ok());
        let age = found.and_then(|found| found.modified().ok()?.elapsed().ok());
        age.is_some_and(|age| age >= RESOLUTION_AGE)
    }

    fn is_name(&self, word: &[u8]) -> bool {
        let is_ref = |name: &[u8]| name.starts_with(b"refs/") && name.iter().all(|byte| *byte > b' ');
        word.strip_prefix(b"ref: ").is_some_and(is_ref)
            || word.len() == 2 * self.width && word.iter().all(u8::is_ascii_hexdigit)
    }

    /// The commits that rows show, that at `HEAD`, and those at which an operation stopped.
    fn commits(&self) -> &[(ObjectId, Commit)] {
        self.commits.get_or_init(|| {
            let named = |name: &&str| {
                let text = read(self.sides.after, &self.sides.dir.join(name), 4 << 10)?;
                ObjectId::from_hex(text.trim_ascii())
            };
            let stopped = STOPPED_AT.iter().filter_map(named);
            let ids: BTreeSet<ObjectId> =
                self.shown.iter().copied().chain(self.after.refs.head_commit()).chain(stopped).collect();
            ids.into_iter().filter_map(|id| Some((id, Commit::read(&self.after.objects, &id)?))).collect()
        })
    }

    fn is_known_message(&self, message: &[u8]) -> bool {
        tidy(message).is_empty() || self.commits().iter().any(|(_, commit)| has_message(commit, message))
    }

    /// The message that the next commit gets, as git itself writes it.
    fn is_next_message(&self, text: &[u8]) -> bool {
        let message = self.without_conflicts(text);
        if self.is_known_message(&message) {
            return true;
        }
        let Ok(message) = std::str::from_utf8(message.trim_ascii()) else { return false };
        let is_of_revert = |(id, commit): &(ObjectId, Commit)| {
            let hex = id.to_hex();
            message == format!("Revert \"{}\"\n\nThis reverts commit {hex}.", commit.subject)
        };
        self.is_merge_message(message) || self.commits().iter().any(is_of_revert)
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

fn has_message(commit: &Commit, message: &[u8]) -> bool {
    let plain = tidy(message);
    tidy(&commit.message) == plain || tidy(&without_comments(&commit.message)) == plain
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

/// `ID<tab>refs/heads/main`, as `git update-server-info` writes it.
fn is_listed_ref(line: &[u8], digits: usize) -> bool {
    let Some((id, name)) = line.split_at_checked(digits) else { return false };
    let is_plain = |byte: &u8| *byte > b' ';
    id.iter().all(u8::is_ascii_hexdigit)
        && name.strip_prefix(b"\trefs/").is_some_and(|name| name.iter().all(is_plain))
}

/// As git makes a message of what an editor leaves.
fn without_comments(text: &[u8]) -> Vec<u8> {
    let end = memchr::memmem::find(text, SCISSORS).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or_default();
    let kept = text.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    kept.flatten().copied().collect()
}

/// Without blanks at the ends of lines, and without empty lines at both ends and next to each other.
fn tidy(text: &[u8]) -> Vec<&[u8]> {
    let mut tidy: Vec<&[u8]> = Vec::new();
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
        if !line.is_empty() || tidy.last().is_some_and(|last| !last.is_empty()) {
            tidy.push(line);
        }
    }
    if tidy.last().is_some_and(|last| last.is_empty()) {
        tidy.pop();
    }
    tidy
}
