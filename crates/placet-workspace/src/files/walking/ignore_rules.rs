//! What a project ignores: `.gitignore`, `.ignore` and `.git/info/exclude`, as git and ripgrep read them.
//!
//! Ignore files count also outside a repository. The person's global excludes are not read: what a tool finds depends
//! on the project alone.

use crate::Workspace;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

const LARGEST: u64 = 1 << 20;

/// The rules that hold in a directory: its own and those of the directories above it.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    own: Option<Gitignore>,
    git: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The root of a repository: git's ignore rules above it do not apply here.
    repository: bool,
}

impl IgnoreRules {
    /// The rules of a directory below `above`. `has` gives the open directory that has an entry of that name.
    pub(crate) fn of<'a, F: AsFd + 'a>(
        path: &Path,
        above: &Arc<IgnoreRules>,
        has: impl Fn(&str) -> Option<&'a F>,
    ) -> Arc<IgnoreRules> {
        let repository = has(".git").is_some();
        let own = has(".ignore").and_then(|dir| read(dir, ".ignore", path));
        let git = has(".gitignore").and_then(|dir| read(dir, ".gitignore", path));
        let exclude = has(".git").and_then(|dir| read(dir, ".git/info/exclude", path));
        if own.is_none() && git.is_none() && exclude.is_none() && !repository {
            return above.clone();
        }
        Arc::new(IgnoreRules { above: Some(above.clone()), own, git, exclude, repository })
    }

    /// The rules of the directories above `path`, up to the root of its repository or of the workspace.
    pub(crate) fn above(workspace: &Workspace, path: &Path) -> Arc<IgnoreRules> {
        let roots = workspace.roots();
        let within = |dir: &&Path| roots.iter().any(|root| dir.starts_with(root));
        let mut dirs = Vec::new();
        for dir in path.ancestors().skip(1).take_while(within) {
            dirs.push(dir);
            if dir.join(".git").exists() {
                break;
            }
        }
        // A search that begins at the root of a repository takes nothing from above.
        if path.join(".git").exists() {
            dirs.clear();
        }
        let mut rules = Arc::new(IgnoreRules::default());
        for dir in dirs.into_iter().rev() {
            let has = |name: &str| {
                let real = workspace.real(&dir.join(name)).ok().flatten()?;
                if real.exists() { crate::files::opening::open::dir_at(real.parent()?).ok() } else { None }
            };
            let [own, git, exclude] = [".ignore", ".gitignore", ".git"].map(has);
            rules = IgnoreRules::of(dir, &rules, |name| match name {
                ".ignore" => own.as_ref(),
                ".gitignore" => git.as_ref(),
                _ => exclude.as_ref(),
            });
        }
        rules
    }

    pub(crate) fn ignores(&self, path: &Path, is_dir: bool) -> bool {
        let (mut git, mut git_holds) = (None, true);
        let mut here = Some(self);
        while let Some(rules) = here {
            // As in ripgrep, an `.ignore` of any directory overrides git's ignore rules.
            match verdict(&rules.own, path, is_dir) {
                Some(ignored) => return ignored,
                None if git.is_none() && git_holds => {
                    git = verdict(&rules.git, path, is_dir).or_else(|| verdict(&rules.exclude, path, is_dir));
                }
                None => {}
            }
            git_holds &= !rules.repository;
            here = rules.above.as_deref();
        }
        git.unwrap_or(false)
    }
}

fn verdict(rules: &Option<Gitignore>, path: &Path, is_dir: bool) -> Option<bool> {
    match rules.as_ref()?.matched(path, is_dir) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    }
}

/// Reads an ignore file below an open directory; an invalid line is skipped.
fn read(dir: impl AsFd, name: &str, path: &Path) -> Option<Gitignore> {
    // Through no link, and without waiting for a pipe.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let fd = rustix::fs::openat(dir, name, flags, Mode::empty()).ok()?;
    let mut text = Vec::new();
    File::from(fd).take(LARGEST).read_to_end(&mut text).ok()?;
    let mut builder = GitignoreBuilder::new(path);
    let text = String::from_utf8_lossy(&text);
    // git skips a byte order mark, too.
    for line in text.trim_start_matches('\u{FEFF}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
