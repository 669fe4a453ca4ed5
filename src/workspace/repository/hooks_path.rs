//! Directories that `core.hooksPath` names: git runs what is in them, whatever they are called.
//!
//! The setting may be in the repository's own file, in the file of a worktree, in the person's files, and in any file
//! that these include. All values count, also values that git would override and values behind a condition: an
//! unnecessary question costs less than a missed hook.

use super::config::{GitSettings, LARGEST, settings};
use super::facts::flat;
use super::git_dirs::{GitDirs, ReadGitFile};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most files that are read for one repository: an include may include itself.
const MOST_FILES: usize = 64;

/// The names of git's hooks: see githooks(5).
const HOOKS: [&str; 28] = [
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
    "post-index-change",
];

/// The directories of hooks outside of repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::workspace) struct GitHookDirs {
    /// Each with true where only files with the name of a hook count: it holds the work tree itself.
    dirs: BTreeMap<PathBuf, bool>,
    /// Settings that git reads besides those of the repository itself, whatever the files are called.
    included: BTreeSet<PathBuf>,
}

impl GitHookDirs {
    /// Those of every work tree and repository that one of `paths` lies in. `is_repository` answers for a directory,
    /// and each of `states` is looked at: before a change, and after it.
    pub(in crate::workspace) fn find<'a>(
        paths: impl IntoIterator<Item = &'a Path>,
        is_repository: &dyn Fn(&Path) -> bool,
        states: &[&ReadGitFile<'_>],
    ) -> GitHookDirs {
        let mut above: BTreeSet<&Path> = BTreeSet::new();
        for path in paths {
            for dir in path.ancestors().skip(1) {
                if !above.insert(dir) {
                    break;
                }
            }
        }
        let mut found = GitHookDirs::default();
        for dir in above {
            let git = dir.join(".git");
            let bare = !dir.ends_with(".git") && is_repository(dir);
            if !bare && !is_repository(&git) {
                continue;
            }
            for read in states {
                let start = if bare { dir.to_path_buf() } else { git.clone() };
                let mut reader = HooksPathReader { read: *read, files: 0, included: BTreeSet::new() };
                let values = reader.hooks_paths(&start);
                values.iter().for_each(|value| found.add(dir, value));
                found.included.append(&mut reader.included);
            }
        }
        found
    }

    /// True for a file whose settings git obeys because others include it, or because it is the person's own.
    pub(in crate::workspace) fn includes(&self, path: &Path) -> bool {
        self.included.contains(path)
    }

    fn add(&mut self, work_tree: &Path, value: &OsStr) {
        let dir = flat(&work_tree.join(expanded(value)));
        let real = std::fs::canonicalize(&dir).unwrap_or_else(|_| dir.clone());
        for dir in [dir, real] {
            let only_hooks = work_tree.starts_with(&dir);
            self.dirs.insert(dir, only_hooks);
        }
    }

    /// True for a file that git runs as a hook, or that lies next to those that it runs.
    pub(in crate::workspace) fn holds(&self, path: &Path) -> bool {
        if self.dirs.is_empty() {
            return false;
        }
        let name = path.file_name().unwrap_or_default();
        path.ancestors().any(|at| match self.dirs.get(at) {
            Some(true) => path.parent() == Some(at) && HOOKS.iter().any(|hook| name == *hook),
            Some(false) => !name.as_bytes().ends_with(b".sample"),
            None => false,
        })
    }
}

/// `~/` is the home directory.
fn expanded(value: &OsStr) -> PathBuf {
    match (value.as_bytes().strip_prefix(b"~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(OsStr::from_bytes(rest)),
        _ => PathBuf::from(value),
    }
}

struct HooksPathReader<'a> {
    read: &'a ReadGitFile<'a>,
    files: usize,
    included: BTreeSet<PathBuf>,
}

impl HooksPathReader<'_> {
    /// The values for the repository at `git`, a directory or a file that names one.
    fn hooks_paths(&mut self, git: &Path) -> Vec<OsString> {
        let mut values = Vec::new();
        for file in self.own_files(git) {
            self.collect(&file, &mut values);
        }
        for file in files_of_person() {
            self.include(&file, &mut values);
        }
        values
    }

    /// A file that may lie anywhere in the workspace, also where a link leads.
    fn include(&mut self, file: &Path, values: &mut Vec<OsString>) {
        let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
        self.included.extend([real, file.to_path_buf()]);
        self.collect(file, values);
    }

    /// The settings of the repository and of its worktrees.
    fn own_files(&self, git: &Path) -> Vec<PathBuf> {
        let read = |file: &Path, most| (self.read)(&flat(file), most);
        let dirs = GitDirs::of(git, &read).dirs;
        let dirs = dirs.iter().map(|dir| flat(dir));
        dirs.flat_map(|dir| ["config", "config.worktree"].map(|name| dir.join(name))).collect()
    }

    fn collect(&mut self, file: &Path, values: &mut Vec<OsString>) {
        self.files += 1;
        if self.files > MOST_FILES {
            return;
        }
        let Some(text) = (self.read)(file, LARGEST) else { return };
        let (read, _) = settings(&text);
        values.extend(texts(&read, |key| key == b"core.hookspath"));
        let is_include =
            |key: &[u8]| key == b"include.path" || key.starts_with(b"includeif.") && key.ends_with(b".path");
        for included in texts(&read, is_include) {
            let at = file.parent().unwrap_or(Path::new("/")).join(expanded(&included));
            self.include(&flat(&at), values);
        }
    }
}

