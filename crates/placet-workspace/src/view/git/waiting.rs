//! Which repositories wait for an answer of their own, which cannot be applied, and which write mode may apply.

use super::super::View;
use super::directories::checkout_place;
use super::git_names::{kind, name, short, short_id};
use super::git_words::{in_progress, operation};
use super::pending_repository::{PendingContent, PendingRepository};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::changes::classify::{ChangeClassifier, WaitingRepository, state_of};
use crate::files::metadata::path_state::PathState;
use crate::hash::Hash;
use crate::repository::{RepositoryFact, WorkTree, WorktreeFate};
use placet_git::{
    CheckoutName, GitFileClass, GitFileContent, GitName, Head, ObjectFact, PathChange, RefMovement,
    RefTarget, RepositoryItem, RepositoryQuestion, StagedKind, WaitingGroup, class_of,
};
use placet_permission::Runner;
use placet_text::text::{count, visible};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why nothing of a repository can be applied, and what a person can do.
pub(super) struct Conflict {
    pub(super) happened: String,
    pub(super) advice: String,
}

impl Conflict {
    /// `name` is what a person calls the repository.
    pub(super) fn of(repository: &PendingRepository, name: &str) -> Option<Conflict> {
        match &repository.content {
            PendingContent::Refused(why) => Some(Conflict {
                happened: visible::guard_line(why).into_owned(),
                advice: format!("`placet discard {name}` drops its changes"),
            }),
            PendingContent::Changed(question) => {
                if let Some(happened) = not_read(question) {
                    return Some(Conflict {
                        happened,
                        advice: format!("`placet discard {name}` drops its changes"),
                    });
                }
                let conflicts = &question.comparison.conflicts;
                let is_head = |item: &&RepositoryItem| matches!(item, RepositoryItem::Head(_));
                let item = conflicts.iter().find(is_head).or(conflicts.first())?;
                let repeat = || format!("`placet discard {name}`, then ask the agent to repeat its work");
                let advice = switch_back(question, item).or_else(|| on_top_advice(question, item));
                let advice = advice.unwrap_or_else(repeat);
                Some(Conflict { happened: happened(question, item), advice })
            }
            PendingContent::Created(_) | PendingContent::Same => None,
        }
    }

    pub(super) fn item(item: &RepositoryItem) -> String {
        match item {
            RepositoryItem::Ref(full) | RepositoryItem::OwnRef(_, full) => {
                format!("{} {}", kind(full), short(full))
            }
            RepositoryItem::Head(_) => "HEAD".into(),
            RepositoryItem::Index(_, path) => format!("the staged entry `{}`", name(path)),
            RepositoryItem::Stash => "the stash".into(),
            RepositoryItem::File(file) => format!("`{}`", name(file)),
        }
    }
}

/// A file of an operation that git could not write: an operation is applied whole or not at all.
fn not_read(question: &RepositoryQuestion) -> Option<String> {
    let is_of_operation = |file: &GitName| matches!(class_of(file), GitFileClass::Operation(_));
    let mut files = question.comparison.moved.files.iter().filter(|(file, _)| is_of_operation(file));
    let is_not_read = |content: &Option<GitFileContent>| matches!(content, Some(GitFileContent::NotRead));
    let (file, _) = files.find(|(_, moved)| is_not_read(&moved.after))?;
    Some(format!("`{}` is no regular file of less than 1 MiB", name(file)))
}

/// What the person did meanwhile.
pub(super) fn happened(question: &RepositoryQuestion, item: &RepositoryItem) -> String {
    let what = Conflict::item(item);
    match item {
        RepositoryItem::Ref(full) => match (question.base.refs.get(full), question.person.refs.get(full)) {
            (None, Some(_)) => format!("{what} was created in the workspace"),
            (Some(_), None) => format!("{what} was deleted in the workspace"),
            (_, now) => match now.and_then(RefTarget::object) {
                Some(id) => format!("{what} moved to {}", short_id(id)),
                None => format!("{what} changed in the workspace"),
            },
        },
        RepositoryItem::Head(checkout) => {
            match question.person.checkouts.get(checkout).map(|now| &now.head) {
                Some(Head::Branch(branch)) => format!("HEAD moved to branch {}", short(branch)),
                Some(Head::Detached(id)) => format!("HEAD moved to {}", short_id(*id)),
                None => "a worktree was removed in the workspace".into(),
            }
        }
        _ => format!("{what} changed in the workspace, too"),
    }
}

