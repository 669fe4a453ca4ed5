//! A panic: one line that says why, the terminal as it was, and an exit code of placet's own.
//!
//! A panic in a tool does not end placet: the runtime catches it in the tool's task, and the call reports an error.
//! placet cannot catch two kinds of panic. On the main thread nothing catches it. In the runtime itself (when a system
//! call failed that the runtime needs) the threads are gone: everything that waits for them would wait for ever, and
//! unwinding would panic again.

use crate::cli::report::{self, warn};
use crate::process::{is_of_the_runtime, panic_reason};
use crate::text::visible;
use crate::ui::term;

pub(in crate::cli) fn install() {
    std::panic::set_hook(Box::new(|info| {
        let runtime = is_of_the_runtime(info);
        if !runtime && std::thread::current().name() != Some("main") {
            tracing::error!("{info}");
            return;
        }
        let reason = panic_reason(info);
        let reason = visible::guard_line(&reason);
        let at = info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
        end(&match runtime {
            true => format!("error: a system call failed that placet needs: {reason}"),
            false => format!("error: placet crashed because of a bug: {reason}{at}"),
        });
    }));
}

/// Destructors do not run: in a runtime that is broken they would wait or panic. Commands end with the process, as
/// their supervisors see it go, and what was being applied is completed at the next start.
#[expect(clippy::disallowed_methods, reason = "the terminal is given back first")]
fn end(words: &str) -> ! {
    term::leave();
    warn(words);
    std::process::exit(i32::from(report::ERROR))
}
