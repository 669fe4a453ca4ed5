//! The git directory of a linked worktree or a submodule lies outside of the workspace. It becomes a part of the workspace,
//! so that a commit goes through the question like every other change.

use crate::text::regular_file;
use std::path::{Path, PathBuf};

/// A file that names a directory has one line.
const MOST: u64 = 64 << 10;

/// The git directory that `.git` in `cwd` names, where it lies outside of `cwd`.
pub(super) fn outside(cwd: &Path) -> Option<PathBuf> {
    let git_dir = named_in(&cwd.join(".git"), "gitdir:")?;
    // A linked worktree shares objects and branches with its repository, a submodule has its own.
    let common = named_in(&git_dir.join("commondir"), "").unwrap_or_else(|| git_dir.clone());
    if !belongs_to(&git_dir, cwd) {
        return None;
    }
    let dir = if git_dir.starts_with(&common) { common } else { git_dir };
    let is_git_dir = dir.join("HEAD").is_file() && dir.join("objects").is_dir();
    (is_git_dir && !dir.starts_with(cwd) && !cwd.starts_with(&dir)).then_some(dir)
}

/// True if the git directory itself names `cwd`: anybody can write a `.git` that names the repository of another directory.
/// That of a linked worktree names its `.git`, that of a submodule its working tree.
fn belongs_to(git_dir: &Path, cwd: &Path) -> bool {
    let leads_here = |name: &str, to: &Path| {
        let named = git_dir.join(name.trim().trim_matches('"')).canonicalize();
        named.is_ok_and(|named| to.canonicalize().is_ok_and(|to| named == to))
    };
    let read = |name: &str| regular_file::read_to_string(&git_dir.join(name), MOST).unwrap_or_default();
    let worktree =
        |line: &str| Some(line.trim().strip_prefix("worktree")?.trim_start().strip_prefix('=')?.to_string());
    leads_here(&read("gitdir"), &cwd.join(".git"))
        || read("config").lines().filter_map(worktree).any(|tree| leads_here(&tree, cwd))
}

/// The directory that a file names after `mark`, relative to the file.
fn named_in(file: &Path, mark: &str) -> Option<PathBuf> {
    let text = regular_file::read_to_string(file, MOST).ok()?;
    let name = text.strip_prefix(mark)?.trim();
    let dir = file.parent()?.join(name);
    dir.canonicalize().ok().filter(|dir| !name.is_empty() && dir.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_a_git_directory_that_names_the_workspace_is_included() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let make = |path: &str, text: &str| {
            let path = base.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        for git in ["r/.git", "r/.git/modules/sub"] {
            make(&format!("{git}/HEAD"), "ref: refs/heads/main\n");
            fs::create_dir_all(base.join(git).join("objects")).unwrap();
        }
        let (main, own) = (base.join("r/.git"), base.join("r/.git/modules/sub"));
        make("r/.git/worktrees/w/commondir", "../..\n");
        make("r/.git/worktrees/w/gitdir", &format!("{}\n", base.join("w/.git").display()));
        make("r/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
        make("w/.git", &format!("gitdir: {}\n", base.join("r/.git/worktrees/w").display()));
        make("r/.git/modules/sub/config", "[core]\n\tworktree = ../../../sub\n");
        make("r/sub/.git", "gitdir: ../.git/modules/sub\n");
        make("hostile/.git", &format!("gitdir: {}\n", main.display()));
        make("other/.git", &format!("gitdir: {}\n", base.join("r/.git/worktrees/w").display()));
        assert_eq!(outside(&base.join("w")), Some(main));
        assert_eq!(outside(&base.join("r/sub")), Some(own));
        assert_eq!((outside(&base.join("hostile")), outside(&base.join("other"))), (None, None));
    }
}
