//! Which branch a directory is on, for a line on the screen: one small file is read, and nothing is run.

use placet_text::text::regular_file;
use std::path::{Path, PathBuf};

/// Where `HEAD` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadPosition {
    /// The full name of a ref.
    Branch(PathBuf),
    /// The short name of a commit.
    Detached(String),
}

/// `HEAD` and a `.git` file are one short line.
const MOST: u64 = 4096;

/// Where `HEAD` of the repository around `dir` is; `None` where there is no repository, or its `HEAD` cannot be read.
pub fn head_of(dir: &Path) -> Option<HeadPosition> {
    let git = dir.ancestors().map(|dir| dir.join(".git")).find(|git| git.symlink_metadata().is_ok())?;
    let head = regular_file::read_to_string(&git_dir(git)?.join("HEAD"), MOST).ok()?;
    let head = head.lines().next().unwrap_or_default();
    match head.strip_prefix("ref: ") {
        // What git writes there for programs that do not know its newer format of refs.
        Some("refs/heads/.invalid") => None,
        Some(name) => Some(HeadPosition::Branch(name.into())),
        None => {
            let is_id = head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_id.then(|| HeadPosition::Detached(head.get(..7).unwrap_or(head).into()))
        }
    }
}

/// The directory itself, or the one that a file of a worktree or submodule names.
fn git_dir(git: PathBuf) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git);
    }
    let text = regular_file::read_to_string(&git, MOST).ok()?;
    let named = text.lines().next()?.strip_prefix("gitdir: ")?.trim_end();
    Some(git.parent()?.join(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_branch_a_detached_head_and_a_worktree_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let write = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        write("a/.git/HEAD", "ref: refs/heads/feature/x\n");
        write("a/deep/down/file", "");
        write("b/.git/HEAD", &format!("{}\n", "0123456789".repeat(4)));
        write("c/.git", "gitdir: ../a/.git\n");
        write("d/.git/HEAD", "ref: refs/heads/.invalid");
        write("e/.git/HEAD", "nonsense");
        fs::create_dir_all(at("f/.git")).unwrap();
        let branch = |name: &str| Some(HeadPosition::Branch(format!("refs/heads/{name}").into()));
        assert_eq!(head_of(&at("a/deep/down")), branch("feature/x"));
        assert_eq!(head_of(&at("b")), Some(HeadPosition::Detached("0123456".into())));
        assert_eq!(head_of(&at("c")), branch("feature/x"));
        assert_eq!(head_of(&at("d")), None);
        assert_eq!(head_of(&at("e")), None);
        assert_eq!(head_of(&at("f")), None);
    }
}
