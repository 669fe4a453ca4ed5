//! Runs that are going on. Each has a file in the state directory, locked for as long as its placet lives, so that another
//! terminal can list and stop them.

use super::plan::ProgramPlan;
use crate::app::App;
use crate::cli::report::{self, CliError, print, print_list, warn};
use crate::cli::startup::start;
use crate::process::ChildPid;
use crate::serve::changes::when;
use crate::text::{count, regular_file, visible, width};
use crate::tools::ProgramView;
use crate::workspace::{ProgramRun, RunningLayer};
use rustix::fs::FlockOperation;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The most bytes of an entry.
const MOST: u64 = 1 << 20;

/// The most changed files that are counted for one run.
const MOST_COUNTED: usize = 10_000;

/// One run, as another terminal sees it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunningProgram {
    /// Of its placet.
    pub(super) pid: u32,
    pub(super) program: ProgramRun,
    /// Milliseconds since 1970.
    pub(super) since: u64,
    pub(super) workspace: String,
    pub(super) session: String,
    /// What the program writes to.
    pub(super) layers: Vec<RunningLayer>,
    /// Paths that the program does not see.
    pub(super) hidden: Vec<PathBuf>,
    /// At which socket the network can be asked, and whether some host is allowed.
    pub(super) network: Option<PathBuf>,
    pub(super) has_hosts: bool,
}

/// The entry of this process. Dropping it removes the file.
pub(super) struct RunEntry {
    path: PathBuf,
    _lock: File,
}

impl RunEntry {
    pub(super) fn begin(
        app: &App,
        plan: &ProgramPlan,
        (name, view): (&str, ProgramView<'_>),
    ) -> io::Result<RunEntry> {
        let dir = app.paths.state.join("runs");
        crate::private::make_dir(&dir)?;
        let running = RunningProgram {
            pid: std::process::id(),
            program: plan.program.clone(),
            since: u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0),
            workspace: app.cwd().to_string_lossy().into_owned(),
            session: name.into(),
            layers: view.layer.running_layers(),
            hidden: app.workspace.hidden_paths(),
            network: view.network_control.map(Path::to_path_buf),
            has_hosts: !plan.hosts.is_empty() || !app.config.settings().sandbox.hosts.is_empty(),
        };
        // Under its name it is locked from the first moment: an entry without a lock is that of a placet that is gone.
        let path = dir.join(format!("{}.json", running.pid));
        let mut file = tempfile::NamedTempFile::new_in(&dir)?;
        // In one piece: a file without a buffer gets each word and each comma of the text by a system call.
        file.write_all(&serde_json::to_vec(&running)?)?;
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
pub(super) fn running(state: &Path) -> Vec<RunningProgram> {
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
    print_list(&rows.iter().map(line).collect::<String>())?;
    Ok(report::DONE)
}

/// `placet runs stop PID`
pub(in crate::cli) fn stop(pid: u32) -> Result<u8, CliError> {
    let run = find(Some(pid))?;
    // Its entry is locked by the process itself, so the number still belongs to it.
    let stopped = ChildPid::checked(run.pid).map_err(CliError::new)?.signal(Signal::TERM);
    stopped.map_err(|e| CliError::new(format!("cannot stop process {pid}: {e}")))?;
    warn(&format!("stopped {}", run.program.line()));
    Ok(report::DONE)
}

/// The run with this process number, or the only one.
pub(super) fn find(pid: Option<u32>) -> Result<RunningProgram, CliError> {
    let mut runs = running(&start::paths()?.state);
    let Some(pid) = pid else {
        return match (runs.pop(), runs.len()) {
            (Some(run), 0) => Ok(run),
            (None, _) => Err(CliError::new("nothing is running")),
            (Some(_), others) => Err(CliError::usage(format!("{} programs are running", others + 1))
                .hint("`placet runs` lists them; name the process number of one")),
        };
    };
    let run = runs.into_iter().find(|run| run.pid == pid);
    run.ok_or_else(|| {
        CliError::new(format!("no run has the process number {pid}"))
            .hint("`placet runs` lists the runs that are going on")
    })
}

impl RunningProgram {
    /// Whether its placet still has its entry.
    pub(super) fn is_running(&self, state: &Path) -> bool {
        let Ok(file) = regular_file::open(&state.join("runs").join(format!("{}.json", self.pid))) else {
            return false;
        };
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_err()
    }
}

/// How many files the program has changed, made or removed until now in its workspace.
fn changed_files(layers: &[RunningLayer]) -> usize {
    let mut open: Vec<PathBuf> = layers.iter().map(|layer| layer.upper.clone()).collect();
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
