//! Runs the program in its view, passes its output on, and settles its state in the home directory.

use super::plan::ProgramPlan;
use super::registry::RunEntry;
use super::state::watch::{CredentialWatch, WatchedCredentials};
use super::state::{ProgramState, StateReport};
use crate::app::App;
use crate::cli::changes::{approvals, killed};
use crate::cli::command_line::options::{Options, OutputFormat};
use crate::cli::report::{self, CliError, warn};
use crate::cli::startup::signals;
use crate::cli::startup::start::working_directory;
use crate::cli::stdin_forwarder::StdinForwarder;
use crate::cli::terminal_run::{
    self, ContinuedTerminal, EndStep, QuestionTerminal, TerminalOutcome, TerminalProgram,
};
use crate::process::{CommandExit, ReadySupervisor};
use crate::sandbox::{BoundPort, PortMapping};
use crate::text::placet_mark::MarkEscaper;
use crate::text::visible;
use crate::tools::{
    NetworkSummary, ProgramCommand, ProgramView, ToolContext, ToolError, run_confined, with_end,
    withheld_line,
};
use crate::ui::reclaim;
use crate::ui::term::{self, BaseMode};
use crate::workspace::{ApprovedBy, LayerKind, TransactionLabel, View};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::SystemTime;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// A program that has ended.
pub(super) struct EndedRun {
    pub(super) env: ToolContext,
    pub(super) name: String,
    pub(super) label: TransactionLabel,
    /// The exit code for the shell.
    pub(super) code: u8,
    /// The changes in the home directory, of a run with a preset.
    pub(super) home: Option<View>,
    pub(super) state: Option<StateReport>,
    /// The variables that the program did not get, for a person.
    pub(super) withheld: Option<String>,
    /// What the network refused, as JSON.
    pub(super) network: Option<String>,
    /// `None` where the program ended by itself.
    pub(super) cut_off: Option<CutOffRun>,
    /// Where the program had one.
    pub(super) terminal: Option<QuestionTerminal>,
}

