//! Sentences about what git found: refs, commits, index, stash, operations. Names are made visible here.

use super::git_names::{kind, name, quoted, short, short_id, target};
use super::pending_repository::{PendingContent, PendingRepository, StagedOnly, cut};
use crate::repository::{CommitPatch, GitEvent, GitEventKind, TreeChanges};
use placet_git::{
    CheckoutName, CommitFact, GitName, GitOperation, Head, IndexFact, ObjectFact, ObjectId, OperationFact,
    PathChange, RefFact, RefMovement, RefTarget, RepositoryQuestion, RepositoryRows, StagedKind, StashFact,
};
use placet_text::text::{count, patch, visible};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Commits with a row each. More are counted.
const MOST_COMMITS: usize = 50;
/// Refs with a row each: a list stays a list.
const MOST_REFS: usize = 500;
/// Files that git writes with many commands, and that mean nothing without them.
const USUAL: [&str; 7] =
    ["COMMIT_EDITMSG", "ORIG_HEAD", "FETCH_HEAD", "REBASE_HEAD", "AUTO_MERGE", "gc.log", "description"];
/// Subjects of dropped commits in one row.
const MOST_NAMED: usize = 3;

/// The rows of a repository in the order in which a person reads them: what is new, where it is, what is staged.
pub(super) fn events(repository: &PendingRepository) -> Vec<GitEvent> {
    let (Some(rows), Some(question)) = (&repository.rows, repository.question()) else { return Vec::new() };
    let words = GitWords { repository, rows, question };
    let mut all = words.commits();
    all.extend(words.refs());
    // The branch of a new repository has a row already.
    if matches!(repository.content, PendingContent::Changed(_)) {
        all.extend(words.heads());
    }
    all.extend(words.stash());
    all.extend(words.operations());
    all.extend(words.index());
    all.extend(words.hidden());
    all.extend(words.not_applied());
    all
}

struct GitWords<'a> {
    repository: &'a PendingRepository,
    rows: &'a RepositoryRows,
    question: &'a RepositoryQuestion,
}

fn counted(changes: &[PathChange]) -> TreeChanges {
    let lines = |of: fn(&PathChange) -> Option<u64>| {
        usize::try_from(changes.iter().filter_map(of).sum::<u64>()).unwrap_or(usize::MAX)
    };
    TreeChanges {
        files: changes.len(),
        added: lines(|change| change.added),
        removed: lines(|change| change.removed),
        uncounted: changes.iter().filter(|change| change.added.is_none()).count(),
    }
}

fn tree_words(changes: TreeChanges) -> String {
    let TreeChanges { files, added, removed, uncounted } = changes;
    if files == 0 {
        return "no files".into();
    }
    let lines = if added + removed == 0 { String::new() } else { format!(" +{added} -{removed}") };
    let binary =
        if uncounted > 0 { format!(", {uncounted} without a count of lines") } else { String::new() };
    format!("{}{lines}{binary}", count::of(files, "file"))
}

/// `a.txt, b.txt and 2 more`.
fn some<'a>(names: impl Iterator<Item = &'a GitName>) -> String {
    let names: Vec<String> = names.map(name).collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    let named = names.get(..names.len().min(MOST_NAMED)).unwrap_or_default().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Where the subject is not all, the whole message is shown.
fn more_than_subject(commit: &CommitFact) -> &[u8] {
    let message = commit.message.as_bytes();
    if message == commit.subject.as_bytes() { b"" } else { message }
}

/// A text as a patch of a new file, in git's form.
fn as_new_file(file: &[u8], text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return Vec::new();
    }
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let (a, b) = (patch::quoted("a/", file), patch::quoted("b/", file));
    let head = format!(
        "diff --git {a} {b}\nnew file mode 100644\n--- /dev/null\n+++ {b}\n@@ -0,0 +1,{} @@\n",
        lines.len()
    );
    let lines = lines.iter().flat_map(|line| [&b"+"[..], line, b"\n"].concat());
    head.into_bytes().into_iter().chain(lines).collect()
}

