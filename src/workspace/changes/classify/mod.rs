//! What a pending change means for the person, beyond its bytes: whether some program runs or obeys it later, whether
//! the next build runs it, whether it takes much away.
//!
//! Every surface asks here and nowhere else: the apply question, the review, the command line, JSON, write mode and the
//! apply itself, which refuses what runs later unless a person approved exactly that path.

mod approval;
mod distant_links;
mod links;
mod loss;
mod repository_loss;

pub use approval::{ChangeApproval, PermittedChanges};
pub(in crate::workspace) use distant_links::forget as forget_links;
pub use loss::LargeLoss;

use super::change_set::{ChangeSet, FileChange};
use crate::permission::{PathClass, ProtectedPaths, Runner};
use crate::workspace::files::path_state::PathState;
use crate::workspace::repository::{GitHookDirs, RepositoryChange, RepositoryChangeKind, is_repository};
use crate::workspace::view::{LossLimit, View};
use links::LinkIndex;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What one path's change means. The strictest that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeClass {
    Ordinary,
    /// The next build, test or install runs it: marked, and applied like any source file.
    RunsWithBuild(Runner),
    /// A program runs or obeys it without anyone asking for it: approved on its own.
    RunsLater(Runner),
    /// The path is a repository that is removed.
    LargeLoss(LargeLoss),
}

/// The classes of a change set. Paths that are not here are ordinary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeClasses {
    by_path: BTreeMap<PathBuf, ChangeClass>,
    /// What the whole set takes away, the gravest first.
    pub losses: Vec<LargeLoss>,
    roots: Vec<PathBuf>,
    limit: LossLimit,
}

impl ChangeClasses {
    pub fn of(&self, path: &Path) -> &ChangeClass {
        self.by_path.get(path).unwrap_or(&ChangeClass::Ordinary)
    }

    /// Who runs or obeys the path later, if some program does.
    pub fn runner(&self, path: &Path) -> Option<&Runner> {
        match self.of(path) {
            ChangeClass::RunsLater(runner) => Some(runner),
            _ => None,
        }
    }

    /// The paths of `set` that belong to a large loss.
    pub fn lost<'a>(&self, set: &'a ChangeSet) -> BTreeSet<&'a Path> {
        loss::paths_of(set, &self.losses, &|_| true)
    }

    pub fn runs_later(&self) -> impl Iterator<Item = (&Path, &Runner)> {
        self.by_path.iter().filter_map(|(path, class)| match class {
            ChangeClass::RunsLater(runner) => Some((path.as_path(), runner)),
            _ => None,
        })
    }
}

/// What is needed to classify a set, collected once for all of its changes.
pub(in crate::workspace) struct ChangeClassifier<'a> {
    pub(in crate::workspace) set: &'a ChangeSet,
    pub(in crate::workspace) roots: &'a [PathBuf],
    pub(in crate::workspace) protected: &'a ProtectedPaths,
    links: LinkIndex,
    /// Repositories that `set` completes, and what git runs in them that was there before.
    completed: BTreeMap<&'a Path, Runner>,
}

/// What makes a directory a repository.
const COMPLETING: [&str; 5] = ["HEAD", "commondir", "objects", "refs", "reftable"];

