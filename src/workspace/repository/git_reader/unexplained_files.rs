//! Files of git that no other row explains: what git ignores, the message of the next commit, the steps of a rebase, new lines
//! of a reflog. A file that has something else than git itself writes there gets a row with its difference.
//!
//! An ordinary command leaves such files, too, and must stay quiet: the message of a commit that a row shows, a line of a
//! reflog in git's own words about such a commit, and files without any effect are explained.

use super::budget::{LARGEST_OBJECT, ReadBudget};
use super::commit::Commit;
use super::commit_patch::BlobContent;
use super::event::{GitEvent, StoredContent, StoredKind};
use super::git_sides::{GitSides, RepositorySide};
use super::object_id::ObjectId;
use super::operations::Operations;
use super::repository_files::{RepositoryFiles, exists, read};
use super::tree_diff::blob_content;
use crate::workspace::repository::git_files::GitFileKind;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

#[path = "unexplained_files/fetched_refs.rs"]
mod fetched_refs;
#[path = "unexplained_files/mails.rs"]
pub(super) mod mails;
#[path = "unexplained_files/message_text.rs"]
mod message_text;
#[path = "unexplained_files/messages.rs"]
mod messages;
#[path = "unexplained_files/operation_files.rs"]
mod operation_files;
#[path = "unexplained_files/operation_steps.rs"]
mod operation_steps;
#[path = "unexplained_files/operation_values.rs"]
mod operation_values;
#[path = "unexplained_files/reflog_lines.rs"]
mod reflog_lines;
#[path = "unexplained_files/reflogs.rs"]
mod reflogs;

use message_text::{has_message, without_comments};
use operation_steps::DoneSteps;

/// Files that have rows; further ones are counted in a row of their own.
const MOST_FILES: usize = 50;
const DEFAULT_DESCRIPTION: &[u8] =
    b"Unnamed repository; edit this file 'description' to name the repository.\n";
/// After so long `git gc` removes a resolution that was not used (`gc.rerereResolved`).
const RESOLUTION_AGE: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// The rows. `shown` are the commits that have rows of their own, and `logged` those to which only reflogs lead. The rows of
/// `operations` explain files, too.
pub(super) fn unexplained_events(
    sides: &GitSides<'_>,
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    (common, width): (&Path, usize),
    (shown, logged, operations): (&[ObjectId], &[ObjectId], &Operations),
    budget: &ReadBudget,
) -> Vec<GitEvent> {
    let known = KnownCommits {
        sides,
        before,
        after,
        common,
        shown,
        logged,
        operations,
        width,
        is_new: !exists(sides.before, sides.dir),
        commits: OnceCell::new(),
        rebase_steps: OnceCell::new(),
        sequencer_steps: OnceCell::new(),
    };
    let mut events: Vec<GitEvent> = known.skipped_step().into_iter().collect();
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
        let subject = mails::subject_of(rel, texts).unwrap_or_default();
        let mut content = StoredContent { subject, ..StoredContent::default() };
        let sides = (before.map(blob_content), after.map(blob_content));
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
    operations: &'a Operations,
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
        if self.operations.explain(rel) {
            return true;
        }
        let Some(new) = new else { return self.is_usual_removal(rel, &names, old.unwrap_or_default()) };
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
            // `git commit` takes it, and git leaves none where nothing is in progress.
            ["MERGE_MSG"] if !self.has_message_for_next() => is_empty,
            ["MERGE_MSG" | "SQUASH_MSG" | "TAG_EDITMSG"] => is_empty || self.is_next_message(new),
            ["FETCH_HEAD"] => {
                let known: BTreeSet<&[u8]> = old.map(lines).into_iter().flatten().collect();
                lines(new).all(|line| known.contains(line) || self.is_fetched_ref(line))
            }
            ["rr-cache", _, name] => !name.starts_with("postimage") && !self.has_resolution(rel, name),
            // Why `git worktree` neither moves nor removes the work tree.
            ["locked"] => false,
            names => self.is_proved(names, new),
        }
    }

    /// True for a recorded resolution that `git gc` takes away.
    fn is_expired(&self, rel: &Path) -> bool {
        let found =
            self.sides.before.real(&self.sides.dir.join(rel)).and_then(|path| path.symlink_metadata().ok());
        let age = found.and_then(|found| found.modified().ok()?.elapsed().ok());
        age.is_some_and(|age| age >= RESOLUTION_AGE)
    }
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
