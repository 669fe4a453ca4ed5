//! The supervisor of the program and the runtime, started before anything else: they take as long to start as placet does
//! to read the command line and the settings.

use crate::app::{self, AppError};
use crate::process::ReadySupervisor;
use crate::text::secret;
use crate::tools::ToolRegistry;
use std::ffi::OsString;
use std::sync::{Mutex, mpsc};
use tokio::runtime::Runtime;

static STARTED: Mutex<Option<EarlyStart>> = Mutex::new(None);

/// The name of the subcommand.
const RUN: &str = "run";

/// Options with which nothing runs.
const NOTHING_RUNS: [&str; 4] = ["--list", "--dry-run", "--help", "-h"];

/// What was started before the command line was read.
#[derive(Default)]
pub(super) struct EarlyStart {
    /// `None` where it could not be started: a supervisor that is started later reports why.
    pub(super) supervisor: Option<ReadySupervisor>,
    runtime: Option<mpsc::Receiver<Result<Runtime, AppError>>>,
}

/// Starts the supervisor and the runtime if `words`, the arguments of placet, look like those of a run. Called from
/// `main`, before anything else. Where they turn out to be another command, both end with placet.
pub(in crate::cli) fn start(words: &[OsString]) {
    let is_run = matches!(words, [first, second, ..] if first == RUN && NOTHING_RUNS.iter().all(|option| second != option));
    if let (true, Ok(mut started)) = (is_run, STARTED.lock()) {
        let supervisor = ReadySupervisor::start(&app::own_program()).ok();
        let (send, runtime) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("prepare".into()).spawn(move || {
            // Nobody waits for it where the command line turned out to be wrong.
            drop(send.send(app::runtime(1)));
            make_tables();
        });
        // Without the thread, all is made when it is needed.
        *started = Some(EarlyStart { supervisor, runtime: thread.ok().map(|_| runtime) });
    }
}

/// Makes the tables that a run reads before its program starts, while the main thread reads the command line.
fn make_tables() {
    drop(ToolRegistry::native());
    secret::judge_environment();
}

/// What was started, once.
pub(super) fn take() -> EarlyStart {
    STARTED.lock().ok().and_then(|mut started| started.take()).unwrap_or_default()
}

impl EarlyStart {
    /// The runtime for the whole run.
    pub(super) fn runtime(&mut self) -> Result<Runtime, AppError> {
        let made = self.runtime.take().and_then(|made| made.recv().ok());
        made.unwrap_or_else(|| app::runtime(1))
    }
}
