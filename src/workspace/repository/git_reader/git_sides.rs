//! A repository in its two states: before a change set and after it.

use super::budget::ReadDeadline;
use super::object_id::ObjectId;
use super::object_store::ObjectReader;
use super::refs::RefReader;
use super::repository_files::{RepositoryFiles, read};
use std::path::{Path, PathBuf};

/// A repository in its two states.
pub(in crate::workspace) struct GitSides<'a> {
    /// Its directory, absolute. That of a linked worktree lies in another repository.
    pub(in crate::workspace) dir: &'a Path,
    pub(in crate::workspace) before: &'a dyn RepositoryFiles,
    pub(in crate::workspace) after: &'a dyn RepositoryFiles,
    /// The files in `dir` that differ, and in no repository below it; each with whether it is gone afterwards.
    pub(in crate::workspace) changed: &'a [(&'a Path, bool)],
    /// Those of them that hold one object, where `changed` is without them.
    pub(in crate::workspace) loose_objects: &'a [&'a Path],
    /// Files of settings that hold for all repositories of the person.
    pub(in crate::workspace) person_settings: &'a [PathBuf],
    /// When reading ends, for all repositories of the list.
    pub(in crate::workspace) deadline: ReadDeadline,
}

impl<'a> GitSides<'a> {
    /// Without settings of the person, by which a commit of somebody else is named, and without objects.
    pub(in crate::workspace) fn of(
        dir: &'a Path,
        (before, after): (&'a dyn RepositoryFiles, &'a dyn RepositoryFiles),
        changed: &'a [(&'a Path, bool)],
        deadline: ReadDeadline,
    ) -> GitSides<'a> {
        GitSides { dir, before, after, changed, loose_objects: &[], person_settings: &[], deadline }
    }
}

/// One state of a repository.
pub(super) struct RepositorySide<'a> {
    pub(super) refs: RefReader<'a>,
    pub(super) objects: ObjectReader<'a>,
}

/// Where refs and objects are: the directory itself or, for a linked worktree in its usual place, the repository around
/// it. `None` for any other place: what a repository names may be anybody's.
pub(super) fn common_dir(files: &dyn RepositoryFiles, dir: &Path) -> Option<PathBuf> {
    match read(files, &dir.join("commondir"), 4 << 10) {
        None => Some(dir.to_path_buf()),
        Some(text) if text.trim_ascii() == b"../.." => Some(dir.parent()?.parent()?.to_path_buf()),
        Some(_) => None,
    }
}

/// Bytes of an object's name, as the refs have them: all names of a repository have the same.
pub(super) fn width(refs: &[&RefReader<'_>]) -> usize {
    let of = |refs: &&RefReader<'_>| {
        let id = refs.head_commit().or_else(|| refs.packed()?.any());
        id.as_ref().map(ObjectId::width)
    };
    refs.iter().find_map(of).unwrap_or(20)
}
