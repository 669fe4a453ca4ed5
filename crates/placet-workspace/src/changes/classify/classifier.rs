//! The class of each change, by its name, by what it does, and by where links lead.

use super::class::ChangeClass;
use super::leading_link;
use super::links::LinkIndex;
use super::loss;
use super::scope::ClassifyScope;
use super::unseen_links::SearchBounds;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::metadata::attributes;
use crate::files::metadata::path_state::PathState;
use crate::files::metadata::shared_state::SharedState;
use crate::repository::{
    ConfiguredFiles, FileForm, RepositoryChange, RepositoryChangeKind, is_repository, outside_content,
};
use placet_permission::{PathClass, ProtectedPaths, Runner};
use placet_text::text::visible;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is needed to classify a set, collected once for all of its changes.
pub(crate) struct ChangeClassifier<'a> {
    scope: ClassifyScope<'a>,
    links: LinkIndex,
    /// Repositories that `set` completes, and what git runs in them that was there before.
    completed: BTreeMap<&'a Path, Runner>,
}

/// Files that make a directory a repository.
pub(in crate::changes) const COMPLETING: [&str; 5] = ["HEAD", "commondir", "objects", "refs", "reftable"];

impl<'a> ChangeClassifier<'a> {
    pub(crate) fn new(
        set: &'a ChangeSet,
        roots: &'a [PathBuf],
        protected: &'a ProtectedPaths,
    ) -> ChangeClassifier<'a> {
        ChangeClassifier::within(set, roots, protected, &SearchBounds::of_program())
    }

    pub(super) fn within(
        set: &'a ChangeSet,
        roots: &'a [PathBuf],
        protected: &'a ProtectedPaths,
        bounds: &SearchBounds,
    ) -> ChangeClassifier<'a> {
        let completed = completed_repositories(set);
        let scope = ClassifyScope { set, roots, protected };
        let links = LinkIndex::find(&scope, bounds);
        ChangeClassifier { scope, links, completed }
    }

    /// What the change means. A write to a file that has several names changes the file under all of them, so such a change
    /// waits for an answer of its own, whatever the name is.
    pub(crate) fn classify(&self, change: &FileChange) -> ChangeClass {
        let class = self.by_one_name(change);
        let Some(names) = self.links.other_names(change, &self.scope) else { return class };
        match class {
            ChangeClass::LargeLoss(_) => class,
            ChangeClass::RunsLater(Runner { by, why }) => {
                ChangeClass::RunsLater(Runner { by, why: format!("{why}; {}", names.why) })
            }
            ChangeClass::Ordinary | ChangeClass::RunsWithBuild(_) => ChangeClass::RunsLater(names),
        }
    }

    /// The same without its other names, except for those that are protected.
    fn by_one_name(&self, change: &FileChange) -> ChangeClass {
        if let Some(loss) = loss::removed_repository(self.scope.set, change) {
            return ChangeClass::LargeLoss(loss);
        }
        if let Some(runner) = self.completes_repository(change) {
            return ChangeClass::RunsLater(runner.clone());
        }
        let plain = |node: &PathState| node.is_directory() || node.is_absent();
        if plain(&change.before) && plain(&change.after) {
            // A directory by itself runs nothing. The removal of a directory also removes what runs in it, and
            // represents all of these changes.
            let class = if change.after.is_absent() { self.of_deleted(&change.path) } else { None };
            return class.unwrap_or(ChangeClass::Ordinary);
        }
        if change.after.is_absent() {
            let class = self.of_deleted(&change.path).or_else(|| self.by_facts(&change.path));
            return class.unwrap_or(ChangeClass::Ordinary);
        }
        if let Some(runner) = self.on_path(change).or_else(|| self.gains_rights(change)) {
            return ChangeClass::RunsLater(runner);
        }
        let form =
            if matches!(*change.after, PathState::Link { .. }) { FileForm::Link } else { FileForm::File };
        if let Some(runner) = self.scope.by_settings(&change.path, form) {
            return ChangeClass::RunsLater(runner);
        }
        if let Some(class) = self.in_repository(change) {
            return class;
        }
        let class = self.scope.of_path(&change.path);
        if let PathClass::RunsLater(runner) = class {
            return ChangeClass::RunsLater(runner);
        }
        // Also what the next build runs may be what a link with a protected name leads to.
        match (self.by_links(change), class) {
            (Some(runner), _) => ChangeClass::RunsLater(runner),
            (None, PathClass::RunsWithBuild(runner)) => ChangeClass::RunsWithBuild(runner),
            (None, _) => ChangeClass::Ordinary,
        }
    }

    /// Who runs the file by another name, or other files by the link that it is.
    fn by_links(&self, change: &FileChange) -> Option<Runner> {
        let other_name = self.links.of(change, &self.scope);
        other_name.or_else(|| leading_link::runner(change, &self.links, &self.scope))
    }

    /// Who runs or obeys the file `rel` of a commit later, where it is checked out: by its name, by links to it, and by
    /// settings. `work_tree` is that of the repository, if it is known. For the mode of a directory: who runs files below it.
    pub(crate) fn of_committed(&self, work_tree: Option<&Path>, rel: &Path, mode: u32) -> Option<Runner> {
        const EXECUTABLE: u32 = 0o111;
        const KIND: u32 = 0o170_000;
        const DIRECTORY: u32 = 0o040_000;
        let later = |class| match class {
            PathClass::RunsLater(runner) => Some(runner),
            _ => None,
        };
        let is_link = mode & KIND == 0o120_000;
        if mode & KIND == DIRECTORY {
            return self.leading_name(rel);
        }
        if let Some(runner) = later(self.scope.protected.class_of(rel)) {
            return Some(runner);
        }
        // A link with such a name leads to files with plain names. What a link with an everyday name leads to is in the tree.
        let is_hidden = || rel.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if is_link
            && is_hidden()
            && let Some(runner) = self.leading_name(rel)
        {
            return Some(runner);
        }
        let path = work_tree?.join(rel);
        if is_link && let Some(runner) = leading_link::of_way(&path, &self.links, &self.scope) {
            return Some(runner);
        }
        let on_path = || self.scope.protected.on_path(&path).filter(|_| is_link || mode & EXECUTABLE != 0);
        if let Some(runner) = later(self.scope.of_path(&path)).or_else(on_path) {
            return Some(runner);
        }
        let form = if is_link { FileForm::Link } else { FileForm::File };
        let by_settings = self.scope.by_settings(&path, form);
        by_settings.or_else(|| self.links.of_path(&path, &self.scope))
    }

    fn leading_name(&self, rel: &Path) -> Option<Runner> {
        let leads = rel.iter().any(|name| self.scope.protected.leads(name));
        let why = || format!("it is a link, and programs run files below `{}`", visible::path(rel));
        leads.then(|| Runner { by: "git".into(), why: why() })
    }

    /// A directory may get hooks and settings first, as ordinary files, and become a repository in a later turn.
    fn completes_repository(&self, change: &FileChange) -> Option<&Runner> {
        if self.completed.is_empty() || change.after.is_absent() {
            return None;
        }
        let repository = self.scope.set.repositories.of(&change.path)?;
        let runner = self.completed.get(repository)?;
        let rel = change.path.strip_prefix(repository).ok()?;
        COMPLETING.iter().any(|name| rel.starts_with(name)).then_some(runner)
    }

    /// A submodule's own directory in `.git` may get hooks and settings first, and become a repository in a later turn:
    /// until then its names count.
    fn in_unfinished_module(&self, path: &Path) -> Option<Runner> {
        let rel = path.strip_prefix(self.scope.set.repositories.nearest(path)?).ok()?;
        if !(rel.starts_with("modules") || rel.starts_with("worktrees")) {
            return None;
        }
        match self.scope.protected.class_of(&Path::new(".git").join(rel)) {
            PathClass::RunsLater(runner) => Some(runner),
            _ => None,
        }
    }

    /// In a repository, whatever its directory is called, the content of the file decides and not its name: most
    /// changes of `config` run nothing. Names with a meaning outside of `.git` keep their meaning: a directory that
    /// only looks like a repository must not make `.envrc` ordinary, nor what a link with such a name leads to.
    fn in_repository(&self, change: &FileChange) -> Option<ChangeClass> {
        let path = &*change.path;
        let repository = self.scope.set.repositories.of(path)?;
        let known = self.scope.set.repository_changes.iter().find(|c| c.path == repository)?;
        if let Some(class) = self.by_facts(path) {
            return Some(class);
        }
        // Settings wait by what they say. A new repository has only what placet writes, or waits as a whole.
        let waits = known.fate == RepositoryChangeKind::Changed && !path.ends_with("config");
        if waits && self.scope.set.repositories.is_applied_by_name(path) {
            return Some(ChangeClass::RunsLater(Runner { by: "git".into(), why: "git obeys it".into() }));
        }
        if let Some(runner) = self.in_unfinished_module(path) {
            return Some(ChangeClass::RunsLater(runner));
        }
        let in_git = path.iter().any(|name| name == ".git");
        if !in_git && self.scope.of_path(path).runs_later() {
            return None;
        }
        // A link to a file that git writes is no everyday thing: only one that was found counts, so that a commit in a large
        // workspace is one change to approve and not a hundred.
        let runner = match self.scope.set.repositories.is_written_by_git(path) {
            true => self.links.found(change, &self.scope),
            false => self.by_links(change),
        };
        Some(runner.map_or(ChangeClass::Ordinary, ChangeClass::RunsLater))
    }

    /// What git runs or obeys because of the change of a file in a repository, or because it is gone.
    fn by_facts(&self, path: &Path) -> Option<ChangeClass> {
        let repository = self.scope.set.repositories.of(path)?;
        let known = self.scope.set.repository_changes.iter().find(|c| c.path == repository)?;
        let why = known.runs(path)?;
        Some(ChangeClass::RunsLater(Runner { by: "git".into(), why }))
    }

    /// The removal of a directory is classified by the directory itself; in a directory that stays, the file's own name
    /// counts.
    fn of_deleted(&self, path: &Path) -> Option<ChangeClass> {
        let goes = |dir: &&Path| {
            self.scope.set.get(dir).is_some_and(|c| c.before.is_directory() && !c.after.is_directory())
        };
        let top = path.ancestors().skip(1).take_while(|dir| goes(dir)).last().unwrap_or(path);
        // The content of a removed repository is part of that loss.
        let repository = path
            .ancestors()
            .any(|at| self.scope.set.get(at).is_some_and(|c| loss::removes_repository(self.scope.set, c)));
        match self.scope.of_path(top) {
            PathClass::RunsLater(runner) if !repository => Some(ChangeClass::RunsLater(runner)),
            _ => None,
        }
    }

    /// A program that runs with the rights of its owner or its group, and did not before.
    fn gains_rights(&self, change: &FileChange) -> Option<Runner> {
        let moved = change.moved_from.as_ref().and_then(|from| self.scope.set.get(from));
        let before = moved.map_or(&change.before, |moved| &moved.before);
        let why = attributes::gained_rights(before, &change.after)?;
        Some(Runner { by: "the system".into(), why: why.into() })
    }

    fn on_path(&self, change: &FileChange) -> Option<Runner> {
        let runs = match &*change.after {
            PathState::File { attrs, .. } => attrs.mode & 0o111 != 0,
            PathState::Link { .. } => true,
            _ => false,
        };
        runs.then(|| self.scope.protected.on_path(&change.path)).flatten()
    }
}