/// Flags alone are another row.
fn has_other_content(fact: &IndexFact) -> bool {
    let contents = |entries: &Option<Vec<placet_git::IndexEntry>>| -> Vec<(u8, GitName, ObjectId)> {
        entries.iter().flatten().map(|entry| (entry.stage, entry.mode.clone(), entry.id)).collect()
    };
    contents(&fact.moved.before) != contents(&fact.moved.after)
}

impl GitWords<'_> {
    fn patch(&self, id: ObjectId, message: &[u8], changes: &[PathChange]) -> Option<CommitPatch> {
        let (patch, left_out) = cut(self.repository.patches.get(&id)?);
        let message = as_new_file(b"message", message);
        let bytes = [&*message, &patch].concat();
        let mode = |change: &PathChange| {
            let (mode, _) = change.after.as_ref().or(change.before.as_ref())?;
            u32::from_str_radix(std::str::from_utf8(mode.as_bytes()).ok()?, 8).ok()
        };
        let files =
            changes.iter().map(|change| (PathBuf::from(change.path.as_path()), mode(change).unwrap_or(0)));
        Some(CommitPatch {
            bytes,
            left_out,
            is_staged: false,
            message: message.len(),
            files: files.collect(),
            runs_later: Vec::new(),
        })
    }

    /// The oldest first, as they were made.
    fn commits(&self) -> Vec<GitEvent> {
        let shown = self.rows.commits.iter().take(MOST_COMMITS);
        let mut events: Vec<GitEvent> = shown.map(|commit| self.commit(commit)).collect();
        let more = self.rows.commits.len().saturating_sub(MOST_COMMITS) + self.rows.unlisted.new;
        if more > 0 {
            let text = format!("and {} before them", count::of(more, "more commit"));
            events.push(GitEvent::new(GitEventKind::MoreCommits, text));
        }
        events.reverse();
        events
    }

    fn commit(&self, commit: &CommitFact) -> GitEvent {
        let on = self.rows.refs.iter().find(|fact| fact.commits.contains(&commit.id)).map(|fact| &fact.name);
        let head = self.rows.refs.iter().map(|fact| &fact.name).next().filter(|_| on.is_none());
        // A branch in conflict moves nowhere.
        let checked_out =
            self.question.agent.checkouts.get(&CheckoutName::Main).map(|checkout| &checkout.head);
        let checked_out = checked_out.and_then(|head| match head {
            Head::Branch(branch) => Some(branch),
            Head::Detached(_) => None,
        });
        let place = on.or(head).or(checked_out).map_or_else(|| "HEAD".to_string(), short);
        let is_merge = if commit.parents.len() > 1 { "merge commit" } else { "commit" };
        let is_known = match &self.repository.person {
            Some(person) => commit.author_email.as_os_str() == person,
            None => commit.author_email == commit.committer_email,
        };
        let author = match is_known {
            true => String::new(),
            false => format!(" by {} <{}>", name(&commit.author), name(&commit.author_email)),
        };
        let signature = if self.repository.unsigned.contains(&commit.id) { ", not signed" } else { "" };
        let (id, changes) = (short_id(commit.id), counted(&commit.changes));
        let text = format!(
            "{is_merge} {id} {} on {place}{author}{signature}: {}",
            quoted(&commit.subject),
            tree_words(changes)
        );
        GitEvent {
            name: on.map(name),
            commit: Some(id),
            subject: Some(String::from_utf8_lossy(commit.subject.as_bytes()).into_owned()),
            changes: Some(changes),
            patch: self.patch(commit.id, more_than_subject(commit), &commit.changes),
            ..GitEvent::new(GitEventKind::Commit, text)
        }
    }

    /// Dropped commits that are not new ones in another place, too: a rebase makes the same again.
    fn lost(&self) -> Vec<&CommitFact> {
        let is_same = |one: &CommitFact, other: &CommitFact| {
            one.subject == other.subject && one.author_email == other.author_email
        };
        let mut new: Vec<&CommitFact> = self.rows.commits.iter().collect();
        let lost = self.rows.dropped.iter().filter(|dropped| {
            let again = new.iter().position(|commit| is_same(commit, dropped));
            again.map(|at| new.remove(at)).is_none()
        });
        lost.collect()
    }

    /// How many commits are dropped by a ref that goes or moves back.
    fn dropped_number(&self) -> usize {
        self.lost().len() + self.rows.unlisted.dropped
    }

    /// Dropped commits by name, and how many are rewritten.
    fn dropped(&self) -> String {
        let lost = self.lost();
        let rewritten = match self.rows.dropped.len() - lost.len() {
            0 => String::new(),
            number => format!("{} rewritten", count::of(number, "commit")),
        };
        let number = self.dropped_number();
        if number == 0 {
            return if rewritten.is_empty() { rewritten } else { format!(" ({rewritten})") };
        }
        let named: Vec<String> = lost.iter().take(MOST_NAMED).map(|commit| quoted(&commit.subject)).collect();
        let more = match number.saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let them = if number == 1 { "it" } else { "them" };
        let rewritten = if rewritten.is_empty() { rewritten } else { format!("; {rewritten}") };
        let drops = count::of(number, "commit");
        format!(" (drops {drops}: {}{more}; no other ref has {them}{rewritten})", named.join(", "))
    }

    /// What needs care, and what was there before, has its row also where there are too many.
    fn refs(&self) -> Vec<GitEvent> {
        let mut shown: Vec<GitEvent> = self.rows.refs.iter().filter_map(|fact| self.of_ref(fact)).collect();
        if shown.len() <= MOST_REFS {
            return shown;
        }
        shown.sort_by_key(|event| (!event.needs_care, event.kind == GitEventKind::RefCreated));
        let more = shown.len().saturating_sub(MOST_REFS);
        shown.truncate(MOST_REFS);
        if more > 0 {
            let text = format!("refs: {more} more changed, which are not listed");
            shown.push(GitEvent::new(GitEventKind::MoreRefs, text).care());
        }
        shown
    }

    fn of_ref(&self, fact: &RefFact) -> Option<GitEvent> {
        let (kind, shown) = (kind(&fact.name), short(&fact.name));
        let has_new = !fact.commits.is_empty();
        let elsewhere =
            fact.checked_out_in.as_ref().map(|place| format!("; checked out in {}", visible::path(place)));
        let elsewhere = elsewhere.unwrap_or_default();
        let drops = !self.rows.dropped.is_empty();
        let number = self.dropped_number();
        let event = match &fact.movement {
            RefMovement::New(to) => {
                let text = format!("{kind} {shown} created at {}{}", target(to), self.object(to));
                let patch = self.object_patch(to);
                GitEvent { to: Some(target(to)), patch, ..GitEvent::new(GitEventKind::RefCreated, text) }
            }
            RefMovement::Deleted(from) => {
                let lost = if drops && kind == "branch" { self.dropped() } else { String::new() };
                let text = format!("{kind} {shown} deleted, was at {}{lost}{elsewhere}", target(from));
                let event =
                    GitEvent { from: Some(target(from)), ..GitEvent::new(GitEventKind::RefDeleted, text) };
                GitEvent {
                    dropped_commits: if lost.is_empty() { 0 } else { number },
                    needs_care: !lost.is_empty() && number > 0,
                    ..event
                }
            }
            RefMovement::Renamed { from, .. } => {
                let text = format!("{kind} {} renamed to {shown}", short(from));
                GitEvent {
                    from: Some(name(from)),
                    to: Some(name(&fact.name)),
                    ..GitEvent::new(GitEventKind::BranchRenamed, text)
                }
            }
            RefMovement::Moved { from: RefTarget::Object(from), to: RefTarget::Object(to), counts } => {
                // Each commit has a row, and a branch that only has them more needs none.
                let fewer = counts.map_or(0, |(_, fewer)| fewer);
                let tip = fact.changes.as_ref().filter(|_| fewer == 0 && has_new);
                if has_new && fewer == 0 && counts.is_some() && elsewhere.is_empty() && tip.is_none() {
                    return None;
                }
                let lost = if fewer > 0 && drops { self.dropped() } else { String::new() };
                let by = match counts {
                    Some((ahead, behind)) if lost.is_empty() && (*ahead, *behind) != (0, 0) => {
                        format!(" (+{ahead} -{behind})")
                    }
                    _ => String::new(),
                };
                let by = tip.map_or(by, |changes| format!(": {}", tree_words(counted(changes))));
                let text = format!(
                    "{kind} {shown} moved from {} to {}{}{by}{lost}{elsewhere}",
                    short_id(*from),
                    short_id(*to),
                    self.object(&RefTarget::Object(*to))
                );
                let patch = self.object_patch(&RefTarget::Object(*to));
                let event = GitEvent { patch, ..GitEvent::new(GitEventKind::RefMoved, text) };
                let dropped_commits = if lost.is_empty() { 0 } else { number };
                GitEvent {
                    from: Some(short_id(*from)),
                    to: Some(short_id(*to)),
                    dropped_commits,
                    needs_care: !lost.is_empty() && number > 0,
                    ..event
                }
            }
            RefMovement::Moved { from, to, .. } => {
                let text = format!("{kind} {shown} leads to {} now, and led to {}", target(to), target(from));
                GitEvent::new(GitEventKind::RefSymbolic, text).care()
            }
        };
        let needs_care = event.needs_care || kind == "replacement";
        Some(GitEvent { name: Some(name(&fact.name)), needs_care, ..event })
    }

    /// What a ref leads to that is no commit, through tags of tags.
    fn objects(&self, to: &RefTarget) -> Vec<(ObjectId, &ObjectFact)> {
        let mut found = Vec::new();
        let mut next = to.object();
        while let Some((id, object)) = next.and_then(|id| Some((id, self.rows.objects.get(&id)?))) {
            found.push((id, object));
            next = if let ObjectFact::Tag { names, .. } = object { *names } else { None };
        }
        found
    }

    fn object(&self, to: &RefTarget) -> String {
        let word = |(_, object): &(ObjectId, &ObjectFact)| match object {
            ObjectFact::Tag { content, .. } => {
                let message = memchr::memmem::find(content.as_bytes(), b"\n\n");
                let message = message.and_then(|at| content.as_bytes().get(at + 2..)).unwrap_or_default();
                let subject = message.split(|byte| *byte == b'\n').next().unwrap_or_default();
                format!(", annotated {}", quoted(&GitName::new(subject)))
            }
            ObjectFact::Tree => ", a tree".into(),
            ObjectFact::Blob => ", a blob".into(),
        };
        self.objects(to).iter().map(word).collect()
    }

    /// Tags as they are stored, with their whole messages, and the content of a tree or a blob.
    fn object_patch(&self, to: &RefTarget) -> Option<CommitPatch> {
        let objects = self.objects(to);
        let content = |(id, object): &(ObjectId, &ObjectFact)| {
            let stored = self.repository.patches.get(id).map(Vec::as_slice).unwrap_or_default();
            match object {
                ObjectFact::Tag { content, .. } => as_new_file(b"tag", content.as_bytes().trim_ascii_end()),
                ObjectFact::Tree => stored.to_vec(),
                ObjectFact::Blob => as_new_file(b"blob", stored.trim_ascii_end()),
            }
        };
        let (bytes, left_out) = cut(&objects.iter().flat_map(content).collect::<Vec<u8>>());
        (!objects.is_empty()).then(|| CommitPatch { bytes, left_out, ..CommitPatch::default() })
    }

    fn place(&self, checkout: &CheckoutName) -> String {
        match checkout {
            CheckoutName::Main => String::new(),
            CheckoutName::Linked(linked) => format!("worktree {}: ", name(linked)),
        }
    }

    fn heads(&self) -> Vec<GitEvent> {
        let head = |head: &Head| match head {
            Head::Branch(branch) => short(branch),
            Head::Detached(id) => format!("the detached {}", short_id(*id)),
        };
        let event = |fact: &placet_git::HeadFact| {
            let place = self.place(&fact.checkout);
            // A worktree that comes has a row of its own.
            if fact.checkout != CheckoutName::Main && fact.moved.before.is_none() {
                return None;
            }
            let text = match (&fact.moved.before, fact.moved.after.as_ref()?) {
                (Some(Head::Detached(old)), Head::Detached(id)) => {
                    format!("{place}HEAD is detached at {}, was at {}", short_id(*id), short_id(*old))
                }
                (_, Head::Detached(id)) => format!("{place}HEAD is detached at {}", short_id(*id)),
                (Some(Head::Branch(from)), Head::Branch(branch)) => {
                    format!("{place}switched from branch {} to {}", short(from), short(branch))
                }
                (Some(before), Head::Branch(branch)) => {
                    format!("{place}switched from {} to branch {}", head(before), short(branch))
                }
                (None, Head::Branch(branch)) => format!("{place}HEAD is on {}", short(branch)),
            };
            let text = if fact.commit.is_none() { format!("{text} (no commits)") } else { text };
            // A branch that is renamed takes HEAD with it.
            let is_renamed = self.rows.refs.iter().any(|row| {
                matches!(&row.movement, RefMovement::Renamed { from, .. }
                    if fact.moved.before == Some(Head::Branch(from.clone())) && fact.moved.after == Some(Head::Branch(row.name.clone())))
            });
            if is_renamed {
                return None;
            }
            let drops = self.rows.refs.is_empty() && !self.rows.dropped.is_empty();
            let lost = if drops { self.dropped() } else { String::new() };
            let event = GitEvent {
                from: fact.moved.before.as_ref().map(head),
                to: fact.moved.after.as_ref().map(head),
                needs_care: drops && self.dropped_number() > 0,
                ..GitEvent::new(GitEventKind::Head, format!("{text}{lost}"))
            };
            Some(event)
        };
        self.rows.heads.iter().filter_map(event).collect()
    }

    fn stash(&self) -> Vec<GitEvent> {
        let added = self.rows.stash_added.iter().map(|fact| (GitEventKind::Stash, fact));
        let removed = self.rows.stash_dropped.iter().map(|fact| (GitEventKind::StashRemoved, fact));
        added.chain(removed).flat_map(|(kind, fact)| self.stash_entry(kind, fact)).collect()
    }

    /// The entry, and what was staged and untracked files, which git stores as commits of their own.
    fn stash_entry(&self, kind: GitEventKind, fact: &StashFact) -> Vec<GitEvent> {
        let (entry, is_removed) = (short_id(fact.entry.id), kind == GitEventKind::StashRemoved);
        let event = |words: &str, id: ObjectId, changes: &[PathChange]| {
            let counts = counted(changes);
            let (added, removed) = (counts.removed, counts.added);
            let counts = if is_removed { TreeChanges { added, removed, ..counts } } else { counts };
            let text = format!("stash entry {entry}{words}: {}", tree_words(counts));
            let (commit, patch) = (Some(entry.clone()), self.patch(id, b"", changes));
            let event = GitEvent { commit, changes: Some(counts), patch, ..GitEvent::new(kind, text) };
            if is_removed { event.care() } else { event }
        };
        let words = if is_removed { "removed" } else { "added" };
        let message = &fact.entry.message;
        let first = event(&format!(" {} {words}", quoted(message)), fact.entry.id, &fact.changes);
        let subject = Some(String::from_utf8_lossy(message.as_bytes()).into_owned());
        let mut events = vec![GitEvent { subject, ..first }];
        let removed = if is_removed { ", removed" } else { "" };
        for (words, at, changes) in
            [("what was staged", 1, &fact.staged), ("untracked files", 2, &fact.untracked)]
        {
            let id = fact.parents.get(at).filter(|_| !changes.is_empty());
            events.extend(id.map(|id| event(&format!(", {words}{removed}"), *id, changes)));
        }
        events
    }

    fn operations(&self) -> Vec<GitEvent> {
        let event = |fact: &OperationFact| {
            let place = self.place(&fact.checkout);
            let (kind, text) = match (&fact.state.before, &fact.state.after) {
                (_, Some(after)) => {
                    (GitEventKind::OperationBegun, format!("{place}{}", in_progress(after, self.question)))
                }
                (Some(before), None) => {
                    (GitEventKind::OperationEnded, format!("{place}{} ended", operation(before.kind)))
                }
                (None, None) => {
                    (GitEventKind::OperationEnded, format!("{place}files of an operation change"))
                }
            };
            let named = fact.state.after.as_ref().or(fact.state.before.as_ref());
            let named = named.map(|state| operation(state.kind).into());
            let patch = self.operation_files(fact);
            GitEvent { name: named, patch, ..GitEvent::new(kind, text) }
        };
        self.rows.operations.iter().map(event).collect()
    }

    /// What the next command of the operation takes.
    fn operation_files(&self, fact: &OperationFact) -> Option<CommitPatch> {
        let content = |file: &GitName| {
            let after = self.question.comparison.moved.files.get(file)?.after.as_ref()?.bytes()?;
            Some(as_new_file(file.as_bytes(), after.strip_suffix(b"\n").unwrap_or(after)))
        };
        let all: Vec<u8> = fact.files.iter().filter_map(content).flatten().collect();
        let (bytes, left_out) = cut(&all);
        (!bytes.is_empty()).then(|| CommitPatch { bytes, left_out, ..CommitPatch::default() })
    }

    fn index(&self) -> Vec<GitEvent> {
        let mut events = Vec::new();
        let nothing = Vec::new();
        let checkouts: BTreeSet<&CheckoutName> =
            self.rows.index.keys().chain(self.rows.index_effects.left_behind.keys()).collect();
        for checkout in checkouts {
            let facts = self.rows.index.get(checkout).unwrap_or(&nothing);
            let place = self.place(checkout);
            let of = |state: StagedKind| facts.iter().filter(move |fact| fact.state == state);
            let mut parts = Vec::new();
            let unstaged =
                |fact: &&IndexFact| fact.state == StagedKind::AsCommitted && has_other_content(fact);
            let kinds = [
                (StagedKind::Staged, "staged"),
                (StagedKind::Announced, "intent-to-add"),
                (StagedKind::InConflict, "in conflict"),
            ];
            let none = Vec::new();
            let behind = self.rows.index_effects.left_behind.get(checkout).unwrap_or(&none);
            let mut staged = Vec::new();
            for (state, word) in kinds {
                let mut paths: Vec<&GitName> = of(state).map(|fact| &fact.path).collect();
                if state == StagedKind::Staged {
                    // The branch moved below them: git shows them as staged from now on.
                    paths.extend(behind);
                    staged.clone_from(&paths);
                }
                if !paths.is_empty() {
                    parts.push(format!("{} {word} ({})", paths.len(), some(paths.into_iter())));
                }
            }
            let back = facts.iter().filter(unstaged).count();
            if back > 0
                && self.rows.commits.is_empty()
                && self.rows.refs.is_empty()
                && self.rows.heads.is_empty()
            {
                parts.push(format!(
                    "{back} unstaged ({})",
                    some(facts.iter().filter(unstaged).map(|fact| &fact.path))
                ));
            }
            if !parts.is_empty() {
                let event = GitEvent::new(GitEventKind::Index, format!("{place}index: {}", parts.join(", ")));
                let patch = self.staged(checkout, &staged);
                events.push(GitEvent { patch, ..event });
            }
            let lost: Vec<&IndexFact> = facts.iter().filter(|fact| fact.loses_staged).collect();
            if !lost.is_empty() {
                let text = format!(
                    "{place}index: drops staged changes of {} that are in no commit and no file",
                    some(lost.iter().map(|fact| &fact.path))
                );
                let patch = self.repository.staged.get(checkout).and_then(StagedOnly::lost_patch);
                events.push(GitEvent { patch, ..GitEvent::new(GitEventKind::StagedLost, text) }.care());
            }
        }
        events
    }

    /// What is staged and is in no file, with the names of all files.
    fn staged(&self, checkout: &CheckoutName, paths: &[&GitName]) -> Option<CommitPatch> {
        let nothing = StagedOnly::default();
        let staged = self.repository.staged.get(checkout).unwrap_or(&nothing);
        let (bytes, more) = cut(&staged.patch);
        let (left_out, is_staged) = (more + staged.left_out, true);
        let files = paths.iter().map(|path| (PathBuf::from(path.as_path()), 0)).collect();
        Some(CommitPatch { bytes, left_out, is_staged, files, ..CommitPatch::default() })
    }

    fn hidden(&self) -> Vec<GitEvent> {
        let events = |(checkout, paths): (&CheckoutName, &placet_git::HiddenPaths)| {
            let place = self.place(checkout);
            let hidden =
                format!("{place}index: git no longer shows changes of {}", some(paths.hidden.iter()));
            let visible = format!("{place}index: git shows changes of {} again", some(paths.visible.iter()));
            let event = |text| GitEvent::new(GitEventKind::FilesHidden, text);
            let hidden = (!paths.hidden.is_empty()).then(|| event(hidden).care());
            hidden.into_iter().chain((!paths.visible.is_empty()).then(|| event(visible)))
        };
        self.rows.index_effects.hidden.iter().flat_map(events).collect()
    }

    fn not_applied(&self) -> Option<GitEvent> {
        // What git writes beside each command says nothing to a person.
        let is_new = matches!(self.repository.content, PendingContent::Created(_));
        let usual = |name: &GitName| {
            // A template has it.
            is_new && name.as_bytes() == b"info/exclude"
                || USUAL.iter().any(|usual| name.as_path().ends_with(usual))
                || ["objects/", "logs/", "hooks/", "lfs/", "rr-cache/"]
                    .iter()
                    .any(|dir| name.starts_with(dir))
                || name.as_bytes().ends_with(b".lock")
        };
        let names: Vec<&GitName> = self.question.not_carried.iter().filter(|name| !usual(name)).collect();
        let text = format!("not applied, git does not transfer them: {}", some(names.iter().copied()));
        (!names.is_empty()).then(|| GitEvent::new(GitEventKind::NotApplied, text))
    }
}

