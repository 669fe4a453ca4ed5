//! The git directories of a change set, and which of their files git applies.

use super::super::View;
use super::layer_source::LayerSource;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::content::sparse::read_small_at;
use crate::files::walking::dirs_above::DirsAbove;
use crate::repository::{
    DirectoryFate, GitDirs, RepositoryFile, RepositorySet, WorkTree, flat, is_below_git, is_linked_worktree,
};
use placet_git::{CheckoutName, ObjectId, RepositoryQuestion, RepositorySource, limit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A git directory with changes that git applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitDirectory {
    pub(super) path: PathBuf,
    pub(super) fate: DirectoryFate,
}

pub(super) fn is_repository_on_disk(dir: &Path) -> bool {
    let has = |name: &str| dir.join(name).symlink_metadata().is_ok();
    has("HEAD")
        && has("objects")
        && (is_below_git(dir) || read_small_at(&dir.join("HEAD")).is_ok_and(|head| is_head(&head)))
}

/// What lies in a `.git` is a repository for everybody. Any other directory is one only with a `HEAD` that git accepts: a
/// project may have a file of that name.
fn is_head(content: &[u8]) -> bool {
    match content.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii().starts_with(b"refs/"),
        None => ObjectId::from_hex(content.trim_ascii_end()).is_some(),
    }
}

/// Where the files of a checkout are: by the settings or the place of its repository, by its registration, or where a `.git` file
/// of the workspace above a change of `set` leads to it.
pub(super) fn checkout_place(
    set: &ChangeSet,
    (git_dir, question): (&Path, &RepositoryQuestion),
    checkout: &CheckoutName,
) -> Option<PathBuf> {
    if let CheckoutName::Linked(name) = checkout {
        return question.worktree_path(name);
    }
    main_place(git_dir, set.changes.iter().map(|change| &*change.path))
}

/// The same of the main checkout, with `changed` paths.
pub(super) fn main_place<'p>(git_dir: &Path, changed: impl Iterator<Item = &'p Path>) -> Option<PathBuf> {
    let leads_to_it = |dir: &&Path| {
        let file = dir.join(".git");
        flat(&GitDirs::own(&file, &|path, _| read_small_at(path).ok())) == git_dir
    };
    let mut dirs = DirsAbove::default();
    let mut above = changed.flat_map(|path| dirs.new_above(path));
    let by_itself = WorkTree::of(git_dir).place().map(Path::to_path_buf);
    by_itself.or_else(|| above.find(leads_to_it).map(Path::to_path_buf))
}

impl GitDirectory {
    /// True where git applies the change, or nobody does: no byte of the file is applied.
    pub(super) fn has(&self, set: &ChangeSet, change: &FileChange) -> bool {
        if set.repositories.common(&change.path) != Some(&self.path) {
            return false;
        }
        // A repository that is new is made with its contents, and moved into place.
        let is_by_itself = |change: &FileChange| match self.file(change) {
            RepositoryFile::Named => true,
            RepositoryFile::LfsContent => self.fate == DirectoryFate::Changed,
            _ => false,
        };
        if change.before.is_directory() || change.after.is_directory() {
            // A directory that comes for such a file comes as one.
            let rel = change.path.strip_prefix(&self.path).unwrap_or(Path::new(""));
            let is_place = change.after.is_directory()
                && rel != Path::new("objects")
                && (rel.iter().count() <= 2 || rel.starts_with("lfs"));
            let below = || set.below(&change.path).into_iter().filter_map(|path| set.get(&path));
            return !(is_place && below().any(is_by_itself));
        }
        !is_by_itself(change) && self.file(change) != RepositoryFile::OfProject
    }

    fn file(&self, change: &FileChange) -> RepositoryFile {
        RepositoryFile::of(&self.path, self.fate, change)
    }
}

impl View {
    /// What happens to a git directory with pending changes; `None` where git reads no repository there.
    pub(super) fn fate_of_directory(&self, dir: &Path) -> Option<DirectoryFate> {
        let source = LayerSource::of(self, dir);
        let has = |name: &str| source.identity(Path::new(name)).is_ok_and(|found| found.is_some());
        if is_repository_on_disk(dir) {
            // Where all of it goes, its files are removed; a part that goes makes it a repository that git refuses.
            return has("").then_some(DirectoryFate::Changed);
        }
        let head = || source.read(Path::new("HEAD"), limit::REF).ok().flatten();
        let is_created = has("HEAD")
            && has("objects")
            && (is_below_git(dir) || head().is_some_and(|file| is_head(&file.bytes)));
        is_created.then_some(DirectoryFate::Created)
    }

    /// The repositories whose pending changes git carries.
    pub(in crate::view) fn carried_repositories(
        &self,
        repositories: &RepositorySet,
    ) -> BTreeMap<PathBuf, DirectoryFate> {
        let dirs = repositories.all().filter(|dir| !is_linked_worktree(dir) && self.locate(dir).is_some());
        dirs.filter_map(|dir| Some((dir.to_path_buf(), self.fate_of_directory(dir)?))).collect()
    }

    /// The git directories whose changes are not applied as files. The outer ones come first.
    pub(super) fn git_directories(&self, set: &ChangeSet) -> Vec<GitDirectory> {
        let dirs =
            set.repositories.all().filter(|dir| !is_linked_worktree(dir) && self.locate(dir).is_some());
        let found = dirs.filter_map(|dir| {
            Some(GitDirectory { path: dir.to_path_buf(), fate: self.fate_of_directory(dir)? })
        });
        let has_change = |dir: &GitDirectory| {
            let from = set.changes.partition_point(|change| *change.path < *dir.path);
            let below = set.changes.get(from..).unwrap_or_default().iter();
            below.take_while(|change| change.path.starts_with(&dir.path)).any(|change| dir.has(set, change))
        };
        found.filter(has_change).collect()
    }
}