/// A person who went to another branch can apply after going back.
fn switch_back(question: &RepositoryQuestion, item: &RepositoryItem) -> Option<String> {
    let RepositoryItem::Head(checkout) = item else { return None };
    let head =
        |state: &placet_git::RepositoryState| state.checkouts.get(checkout).map(|one| one.head.clone());
    let then = head(&question.base).filter(|then| head(&question.person).as_ref() != Some(then))?;
    // No command to copy: a shell could read the name of a branch as something else.
    let target = match then {
        Head::Branch(branch) => format!("branch {}", short(&branch)),
        Head::Detached(id) => format!("commit {}", short_id(id)),
    };
    Some(format!("switch back to {target} and apply again, or discard it"))
}

/// Commits of the agent can be put on top of the person's, where the agent is on that branch. What is not committed stays in
/// the files.
fn on_top_advice(question: &RepositoryQuestion, item: &RepositoryItem) -> Option<String> {
    let RepositoryItem::Ref(full) = item else { return None };
    let is_there = |state: &placet_git::RepositoryState| {
        state.checkouts.get(&CheckoutName::Main).map(|checkout| &checkout.head)
            == Some(&Head::Branch(full.clone()))
    };
    let [base, person, agent] =
        [&question.base, &question.person, &question.agent].map(|state| state.resolve(full));
    let (base, person, agent) = (base?, person?, agent?);
    if agent == base || agent == person || !full.starts_with("refs/heads/") {
        return None;
    }
    let at = short_id(person);
    if !(is_there(&question.person) && is_there(&question.agent)) {
        return Some(format!("ask the agent to rebase {} onto {at}, or discard it", short(full)));
    }
    Some(format!(
        "ask the agent to run `git add -A && git reset --keep {at} && git cherry-pick ..ORIG_HEAD`, or discard it"
    ))
}

impl View {
    /// The repositories of `set`, which is pending, that wait as a whole.
    pub(crate) fn waiting_repositories(
        &self,
        set: &ChangeSet,
        classifier: &ChangeClassifier<'_>,
    ) -> (Vec<WaitingRepository>, Vec<Hash>) {
        let repositories = self.pending_repositories(set);
        let keys = self.0.repositories.known().values().map(|(key, _)| *key).collect();
        let of_outermost = |outermost| {
            repositories.iter().filter(move |one| set.repositories.of(&one.path) == Some(outermost))
        };
        let mut found = Vec::new();
        for outermost in set.repositories.outermost() {
            let reasons: Vec<(String, String)> = of_outermost(outermost)
                .flat_map(|repository| {
                    let staged = self.staged_reasons(set, repository, classifier);
                    reasons(repository, classifier).into_iter().chain(staged)
                })
                .collect();
            let Some((by, why)) = reasons.first().cloned() else { continue };
            let why = match reasons.len() {
                1 => why,
                many => format!("{why}; and {}", count::of(many - 1, "more reason")),
            };
            let files = files_of_operations(set, of_outermost(outermost));
            let is_of_it =
                |change: &&FileChange| change.path.starts_with(outermost) || files.contains(&change.path);
            let state = state_of(set.changes.iter().filter(is_of_it));
            let (path, runner) = (outermost.to_path_buf(), Runner { by, why });
            found.push(WaitingRepository { path, runner, files, state });
        }
        (found, keys)
    }

    /// Those of `later` that are no news: files that git checked out in a new worktree from a commit that the person has, and
    /// the `.git` file that leads from the worktree back to its repository.
    pub(crate) fn checked_out(&self, set: &ChangeSet, later: &[&Path]) -> BTreeSet<PathBuf> {
        let facts = set.repository_changes.iter().flat_map(|change| &change.facts);
        let added = facts.filter_map(|fact| match fact {
            RepositoryFact::Worktree { file, directory, fate: WorktreeFate::Added } => {
                Some((file.parent()?, directory.as_path()))
            }
            _ => None,
        });
        let leads_back = |(dir, place): &(&Path, &Path)| {
            let change = set.get(&place.join(".git")).filter(|change| change.before.is_absent());
            let text = change.and_then(|change| change.bytes(self.objects())).map(|(_, text)| text);
            text.is_some_and(|text| text == [b"gitdir: ", dir.as_os_str().as_encoded_bytes(), b"\n"].concat())
        };
        let added: Vec<(&Path, &Path)> = added.filter(leads_back).collect();
        if added.is_empty() {
            return BTreeSet::new();
        }
        let repositories = self.pending_repositories(set);
        let known = added.into_iter().flat_map(|(dir, place)| {
            let repository = repositories.iter().find(|repository| dir.starts_with(&repository.path));
            let below = later.iter().filter(move |path| path.starts_with(place));
            let is_known = move |path: &&&Path| {
                **path == place.join(".git")
                    || repository
                        .is_some_and(|repository| self.is_checked_out(repository, (dir, place), path))
            };
            below.filter(is_known).map(|path| path.to_path_buf())
        });
        known.collect()
    }

