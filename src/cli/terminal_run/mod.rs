//! A program in a terminal inside the view: `placet run`. The person sees the program's own screen, byte for byte.
//!
//! [`run`] has the terminal from its first line to its last, and gives it back however the program ends. It asks
//! nothing and applies nothing: the effects are pending when it returns.

mod guard;
mod held_terminal;
mod last_output;
mod mode_tracker;
mod output_scanner;
mod page;
mod page_facts;
mod page_key;
mod page_network;
mod program_screen;
mod relay;
mod screen_model;
mod streams;
mod terminal_outcome;
mod terminal_size;
mod wake;

pub(super) use guard::{GUARD, QuestionGuard, guard};
pub(super) use held_terminal::{EndStep, HeldTerminal};
pub(super) use page_facts::{CHANGES, PageFacts};
pub(super) use page_network::{PageNetwork, SOON};
pub(super) use streams::has_terminal;

pub(super) use terminal_outcome::{ContinuedTerminal, QuestionTerminal, TerminalOutcome};

use super::report::CliError;
use super::startup::signals;
use super::stdin_forwarder::StdinForwarder;
use crate::app::App;
use crate::process::{CommandExit, CommandInput, ReadySupervisor, TerminalErrors};
use crate::sandbox::{BoundPort, TerminalModes, TerminalSpec};
use crate::tools::{ProgramView, ToolContext, ToolError, prepare_in_terminal, publish_ports, with_end};
use crate::ui::term::{self, BaseMode};
use crate::workspace::{ChangeOrigin, TransactionLabel};
use guard::TerminalGuard;
use held_terminal::ProgramTerminal;
use page::PageSetup;
use page_key::PageKeyFinder;
use relay::RelayEnd;
use rustix::termios::Termios;
use std::io::{self, IsTerminal};
use terminal_size::terminal_size;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use wake::RelaySignals;

/// What runs.
pub(super) struct TerminalProgram<'a> {
    /// For a person.
    pub(super) name: &'a str,
    /// For `sh -c`.
    pub(super) line: &'a str,
    /// The hosts that it may reach, in addition to those of the settings.
    pub(super) hosts: &'a [String],
    /// Ports of this machine that lead to it.
    pub(super) ports: Vec<BoundPort>,
    /// The label that the journal gives its changes, with the program.
    pub(super) label: &'a TransactionLabel,
    /// Called when the view is complete, before the program starts.
    pub(super) on_view: &'a mut (dyn FnMut(ProgramView<'_>) + Send),
}

/// Runs `program` in a terminal inside the view of `env`, below the supervisor that is ready, if there is one, until it ends or `stop` is cancelled. Call it on the main
/// thread, where [`has_terminal`] is true, and without [`super::startup::signals::watch`] running: SIGTERM, SIGHUP and SIGINT end
/// the program here, and its effects are still collected.
///
/// Returns how the program ended. [`CommandExit::Cancelled`] means that placet ended it: after `stop`, after a signal, or
/// because the person's terminal is gone. Then nobody can be asked, and the changes stay pending.
pub(super) fn run(
    app: &App,
    env: &ToolContext,
    (program, ready, continued): (TerminalProgram<'_>, Option<ReadySupervisor>, Option<ContinuedTerminal>),
    stop: &CancellationToken,
    runtime: &Runtime,
) -> Result<TerminalOutcome, CliError> {
    let page_key = PageKeyFinder::parse(&app.config.settings().run.page_key).map_err(CliError::usage)?;
    let mut guard = None;
    let mut terminal_modes = None;
    let mut guarded = |mode: &Termios| {
        let modes = terminal_modes.insert(TerminalModes::of(mode));
        // Without it, only `kill -9` of placet does harm.
        guard = TerminalGuard::start(&env.commands.supervisor, modes)
            .inspect_err(|e| tracing::warn!("the terminal is not guarded: {e}"))
            .ok();
    };
    let failed = |e: io::Error| CliError::new(format!("cannot use the terminal: {e}"));
    let base = match (continued, term::original_mode()) {
        (Some(ContinuedTerminal { base, guard: earlier }), Some(mode)) => {
            guarded(&mode);
            drop(earlier);
            base
        }
        _ => BaseMode::enter_any_after(guarded).map_err(failed)?,
    };
    let (stdin, feed) = match io::stdin().is_terminal() {
        true => (CommandInput::Nothing, None),
        false => {
            let (input, feed) = StdinForwarder::start()
                .map_err(|e| CliError::new(format!("cannot pass standard input on: {e}")))?;
            (input, Some(feed))
        }
    };
    let errors = if io::stderr().is_terminal() { TerminalErrors::Terminal } else { TerminalErrors::Pipe };
    let terminal = TerminalSpec {
        size: terminal_size(),
        modes: terminal_modes,
        separate_errors: errors == TerminalErrors::Pipe,
    };
    let prepared = prepare_in_terminal(env, program.line, (program.hosts, stdin), terminal);
    let run = runtime.block_on(prepared).map_err(from_tool)?;
    let page = PageSetup::new(app, &run, (program.name, !program.hosts.is_empty()))?;
    (program.on_view)(run.program_view());
    let supervisor = run.command.begin_in_terminal(errors, ready).map_err(CliError::new)?;
    let published = publish_ports(program.ports, &env.commands.supervisor, supervisor.pid());
    let published = published.map_err(from_tool)?;
    let mut relay_signals = RelaySignals::watch().map_err(failed)?;
    let mut terminal = ProgramTerminal::lend(app);
    let parts = (&page, page_key, guard.as_mut());
    let ending = relay::relay(supervisor, parts, &mut terminal, (&mut relay_signals, stop), runtime);
    drop(published);
    // From here on a signal ends placet. One that came a moment before is not lost.
    let watch = signals::watch_for_now(runtime, signals::CurrentTurn::default());
    let is_late = relay_signals.is_ended() || relay_signals.is_hung_up();
    let ending =
        ending.map(|end| if is_late { RelayEnd { exit: CommandExit::Cancelled, ..end } } else { end });
    drop(relay_signals);
    let held = HeldTerminal::of(base, program.name, terminal);
    drop(page);
    drop(feed);
    // Not before the program's modes are reset.
    let guard = guard.map(QuestionGuard::of);
    let ended = ending.as_ref().map_or(CommandExit::Lost, |ended| ended.exit);
    let origin = ChangeOrigin::new(&with_end(program.label, ended), "", "placet run", &program.label.title);
    run.finish(origin).map_err(from_tool)?;
    let RelayEnd { exit, sandbox_report } = ending?;
    Ok(TerminalOutcome {
        ending: exit,
        sandbox_report,
        terminal: Some(QuestionTerminal { held: Some(held), _guard: guard, _signals: watch }),
    })
}

fn from_tool(e: ToolError) -> CliError {
    CliError { hint: e.hint.as_ref().map(ToString::to_string), ..CliError::new(e.message) }
}
