//! Which directories are repositories: all of them are found by the names in them alone, as
//! [`placet_permission::is_repository`] says, so that no `.git` file has to be found and followed first.

use crate::files::walking::dirs_above::DirsAbove;
use placet_git::{GitFileClass, GitName, class_of};
use placet_permission::{is_git_name, is_repository};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The repositories that some paths lie in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepositorySet {
    /// Every one that was found, also inside another: modules and linked worktrees.
    all: BTreeSet<PathBuf>,
    /// Those that a change set removes.
    removed: Vec<PathBuf>,
    /// Those whose pending changes git carries.
    carried: BTreeMap<PathBuf, DirectoryFate>,
}

impl RepositorySet {
    /// Looks at every directory above `paths`, but not above the root that holds it: what lies above the workspace is
    /// not its business. `exists` answers for all states that matter (before and after a change).
    pub(crate) fn recognise<'a>(
        paths: impl IntoIterator<Item = &'a Path>,
        roots: &[PathBuf],
        exists: &dyn Fn(&Path) -> bool,
    ) -> RepositorySet {
        let mut known: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let mut dirs = DirsAbove::default();
        for path in paths {
            let within = |dir: &&Path| roots.iter().any(|root| dir.starts_with(root));
            for dir in std::iter::once(path).chain(dirs.new_above(path)) {
                // The root itself may lie in a `.git`.
                if is_git_name(dir) {
                    known.insert(dir.to_path_buf(), true);
                } else if within(&dir) && !known.contains_key(dir) {
                    // In a `.git`, nothing is asked about the directories of objects and refs, of which there are many.
                    let around = dir.ancestors().skip(1).find(|around| is_git_name(around));
                    let is_part = around.is_some_and(|around| !may_hold(around, dir));
                    known.insert(dir.to_path_buf(), !is_part && is_repository(dir, exists));
                }
            }
        }
        // In the order of paths, so that what lies around a directory comes before it.
        let mut found = RepositorySet::default();
        for (dir, _) in known.into_iter().filter(|(_, is)| *is) {
            if found.nearest(&dir).is_none_or(|around| may_hold(around, &dir)) {
                found.all.insert(dir);
            }
        }
        found
    }

    /// The repository that is applied and undone as one when `path` is in it: the outermost.
    pub fn of<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.around(path).last()
    }

    /// The innermost one: a submodule's own, a linked worktree's own.
    pub fn nearest<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        self.around(path).next()
    }

    /// Those that hold `path`, the innermost first. Most sets have none, and each change asks several times.
    fn around<'p>(&self, path: &'p Path) -> impl Iterator<Item = &'p Path> {
        let above = (!self.all.is_empty()).then(|| path.ancestors());
        above.into_iter().flatten().filter(|dir| self.all.contains(*dir))
    }

    /// The repository that a path belongs to: with linked worktrees, without submodules in it.
    pub(crate) fn common<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let nearest = self.nearest(path)?;
        if !is_linked_worktree(nearest) {
            return Some(nearest);
        }
        let around = nearest.parent().and_then(Path::parent);
        around.filter(|dir| self.nearest(dir) == Some(*dir)).or(Some(nearest))
    }

    /// What happens to the repository at `dir`, if git applies it.
    pub(super) fn fate(&self, dir: &Path) -> Option<DirectoryFate> {
        self.carried.get(dir).copied()
    }

    /// True for what a list of changes counts and does not name, because rows say what it does to the repository: files that
    /// git writes, the settings, and all of a repository that is removed. Only in a change set of a view is it known which
    /// other directories than `.git` are repositories.
    pub fn is_written_by_git(&self, path: &Path) -> bool {
        let Some(dir) = self.nearest(path) else { return self.is_removed(path) };
        let is_of_settings = ["config", "config.worktree"].iter().any(|name| dir.join(name) == path);
        self.is_removed(path)
            || is_of_settings
            || !self.is_applied_by_name(path)
                && (dir == path
                    || is_below_git(dir)
                    || self.carried.contains_key(dir) && !is_foreign(dir, path))
    }

    /// True for a file in a repository that a change set removes.
    pub fn is_removed(&self, path: &Path) -> bool {
        self.removed.iter().any(|dir| path.starts_with(dir))
    }

    /// True for a file of a repository that runs or configures something.
    pub(crate) fn is_applied_by_name(&self, path: &Path) -> bool {
        let rel = self.nearest(path).and_then(|dir| path.strip_prefix(dir).ok());
        rel.is_some_and(|rel| class_of(&GitName::from(rel)) == GitFileClass::OfGit)
    }

    /// Every one of them, also inside another.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().map(PathBuf::as_path)
    }

    /// The outermost ones.
    pub fn outermost(&self) -> impl Iterator<Item = &Path> {
        self.all.iter().map(PathBuf::as_path).filter(|dir| self.of(dir) == Some(*dir))
    }

    pub(crate) fn with_removed(self, removed: Vec<PathBuf>) -> RepositorySet {
        RepositorySet { removed, ..self }
    }

    pub(crate) fn with_carried(self, carried: BTreeMap<PathBuf, DirectoryFate>) -> RepositorySet {
        RepositorySet { carried, ..self }
    }

    pub(crate) fn extend(&mut self, more: impl IntoIterator<Item = PathBuf>) {
        self.all.extend(more);
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

/// What happens to a repository that git applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryFate {
    Created,
    Changed,
}

