//! What a person approved of a change set beyond the ordinary: paths that run later, one by one, repositories whose
//! commits have such a path, and large losses.

use super::large_loss::LargeLoss;
use super::staying::{holds, stay};
use super::tree_group::TreeGroup;
use super::{ChangeClasses, Runner, WaitingRepository, loss};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::metadata::path_state::PathState;
use crate::hash::Hash;
use crate::view::{ChangeSelection, SelectedPart};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Paths that run later and losses that a person approved, each by itself. Without it an apply refuses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeApproval {
    paths: BTreeMap<PathBuf, Option<PathState>>,
    /// Repositories whose commits change files that run later, with the state that the person saw.
    repositories: BTreeMap<PathBuf, Hash>,
    /// Repositories and roots that may go.
    losses: BTreeSet<PathBuf>,
    files: ApprovedFiles,
}

/// How many files may go although that is more than the loss limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ApprovedFiles {
    #[default]
    None,
    /// The person gave the number before the apply.
    Exactly(usize),
    /// The person saw a set that removes this much.
    AtMost { files: usize, bytes: u64 },
}

impl ChangeApproval {
    /// Nothing that runs later, and no large loss.
    pub fn none() -> ChangeApproval {
        ChangeApproval::default()
    }

    /// The person named exactly this path: a file that runs later, a removed repository, or a root that is emptied.
    #[must_use]
    pub fn named(mut self, path: &Path) -> ChangeApproval {
        self.losses.insert(path.to_path_buf());
        self.paths.insert(path.to_path_buf(), None);
        self
    }

    /// The person saw this change: another content at the path needs another approval.
    #[must_use]
    pub fn shown(mut self, change: &FileChange) -> ChangeApproval {
        self.paths.insert(change.path.to_path_buf(), Some(change.after.to_state()));
        self
    }

    /// The person saw this repository, with its commits: another state needs another approval.
    #[must_use]
    pub fn shown_repository(mut self, repository: &WaitingRepository) -> ChangeApproval {
        self.repositories.insert(repository.path.clone(), repository.state);
        self
    }

    /// The person gave the number of files that may go, without seeing them now.
    #[must_use]
    pub fn removal_of(mut self, files: usize) -> ChangeApproval {
        self.files = ApprovedFiles::Exactly(files);
        self
    }

    /// The person saw these losses, and typed the word that approves them.
    #[must_use]
    pub fn seen(mut self, losses: &[LargeLoss]) -> ChangeApproval {
        for loss in losses {
            match loss {
                LargeLoss::Repository { path, .. } | LargeLoss::Root { path, .. } => {
                    self.losses.insert(path.clone());
                }
                LargeLoss::Files { files, bytes } => {
                    self.files = ApprovedFiles::AtMost { files: *files, bytes: *bytes };
                }
            }
        }
        self
    }

    /// What either approves.
    #[must_use]
    pub fn and(mut self, other: &ChangeApproval) -> ChangeApproval {
        self.paths.extend(other.paths.clone());
        self.repositories.extend(other.repositories.clone());
        self.losses.extend(other.losses.clone());
        if self.files == ApprovedFiles::None {
            self.files = other.files;
        }
        self
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.keys().chain(self.repositories.keys()).map(PathBuf::as_path)
    }

    pub fn is_none(&self) -> bool {
        *self == ChangeApproval::default()
    }

    /// True for the path itself, and for everything in a directory whose removal was approved.
    pub fn covers(&self, change: &FileChange) -> bool {
        let exact = self.paths.get(&*change.path);
        exact.is_some_and(|seen| seen.as_ref().is_none_or(|seen| *seen == change.after))
            || change.after.is_absent()
                && change.path.ancestors().skip(1).any(|dir| self.paths.contains_key(dir))
    }

    /// True when this loss was approved.
    pub fn allows(&self, loss: &LargeLoss) -> bool {
        match loss {
            LargeLoss::Repository { path, .. } | LargeLoss::Root { path, .. } => self.losses.contains(path),
            LargeLoss::Files { files, bytes } => match self.files {
                ApprovedFiles::None => false,
                ApprovedFiles::Exactly(approved) => *files == approved,
                ApprovedFiles::AtMost { files: most, bytes: most_bytes } => {
                    *files <= most && *bytes <= most_bytes
                }
            },
        }
    }

