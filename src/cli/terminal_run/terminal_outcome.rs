//! How a program in a terminal ended.

use super::guard::QuestionGuard;
use super::held_terminal::HeldTerminal;
use crate::cli::startup::signals::SignalWatch;
use crate::process::CommandExit;
use crate::ui::term::BaseMode;

/// How a program in a terminal ended.
#[derive(Debug)]
pub(in crate::cli) struct TerminalOutcome {
    pub(in crate::cli) ending: CommandExit,
    /// What the sandbox reports, such as refused hosts.
    pub(in crate::cli) sandbox_report: Option<String>,
    /// Where the program had a terminal.
    pub(in crate::cli) terminal: Option<QuestionTerminal>,
}

/// What holds from the program's end until the person has answered.
#[derive(Debug)]
pub(in crate::cli) struct QuestionTerminal {
    /// Until the question is asked.
    pub(in crate::cli) held: Option<HeldTerminal>,
    /// Restores the terminal if placet is killed.
    pub(super) _guard: Option<QuestionGuard>,
    /// A signal ends placet. Another start of the program handles signals itself.
    pub(super) _signals: Option<SignalWatch>,
}

/// The terminal between the person's message to the program and the program's next start: nothing gives it back in between.
#[derive(Debug)]
pub(in crate::cli) struct ContinuedTerminal {
    pub(super) base: BaseMode,
    /// Until there is a guard of the next start.
    pub(super) guard: Option<QuestionGuard>,
}

impl ContinuedTerminal {
    /// Signals are no longer handled here: the next start does it.
    pub(in crate::cli) fn of(base: BaseMode, terminal: Option<QuestionTerminal>) -> ContinuedTerminal {
        ContinuedTerminal { base, guard: terminal.and_then(|terminal| terminal._guard) }
    }
}
