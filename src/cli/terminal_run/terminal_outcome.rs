//! How a program in a terminal ended, and the size of the person's terminal.

use super::guard::QuestionGuard;
use crate::process::CommandExit;
use crate::sandbox::TerminalSize;
use crate::ui::term;

/// How a program in a terminal ended.
#[derive(Debug)]
pub(in crate::cli) struct TerminalOutcome {
    pub(in crate::cli) ending: CommandExit,
    /// What the sandbox reports, such as refused hosts.
    pub(in crate::cli) sandbox_report: Option<String>,
    /// Restores the terminal if placet is killed later.
    pub(in crate::cli) guard: Option<QuestionGuard>,
}

/// The size of the person's terminal; 80x24 where it is unknown.
pub(super) fn terminal_size() -> TerminalSize {
    match rustix::termios::tcgetwinsize(term::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => size.into(),
        _ => TerminalSize { rows: 24, columns: 80, ..TerminalSize::default() },
    }
}
