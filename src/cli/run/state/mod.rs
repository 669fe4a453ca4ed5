//! The state of a program in the home directory: logins and conversations are written for real, files that make something
//! run later stay pending, and the rest ends with the run.

pub(super) mod databases;
pub(super) mod keys;
pub(super) mod watch;

use super::preset::{RunPreset, StateKind};
use super::state::watch::WatchedCredentials;
use crate::cli::report::CliError;
use crate::text::{count, visible};
use crate::workspace::{
    ChangeDecision, ChangeSelection, ChangeSet, FileChange, KeepError, KeptFileStamp, LayerKind,
    SelectedPart, View, Workspace, keep_file,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// What became of the state of a program.
#[derive(Debug, Default)]
pub(super) struct StateReport {
    pub(super) kept: usize,
    /// Files that were written when the program had ended, below the home directory.
    pub(super) written: Vec<PathBuf>,
    pub(super) dropped: usize,
    /// Files of the home directory that stay pending.
    pub(super) pending: Vec<PathBuf>,
    /// Files that were not written, each with the reason.
    pub(super) problems: Vec<(PathBuf, String)>,
}

/// The home directory of a run with a preset.
pub(super) struct ProgramState<'a> {
    pub(super) preset: &'a RunPreset,
    pub(super) home: &'a Path,
    /// The changes in the home directory.
    pub(super) changes: &'a View,
    /// placet's own directory, for what cannot be written to the home directory.
    pub(super) state: &'a Path,
    /// When the program started.
    pub(super) began: SystemTime,
}