impl<'a> ChangeClassifier<'a> {
    pub(in crate::workspace) fn new(
        set: &'a ChangeSet,
        roots: &'a [PathBuf],
        protected: &'a ProtectedPaths,
    ) -> ChangeClassifier<'a> {
        let completed = completed_repositories(set);
        let mut classifier =
            ChangeClassifier { set, roots, protected, links: LinkIndex::default(), completed };
        classifier.links = LinkIndex::find(&classifier);
        classifier
    }

    pub(in crate::workspace) fn classify(&self, change: &FileChange) -> ChangeClass {
        if let Some(loss) = loss::removed_repository(self.set, change) {
            return ChangeClass::LargeLoss(loss);
        }
        if let Some(runner) = self.completes_repository(change) {
            return ChangeClass::RunsLater(runner.clone());
        }
        let plain = |node: &PathState| node.is_directory() || node.is_absent();
        if plain(&change.before) && plain(&change.after) {
            // A directory by itself runs nothing. One that goes takes what runs with it, and stands for all of it.
            let class = if change.after.is_absent() { self.of_deleted(&change.path) } else { None };
            return class.unwrap_or(ChangeClass::Ordinary);
        }
        if change.after.is_absent() {
            return self.of_deleted(&change.path).unwrap_or(ChangeClass::Ordinary);
        }
        if let Some(runner) = self.on_path(change) {
            return ChangeClass::RunsLater(runner);
        }
        if self.set.hook_dirs.holds(&change.path) {
            let why = "git runs it: `core.hooksPath` names its directory".into();
            return ChangeClass::RunsLater(Runner { by: "git".into(), why });
        }
        if self.set.hook_dirs.includes(&change.path) {
            let why = "git reads it: your settings or those of a repository include it".into();
            return ChangeClass::RunsLater(Runner { by: "git".into(), why });
        }
        if let Some(class) = self.in_repository(&change.path) {
            return class;
        }
        match self.of_path(&change.path) {
            PathClass::RunsLater(runner) => ChangeClass::RunsLater(runner),
            PathClass::RunsWithBuild(runner) => ChangeClass::RunsWithBuild(runner),
            PathClass::Ordinary | PathClass::Repository(_) => match self.links.of(change, self) {
                Some(runner) => ChangeClass::RunsLater(runner),
                None => ChangeClass::Ordinary,
            },
        }
    }

    /// A directory may get hooks and settings first, as ordinary files, and become a repository in a later turn.
    fn completes_repository(&self, change: &FileChange) -> Option<&Runner> {
        if self.completed.is_empty() || change.after.is_absent() {
            return None;
        }
        let repository = self.set.repositories.of(&change.path)?;
        let runner = self.completed.get(repository)?;
        let rel = change.path.strip_prefix(repository).ok()?;
        COMPLETING.iter().any(|name| rel.starts_with(name)).then_some(runner)
    }

    /// A submodule's own directory in `.git` may get hooks and settings first, and become a repository in a later turn:
    /// until then its names count.
    fn in_unfinished_module(&self, path: &Path) -> Option<Runner> {
        let rel = path.strip_prefix(self.set.repositories.nearest(path)?).ok()?;
        if !(rel.starts_with("modules") || rel.starts_with("worktrees")) {
            return None;
        }
        match self.protected.class_of(&Path::new(".git").join(rel)) {
            PathClass::RunsLater(runner) => Some(runner),
            _ => None,
        }
    }

    /// In a repository, whatever its directory is called, what was read in the file decides, and not its name: most
    /// changes of `config` run nothing. Names that mean something outside of `.git` keep their meaning: a directory
    /// that only looks like a repository must not make `.envrc` ordinary.
    fn in_repository(&self, path: &Path) -> Option<ChangeClass> {
        let repository = self.set.repositories.of(path)?;
        let change = self.set.repository_changes.iter().find(|c| c.path == repository)?;
        if let Some(why) = change.runs(path) {
            return Some(ChangeClass::RunsLater(Runner { by: "git".into(), why }));
        }
        if let Some(runner) = self.in_unfinished_module(path) {
            return Some(ChangeClass::RunsLater(runner));
        }
        let in_git = path.iter().any(|name| name == ".git");
        if !in_git && self.of_path(path).runs_later() {
            return None;
        }
        Some(ChangeClass::Ordinary)
    }

    /// What goes with a directory above it is that directory's business; in a place that stays, its own name counts.
    fn of_deleted(&self, path: &Path) -> Option<ChangeClass> {
        let goes = |dir: &&Path| {
            self.set.get(dir).is_some_and(|c| c.before.is_directory() && !c.after.is_directory())
        };
        let top = path.ancestors().skip(1).take_while(|dir| goes(dir)).last().unwrap_or(path);
        // What is in a repository that goes is part of that loss.
        let repository = path
            .ancestors()
            .any(|at| self.set.get(at).is_some_and(|c| loss::removes_repository(self.set, c)));
        match self.of_path(top) {
            PathClass::RunsLater(runner) if !repository => Some(ChangeClass::RunsLater(runner)),
            _ => None,
        }
    }

    /// By its names alone, below each root that holds it.
    pub(in crate::workspace) fn of_path(&self, path: &Path) -> PathClass {
        let mut best = PathClass::Ordinary;
        for root in self.roots {
            let Ok(relative) = path.strip_prefix(root) else { continue };
            let class = class_below(self.protected, root, relative);
            if rank(&class) > rank(&best) {
                best = class;
            }
        }
        best
    }

    fn on_path(&self, change: &FileChange) -> Option<Runner> {
        let runs = match &change.after {
            PathState::File { attrs, .. } => attrs.mode & 0o111 != 0,
            PathState::Link { .. } => true,
            _ => false,
        };
        self.protected.on_path(&change.path).filter(|_| runs)
    }
}

