//! Runs that are going on. Each has a file in the state directory, locked for as long as its placet lives, so that another
//! terminal can list and stop them.

use super::plan::ProgramPlan;
use crate::app::App;
use crate::cli::report::{self, CliError, print, print_foreign, warn};
use crate::cli::start;
use crate::process::ChildPid;
use crate::serve::changes::when;
use crate::text::{count, regular_file, visible, width};
use crate::workspace::{ProgramRun, View};
use rustix::fs::FlockOperation;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The most bytes of an entry.
const MOST: u64 = 1 << 20;

/// The most changed files that are counted for one run.
const MOST_COUNTED: usize = 10_000;

/// One run, as another terminal sees it.
#[derive(Debug, Serialize, Deserialize)]
struct RunningProgram {
    /// Of its placet.
    pid: u32,
    program: ProgramRun,
    /// Milliseconds since 1970.
    since: u64,
    workspace: String,
    session: String,
    /// Where the layers of its view are.
    layers: PathBuf,
}

/// The entry of this process. Dropping it removes the file.
pub(super) struct RunEntry {
    path: PathBuf,
    _lock: File,
}

impl RunEntry {
    pub(super) fn begin(app: &App, plan: &ProgramPlan, name: &str, view: &View) -> io::Result<RunEntry> {
        let dir = app.paths.state.join("runs");
        crate::private::make_dir(&dir)?;
        let running = RunningProgram {
            pid: std::process::id(),
            program: plan.program.clone(),
            since: u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0),
            workspace: app.cwd().to_string_lossy().into_owned(),
            session: name.into(),
            layers: view.command_layers(),
        };
        // Under its name it is locked from the first moment: an entry without a lock is that of a placet that is gone.
        let path = dir.join(format!("{}.json", running.pid));
        let file = tempfile::NamedTempFile::new_in(&dir)?;
        serde_json::to_writer(&file, &running)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let file = file.persist(&path).map_err(|e| e.error)?;
        Ok(RunEntry { path, _lock: file })
    }
}

impl Drop for RunEntry {
    fn drop(&mut self) {
        // An entry that stays is removed by the next `placet runs`.
        drop(std::fs::remove_file(&self.path));
    }
}

/// The runs whose placet lives, the oldest first.
fn running(state: &Path) -> Vec<RunningProgram> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(state.join("runs")).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let Ok(file) = regular_file::open(&path) else { continue };
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            drop(std::fs::remove_file(&path));
            continue;
        }
        let read = regular_file::read(&path, MOST).ok();
        found.extend(read.and_then(|bytes| serde_json::from_slice::<RunningProgram>(&bytes).ok()));
    }
    found.sort_by_key(|run| run.since);
    found
}

/// `placet runs`
pub(in crate::cli) fn list(json: bool) -> Result<u8, CliError> {
    let runs = running(&start::paths()?.state);
    if json {
        let rows: Vec<_> = runs
            .iter()
            .map(|run| {
                serde_json::json!({
                    "pid": run.pid,
                    "program": run.program,
                    "since": run.since,
                    "workspace": run.workspace,
                    "session": run.session,
                    "changed_files": changed_files(&run.layers),
                })
            })
            .collect();
        print(&(serde_json::to_string_pretty(&rows).map_err(CliError::new)? + "\n"))?;
        return Ok(report::DONE);
    }
    if runs.is_empty() {
        warn("nothing is running");
        return Ok(report::DONE);
    }
    let cells = |run: &RunningProgram| {
        let changed = match changed_files(&run.layers) {
            MOST_COUNTED.. => format!("over {MOST_COUNTED} files changed"),
            files => format!("{} changed", count::of(files, "file")),
        };
        let workspace = visible::path(Path::new(&run.workspace));
        [run.pid.to_string(), when(run.since), width::cut(&run.program.line(), 60), workspace, changed]
    };
    let rows: Vec<[String; 5]> = runs.iter().map(cells).collect();
    let widest =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| width::of(cell)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(widest).collect();
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(&widths);
        let cells =
            cells.map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide.saturating_sub(width::of(cell)))));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_string() + "\n"
    };
    print_foreign(&rows.iter().map(line).collect::<String>())?;
    Ok(report::DONE)
}

/// `placet runs stop PID`
pub(in crate::cli) fn stop(pid: u32) -> Result<u8, CliError> {
    let runs = running(&start::paths()?.state);
    let Some(run) = runs.iter().find(|run| run.pid == pid) else {
        return Err(CliError::new(format!("no run has the process number {pid}"))
            .hint("`placet runs` lists the runs that are going on"));
    };
    // Its entry is locked by the process itself, so the number still belongs to it.
    let stopped = ChildPid::checked(run.pid).map_err(CliError::new)?.signal(Signal::TERM);
    stopped.map_err(|e| CliError::new(format!("cannot stop process {pid}: {e}")))?;
    warn(&format!("stopped {}", run.program.line()));
    Ok(report::DONE)
}

/// How many files the program has changed, made or removed until now in its workspace.
fn changed_files(layers: &Path) -> usize {
    let runs = std::fs::read_dir(layers).into_iter().flatten().flatten();
    let runs = runs.filter(|entry| entry.file_name().to_string_lossy().starts_with("run-"));
    let uppers = runs.flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten().flatten());
    let mut open: Vec<PathBuf> = uppers.map(|root| root.path().join("upper")).collect();
    let mut files = 0;
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(_) => files += 1,
                Err(_) => {}
            }
            if files >= MOST_COUNTED {
                return files;
            }
        }
    }
    files
}
