//! The supervisor of the program, started before anything else: it takes as long to start as placet does to read the
//! command line and the settings.

use crate::app;
use crate::process::ReadySupervisor;
use crate::text::secret;
use crate::tools::ToolRegistry;
use std::ffi::OsString;
use std::sync::Mutex;

static READY: Mutex<Option<ReadySupervisor>> = Mutex::new(None);

/// The name of the subcommand.
const RUN: &str = "run";

/// Options with which nothing runs.
const NOTHING_RUNS: [&str; 4] = ["--list", "--dry-run", "--help", "-h"];

/// Starts the supervisor if `words`, the arguments of placet, look like those of a run. Called from `main`, before
/// anything else. Where they turn out to be another command, the supervisor ends with placet.
pub(in crate::cli) fn start(words: &[OsString]) {
    let is_run = matches!(words, [first, second, ..] if first == RUN && NOTHING_RUNS.iter().all(|option| second != option));
    if let (true, Ok(mut ready)) = (is_run, READY.lock()) {
        // Without it, a supervisor is started later, and reports why it cannot be.
        *ready = ReadySupervisor::start(&app::own_program()).ok();
        // Without the thread, they are made when they are needed.
        drop(std::thread::Builder::new().name("prepare".into()).spawn(make_tables));
    }
}

/// Makes the tables that a run reads before its program starts, while the main thread reads the command line.
fn make_tables() {
    drop(ToolRegistry::native());
    secret::prepare();
}

/// The supervisor, once.
pub(super) fn take() -> Option<ReadySupervisor> {
    READY.lock().ok()?.take()
}