fn is_foreign(git_dir: &Path, path: &Path) -> bool {
    path.strip_prefix(git_dir).is_ok_and(|rel| class_of(&GitName::from(rel)) == GitFileClass::Foreign)
}

/// What lies in a `.git` and is not applied by its name is of git, or is not applied at all. A directory of a project may only
/// look like a bare repository: its own files are files.
pub(crate) fn is_below_git(dir: &Path) -> bool {
    dir.ancestors().any(is_git_name)
}

/// Where a repository has others in it: those of submodules and of linked worktrees. Anything else in it that looks like one
/// is made of files that the outer one reads: `hooks` with the three names in it has hooks all the same.
fn may_hold(repository: &Path, dir: &Path) -> bool {
    let Ok(rel) = dir.strip_prefix(repository) else { return false };
    let depth = rel.iter().count();
    is_git_name(dir) || rel.starts_with("modules") && depth > 1 || rel.starts_with("worktrees") && depth == 2
}

/// True for the directory of a linked worktree, which is a part of the repository around it and has no objects of its own. A
/// repository that lies in a project's directory of that name is none.
pub(crate) fn is_linked_worktree(dir: &Path) -> bool {
    let around = dir.parent().filter(|parent| parent.ends_with("worktrees")).and_then(Path::parent);
    let has = |dir: &Path, name: &str| dir.join(name).symlink_metadata().is_ok();
    let is_one = |dir: &Path| is_git_name(dir) || has(dir, "HEAD") && has(dir, "objects");
    !is_git_name(dir) && !has(dir, "objects") && around.is_some_and(is_one)
}