/// The repositories that `set` makes of directories in which something is that git runs or obeys from then on.
fn completed_repositories(set: &ChangeSet) -> BTreeMap<&Path, Runner> {
    let created = set.repository_changes.iter().filter(|change| change.fate == RepositoryChangeKind::Created);
    let runner = |change: &RepositoryChange| {
        let quiet = change.facts.iter().filter(|fact| set.get(fact.file()).is_none());
        let (file, why) = quiet.filter_map(|fact| Some((fact.file(), fact.runs()?))).next()?;
        let name = file.strip_prefix(&change.path).unwrap_or(file).display();
        let why = format!("it completes a git repository that already has `{name}`: {why}");
        Some(Runner { by: "git".into(), why })
    };
    created.filter_map(|change| Some((change.path.as_path(), runner(change)?))).collect()
}

/// The class of a path below a root. The root's own last names count as well: in the root `~/.config` a new
/// `autostart/x.desktop` starts with the desktop. A work tree that an agent keeps in its own directory, such as
/// `.claude/worktrees/one`, is a project like any other.
pub(in crate::workspace) fn class_below(
    protected: &ProtectedPaths,
    root: &Path,
    relative: &Path,
) -> PathClass {
    let own = protected.class_of(relative);
    let names: Vec<&OsStr> = root.iter().rev().take(3).collect();
    if matches!(own, PathClass::RunsLater(_)) || names.iter().any(|name| *name == "worktrees") {
        return own;
    }
    for count in 1..=names.len() {
        let prefix: PathBuf = names.iter().take(count).rev().collect();
        let first = prefix.as_os_str().as_encoded_bytes();
        // Directories with plain names may be anything.
        if !(first.starts_with(b".") || first.starts_with(b"etc/") || first == b"etc") {
            continue;
        }
        let class = protected.class_of(&prefix.join(relative));
        if matches!(class, PathClass::RunsLater(_)) {
            return class;
        }
    }
    own
}

fn rank(class: &PathClass) -> u8 {
    match class {
        PathClass::Ordinary => 0,
        PathClass::RunsWithBuild(_) => 1,
        PathClass::Repository(_) => 2,
        PathClass::RunsLater(_) => 3,
    }
}

/// True when a file that a tool would write at `path` runs later by another of its names, or from a directory of
/// `PATH`.
pub(in crate::workspace) fn is_reached(path: &Path, roots: &[PathBuf], protected: &ProtectedPaths) -> bool {
    use std::os::unix::fs::MetadataExt;
    let mode = std::fs::symlink_metadata(path).map_or(0o644, |meta| meta.mode() & 0o7777);
    let attrs = crate::workspace::files::path_state::FileAttrs {
        mode,
        ..crate::workspace::files::path_state::FileAttrs::default()
    };
    let after = PathState::File { hash: blake3::hash(b""), size: 0, attrs };
    let change = FileChange {
        path: path.to_path_buf(),
        before: PathState::Absent,
        after,
        content: None,
        moved_from: None,
        twin: None,
        raced: false,
        by_tool: true,
        steps: Vec::new(),
    };
    let exists = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    let is = |dir: &Path| exists(dir) && is_repository(dir, &exists);
    let read = |file: &Path, most| crate::text::regular_file::read(file, most).ok();
    let hook_dirs = GitHookDirs::find([path], &is, &[&read]);
    let set = ChangeSet { hook_dirs, ..ChangeSet::new(vec![change]) };
    let classifier = ChangeClassifier::new(&set, roots, protected);
    set.changes.first().is_some_and(|c| matches!(classifier.classify(c), ChangeClass::RunsLater(_)))
}

impl View {
    /// What each change of `set` means.
    pub fn classify(&self, set: &ChangeSet) -> ChangeClasses {
        let protected = self.protected();
        let classifier = ChangeClassifier::new(set, self.roots(), &protected);
        let mut by_path = BTreeMap::new();
        for change in &set.changes {
            match classifier.classify(change) {
                ChangeClass::Ordinary => {}
                class => drop(by_path.insert(change.path.clone(), class)),
            }
        }
        let (roots, limit) = (self.roots().to_vec(), self.loss_limit());
        let losses = loss::losses(set, &roots, limit, &|_| true);
        ChangeClasses { by_path, losses, roots, limit }
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