/// Runs the program to its end, or until a signal stops it. What it wrote is pending then.
pub(super) fn execute(
    app: &App,
    plan: &ProgramPlan,
    (name, options): (&str, &Options),
    (runtime, ready, continued): (&Runtime, Option<ReadySupervisor>, Option<ContinuedTerminal>),
) -> Result<EndedRun, CliError> {
    let ports = bound_ports(plan)?;
    let env = app.program_env(name, &plan.access);
    let view = env.workspace.view().cloned().ok_or_else(|| CliError::new("there is no view"))?;
    let own_home = plan.own_home(app);
    let began = SystemTime::now();
    app.settle_layers(&view);
    // What an earlier run left at home ends with the last pending change of its view, however that was decided.
    if let (None, Some(home)) = (&plan.preset, own_home)
        && !view.has_changes(LayerKind::Pending).map_err(CliError::new)?
    {
        let left = view.home_changes(home);
        if left.has_changes(LayerKind::Pending).map_err(CliError::new)? {
            left.discard_everything().map_err(CliError::new)?;
        }
    }
    take_over(&env, &view, own_home)?;
    view.expect_one_command(own_home);
    view.ask_about_home(plan.preset.is_some()).map_err(CliError::new)?;
    announce(app, plan, &view, options)?;
    let home = match (&plan.preset, own_home) {
        (Some(preset), Some(home)) => {
            Some(app.home_changes(&view, home, (&preset.name, &preset.all_later())).map_err(CliError::new)?)
        }
        _ => None,
    };
    let label = TransactionLabel {
        turn: format!("{name}-{}", jiff::Timestamp::now().as_millisecond()),
        title: plan.title.clone(),
        assent: ApprovedBy::you("placet run"),
        program: Some(Box::new(plan.program.clone())),
        ..TransactionLabel::default()
    };
    let credentials = plan.preset.as_ref().map(|preset| preset.credentials.as_slice()).unwrap_or_default();
    let mut watched = own_home.map(|home| WatchedCredentials::of(home, credentials));
    let (mut watch, mut entry) = (None, None);
    let mut on_view = |view: ProgramView<'_>| {
        match RunEntry::begin(app, plan, (name, view)) {
            Ok(begun) => entry = Some(begun),
            Err(e) => warn(&format!("note: `placet runs` does not list this run: {e}")),
        }
        let home = own_home.filter(|_| !credentials.is_empty());
        let (Some(layer), Some(home)) = (view.layer.home_layer(), home) else { return };
        let (Some(known), Some(preset)) = (watched.take(), &plan.preset) else { return };
        match CredentialWatch::start(layer, home, preset, known) {
            Ok(thread) => watch = Some(thread),
            Err(e) => tracing::warn!("login files are not written while the program runs: {e}"),
        }
    };
    let withheld = withheld_line(&env);
    let in_terminal = is_in_terminal(options);
    let ran = match in_terminal {
        true => {
            let program = TerminalProgram {
                name: plan.name(),
                line: &plan.line,
                hosts: &plan.hosts,
                ports,
                label: &label,
                on_view: &mut on_view,
            };
            let start = (program, ready, continued);
            terminal_run::run(app, &env, start, &CancellationToken::new(), runtime)
        }
        false => run_piped(&env, (plan, ports), &label, (options, runtime, ready), &mut on_view),
    };
    drop(entry);
    let watched = watch.map(CredentialWatch::end).or(watched).unwrap_or_default();
    let TerminalOutcome { ending, sandbox_report, terminal } = ran?;
    let held = terminal.as_ref().and_then(|terminal| terminal.held.as_ref());
    let code = match ending {
        CommandExit::Exit(code) => u8::try_from(code).unwrap_or(report::ERROR),
        CommandExit::Signal(signal) => u8::try_from(128 + signal).unwrap_or(report::ERROR),
        CommandExit::Cancelled => report::INTERRUPTED,
        CommandExit::TimedOut | CommandExit::Lost => report::ERROR,
    };
    let state = match (&plan.preset, own_home, &home) {
        (Some(preset), Some(home), Some(changes)) => {
            held.inspect(|held| held.step(EndStep::State));
            Some(ProgramState { preset, home, changes, state: &app.paths.state, began }.settle(&watched)?)
        }
        _ => None,
    };
    held.inspect(|held| held.step(EndStep::Question));
    let (label, cut_off) = (with_end(&label, ending), CutOffRun::of(ending));
    let (name, network) = (name.to_string(), sandbox_report);
    Ok(EndedRun { env, name, label, code, home, state, withheld, network, cut_off, terminal })
}

/// Takes the ports of this machine, before anything runs.
fn bound_ports(plan: &ProgramPlan) -> Result<Vec<BoundPort>, CliError> {
    let bind = |port: &PortMapping| {
        BoundPort::bind(*port).map_err(|e| {
            CliError::new(e)
                .hint(format!("`--publish OTHER:{}` takes another port of this machine", port.inside))
        })
    };
    plan.published.iter().map(bind).collect()
}

/// Whether the program gets a terminal of its own.
pub(super) fn is_in_terminal(options: &Options) -> bool {
    options.output_format == OutputFormat::Text && terminal_run::has_terminal()
}

/// What a run left whose placet was killed becomes pending, before the layers of that run are removed.
fn take_over(env: &ToolContext, view: &View, home: Option<&Path>) -> Result<(), CliError> {
    let found = view.take_over_killed(home, &|path| env.workspace.is_hidden(path));
    match found.map_err(|e| CliError::new(format!("what an interrupted run left cannot be read: {e}")))? {
        count if count.total() == 0 => {}
        count => killed::warn_of_killed("the last run", count),
    }
    Ok(())
}

