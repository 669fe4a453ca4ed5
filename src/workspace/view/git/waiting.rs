//! Which repositories wait for an answer of their own, which cannot be applied, and which write mode may apply.

use super::super::View;
use super::git_words::{in_progress, name, operation, short};
use super::pending_repository::{PendingContent, PendingRepository};
use crate::permission::{Runner, is_git_name};
use crate::text::{count, visible};
use crate::workspace::changes::change_set::ChangeSet;
use crate::workspace::changes::classify::{ChangeClassifier, WaitingRepository, state_of};
use crate::workspace::hash::Hash;
use crate::workspace::repository::{RepositoryFact, WorktreeFate};
use placet_git::{CheckoutName, GitName, RepositoryItem, RepositoryQuestion, StagedState, WaitingGroup};
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
                let item = question.comparison.conflicts.first()?;
                Some(Conflict {
                    happened: format!("{} changed in the workspace, too", Conflict::item(item)),
                    advice: format!(
                        "after `placet discard {name}` the agent can do it again on the new state"
                    ),
                })
            }
            PendingContent::Created(_) | PendingContent::Same => None,
        }
    }

    pub(super) fn item(item: &RepositoryItem) -> String {
        match item {
            RepositoryItem::Ref(full) | RepositoryItem::OwnRef(_, full)
                if full.starts_with("refs/heads/") =>
            {
                format!("branch {}", short(full))
            }
            RepositoryItem::Ref(full) | RepositoryItem::OwnRef(_, full) => name(full),
            RepositoryItem::Head(_) => "HEAD".into(),
            RepositoryItem::Index(_, path) => format!("the staged entry `{}`", name(path)),
            RepositoryItem::Stash => "the stash".into(),
            RepositoryItem::File(file) => format!("`{}`", name(file)),
        }
    }
}

/// Who runs or obeys the file of a commit, where it is checked out.
pub(super) fn runner(
    classifier: &ChangeClassifier<'_>,
    git_dir: &Path,
    file: &Path,
    mode: u32,
) -> Option<Runner> {
    let tree = git_dir.parent().filter(|_| is_git_name(git_dir));
    classifier.of_committed(tree, file, mode)
}

impl View {
    /// The repositories of `set`, which is pending, that wait as a whole.
    pub(in crate::workspace) fn waiting_repositories(
        &self,
        set: &ChangeSet,
        classifier: &ChangeClassifier<'_>,
    ) -> (Vec<WaitingRepository>, Vec<Hash>) {
        let repositories = self.pending_repositories(set);
        let keys = self.0.repositories.known().values().map(|(key, _)| *key).collect();
        let mut found = Vec::new();
        for outermost in set.repositories.outermost() {
            let own = repositories
                .iter()
                .filter(|repository| set.repositories.of(&repository.path) == Some(outermost));
            let reasons: Vec<(String, String)> = own
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
            let changes = set.changes.iter().filter(|change| change.path.starts_with(outermost));
            found.push(WaitingRepository {
                path: outermost.to_path_buf(),
                runner: Runner { by, why },
                state: state_of(changes),
            });
        }
        (found, keys)
    }

    /// Those of `later` that are no news: files that git checked out in a new worktree from a commit that the person has, and
    /// the `.git` file that leads from the worktree back to its repository.
    pub(in crate::workspace) fn checked_out(&self, set: &ChangeSet, later: &[&Path]) -> BTreeSet<PathBuf> {
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
        let is_new = |commit| rows.more_commits > 0 || rows.commits.iter().any(|new| new.id == commit);
        if question.agent.head_commit(&checkout).is_none_or(is_new) {
            return false;
        }
        let facts = rows.index.get(&checkout).into_iter().flatten();
        let fact = facts
            .filter(|fact| fact.state == StagedState::AsCommitted)
            .find(|fact| fact.path.as_path() == rel);
        let entry = fact.and_then(|fact| fact.moved.after.as_deref()?.first());
        entry.is_some_and(|entry| self.has_content(path, entry, question.agent.format.objects))
    }

    /// Whether write mode leaves one of these repositories pending: it takes something away, or cannot be read.
    pub(in crate::workspace::view) fn takes_away_from_repositories(&self, set: &ChangeSet) -> bool {
        let waits = |repository: &Arc<PendingRepository>| match &repository.content {
            PendingContent::Refused(_) => true,
            PendingContent::Same => false,
            PendingContent::Created(new) => {
                !new.waiting_settings.is_empty() || !repository.taken_away.is_empty()
            }
            PendingContent::Changed(_) => {
                // A file that waits by its name is a change of its own.
                let is_file = |taken: &placet_git::TakenAway| {
                    matches!(taken, placet_git::TakenAway::Group(WaitingGroup::File(_)))
                };
                !repository.taken_away.iter().all(is_file)
            }
        };
        self.pending_repositories(set).iter().any(waits)
    }
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
                found.push(git(of_operation(rows, checkout)));
                found.extend(commands_of(question).map(git));
            }
            WaitingGroup::HiddenFiles(_) => {
                found.push(git("git no longer shows changes of some files, or does again".into()))
            }
        }
    }
    for commit in &rows.commits {
        for change in &commit.changes {
            let Some((mode, _)) = change.after.as_ref().or(change.before.as_ref()) else { continue };
            let mode =
                std::str::from_utf8(mode.as_bytes()).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
            if let Some(runner) =
                runner(classifier, &repository.path, change.path.as_path(), mode.unwrap_or(0))
            {
                let why = format!("a commit changes {}: {}", committed(&change.path), runner.why);
                found.push((runner.by, why));
            }
        }
    }
    found
}

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
        let tree = repository.path.parent().filter(|_| is_git_name(&repository.path));
        let facts = rows.index.get(&CheckoutName::Main).into_iter().flatten();
        let reason = |fact: &placet_git::IndexFact| {
            let entry = fact.moved.after.as_deref()?.first()?;
            let path = fact.path.as_path();
            let is_of_person = tree.is_some_and(|tree| {
                let file = tree.join(path);
                set.get(&file).is_none() && self.has_content(&file, entry, question.agent.format.objects)
            });
            let mode = std::str::from_utf8(entry.mode.as_bytes()).ok();
            let mode = mode.and_then(|mode| u32::from_str_radix(mode, 8).ok()).unwrap_or(0);
            let runner = runner(classifier, &repository.path, path, mode).filter(|_| !is_of_person)?;
            Some((runner.by, format!("its index changes {}: {}", committed(&fact.path), runner.why)))
        };
        facts.filter(|fact| fact.state == StagedState::Staged).filter_map(reason).collect()
    }
}

fn committed(path: &GitName) -> String {
    visible::path(path.as_path())
}

fn of_operation(rows: &placet_git::RepositoryRows, checkout: &CheckoutName) -> String {
    let fact = rows.operations.iter().find(|fact| fact.checkout == *checkout);
    match fact.map(|fact| (&fact.state.before, &fact.state.after)) {
        Some((_, Some(after))) => in_progress(after),
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
