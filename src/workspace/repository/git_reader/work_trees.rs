//! Where the files of a repository are checked out: a program may look for them only there.

use super::repository_files::{RepositoryFiles, read};
use crate::workspace::repository::config::{LARGEST, settings};
use crate::workspace::repository::flat;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The places of the work tree of a repository: that which its settings say, and that which its own place says. None for
/// a repository that has none.
pub(in crate::workspace) fn work_trees(repository: &Path, files: &dyn RepositoryFiles) -> Vec<PathBuf> {
    let parent = repository.parent().filter(|_| repository.ends_with(".git")).map(Path::to_path_buf);
    let found = [parent, module_place(repository), named(repository, files), linked(repository, files)];
    let mut found: Vec<PathBuf> = found.into_iter().flatten().collect();
    found.sort();
    found.dedup();
    found
}

/// The repository that the `.git` at `file` leads to, which is a file or a link.
pub(in crate::workspace) fn leads_to(file: &Path, files: &dyn RepositoryFiles) -> Option<PathBuf> {
    let around = file.parent()?;
    if let Ok(target) = std::fs::read_link(files.real(file)?) {
        return Some(flat(&around.join(target)));
    }
    let text = read(files, file, LARGEST)?;
    let named = text.strip_prefix(b"gitdir:")?.trim_ascii();
    Some(flat(&around.join(OsStr::from_bytes(named))))
}

/// True where the settings say that nothing is checked out.
pub(in crate::workspace) fn is_bare(repository: &Path, files: &dyn RepositoryFiles) -> bool {
    let text = read(files, &repository.join("config"), LARGEST).unwrap_or_default();
    let (settings, _) = settings(&text);
    let value = settings.get(b"core.bare".as_slice()).and_then(|values| values.last());
    value.is_some_and(|value| value.as_deref().is_none_or(|value| value.eq_ignore_ascii_case(b"true")))
}

/// `.git/modules/a/modules/b` is the repository of the submodule `b` in the submodule `a`.
fn module_place(repository: &Path) -> Option<PathBuf> {
    let git = repository.ancestors().filter(|dir| dir.ends_with(".git")).last()?;
    let mut names = repository.strip_prefix(git).ok()?.iter();
    let mut place = git.parent()?.to_path_buf();
    if names.next()? != "modules" {
        return None;
    }
    place.extend(names.filter(|name| *name != "modules"));
    Some(place)
}

/// `core.worktree`, from the repository on.
fn named(repository: &Path, files: &dyn RepositoryFiles) -> Option<PathBuf> {
    let of = |name: &str| {
        let (settings, _) = settings(&read(files, &repository.join(name), LARGEST)?);
        settings.get(b"core.worktree".as_slice())?.last()?.clone()
    };
    let place = of("config.worktree").or_else(|| of("config"))?;
    Some(flat(&repository.join(OsStr::from_bytes(&place))))
}

/// `gitdir` names the `.git` file of a linked worktree.
fn linked(repository: &Path, files: &dyn RepositoryFiles) -> Option<PathBuf> {
    let text = read(files, &repository.join("gitdir"), LARGEST)?;
    let file = flat(&repository.join(OsStr::from_bytes(text.trim_ascii())));
    file.parent().map(Path::to_path_buf)
}