    /// True for everything in a repository or a root whose loss was approved: it is not counted again.
    fn accounts_for(&self, path: &Path) -> bool {
        !self.losses.is_empty() && path.ancestors().any(|dir| self.losses.contains(dir))
    }
}

/// What may be applied of a choice, and what stays pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermittedChanges {
    pub choice: ChangeSelection,
    /// Paths that run later.
    pub waiting: Vec<PathBuf>,
    /// Losses that are not approved: every change that belongs to them stays pending.
    pub losses: Vec<LargeLoss>,
    /// Repositories that stay because files of their work trees belong to such a loss.
    pub repositories: Vec<PathBuf>,
    /// Trees that stay as a whole, because something of them waits, with the files that name them.
    pub groups: Vec<TreeGroup>,
}

impl ChangeClasses {
    /// Changes that run later. The removal of a directory represents the removal of everything in it.
    pub(crate) fn marked<'a>(&'a self, set: &ChangeSet) -> impl Iterator<Item = (&'a Path, &'a Runner)> {
        let stands_for = |path: &Path| {
            let goes = |dir: &Path| set.get(dir).is_some_and(|c| !c.after.is_directory());
            path.ancestors().skip(1).any(|dir| self.runner(dir).is_some() && goes(dir))
        };
        let gone = |path: &Path| set.get(path).is_some_and(|c| c.after.is_absent());
        self.runs_later().filter(move |(path, _)| !(gone(path) && stands_for(path)))
    }

    /// What needs an approval of its own: changes that run later, and repositories that wait as a whole.
    pub fn to_approve<'a>(&'a self, set: &ChangeSet) -> Vec<(&'a Path, &'a Runner)> {
        let files = self.marked(set).filter(|(path, _)| self.operation_around(path).is_none());
        let has_change =
            |repository: &&WaitingRepository| !self.approved_with(set, &repository.path).is_empty();
        let repositories = self.waiting_repositories().filter(has_change);
        files.chain(repositories.map(|repository| (&*repository.path, &repository.runner))).collect()
    }

    /// The approval of someone who saw `path` of [`ChangeClasses::to_approve`] with all that goes with it.
    pub fn approval_of(&self, set: &ChangeSet, path: &Path) -> ChangeApproval {
        let approval = match (self.waiting_at(set, path), set.get(path)) {
            (Some(repository), _) => ChangeApproval::none().shown_repository(repository),
            (None, Some(change)) => ChangeApproval::none().shown(change),
            (None, None) => ChangeApproval::none(),
        };
        let with = self.approved_with(set, path);
        let all: ChangeSelection = with.into_iter().map(|path| (path, SelectedPart::Whole)).collect();
        let losses = self.unapproved_losses(set, &all, &approval);
        approval.seen(&losses)
    }

    /// True where the change at the path runs later, or waits with its repository, and `approval` is not about it.
    pub(crate) fn waits(&self, set: &ChangeSet, change: &FileChange, approval: &ChangeApproval) -> bool {
        match self.waiting_repository(&change.path) {
            Some(repository) => !self.is_approved(set, repository, approval),
            None => self.runner(&change.path).is_some() && !approval.covers(change),
        }
    }

    /// True where `approval` is about `path` of [`ChangeClasses::to_approve`], as it is now.
    pub(crate) fn is_approved_at(&self, set: &ChangeSet, path: &Path, approval: &ChangeApproval) -> bool {
        match self.waiting_at(set, path) {
            Some(repository) => self.is_approved(set, repository, approval),
            None => set.get(path).is_some_and(|change| approval.covers(change)),
        }
    }

    /// The person saw the repository, or named it or one of its changed files.
    fn is_approved(
        &self,
        set: &ChangeSet,
        repository: &WaitingRepository,
        approval: &ChangeApproval,
    ) -> bool {
        let is_named = |(path, state): (&PathBuf, &Option<PathState>)| {
            state.is_none() && self.waiting_at(set, path) == Some(repository)
        };
        approval.repositories.get(&repository.path) == Some(&repository.state)
            || approval.paths.iter().any(is_named)
    }

    /// What an approval of exactly `path` speaks of: the change there, all that belongs to the loss of that repository or
    /// root, or the repository.
    pub fn goes_with(&self, set: &ChangeSet, path: &Path) -> BTreeSet<Arc<Path>> {
        let mut all: BTreeSet<Arc<Path>> = set.get(path).map(|c| c.path.clone()).into_iter().collect();
        if let Some(repository) = self.waiting_at(set, path) {
            all.extend(self.approved_with(set, &repository.path));
        }
        let at = |loss: &&LargeLoss| match loss {
            LargeLoss::Repository { path: at, .. } | LargeLoss::Root { path: at, .. } => at == path,
            LargeLoss::Files { .. } => false,
        };
        let losses: Vec<LargeLoss> = self.losses.iter().filter(at).cloned().collect();
        all.extend(loss::paths_of(set, &losses, &|_| true).into_iter().map(Arc::from));
        all.extend(self.group_around(set, path));
        // A repository that does not wait is one change as any other.
        if all.is_empty() && set.repositories.common(path) == Some(path) {
            all.extend(set.below(path).into_iter().filter(|path| self.runner(path).is_none()));
        }
        all
    }

    /// The files of a loss that was approved by their number, and the directories that go with them; none if the number
    /// is another.
    pub fn removed_files(&self, set: &ChangeSet, approval: &ChangeApproval) -> BTreeSet<Arc<Path>> {
        let part = set.part(|c| !self.waits(set, c, approval));
        let counted = |path: &Path| !approval.accounts_for(path);
        let mut losses = loss::losses(&part, &self.roots, self.limit, &counted);
        losses.retain(|loss| matches!(loss, LargeLoss::Files { .. }) && approval.allows(loss));
        let files = loss::paths_of(&part, &losses, &counted);
        let goes = |c: &&FileChange| c.before.is_directory() && c.after.is_absent() && holds(&files, &c.path);
        let dirs = part.changes.iter().filter(goes).map(|c| c.path.clone());
        dirs.chain(files.iter().map(|path| Arc::from(*path))).collect()
    }

    /// The losses in `choice` that `approval` does not allow, the gravest first.
    pub fn unapproved_losses(
        &self,
        set: &ChangeSet,
        choice: &ChangeSelection,
        approval: &ChangeApproval,
    ) -> Vec<LargeLoss> {
        // A copy of a large set takes as much memory again.
        let all = set.changes.iter().all(|c| choice.contains_key(&c.path));
        let chosen = match all {
            true => Cow::Borrowed(set),
            false => Cow::Owned(set.part(|c| choice.contains_key(&c.path))),
        };
        let counted = |path: &Path| !approval.accounts_for(path);
        let losses = loss::losses(&chosen, &self.roots, self.limit, &counted);
        losses.into_iter().filter(|loss| !approval.allows(loss)).collect()
    }

    /// How many files and bytes a turn removes with `choice` and what it removed `before`, or the loss that this is. Only
    /// files for which `counted` is true are lost.
    pub(crate) fn removed_in_turn(
        &self,
        set: &ChangeSet,
        choice: &ChangeSelection,
        before: (usize, u64),
        counted: &dyn Fn(&Path) -> bool,
    ) -> Result<(usize, u64), LargeLoss> {
        let part = set.part(|c| choice.contains_key(&c.path));
        let (files, bytes) = loss::removed(&part, counted);
        let (files, bytes) = (files + before.0, bytes + before.1);
        if (files, bytes) != before && (files > self.limit.files || bytes > self.limit.bytes) {
            return Err(LargeLoss::Files { files, bytes });
        }
        // A repository is a loss whose files are not counted.
        match loss::losses(&part, &self.roots, self.limit, counted).into_iter().next() {
            Some(loss) => Err(loss),
            None => Ok((files, bytes)),
        }
    }

    /// The part of `choice` that may be applied with this approval. The rest stays pending: paths that run later, and
    /// everything that belongs to a large loss.
    ///
    /// With a path that stays, all stays that is needed to keep its old content and the new one: see [`stay`].
    pub fn permitted(
        &self,
        set: &ChangeSet,
        choice: ChangeSelection,
        approval: &ChangeApproval,
    ) -> PermittedChanges {
        let chosen = |path: &Path| choice.contains_key(path);
        // The person parts a tree from the files that name it by choosing one of them.
        let is_whole = |group: &&TreeGroup| group.paths().all(|path| chosen(path));
        let mut groups: Vec<&TreeGroup> = self.groups.iter().filter(is_whole).collect();
        let mut left_groups: Vec<TreeGroup> = Vec::new();
        let waits = |c: &&FileChange| chosen(&c.path) && self.waits(set, c, approval);
        let later: BTreeSet<&Path> = set.changes.iter().filter(waits).map(|c| &*c.path).collect();
        let mut staying = later.clone();
        stay_together(set, &mut groups, &mut left_groups, &mut staying);
        let mut left = stay(set, choice, &staying);
        // A change that stays because it runs later loses nothing: only the rest is checked for losses.
        let losses = self.unapproved_losses(set, &left, approval);
        let mut repositories = Vec::new();
        if !losses.is_empty() {
            let part = set.part(|c| left.contains_key(&c.path));
            let mut staying = loss::paths_of(&part, &losses, &|path| !approval.accounts_for(path));
            stay_together(&part, &mut groups, &mut left_groups, &mut staying);
            // A repository is applied as a whole, so it stays as a whole. It also stays with the files of its work
            // tree: after a checkout that deletes files, the new HEAD without the deletions shows files as untracked.
            let around = part.repositories_around(&staying);
            let partly =
                |r: &&Path| part.changes_of(&BTreeSet::from([*r])).any(|path| !staying.contains(path));
            repositories = around.iter().copied().filter(partly).map(Path::to_path_buf).collect();
            staying.extend(part.changes_of(&around));
            left = stay(set, left, &staying);
        }
        // A part of an operation is a state that nobody made, whatever the rest stays for.
        let mut parted = BTreeSet::new();
        while let Some((repository, all)) = self.parted_operation(set, &left) {
            let staying = set.changes.iter().map(|c| &*c.path).filter(|path| all.contains(*path)).collect();
            left = stay(set, left, &staying);
            if !repositories.contains(&repository.path) {
                parted.insert(&*repository.path);
            }
        }
        let stays = |path: &Path| match self.waiting_repository(path) {
            Some(_) => {
                parted.contains(path)
                    || self.approved_with(set, path).iter().any(|path| later.contains(&**path))
            }
            None => later.contains(path),
        };
        let waiting = self.to_approve(set).into_iter().map(|(path, _)| path).filter(|path| stays(path));
        let waiting = waiting.map(Path::to_path_buf).collect();
        PermittedChanges { choice: left, waiting, losses, groups: left_groups, repositories }
    }

    /// A repository of whose operation `choice` has a part, with all that belongs to the operation.
    pub(crate) fn parted_operation(
        &self,
        set: &ChangeSet,
        choice: &ChangeSelection,
    ) -> Option<(&WaitingRepository, BTreeSet<Arc<Path>>)> {
        let operations = self.waiting_repositories().filter(|repository| !repository.files.is_empty());
        let all = operations.map(|repository| (repository, self.approved_with(set, &repository.path)));
        let mut parted = all.filter(|(_, all)| {
            let whole = |path: &Arc<Path>| {
                matches!(choice.get(path), Some(SelectedPart::Whole | SelectedPart::Resolved(_)))
            };
            all.iter().any(|path| choice.contains_key(path)) && !all.iter().all(whole)
        });
        parted.next()
    }

    /// The rest of the group of a path that runs later: it is applied with that path. What else runs later in it has an
    /// answer of its own.
    pub(super) fn group_around(&self, set: &ChangeSet, path: &Path) -> BTreeSet<Arc<Path>> {
        let runs_later = |path: &Path| self.runner(path).is_some();
        let around = self.groups.iter().filter(|group| runs_later(path) && group.contains(path));
        let around: BTreeSet<Arc<Path>> = around.flat_map(TreeGroup::paths).cloned().collect();
        let is_there = |path: &Arc<Path>| !runs_later(path) && set.get(path).is_some();
        set.with_whole_repositories(around).into_iter().filter(is_there).collect()
    }
}

/// Moves the groups of which something is among `staying` from `groups` to `left`, and adds all of them to `staying`, with
/// the whole of a repository that names their trees.
fn stay_together<'a>(
    set: &'a ChangeSet,
    groups: &mut Vec<&TreeGroup>,
    left: &mut Vec<TreeGroup>,
    staying: &mut BTreeSet<&'a Path>,
) {
    loop {
        let stays = |group: &mut &TreeGroup| group.paths().any(|path| staying.contains(&**path));
        let found: Vec<&TreeGroup> = groups.extract_if(.., stays).collect();
        if found.is_empty() {
            return;
        }
        let all: BTreeSet<Arc<Path>> = found.iter().flat_map(|group| group.paths()).cloned().collect();
        let all = set.with_whole_repositories(all);
        staying.extend(set.changes.iter().map(|c| &*c.path).filter(|path| all.contains(*path)));
        left.extend(found.into_iter().cloned());
    }
}