fn texts(settings: &GitSettings, wanted: impl Fn(&[u8]) -> bool) -> Vec<OsString> {
    let found = settings.iter().filter(|(key, _)| wanted(key));
    let values = found.flat_map(|(_, values)| values.iter().flatten());
    values.map(|value| OsStr::from_bytes(value).to_os_string()).collect()
}

/// Settings that hold for all repositories.
fn files_of_person() -> Vec<PathBuf> {
    let at = |name: &str, rest: &str| Some(PathBuf::from(std::env::var_os(name)?).join(rest));
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let system = named("GIT_CONFIG_SYSTEM").unwrap_or_else(|| PathBuf::from("/etc/gitconfig"));
    let own =
        [at("XDG_CONFIG_HOME", "git/config"), at("HOME", ".config/git/config"), at("HOME", ".gitconfig")];
    let global =
        named("GIT_CONFIG_GLOBAL").map_or_else(|| own.into_iter().flatten().collect(), |one| vec![one]);
    std::iter::once(system).chain(global).filter(|path| path.is_absolute()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], path: &str) -> GitHookDirs {
        let read = |at: &Path, _: u64| {
            let of = files.iter().find(|(name, _)| Path::new("/w").join(name) == at);
            of.map(|(_, text)| text.as_bytes().to_vec())
        };
        let is = |dir: &Path| {
            let inside = files.iter().any(|(name, _)| Path::new("/w").join(name).starts_with(dir));
            dir.ends_with(".git") && inside || dir.ends_with("bare.git")
        };
        GitHookDirs::find([Path::new("/w").join(path).as_path()], &is, &[&read])
    }

    #[test]
    fn hooks_are_found_wherever_the_setting_stands() {
        let holds =
            |files: &[(&str, &str)], path: &str| found(files, path).holds(&Path::new("/w").join(path));
        let set = "[core]\n\thooksPath = githooks\n";
        assert!(holds(&[(".git/config", set)], "githooks/pre-commit"));
        assert!(holds(&[(".git/config", set)], "githooks/lib/helper"));
        assert!(holds(&[(".git/config.worktree", set)], "githooks/pre-commit"));
        assert!(!holds(&[(".git/config", set)], "githooks/pre-commit.sample"));
        assert!(!holds(&[(".git/config", set)], "other/pre-commit"));
        let included = [(".git/config", "[include]\n\tpath = ../more\n"), ("more", set)];
        assert!(holds(&included, "githooks/pre-commit"));
        let conditional = [(".git/config", "[includeIf \"gitdir:x\"]\n\tpath = more\n"), (".git/more", set)];
        assert!(holds(&conditional, "githooks/pre-commit"));
        let endless = [(".git/config", "[include]\n\tpath = config\n[core]\n\thooksPath = githooks\n")];
        assert!(holds(&endless, "githooks/pre-commit"));
        let separate = [(".git", "gitdir: gd\n"), ("gd/commondir", "../common\n"), ("common/config", set)];
        assert!(holds(&separate, "githooks/pre-commit"));
        assert!(holds(&[("bare.git/config", set)], "bare.git/githooks/update"));
    }

    #[test]
    fn files_that_settings_include_are_known() {
        for head in ["[include]", "[includeIf \"gitdir:x\"]"] {
            let files =
                [(".git/config", format!("{head}\n\tpath = ../gc\n")), ("gc", "[include]\npath=next".into())];
            let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
            let dirs = found(&files, "src/x");
            assert!(dirs.includes(Path::new("/w/gc")) && dirs.includes(Path::new("/w/next")), "{head}");
            assert!(!dirs.includes(Path::new("/w/.git/config")) && !dirs.includes(Path::new("/w/src/x")));
        }
    }

    #[test]
    fn a_work_tree_as_directory_of_hooks_has_only_hooks_with_their_names() {
        for value in [".", "..", "/"] {
            let text = format!("[core]\n\thooksPath = {value}\n");
            let dirs = found(&[("a/.git/config", &text)], "a/src/main.rs");
            assert!(!dirs.holds(Path::new("/w/a/src/main.rs")) && !dirs.holds(Path::new("/w/a/Makefile")));
        }
        let dirs = found(&[(".git/config", "[core]\n\thooksPath = .\n")], "x");
        assert!(dirs.holds(Path::new("/w/pre-commit")) && !dirs.holds(Path::new("/w/src/pre-commit")));
    }
}
