//! One run of a check: in a view of its own over the workspace with chosen changes, with a result that is bound to the
//! state it ran on.

use super::sandboxed::spec_of;
use crate::{ToolContext, ToolError};
use placet_checks::{
    CheckDefinition, CheckResult, CheckRunOutcome, CheckSideEffects, CheckStore, CheckedSelection,
    FindingsReader, ResultAge, StateHash,
};
use placet_process::{CommandExit, CommandInput, ShellCommand};
use placet_sandbox::{self as sandbox, OverlaySpec, SandboxBackend};
use placet_workspace::{
    ChangeSelection, ChangeSet, CheckViewError, DirWalk, OpenConsent, View, WalkBudget, WalkEntry,
    WalkFilter, Workspace, WorkspaceError,
};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// How long the files of the workspace may take to be listed for the hash of the state.
const LISTING: Duration = Duration::from_secs(60);
/// How many files that a check changed are named.
const MOST_NAMED: usize = 10;

/// What runs, and on what.
pub struct CheckRunRequest<'a> {
    pub check: &'a CheckDefinition,
    /// Everything that is pending.
    pub set: &'a ChangeSet,
    /// The part of it that the check sees.
    pub choice: &'a ChangeSelection,
}

#[derive(Debug, Error)]
pub enum CheckRunError {
    #[error("checks need the copy-on-write view, which this machine does not have: {0}")]
    NoView(String),
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    View(#[from] CheckViewError),
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error("the files of the workspace cannot be listed: {0}")]
    Workspace(#[from] WorkspaceError),
    #[error("listing the files of the workspace took longer than {} seconds", LISTING.as_secs())]
    Slow,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The name of the session or try of `view`.
fn view_name(view: &View) -> String {
    view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A state that checks can run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedState {
    pub hash: StateHash,
    pub selection: CheckedSelection,
}

impl CheckedState {
    /// The workspace as it is now, with `choice` of `set`.
    pub fn of(
        workspace: &Workspace,
        view: &View,
        (set, choice): (&ChangeSet, &ChangeSelection),
    ) -> Result<CheckedState, CheckRunError> {
        let contents = view.check_contents(set, choice)?;
        CheckedState::with(workspace, contents)
    }

    /// True for a result of pending changes of another session or try, as they are in no state of `view`.
    pub fn is_of_others(&self, result: &CheckResult, view: &View) -> bool {
        let is_others = result.view.as_ref().is_some_and(|of| *of != view_name(view));
        is_others && matches!(self.age_of(result), ResultAge::Changes(_)) && !result.selection.0.is_empty()
    }

    /// What differs from the state of a result that is not one of this state.
    pub fn age_of(&self, result: &CheckResult) -> ResultAge {
        let is_applied = |(path, hash): (&String, &String)| {
            let contents = View::workspace_contents(Path::new(path)).unwrap_or_default();
            contents.iter().any(|content| content_hash(content) == *hash)
        };
        match result.selection.differences(&self.selection) {
            0 => ResultAge::Workspace,
            _ if self.selection.0.is_empty() && result.selection.0.iter().all(is_applied) => {
                ResultAge::Applied
            }
            paths => ResultAge::Changes(paths),
        }
    }

    fn with(
        workspace: &Workspace,
        contents: BTreeMap<Arc<Path>, String>,
    ) -> Result<CheckedState, CheckRunError> {
        let mut hasher = blake3::Hasher::new();
        for entry in listed(workspace)? {
            hasher.update(&entry);
        }
        for (path, content) in &contents {
            let path = path.as_os_str().as_encoded_bytes();
            for part in [path, content.as_bytes()] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
        }
        let selection = contents
            .into_iter()
            .map(|(path, content)| (path.to_string_lossy().into_owned(), content_hash(&content)));
        Ok(CheckedState {
            hash: StateHash::new(&hasher.finalize()),
            selection: CheckedSelection(selection.collect()),
        })
    }
}

/// What a change leaves, short enough to be stored with each result.
fn content_hash(content: &str) -> String {
    blake3::hash(content.as_bytes()).to_hex().chars().take(16).collect()
}

/// A hash for each file of the workspace itself, by its size, mode, times and inode, in an order of their own. Ignored files
/// are left out.
fn listed(workspace: &Workspace) -> Result<Vec<[u8; 32]>, CheckRunError> {
    let plain = workspace.without_view();
    let found: Mutex<Vec<[u8; 32]>> = Mutex::default();
    for root in plain.roots() {
        let root = plain.resolve(&root.to_string_lossy())?;
        let root = plain.walk_root(&root, OpenConsent::Inside)?;
        let skipped =
            DirWalk::new(&plain, WalkFilter::Dotted, WalkBudget::of(LISTING), &|| false).run(root, || {
                |entry: &WalkEntry| {
                    let Ok(stat) = entry.stat() else { return };
                    let mut hasher = blake3::Hasher::new();
                    hasher.update(entry.path().as_os_str().as_encoded_bytes());
                    let is_dir = entry.kind == placet_workspace::WalkEntryKind::Directory;
                    hasher.update(&stat.st_mode.to_le_bytes());
                    // The size and the times of a directory depend on what is in it, also on ignored files.
                    if !is_dir {
                        hasher.update(&stat.st_size.to_le_bytes());
                        hasher.update(&stat.st_mtime.to_le_bytes());
                        hasher.update(&stat.st_mtime_nsec.to_le_bytes());
                        // A program can set the time of a file back (`cp -p`, `tar -x`), but not these two.
                        hasher.update(&stat.st_ctime.to_le_bytes());
                        hasher.update(&stat.st_ctime_nsec.to_le_bytes());
                        hasher.update(&stat.st_ino.to_le_bytes());
                    }
                    let hash = *hasher.finalize().as_bytes();
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(hash);
                }
            });
        if skipped.late.is_some() {
            return Err(CheckRunError::Slow);
        }
    }
    let mut all = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_unstable();
    Ok(all)
}

/// Runs a check to its end or to its deadline, and stores the result. `cancel` ends it without a result.
pub async fn run_check(
    env: &ToolContext,
    store: &CheckStore,
    request: CheckRunRequest<'_>,
    cancel: &CancellationToken,
) -> Result<CheckResult, CheckRunError> {
    let CheckRunRequest { check, set, choice } = request;
    let no_view = |why: &str| CheckRunError::NoView(why.into());
    let confining = env.commands.confining.as_ref().ok_or_else(|| no_view("commands are not confined"))?;
    let view = env.workspace.view().ok_or_else(|| no_view("there is no view"))?;
    let (backend, sentence) = (confining.backend)();
    if backend != SandboxBackend::Overlay {
        return Err(no_view(&sentence));
    }
    // An overlay of a directory that contains other mounts needs privileges.
    let home = confining.home.as_deref().filter(|home| sandbox::mounted_below(home).is_empty());
    let command = check.command_hash();
    let checked = view.begin_check((&check.name, &command), (set, choice), home)?;
    let state = CheckedState::with(&env.workspace, checked.contents.clone())?;
    let cwd = env.workspace.cwd().to_path_buf();
    let mut spec = spec_of(env, confining, (backend, &checked.mounts), &cwd, &[])?;
    // What commands left in the directory for temporary files is not part of the state.
    let scratch = tempfile::Builder::new().prefix("check-").tempdir_in(view.scratch()?)?;
    spec.scratch = Some(scratch.path().to_path_buf());
    let overlays: Vec<OverlaySpec> = spec.overlays.clone();
    let line = ShellCommand {
        line: check.command.clone(),
        cwd: cwd.clone(),
        supervisor: env.commands.supervisor.clone(),
        timeout: check.timeout,
        withheld: env.commands.withheld.clone(),
        stdin: CommandInput::Nothing,
        sandbox: Some(spec.to_words()),
    };
    let mut reader = FindingsReader::new(&check.output, cwd.clone());
    let ran = line.run(cancel, |bytes| reader.push(bytes)).await;
    overlays.iter().for_each(OverlaySpec::release);
    drop(scratch);
    let passed = ran.as_ref().is_ok_and(|ran| ran.ending == CommandExit::Exit(0));
    let changed = view.finish_check(checked, passed)?;
    let mut finished = ran.map_err(|e| ToolError::new(e.to_string()))?;
    let outcome = match finished.ending {
        CommandExit::Cancelled => return Err(CheckRunError::Interrupted),
        CommandExit::Exit(0) => CheckRunOutcome::Passed,
        CommandExit::Exit(code) => CheckRunOutcome::Failed { code },
        CommandExit::Signal(signal) => CheckRunOutcome::Killed { signal },
        CommandExit::TimedOut => CheckRunOutcome::TimedOut { seconds: check.timeout.as_secs() },
        CommandExit::Lost => CheckRunOutcome::NotRun { why: "its supervisor was killed".into() },
    };
    // A check that saw files of two states says nothing about either.
    let after = CheckedState::of(&env.workspace, view, (set, choice))?;
    let outcome = match after == state {
        true => outcome,
        false => CheckRunOutcome::NotRun { why: "files of the workspace changed while it ran".into() },
    };
    let found = reader.finish();
    let shown = |path: &std::path::PathBuf| env.workspace.shortened(path).to_string_lossy().into_owned();
    let result = CheckResult {
        check: check.name.clone(),
        command,
        state: state.hash,
        selection: state.selection,
        outcome,
        at: now(),
        elapsed_ms: u64::try_from(finished.elapsed.as_millis()).unwrap_or(u64::MAX),
        diagnostics: found.diagnostics,
        found: found.found,
        tests: found.tests,
        is_cut: found.is_cut,
        side_effects: CheckSideEffects {
            first: changed.iter().take(MOST_NAMED).map(shown).collect(),
            total: changed.len(),
        },
        output_bytes: finished.output.total(),
        first_failure: found.first_failure,
        view: Some(view_name(view)),
    };
    store.add(&result, &finished.output.whole())?;
    Ok(result)
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