impl ProgramState<'_> {
    /// Writes what the preset keeps, and discards what is neither kept nor runs later.
    pub(super) fn settle(&self, written: &WatchedCredentials) -> Result<StateReport, CliError> {
        let set = self.changes.changes(LayerKind::Pending).map_err(CliError::new)?;
        let mut report = StateReport { kept: written.count(), ..StateReport::default() };
        let mut gone: BTreeSet<Arc<Path>> = BTreeSet::new();
        let databases = self.databases(&set);
        for (base, changes) in &databases {
            self.keep_database(base, changes, (&mut report, &mut gone));
        }
        let in_databases: BTreeSet<&Path> =
            databases.values().flatten().flatten().map(|change| &*change.path).collect();
        let repositories = self.repositories_that_run(&set);
        for change in &set.changes {
            let Ok(path) = change.path.strip_prefix(self.home) else { continue };
            if in_databases.contains(&*change.path) {
                continue;
            }
            let is_file =
                !(change.after.is_directory() || change.before.is_directory() && change.after.is_absent());
            if self.preset.kind_of(path) == StateKind::Kept
                && set
                    .repository_of(&change.path)
                    .is_some_and(|repository| repositories.contains(&repository))
            {
                // With all that is in it: half of a repository is none.
                report.pending.extend(is_file.then(|| change.path.to_path_buf()));
                continue;
            }
            match self.preset.kind_of(path) {
                StateKind::RunsLater if is_file && !self.is_harmless(path, change) => {
                    report.pending.push(change.path.to_path_buf())
                }
                // A directory is made with what is in it.
                StateKind::RunsLater if !is_file => drop(gone.insert(change.path.clone())),
                StateKind::Dropped => {
                    report.dropped += usize::from(is_file);
                    gone.insert(change.path.clone());
                }
                StateKind::Kept if !is_file => drop(gone.insert(change.path.clone())),
                StateKind::Kept | StateKind::Credential if self.runs_later_by_key(path, change) => {
                    report.pending.push(change.path.to_path_buf())
                }
                kind => {
                    let expected = match kind {
                        StateKind::Credential => written.stamp(path),
                        _ => None,
                    };
                    if self.keep(change, path, expected, (&mut report, &mut gone))
                        && !written.is_written(path)
                    {
                        report.kept += 1;
                    }
                }
            }
        }
        // A directory stays with the files in it that stay.
        gone.retain(|path| !report.pending.iter().any(|pending| pending.starts_with(&**path)));
        let choice: ChangeSelection = gone.into_iter().map(|path| (path, SelectedPart::Whole)).collect();
        self.changes.discard(&choice).map_err(CliError::new)?;
        self.forget_made_directories()?;
        Ok(report)
    }

    /// Repositories in directories that are kept, with settings or hooks that git would run: a name does not tell them from
    /// other directories.
    fn repositories_that_run(&self, set: &ChangeSet) -> BTreeSet<PathBuf> {
        let kept = |change: &&FileChange| {
            let path = change.path.strip_prefix(self.home);
            path.is_ok_and(|path| self.preset.kind_of(path) == StateKind::Kept)
        };
        let mut in_repository = set
            .changes
            .iter()
            .filter(kept)
            .filter(|change| set.repository_of(&change.path).is_some())
            .peekable();
        if in_repository.peek().is_none() {
            return BTreeSet::new();
        }
        let shown = self.changes.shown_as(set.clone());
        let runs = in_repository.filter(|change| shown.classes().runner(&change.path).is_some());
        runs.filter_map(|change| set.repository_of(&change.path)).collect()
    }

    /// A directory that is at home now, because a kept file needed it, is not pending any more: otherwise a file in it
    /// could not be applied, because its directory changed.
    fn forget_made_directories(&self) -> Result<(), CliError> {
        let set = self.changes.changes(LayerKind::Pending).map_err(CliError::new)?;
        let is_made = |change: &&FileChange| {
            change.before.is_absent() && change.after.is_directory() && change.path.is_dir()
        };
        let made =
            set.changes.iter().filter(is_made).map(|change| (change.path.clone(), SelectedPart::Whole));
        let made: ChangeSelection = made.collect();
        if made.is_empty() {
            return Ok(());
        }
        // The apply finds that they are as they should be, applies nothing and drops them.
        let shown = self.changes.shown_as(set);
        let decision = ChangeDecision { apply: made, ..ChangeDecision::default() };
        let outcome = self.changes.decide(shown, decision).map(|report| report.applied);
        outcome.unwrap_or(Ok(None)).map(drop).map_err(CliError::new)
    }

    /// Writes one file, and returns true if that worked. What another program changed in the meantime stays pending.
    fn keep(
        &self,
        change: &FileChange,
        path: &Path,
        expected: Option<KeptFileStamp>,
        (report, gone): (&mut StateReport, &mut BTreeSet<Arc<Path>>),
    ) -> bool {
        let done = match (&change.content_path(), expected) {
            // The program deleted it: a login or a conversation is never deleted for it.
            _ if change.after.is_absent() => {
                report.dropped += 1;
                gone.insert(change.path.clone());
                return false;
            }
            (None, _) => Err(KeepError::NotRegular),
            (Some(content), Some(expected)) => keep_file(content, self.home, path, expected, None),
            (Some(_), None) if change.raced => Err(KeepError::Changed),
            (Some(content), None) => {
                let now = KeptFileStamp::of(self.home, path);
                now.and_then(|now| keep_file(content, self.home, path, now, None))
            }
        };
        match done {
            Ok(_) => {
                gone.insert(change.path.clone());
                report.written.push(path.to_path_buf());
                true
            }
            Err(e) => {
                let why = match e {
                    KeepError::Changed => {
                        report.pending.push(change.path.to_path_buf());
                        format!("{e}; the version of the view stays pending")
                    }
                    e => {
                        gone.insert(change.path.clone());
                        e.to_string()
                    }
                };
                report.problems.push((change.path.to_path_buf(), why));
                false
            }
        }
    }
}

impl StateReport {
    /// For a person: `state of claude: 3 files kept, 41 dropped`. `None` where the program left no state.
    pub(super) fn line(&self, program: &str) -> Option<String> {
        if self.kept + self.dropped == 0 {
            return None;
        }
        let program = visible::name(program);
        Some(format!("state of {program}: {} kept, {} dropped", count::of(self.kept, "file"), self.dropped))
    }

    pub(super) fn problem_lines(&self, workspace: &Workspace) -> Vec<String> {
        let line = |(path, why): &(PathBuf, String)| {
            format!("not kept: {}: {why}", visible::path(&workspace.shortened(path)))
        };
        self.problems.iter().map(line).collect()
    }
}