    fn is_checked_out(
        &self,
        repository: &PendingRepository,
        (dir, place): (&Path, &Path),
        path: &Path,
    ) -> bool {
        let (Some(question), Some(rows)) = (repository.question(), &repository.rows) else { return false };
        let (Some(name), Ok(rel)) = (dir.file_name(), path.strip_prefix(place)) else { return false };
        let checkout = CheckoutName::Linked(GitName::from(Path::new(name)));
        let is_new = |commit| rows.unlisted.new > 0 || rows.commits.iter().any(|new| new.id == commit);
        if question.agent.head_commit(&checkout).is_none_or(is_new) {
            return false;
        }
        let facts = rows.index.get(&checkout).into_iter().flatten();
        let fact = facts
            .filter(|fact| fact.state == StagedKind::AsCommitted)
            .find(|fact| fact.path.as_path() == rel);
        let entry = fact.and_then(|fact| fact.moved.after.as_deref()?.first());
        entry.is_some_and(|entry| self.has_content(path, entry, question.agent.format.objects))
    }

    /// Whether write mode leaves one of these repositories pending: it takes something away, or cannot be read.
    pub(in crate::view) fn takes_away_from_repositories(&self, set: &ChangeSet) -> bool {
        let waits = |repository: &Arc<PendingRepository>| match &repository.content {
            PendingContent::Refused(_) => true,
            PendingContent::Same => false,
            PendingContent::Created(new) => {
                let has_groups = new.question.as_ref().is_some_and(|question| !question.groups.is_empty());
                !new.waiting_settings.is_empty() || has_groups || repository.takes_away
            }
            // A file that waits by its name is a change of its own.
            PendingContent::Changed(_) => repository.takes_away,
        };
        self.pending_repositories(set).iter().any(waits)
    }
}

/// The changes that wait with the operations of repositories: of files that git tracks where an operation begins, goes on or
/// ends, and of directories that come and go with them. What git does not track, no operation writes.
fn files_of_operations<'a>(
    set: &ChangeSet,
    repositories: impl Iterator<Item = &'a Arc<PendingRepository>>,
) -> BTreeSet<Arc<Path>> {
    let mut files = BTreeSet::new();
    for repository in repositories {
        let Some(question) = repository.question() else { continue };
        for group in &question.groups {
            let WaitingGroup::Operation(checkout) = group else { continue };
            let Some(place) = checkout_place(set, (&repository.path, question), checkout) else { continue };
            let is_tracked = |change: &&FileChange| {
                let name = change.path.strip_prefix(&place).map(GitName::from);
                // Nothing applies a pipe, a socket or a device.
                !matches!(*change.after, PathState::Special { .. })
                    && name.is_ok_and(|name| question.is_tracked(checkout, &name))
            };
            files.extend(set.changes.iter().filter(is_tracked).map(|change| Arc::clone(&change.path)));
        }
    }
    // What is in a directory follows it.
    for change in set.changes.iter().rev() {
        let goes = change.before.is_directory() && change.after.is_absent();
        let comes = change.before.is_absent() && change.after.is_directory();
        if !goes && !comes {
            continue;
        }
        let mut below = set.below(&change.path);
        below.remove(&change.path);
        let with = below.iter().filter(|path| files.contains(*path)).count();
        if with > 0 && (goes || with == below.len()) {
            files.insert(Arc::clone(&change.path));
        }
    }
    files
}