/// Where a repository names other directories of objects.
pub(super) const ALTERNATES: &str = "objects/info/alternates";

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str], path: &str) -> (Option<PathBuf>, Option<PathBuf>) {
        let files: Vec<PathBuf> = files.iter().map(|f| Path::new("/w").join(f)).collect();
        let exists = |path: &Path| files.iter().any(|f| f.starts_with(path));
        let path = Path::new("/w").join(path);
        let found = RepositorySet::recognise([path.as_path()], &[PathBuf::from("/w")], &exists);
        let text = |p: Option<&Path>| p.map(Path::to_path_buf);
        (text(found.of(&path)), text(found.nearest(&path)))
    }

    #[test]
    fn a_repository_is_known_by_what_is_in_it() {
        let at = |dir: &str| Some(Path::new("/w").join(dir));
        let bare = ["gd/HEAD", "gd/objects/x", "gd/refs/heads/m"];
        assert_eq!(found(&bare, "gd/config"), (at("gd"), at("gd")));
        assert_eq!(found(&bare, "gd"), (at("gd"), at("gd")));
        assert_eq!(found(&bare, "other/config"), (None, None));
        assert_eq!(found(&["gd/HEAD", "gd/objects/x", "gd/reftable/x"], "gd/hooks/a").0, at("gd"));
        assert_eq!(found(&["gd/HEAD", "gd/objects/x"], "gd/hooks/a").0, None);
        assert_eq!(found(&["game/objects/x", "game/refs/x"], "game/objects/y").0, None);
        // The common part of a repository needs no HEAD, and the rest of it nothing but that and the way there.
        assert_eq!(found(&["c/objects/x", "c/refs/x", "c/hooks/h"], "c/hooks/h").0, at("c"));
        assert_eq!(found(&["g/HEAD", "g/commondir"], "g/config.worktree").0, at("g"));
        // By its name alone, also when it is a file, and when there is nothing in it yet.
        assert_eq!(found(&[".git"], ".git").0, at(".git"));
        assert_eq!(found(&[], "sub/.git/hooks/x").0, at("sub/.git"));
        // The workspace itself.
        assert_eq!(found(&["HEAD", "objects/a", "refs/a"], "src/main.rs").0, Some(PathBuf::from("/w")));
    }

    #[test]
    fn what_is_inside_a_repository_belongs_to_the_outermost() {
        let at = |dir: &str| Some(Path::new("/w").join(dir));
        let files = [".git/HEAD", ".git/modules/a/HEAD", ".git/modules/a/objects/x", ".git/modules/a/refs/x"];
        assert_eq!(found(&files, ".git/modules/a/config"), (at(".git"), at(".git/modules/a")));
        let files = [".git/HEAD", ".git/worktrees/w/HEAD", ".git/worktrees/w/commondir"];
        assert_eq!(found(&files, ".git/worktrees/w/index"), (at(".git"), at(".git/worktrees/w")));
    }

    #[test]
    fn a_part_of_a_repository_that_looks_like_one_is_that_part() {
        let at = |dir: &str| Some(Path::new("/w").join(dir));
        let parts =
            ["hooks", "refs", "info", "objects", "rebase-merge", "modules", "worktrees/w/rebase-merge"];
        for part in parts {
            let names = ["objects", "refs", "info"].map(|name| format!(".git/{part}/{name}/x"));
            let around = [".git/worktrees/w/HEAD", ".git/worktrees/w/commondir"];
            let files: Vec<&str> = names.iter().map(String::as_str).chain(around).collect();
            let own = if part.starts_with("worktrees") { ".git/worktrees/w" } else { ".git" };
            assert_eq!(found(&files, &format!(".git/{part}/config")), (at(".git"), at(own)), "{part}");
        }
        // A project may look like a repository, and have some in it.
        let files = ["HEAD", "objects/a", "refs/a", "lib/.git/HEAD"];
        assert_eq!(found(&files, "lib/.git/config"), (Some(PathBuf::from("/w")), at("lib/.git")));
    }

    #[test]
    fn what_lies_above_the_roots_is_left_alone_but_for_its_name() {
        let exists = |path: &Path| ["/p/HEAD", "/p/objects", "/p/refs"].iter().any(|f| Path::new(f) == path);
        let (root, path) = (PathBuf::from("/p/main"), PathBuf::from("/p/main/a"));
        assert!(RepositorySet::recognise([path.as_path()], &[root], &exists).is_empty());
        let (root, path) = (PathBuf::from("/p/.git/x"), PathBuf::from("/p/.git/x/a"));
        let found = RepositorySet::recognise([path.as_path()], &[root], &|_| false);
        assert_eq!(found.of(&path), Some(Path::new("/p/.git")));
    }
}
