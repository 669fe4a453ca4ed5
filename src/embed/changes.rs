//! What is pending, as values.

use super::file_state::FileState;
use super::loss::Loss;
use crate::permission::Runner;
use crate::workspace::{
    ChangeClass, ChangeClasses, ChangeKind, ChangeSet, FileChange, ShownChanges, Workspace, hunks, patch,
};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that was pending in a session at one moment, by path. It does not change: an apply or a discard with it
/// fails with [`Error::Outdated`](crate::Error::Outdated) once something else is pending. Clones share their content.
#[derive(Clone)]
pub struct PendingChanges(Arc<PendingInner>);

struct PendingInner {
    shown: ShownChanges,
    changes: Vec<PendingChange>,
    losses: Vec<Loss>,
    listing: Vec<String>,
    cwd: PathBuf,
}

/// The pending change of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingChange {
    /// Absolute, without links.
    pub path: PathBuf,
    /// What happens to the path.
    pub kind: ChangeKind,
    /// Where a renamed file was before. That path has a change of its own.
    pub moved_from: Option<PathBuf>,
    /// What was there when the change was made.
    pub before: FileState,
    /// What is there once the change is applied.
    pub after: FileState,
    /// What the change means.
    pub class: PendingClass,
    /// The calls that made it, as lines, in their order.
    pub made_by: Vec<String>,
}

/// What a change means. A change of the last two classes needs an approval of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PendingClass {
    /// Nothing beyond the change itself.
    Ordinary,
    /// The next build, test or install runs the file.
    RunsWithBuild {
        /// The program.
        by: String,
        /// How, as a sentence.
        why: String,
    },
    /// A program runs or obeys the file without anyone asking for it: a git hook, `.envrc`, an editor's task.
    RunsLater {
        /// The program.
        by: String,
        /// When, as a sentence.
        why: String,
    },
    /// The change belongs to a loss in [`PendingChanges::losses`].
    LargeLoss,
}

/// A run of lines that a change replaces. All hunks of a change make the new content, none of them the old one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeHunk {
    /// The lines of the old content, from 0.
    pub old_lines: Range<usize>,
    /// The lines of the new content, from 0.
    pub new_lines: Range<usize>,
    /// The old lines, with their line ends.
    pub removed: Vec<u8>,
    /// The new lines, with their line ends.
    pub added: Vec<u8>,
}

impl PendingChanges {
    pub(super) fn new(shown: ShownChanges, workspace: &Workspace) -> PendingChanges {
        let (set, classes) = (shown.set(), shown.classes());
        let lost = classes.lost_paths(set);
        let change = |change: &FileChange| PendingChange::new(change, classes, &lost);
        let changes = set.changes.iter().map(change).collect();
        let losses = classes.losses.iter().map(Loss::of).collect();
        let listing = shown.lines(|path| workspace.shortened(path));
        let cwd = workspace.cwd().to_path_buf();
        PendingChanges(Arc::new(PendingInner { shown, changes, losses, listing, cwd }))
    }

    /// The changes, sorted by path.
    pub fn changes(&self) -> &[PendingChange] {
        &self.0.changes
    }

    /// True when nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.0.changes.is_empty()
    }

    /// The change at a path, absolute or relative to the session's directory.
    pub fn get(&self, path: impl AsRef<Path>) -> Option<&PendingChange> {
        let path = self.absolute(path.as_ref());
        let at = self.0.changes.binary_search_by(|change| change.path.cmp(&path)).ok()?;
        self.0.changes.get(at)
    }

    /// The large losses of all changes together, the gravest first.
    pub fn losses(&self) -> &[Loss] {
        &self.0.losses
    }

    /// The contents before and after, each empty where there is no file. `None` where one of the two is not a regular
    /// file, has more than 16 MiB, or is not stored any more, as after the change was applied or discarded.
    pub fn contents(&self, path: impl AsRef<Path>) -> Option<(Vec<u8>, Vec<u8>)> {
        self.set().get(&self.absolute(path.as_ref()))?.bytes(self.0.shown.view().objects())
    }

    /// The hunks of a change, for [`ChangeChoice::hunks`](crate::ChangeChoice::hunks). `None` as for
    /// [`PendingChanges::contents`].
    pub fn hunks(&self, path: impl AsRef<Path>) -> Option<Vec<ChangeHunk>> {
        let (before, after) = self.contents(path)?;
        let part = |bytes: &[u8], range: Range<usize>| bytes.get(range).unwrap_or_default().to_vec();
        let hunk = |hunk: crate::workspace::Hunk| ChangeHunk {
            removed: part(&before, hunk.old),
            added: part(&after, hunk.new),
            old_lines: hunk.old_lines,
            new_lines: hunk.new_lines,
        };
        Some(hunks(&before, &after).into_iter().map(hunk).collect())
    }

    /// All changes as a patch for `git apply`, with paths relative to the session's directory.
    pub fn patch(&self) -> Vec<u8> {
        patch(self.set(), self.0.shown.view().objects(), &self.0.cwd)
    }

    /// The list that `placet changes` prints: a line for each change, with names made visible. For people; programs use
    /// [`PendingChanges::changes`].
    pub fn listing(&self) -> &[String] {
        &self.0.listing
    }

    pub(super) fn set(&self) -> &ChangeSet {
        self.0.shown.set()
    }

    pub(super) fn shown(&self) -> &ShownChanges {
        &self.0.shown
    }

    pub(super) fn absolute(&self, path: &Path) -> PathBuf {
        self.0.cwd.join(path)
    }
}

impl fmt::Debug for PendingChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingChanges")
            .field("changes", &self.0.changes)
            .field("losses", &self.0.losses)
            .finish_non_exhaustive()
    }
}

impl PendingChange {
    fn new(change: &FileChange, classes: &ChangeClasses, lost: &BTreeSet<&Path>) -> PendingChange {
        let runner = |runner: &Runner| (runner.by.clone(), runner.why.clone());
        let class = match (classes.reason_to_wait(&change.path), classes.of(&change.path)) {
            (Some(later), _) | (None, ChangeClass::RunsLater(later)) => {
                let (by, why) = runner(later);
                PendingClass::RunsLater { by, why }
            }
            (None, ChangeClass::LargeLoss(_)) => PendingClass::LargeLoss,
            (None, _) if lost.contains(&*change.path) => PendingClass::LargeLoss,
            (None, ChangeClass::RunsWithBuild(build)) => {
                let (by, why) = runner(build);
                PendingClass::RunsWithBuild { by, why }
            }
            (None, ChangeClass::Ordinary) => PendingClass::Ordinary,
        };
        PendingChange {
            path: change.path.to_path_buf(),
            kind: change.verb(),
            moved_from: change.moved_from.as_deref().map(Path::to_path_buf),
            before: FileState::from(&*change.before),
            after: FileState::from(&*change.after),
            class,
            made_by: change.made_by().into_iter().map(|origin| origin.title.clone()).collect(),
        }
    }
}