/// Who is the reason that a repository waits, and why.
fn reasons(repository: &PendingRepository, classifier: &ChangeClassifier<'_>) -> Vec<(String, String)> {
    let (Some(question), Some(rows)) = (repository.question(), &repository.rows) else { return Vec::new() };
    let git = |why: String| ("git".to_string(), why);
    let mut found = Vec::new();
    for group in &question.groups {
        match group {
            // A worktree has rows that say where it is; what leads git elsewhere is a fact that waits by itself.
            WaitingGroup::File(_) | WaitingGroup::Worktree(_) => {}
            WaitingGroup::Operation(checkout) => {
                // The row has one reason: a command says more than the operation that runs it.
                found.extend(commands_of(question).map(git));
                found.push(git(of_operation(question, rows, checkout)));
            }
            WaitingGroup::HiddenFiles(checkout) => {
                let hides =
                    rows.index_effects.hidden.get(checkout).is_some_and(|paths| !paths.hidden.is_empty());
                let words = if hides {
                    "git no longer shows changes of some files"
                } else {
                    "git shows changes of some files again"
                };
                found.push(git(words.into()));
            }
        }
    }
    for (name, paths) in &question.taken_back {
        let paths: Vec<String> = paths.iter().take(MOST_NAMED).map(committed).collect();
        found.push(git(format!("{} takes back what you changed in {}", short(name), paths.join(", "))));
    }
    let replaced = rows.refs.iter().find(|fact| fact.name.starts_with("refs/replace/"));
    found.extend(replaced.map(|_| git("a replacement gives an object another content".into())));
    for fact in rows.refs.iter().filter(|fact| !fact.name.starts_with("refs/remotes/")) {
        if let RefMovement::New(RefTarget::Symbolic(to))
        | RefMovement::Moved { to: RefTarget::Symbolic(to), .. } = &fact.movement
        {
            let (kind, shown) = (kind(&fact.name), short(&fact.name));
            found.push(git(format!("{kind} {shown} leads to {}, which git moves in its place", name(to))));
        }
    }
    let tree = WorkTree::of(&repository.path);
    let is_unknown = matches!(tree, WorkTree::Unknown) && !(rows.commits.is_empty() && rows.index.is_empty());
    let unknown = "its files are at a place that it does not name, where programs may run or obey them";
    found.extend(is_unknown.then(|| git(unknown.into())));
    if rows.unlisted.new > 0 && matches!(repository.content, PendingContent::Changed(_)) {
        let words = format!("{} that placet does not read", count::of(rows.unlisted.new, "more commit"));
        found.push(git(words));
    }
    let is_tree = rows.objects.values().any(|object| *object == ObjectFact::Tree);
    found.extend(is_tree.then(|| git("a tag names a tree, and no commit".into())));
    let mut changed = |what: &str, change: &PathChange| {
        let mode = change.after.as_ref().or(change.before.as_ref()).map(|(mode, _)| mode.clone());
        let mode =
            mode.and_then(|mode| u32::from_str_radix(std::str::from_utf8(mode.as_bytes()).ok()?, 8).ok());
        if let Some(runner) = classifier.of_committed(tree.place(), change.path.as_path(), mode.unwrap_or(0))
        {
            found.push((runner.by, format!("{what} changes {}: {}", committed(&change.path), runner.why)));
        }
    };
    for (at, commit) in rows.commits.iter().enumerate() {
        let on = rows.refs.iter().find(|fact| fact.commits.contains(&commit.id));
        let place = on.map(|fact| format!(" on {}", short(&fact.name))).unwrap_or_default();
        let what = format!("commit {}{place}", short_id(commit.id));
        for change in &commit.changes {
            // An amend or a rebase makes commits again: what the branch had is no news.
            let is_last = || {
                let newer =
                    rows.commits.get(..at).unwrap_or_default().iter().flat_map(|newer| &newer.changes);
                newer.filter(|newer| newer.path == change.path).all(|newer| newer.after == change.after)
            };
            let tip = on.and_then(|fact| fact.changes.as_ref());
            let is_same = tip.is_some_and(|tip| tip.iter().all(|moved| moved.path != change.path));
            if !(is_same && is_last()) {
                changed(&what, change);
            }
        }
    }
    for (commit, path) in &repository.through_links {
        let (path, what) = (GitName::from(&**path), format!("commit {}", short_id(*commit)));
        changed(&what, &PathChange { path, before: None, after: None, added: None, removed: None });
    }
    // A merge may take another side than that of the branch, which no commit says.
    let is_said = |change: &PathChange| {
        let mut all = rows.commits.iter().flat_map(|commit| &commit.changes);
        all.any(|said| said.path == change.path && said.after == change.after)
    };
    for fact in &rows.refs {
        let news = fact.changes.iter().flatten().filter(|change| !is_said(change));
        news.for_each(|change| changed(&short(&fact.name), change));
    }
    for fact in &rows.stash_added {
        let what = format!("stash entry {}", short_id(fact.entry.id));
        let changes = fact.changes.iter().chain(&fact.staged).chain(&fact.untracked);
        changes.for_each(|change| changed(&what, change));
    }
    found
}