/// The repositories that `set` makes of directories in which something is that git runs or obeys from then on.
pub(super) fn completed_repositories(set: &ChangeSet) -> BTreeMap<&Path, Runner> {
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

/// True when a file that a tool would write at `path` runs later by another of its names, or from a directory of
/// `PATH`.
pub(crate) fn is_reached(path: &Path, roots: &[PathBuf], protected: &ProtectedPaths) -> bool {
    use std::os::unix::fs::MetadataExt;
    let mode = std::fs::symlink_metadata(path).map_or(0o644, |meta| meta.mode() & 0o7777);
    let attrs = crate::files::metadata::path_state::FileAttrs {
        mode,
        ..crate::files::metadata::path_state::FileAttrs::default()
    };
    let after = PathState::File { hash: blake3::hash(b""), size: 0, attrs };
    let change = FileChange {
        path: path.into(),
        before: SharedState::default(),
        after: after.into(),
        content: None,
        moved_from: None,
        twin: None,
        raced: false,
        by_tool: true,
        steps: Arc::default(),
    };
    let exists = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    let is = |dir: &Path| exists(dir) && is_repository(dir, &exists);
    let configured = ConfiguredFiles::find([path], &is, &[&outside_content]);
    let set = ChangeSet { configured, ..ChangeSet::new(vec![change]) };
    let classifier = ChangeClassifier::new(&set, roots, protected);
    set.changes.first().is_some_and(|c| matches!(classifier.by_one_name(c), ChangeClass::RunsLater(_)))
}
