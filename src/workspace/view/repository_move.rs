//! What happened to a repository since the command ran whose changes of it are pending: then they are not applied.

use super::followed_files::is_joined;
use super::git_state::{is_state, scan};
use super::stack::node_at;
use super::{LayerKind, View};
use crate::text::{regular_file, visible};
use crate::workspace::changes::change_set::ChangeSet;
use crate::workspace::changes::classify::ChangeClasses;
use crate::workspace::files::path_state::PathState;
use crate::workspace::repository::git_reader::RepositoryFiles;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Differences that are looked at to name the one that says most.
const MOST: usize = 1_000;
/// `HEAD` and a loose ref are one short line.
const REF: u64 = 4096;

/// Why the changes of a repository cannot be applied. The order is that in which they explain most.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RepositoryMove {
    Unreadable(String),
    /// Some git process holds this lock, or left it.
    Locked(PathBuf),
    /// A ref is new, or leads to another commit. `at` is the short name of the commit, where it can be read.
    Ref {
        happened: RefMove,
        name: RefName,
        at: Option<String>,
    },
    /// `HEAD` is on this branch, or at this commit.
    Head(String),
    Stash,
    /// What is staged.
    Index,
    /// Another file of its state.
    File {
        path: PathBuf,
        is_new: bool,
    },
}

/// The name of a ref without the directory of its kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RefName {
    Branch(PathBuf),
    Tag(PathBuf),
    Other(PathBuf),
}

/// A new ref explains least: it alone is in the way of no apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RefMove {
    Moved,
    Deleted,
    Created,
}

impl RefName {
    /// The word for its kind, and the name.
    fn parts(&self) -> (&'static str, &Path) {
        match self {
            RefName::Branch(name) => ("branch ", name),
            RefName::Tag(name) => ("tag ", name),
            RefName::Other(name) => ("", name),
        }
    }
}

impl fmt::Display for RepositoryMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepositoryMove::Unreadable(why) => write!(f, "its state cannot be read: {why}"),
            RepositoryMove::Locked(lock) => write!(f, "`{}` exists", visible::path(lock)),
            RepositoryMove::Ref { name, happened, at } => {
                let (kind, name) = name.parts();
                let name = visible::path(name);
                match (happened, at) {
                    (RefMove::Moved, Some(at)) => write!(f, "{kind}{name} moved to {at}"),
                    (RefMove::Moved, None) => write!(f, "{kind}{name} moved"),
                    (RefMove::Created, _) => write!(f, "{kind}{name} was created"),
                    (RefMove::Deleted, _) => write!(f, "{kind}{name} was deleted"),
                }
            }
            RepositoryMove::Head(to) => write!(f, "HEAD moved to {}", visible::line(to)),
            RepositoryMove::Stash => f.write_str("the stash changed"),
            RepositoryMove::Index => f.write_str("the index (what is staged) changed"),
            RepositoryMove::File { path, is_new: true } => write!(f, "`{}` is new", visible::path(path)),
            RepositoryMove::File { path, is_new: false } => write!(f, "`{}` changed", visible::path(path)),
        }
    }
}

impl RepositoryMove {
    /// What the person can do, as it follows the reason. Commits on top of a branch that moved can be applied; after any other
    /// move the agent must begin from the present state. `branch` is the one that is checked out in the pending changes.
    pub(super) fn advice(&self, is_rebase_enough: bool, branch: Option<&Path>) -> String {
        match self {
            // `git rebase` refuses: in the view the files of the person's commits are not committed. `git add` stages them as the
            // new base has them, and `--keep` stops where a file would lose lines that no commit has.
            RepositoryMove::Ref { happened: RefMove::Moved, name: RefName::Branch(name), at: Some(at) }
                if is_rebase_enough && branch == Some(name) =>
            {
                format!(
                    "ask the agent to run `git add -A && git reset --keep {at} && git cherry-pick ..ORIG_HEAD`, or discard it"
                )
            }
            RepositoryMove::Ref { happened: RefMove::Moved, name, at: Some(at) } if is_rebase_enough => {
                let (_, name) = name.parts();
                format!("ask the agent to rebase {} onto {at}, or discard it", visible::path(name))
            }
            _ => "discard it, then ask the agent to repeat its work".into(),
        }
    }

    /// What the file of state at `path` says. `was_packed` is true for a ref that `packed-refs` had when the command ran.
    fn of(
        repository: &Path,
        path: &Path,
        is_new: bool,
        was_packed: impl Fn(&Path) -> bool,
    ) -> RepositoryMove {
        let rel = path.strip_prefix(repository).unwrap_or(path);
        let content = regular_file::read_to_string(path, REF).unwrap_or_default();
        let line = content.lines().next().unwrap_or_default();
        let id = (line.len() >= 40 && line.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .then(|| line.get(..7).unwrap_or(line).to_string());
        if rel == Path::new("HEAD") {
            let named = line.strip_prefix("ref: ").map(|to| to.strip_prefix("refs/heads/").unwrap_or(to));
            let to = named.map(|branch| format!("branch {branch}")).or(id);
            return to.map_or(RepositoryMove::File { path: path.into(), is_new }, RepositoryMove::Head);
        }
        if rel == Path::new("logs/refs/stash") {
            return RepositoryMove::Stash;
        }
        if rel == Path::new("index") {
            return RepositoryMove::Index;
        }
        let Ok(name) = rel.strip_prefix("refs") else {
            return RepositoryMove::File { path: path.into(), is_new };
        };
        let name = match (name.strip_prefix("heads"), name.strip_prefix("tags")) {
            _ if name == Path::new("stash") => return RepositoryMove::Stash,
            (Ok(branch), _) => RefName::Branch(branch.into()),
            (_, Ok(tag)) => RefName::Tag(tag.into()),
            _ => RefName::Other(rel.into()),
        };
        let happened = match (is_new, path.symlink_metadata().is_ok()) {
            (true, _) if !was_packed(rel) => RefMove::Created,
            (_, true) => RefMove::Moved,
            (_, false) => RefMove::Deleted,
        };
        RepositoryMove::Ref { name, happened, at: id }
    }
}

/// What the rows of a repository say that something else changed since.
pub(in crate::workspace) fn moved_words(happened: &str) -> String {
    // A file that git has no word for is named with its path.
    let by = if happened.contains('`') { "" } else { " by another command" };
    format!("{happened}{by}: it cannot be applied")
}

impl View {
    /// What the review says of each repository whose pending state cannot be applied.
    pub fn moved_repository_facts(&self, set: &ChangeSet, classes: &ChangeClasses) -> Vec<(PathBuf, String)> {
        let moved = self.moved_repositories(set, classes).into_iter();
        moved.map(|(path, happened)| (path, moved_words(&happened.to_string()))).collect()
    }