/// One line at the start, for a person: the view, the network, and what is pending already.
fn announce(app: &App, plan: &ProgramPlan, view: &View, options: &Options) -> Result<(), CliError> {
    let set = view.changes(LayerKind::Pending).map_err(CliError::new)?;
    if !io::stderr().is_terminal() && set.is_empty() && plan.published.is_empty() {
        return Ok(());
    }
    let dir = working_directory(options)?;
    let below = app.workspace.home().and_then(|home| dir.strip_prefix(home).ok());
    let dir = below.map_or_else(|| visible::path(&dir), |rest| visible::path(&Path::new("~").join(rest)));
    let hosts: Vec<&str> = plan.hosts.iter().map(|host| host.strip_suffix(":443").unwrap_or(host)).collect();
    let network = match hosts.as_slice() {
        [] => "no network".to_string(),
        [one] => format!("network: {}", visible::name(one)),
        [one, more @ ..] => format!("network: {} and {} more", visible::name(one), more.len()),
    };
    let mut line = format!("{} runs in a view of {dir}; {network}", visible::name(plan.name()));
    for port in &plan.published {
        line.push_str(&format!("; its port {} is at {}", port.inside, port.url()));
    }
    if io::stderr().is_terminal() && plan.preset.is_none() && plan.own_home(app).is_some() {
        line.push_str("; changes in your home directory are not applied");
    }
    if !set.is_empty() {
        line.push_str(&format!("; continues with pending changes to {}", view.count(&set)));
    }
    warn(&line);
    Ok(())
}