/// Paths in one reason.
const MOST_NAMED: usize = 3;

impl View {
    /// Staged content of a file that runs later, unless it is that of the person's own file.
    fn staged_reasons(
        &self,
        set: &ChangeSet,
        repository: &PendingRepository,
        classifier: &ChangeClassifier<'_>,
    ) -> Vec<(String, String)> {
        let (Some(question), Some(rows)) = (repository.question(), &repository.rows) else {
            return Vec::new();
        };
        let tree = WorkTree::of(&repository.path);
        let tree = tree.place();
        let facts =
            rows.index.iter().flat_map(|(checkout, facts)| facts.iter().map(move |fact| (checkout, fact)));
        let reason = |(checkout, fact): (&CheckoutName, &placet_git::IndexFact)| {
            // Where a linked worktree is, its files may be anything.
            let tree = tree.filter(|_| *checkout == CheckoutName::Main);
            let entry = fact.moved.after.as_deref().and_then(|entries| entries.first());
            let path = fact.path.as_path();
            let is_of_person = tree.is_some_and(|tree| {
                let file = tree.join(path);
                let has = |entry| {
                    set.get(&file).is_none() && self.has_content(&file, entry, question.agent.format.objects)
                };
                entry.is_some_and(has)
            });
            let mode = entry.and_then(|entry| std::str::from_utf8(entry.mode.as_bytes()).ok());
            let mode = mode.and_then(|mode| u32::from_str_radix(mode, 8).ok()).unwrap_or(0);
            let runner = classifier.of_committed(tree, path, mode).filter(|_| !is_of_person)?;
            Some((runner.by, format!("the next commit changes {}: {}", committed(&fact.path), runner.why)))
        };
        let staged = facts.filter(|(_, fact)| fact.state == StagedKind::Staged).filter_map(reason);
        // What the index had before, and what the branch has no more.
        let is_born = |checkout: &CheckoutName| question.agent.head_commit(checkout).is_some();
        let behind = rows.index_effects.left_behind.iter().filter(|(checkout, _)| is_born(checkout));
        let behind = behind.flat_map(|(_, paths)| paths).filter_map(|path| {
            let runner = classifier.of_committed(tree, path.as_path(), 0)?;
            Some((runner.by, format!("the next commit changes {}: {}", committed(path), runner.why)))
        });
        staged.chain(behind).collect()
    }
}

fn committed(path: &GitName) -> String {
    visible::path(path.as_path())
}

fn of_operation(
    question: &RepositoryQuestion,
    rows: &placet_git::RepositoryRows,
    checkout: &CheckoutName,
) -> String {
    let fact = rows.operations.iter().find(|fact| fact.checkout == *checkout);
    match fact.map(|fact| (&fact.state.before, &fact.state.after)) {
        Some((_, Some(after))) => in_progress(after, question),
        Some((Some(before), None)) => format!("it ends the {} that you began", operation(before.kind)),
        _ => "files of an operation in progress change".into(),
    }
}

/// Commands that the steps of a rebase run when it goes on.
fn commands_of(question: &RepositoryQuestion) -> Option<String> {
    let runs = |line: &&[u8]| {
        let word = line.trim_ascii_start().split(u8::is_ascii_whitespace).next();
        matches!(word, Some(b"exec" | b"x"))
    };
    let steps = question
        .comparison
        .moved
        .files
        .iter()
        .filter(|(name, _)| name.as_bytes().ends_with(b"/git-rebase-todo"));
    let mut commands = steps.filter_map(|(_, moved)| {
        let lines = moved.after.as_ref()?.bytes()?.split(|byte| *byte == b'\n');
        lines.into_iter().find(runs).map(GitName::new)
    });
    Some(format!("git rebase --continue runs commands: {}", name(&commands.next()?)))
}