    /// What happened in the workspace to the repository since the command ran; `None` if nothing did.
    pub(super) fn repository_move(&self, repository: &Path) -> Option<RepositoryMove> {
        let scan = match scan(repository) {
            Ok(scan) => scan,
            Err(e) => return Some(RepositoryMove::Unreadable(e.to_string())),
        };
        if let Some(lock) = scan.lock() {
            return Some(RepositoryMove::Locked(lock.to_path_buf()));
        }
        let bases = self.layer_set(LayerKind::Pending).bases();
        let new = scan.state.iter().filter(|path| !bases.contains(path)).map(|path| (path, true));
        let is_changed = |base: &super::base::BaseRecord| {
            is_state(repository, &base.path)
                && (base.raced || !self.says_the_same(&base.node, &base.path).unwrap_or(false))
        };
        let changed = bases.iter().filter(is_changed).map(|base| (base.path.to_path_buf(), false));
        let packed = repository.join("packed-refs");
        let packed_then = OnceCell::new();
        let was_packed = |name: &Path| {
            let content = || self.content_then(&bases.iter().collect::<Vec<_>>(), &packed).ok().flatten();
            let line = [b" ", name.as_os_str().as_bytes(), b"\n"].concat();
            let then = packed_then.get_or_init(content).as_deref().unwrap_or_default();
            memchr::memmem::find(then, &line).is_some()
        };
        let of = |(path, is_new): (PathBuf, bool)| RepositoryMove::of(repository, &path, is_new, was_packed);
        let found: BTreeSet<RepositoryMove> = new.chain(changed).take(MOST).map(of).collect();
        // `git pack-refs` and `git gc` remove the files of refs and move no ref.
        let is_packed =
            found.iter().any(|one| matches!(one, RepositoryMove::File { path, .. } if *path == packed));
        let is_removal =
            |one: &RepositoryMove| matches!(one, RepositoryMove::Ref { happened: RefMove::Deleted, .. });
        let named = found.iter().find(|one| !(is_packed && is_removal(one)));
        named.or(found.first()).cloned()
    }

    /// The same, also where only files moved that git adds lines to or writes for every commit, as a branch that was made and
    /// deleted leaves the reflog of `HEAD`: an apply cannot write the pending ones over them.
    pub(super) fn move_under(&self, set: &ChangeSet, repository: &Path) -> Option<RepositoryMove> {
        let own = || set.changes.iter().filter(|change| change.path.starts_with(repository));
        let is_rewritten = |path: &Path| path.strip_prefix(repository).is_ok_and(is_joined);
        let differs = |path: &Path, before: &PathState| node_at(path).is_ok_and(|now| now != *before);
        self.repository_move(repository).or_else(|| {
            let moved = own().find(|c| is_rewritten(&c.path) && differs(&c.path, &c.before))?;
            Some(RepositoryMove::File { path: moved.path.to_path_buf(), is_new: false })
        })
    }

    /// The repositories whose pending state cannot be applied, each with why not. Hooks and settings are applied without
    /// that state.
    pub(super) fn moved_repositories(
        &self,
        set: &ChangeSet,
        classes: &ChangeClasses,
    ) -> Vec<(PathBuf, RepositoryMove)> {
        let moved = |dir: PathBuf| {
            let happened = self.move_under(set, &dir)?;
            // An apply makes them changes of the present state.
            let is_on_top = matches!(self.follow(set, &dir), Ok(Ok(_)));
            (!is_on_top).then_some((dir, happened))
        };
        state_repositories(set, classes).into_iter().filter_map(moved).collect()
    }
}

/// The branch that `HEAD` names in these files.
pub(super) fn branch_of(files: &dyn RepositoryFiles, repository: &Path) -> Option<PathBuf> {
    let head = regular_file::read_to_string(&files.real(&repository.join("HEAD"))?, REF).ok()?;
    head.lines().next()?.strip_prefix("ref: refs/heads/").map(PathBuf::from)
}

/// The repositories whose state the changes touch. Hooks and settings are no part of it.
pub(super) fn state_repositories(set: &ChangeSet, classes: &ChangeClasses) -> BTreeSet<PathBuf> {
    let state = set.changes.iter().filter(|change| classes.runner(&change.path).is_none());
    // `collect` would first make a list with a path for each change.
    let mut repositories = BTreeSet::new();
    repositories.extend(state.filter_map(|change| set.repository_of(&change.path)));
    repositories
}