/// Runs it without a terminal: its output is a pipe, and so is its input.
fn run_piped(
    env: &ToolContext,
    (plan, ports): (&ProgramPlan, Vec<BoundPort>),
    label: &TransactionLabel,
    (options, runtime, ready): (&Options, &Runtime, Option<ReadySupervisor>),
    on_view: &mut (dyn FnMut(ProgramView<'_>) + Send),
) -> Result<TerminalOutcome, CliError> {
    // Its output may reach the terminal by another way.
    if let (true, Ok(_base)) = (approvals::can_ask(), BaseMode::enter_any()) {
        reclaim::lend();
    }
    let stop = CancellationToken::new();
    let current = signals::CurrentTurn::default();
    current.set(Some(stop.clone()));
    signals::watch(runtime, current.clone());
    let mut output = PassedOutput::new(options.output_format);
    let (stdin, feed) =
        StdinForwarder::start().map_err(|e| CliError::new(format!("cannot pass standard input on: {e}")))?;
    let program =
        ProgramCommand { line: &plan.line, label, hosts: &plan.hosts, ports, stdin, ready, on_view };
    let ran = runtime.block_on(run_confined(env, program, &stop, |bytes| output.pass(bytes)));
    // Before any question: keys that are typed from here on are not input of the program.
    drop(feed);
    output.end();
    current.set(None);
    let failed = |e: ToolError| CliError {
        hint: e.hint.as_ref().map(ToString::to_string),
        ..CliError::new(e.message)
    };
    let (finished, _) = ran.map_err(failed)?;
    Ok(TerminalOutcome { ending: finished.ending, sandbox_report: finished.sandbox_report, terminal: None })
}

/// Why a program did not come to its end: half of what it was about to do is something else, and is not applied unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutOffRun {
    /// placet ended it, after a signal or because the terminal is gone: nobody can be asked.
    Stopped,
    /// The program was killed by this signal.
    Killed(i32),
    /// The process in which placet ran it was killed.
    Lost,
}

impl CutOffRun {
    fn of(ending: CommandExit) -> Option<CutOffRun> {
        match ending {
            CommandExit::Exit(_) => None,
            CommandExit::Cancelled => Some(CutOffRun::Stopped),
            // A Ctrl-C that the person typed to the program.
            CommandExit::Signal(signal) if signal == signal_hook::consts::SIGINT => None,
            CommandExit::Signal(signal) => Some(CutOffRun::Killed(signal)),
            CommandExit::TimedOut | CommandExit::Lost => Some(CutOffRun::Lost),
        }
    }

    /// How it ended; `None` where the person knows.
    pub(super) fn words(self, program: &str) -> Option<String> {
        match self {
            CutOffRun::Stopped => None,
            CutOffRun::Killed(signal) => Some(format!("{program} was killed by signal {signal}")),
            CutOffRun::Lost => Some(format!("the process that ran {program} was killed")),
        }
    }
}

impl EndedRun {
    /// How the program `name` failed, if it did: what is asked about then is not all that the person wanted.
    pub(super) fn failure(&self, name: &str) -> Option<String> {
        let code = self.label.program.as_ref().and_then(|program| program.exit_code);
        match code.filter(|code| *code != 0) {
            Some(code) => Some(format!("{name} ended with exit code {code}")),
            None => self.cut_off?.words(name),
        }
    }

    /// What the network refused, for a person, and how to allow it.
    pub(super) fn network_lines(&self, plan: &ProgramPlan) -> Vec<String> {
        let none = Vec::new();
        let harmless = plan.preset.as_ref().map_or(&none, |preset| &preset.harmless_hosts);
        let summary = NetworkSummary::without(self.network.as_deref(), harmless);
        let target = match &plan.preset {
            Some(preset) => visible::name(&preset.name).into_owned(),
            None => "-- COMMAND".into(),
        };
        let mut lines: Vec<String> =
            summary.refused.iter().chain(&summary.used_up).map(|names| format!("refused: {names}")).collect();
        lines.extend(summary.failed.map(|hosts| format!("no connection to {hosts}")));
        lines.extend(
            summary
                .refused_names
                .first()
                .map(|name| format!("hint: `placet run --network {name} {target}` allows it")),
        );
        lines
    }
}

/// Output of the program on its way: rendered for a terminal, unchanged otherwise. With `--output-format json` it goes to
/// standard error.
struct PassedOutput {
    stream: Option<(visible::VisibleStream, MarkEscaper)>,
    in_line: bool,
    to_stderr: bool,
}

impl PassedOutput {
    fn new(format: OutputFormat) -> PassedOutput {
        let to_stderr = format == OutputFormat::Json;
        let is_terminal = if to_stderr { io::stderr().is_terminal() } else { io::stdout().is_terminal() };
        let stream = is_terminal.then(|| {
            let margin = MarkEscaper::new(usize::from(term::size().0));
            (visible::VisibleStream::new(visible::VisibleMode::Output), margin)
        });
        PassedOutput { stream, in_line: false, to_stderr }
    }

    fn pass(&mut self, bytes: &[u8]) {
        let shown = self.stream.as_mut().map(|(stream, margin)| margin.feed(&stream.feed_bytes(bytes)));
        let bytes = shown.as_ref().map_or(bytes, |shown| shown.as_bytes());
        self.in_line = bytes.last().map_or(self.in_line, |last| *last != b'\n');
        self.write(bytes);
    }

    /// The reader of the output may be gone. The program runs to its end all the same, and its changes are asked about.
    fn write(&self, bytes: &[u8]) {
        let written = match self.to_stderr {
            true => io::stderr().lock().write_all(bytes),
            false => {
                let mut out = io::stdout().lock();
                out.write_all(bytes).and_then(|()| out.flush())
            }
        };
        drop(written);
    }

    fn end(&mut self) {
        if let Some((mut stream, mut margin)) = self.stream.take() {
            let rest = margin.feed(&stream.finish());
            // The next output of placet begins at the margin.
            let end = if self.in_line || !rest.is_empty() { "\n" } else { "" };
            self.write((rest + end).as_bytes());
        }
        reset_terminal();
    }
}

/// Takes back what output that went to the terminal by another way (a pipe to `cat`) may have set: colours, concealed
/// text, a character set, a hidden cursor. No more, because a pager may have the terminal; before a question everything
/// is reset.
fn reset_terminal() {
    let mut err = io::stderr().lock();
    if io::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|term| term != "dumb") {
        drop(err.write_all(b"\x1b[!p\x1b[0m\x1b(B\x0f").and_then(|()| err.flush()));
    }
}
