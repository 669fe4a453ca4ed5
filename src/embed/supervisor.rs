//! Becoming the supervisor of a command: placet starts the program again for each command that it runs.

use crate::process;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

static CALLED: AtomicBool = AtomicBool::new(false);

/// Call this first in `main`, before any thread starts, if your program itself supervises commands
/// ([`CommandRunner::ThisProgram`](crate::CommandRunner::ThisProgram)).
///
/// For each command placet starts your program again, with the first argument `__run`. In such a process this function
/// runs the command in its sandbox, and returns the exit code with which `main` must return at once. In every other
/// process it returns `None` and does nothing.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     if let Some(code) = placet::supervisor_main() {
///         return code;
///     }
///     // your program
///     std::process::ExitCode::SUCCESS
/// }
/// ```
pub fn supervisor_main() -> Option<ExitCode> {
    CALLED.store(true, Ordering::Relaxed);
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(code) = crate::tools::answer_git(&words) {
        return Some(code);
    }
    let (word, rest) = words.split_first()?;
    (word == process::RUN).then(|| process::supervise(rest.to_vec(), &crate::sandbox::START))
}

/// Whether this program becomes a supervisor when it is started as one. If it does not, starting it for a command would
/// run the whole program once more.
pub(super) fn is_this_program() -> bool {
    CALLED.load(Ordering::Relaxed)
}