pub(super) fn operation(kind: GitOperation) -> &'static str {
    match kind {
        GitOperation::Rebase => "rebase",
        GitOperation::Am => "am",
        GitOperation::Merge => "merge",
        GitOperation::CherryPick => "cherry-pick",
        GitOperation::Revert => "revert",
        GitOperation::Bisect => "bisect",
    }
}

/// `rebase of topic in progress: step 3 of 7`, `merge in progress: topic (1234567)`.
pub(super) fn in_progress(state: &placet_git::OperationState, question: &RepositoryQuestion) -> String {
    let branch = state.branch.as_ref().map(|branch| format!(" of {}", short(branch))).unwrap_or_default();
    let steps = state.steps.map(|(at, all)| format!(": step {at} of {all}")).unwrap_or_default();
    let named = |id: &ObjectId| {
        let mut branches = question.agent.refs.iter().filter(|(name, _)| name.starts_with("refs/heads/"));
        let branch = branches.find(|(_, target)| target.object() == Some(*id)).map(|(name, _)| short(name));
        branch.map_or_else(|| short_id(*id), |branch| format!("{branch} ({})", short_id(*id)))
    };
    let commits: Vec<String> = state.commits.iter().map(named).collect();
    let commits = if commits.is_empty() { String::new() } else { format!(": {}", commits.join(", ")) };
    format!("{}{branch} in progress{steps}{commits}", operation(state.kind))
}
