//! Writes a new index in a copy of the person's, by git, from its entries.
//!
//! Entries that do not move keep what git noted about their files; [`super::note_files`] notes the others.

use crate::clean_directory::CleanDirectory;
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::repository_move::MovedItems;
use crate::runner::{GitCall, GitRunner, run_one};
use crate::state::{CheckoutName, IndexEntry, RepositoryState};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path};

pub(super) fn write(
    copy: &CleanDirectory,
    checkout: &CheckoutName,
    moved: &MovedItems<Vec<IndexEntry>>,
    now: &RepositoryState,
    scratch: &Path,
    runner: &dyn GitRunner,
) -> Result<()> {
    let zero = now.format.objects.zero();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let (mut announced, mut assumed, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for (path, change) in moved {
        if change.before.is_some() {
            removed.extend([b"0 ", zero.as_bytes(), b"\t", path.as_bytes(), b"\0"].concat());
        }
        for entry in change.after.iter().flatten() {
            if entry.intent_to_add {
                announced.push((path, entry));
            } else {
                let id = entry.id.to_string();
                let stage = [b'0' + entry.stage];
                let parts: [&[u8]; 8] =
                    [entry.mode.as_bytes(), b" ", id.as_bytes(), b" ", &stage, b"\t", path.as_bytes(), b"\0"];
                added.extend(parts.concat());
            }
            if entry.assume_unchanged {
                assumed.extend([path.as_bytes(), b"\0"].concat());
            }
            if entry.skip_worktree {
                skipped.extend([path.as_bytes(), b"\0"].concat());
            }
        }
    }
    // A linked worktree that is new has no git directory in the copy yet.
    let own = copy.git_dir(checkout);
    let git_dir = if own.exists() { own.clone() } else { copy.path.clone() };
    fs::create_dir_all(&own).map_err(GitError::io("create", &own))?;
    let index = own.join("index");
    let tree = scratch.join("tree");
    fs::create_dir_all(&tree).map_err(GitError::io("create", &tree))?;
    let call = |args: &[&str]| {
        let call = GitCall::new(&git_dir, args).directory(&tree).env("GIT_WORK_TREE", &tree);
        call.env("GIT_INDEX_FILE", &index)
    };
    // A path has to go before another can be below it. The result is one file, whatever the person's was.
    removed.extend(added);
    run_one(runner, call(&["update-index", "--no-split-index", "-z", "--index-info"]).input(removed))?;
    if !announced.is_empty() {
        let mut paths = Vec::new();
        for (path, entry) in announced {
            placeholder(&tree, path, entry)?;
            paths.extend([path.as_bytes(), b"\0"].concat());
        }
        let args = [
            "-c",
            "core.excludesFile=/dev/null",
            "add",
            "-N",
            "-f",
            "--pathspec-from-file=-",
            "--pathspec-file-nul",
        ];
        run_one(runner, call(&args).input(paths))?;
    }
    for (flag, paths) in [("--assume-unchanged", assumed), ("--skip-worktree", skipped)] {
        if !paths.is_empty() {
            run_one(runner, call(&["update-index", flag, "-z", "--stdin"]).input(paths))?;
        }
    }
    if !index.exists() {
        // git writes no index without entries.
        run_one(runner, call(&["read-tree", "--empty"]))?;
    }
    Ok(())
}

/// `git add -N` wants to see the file: one without content, in a directory of placet's.
fn placeholder(tree: &Path, path: &GitName, entry: &IndexEntry) -> Result<()> {
    if path.as_path().components().any(|part| !matches!(part, Component::Normal(_))) {
        return Err(GitError::Unsupported(format!("the path `{}`", path.escaped())));
    }
    let file = tree.join(path.as_path());
    if let Some(parent) = file.parent() {
        fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
    }
    if entry.mode.as_bytes() == b"120000" {
        return symlink("x", &file).map_err(GitError::io("create", &file));
    }
    fs::write(&file, b"").map_err(GitError::io("create", &file))?;
    let mode = if entry.mode.as_bytes() == b"100755" { 0o755 } else { 0o644 };
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).map_err(GitError::io("create", &file))
}
