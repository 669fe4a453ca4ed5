//! `placet run`: a program of the person's own in the view, and what becomes of its changes. `placet sandbox run` is the same.

mod args;
mod early;
mod execute;
mod file_keys;
mod gateways;
mod home_left;
mod live_changes;
mod outcome;
mod plan;
mod preset;
mod program;
mod registry;
mod resume;
mod running_page;
mod send_back;
mod settle;
mod show;
mod state;

pub(super) use args::RunArgs;
pub(super) use early::start as start_early;
pub(super) use live_changes::{LiveChanges, live_changes};
pub(super) use registry::{list as list_running, stop as stop_running};
pub(super) use running_page::page as show_running;

use super::command_line::options::{Options, OutputFormat};
use super::report::{CliError, warn};
use super::startup::start;
use super::terminal_run::ContinuedTerminal;
use crate::app::{App, RunViewChoice};
use crate::permission::ClassificationLevel;
use crate::sandbox::SandboxBackend;
use crate::text::visible;
use crate::workspace::wait_for_removals;
use args::RunAction;
use early::EarlyStart;
use plan::ProgramPlan;
use send_back::NextStart;
use settle::RunEnd;
use tokio::runtime::Runtime;

pub(super) fn run(args: &RunArgs, options: &Options) -> Result<u8, CliError> {
    if options.output_format == OutputFormat::StreamJson {
        return Err(CliError::usage("`placet run` has no output format stream-json")
            .hint("use `--output-format json`"));
    }
    if args.try_name.is_some() {
        return Err(CliError::usage(
            "`placet run` cannot work in a try: a run has pending changes of its own",
        )
        .hint("`--fresh` leaves the pending changes of an earlier run of the program alone"));
    }
    let mut options = options.clone();
    let mut runtime = None;
    let code = run_in(args, &mut options, (&mut runtime, early::take()));
    // Its threads end with the process, and nobody waits for them.
    if let Some(runtime) = runtime {
        runtime.shutdown_background();
    }
    wait_for_removals();
    code
}

fn run_in(
    args: &RunArgs,
    options: &mut Options,
    (runtime, mut early): (&mut Option<Runtime>, EarlyStart),
) -> Result<u8, CliError> {
    let options = &*options;
    let app = start::app(options)?;
    if args.list {
        return show::list(&app, options.output_format);
    }
    app.workspace.name_home();
    let mut plan = ProgramPlan::new(&app, args)?;
    if args.dry_run {
        return show::dry_run(&app, &plan, args, options.output_format);
    }
    let (backend, sentence) = app.backend();
    if backend != SandboxBackend::Overlay {
        return Err(CliError::new(format!("`placet run` needs a copy-on-write view: {sentence}"))
            .hint("`placet doctor` shows what this machine supports; see the guide's page on the sandbox"));
    }
    // The person's own program sees what the person does, whatever is classified.
    if let Ok(policy) = app.policy.lock() {
        policy.taint().begin(ClassificationLevel::Restricted);
    }
    if args.fresh {
        // Pending first: a fresh run does not continue with what a killed one left either.
        super::changes::killed::take_over_killed(&app);
    }
    let choice = if args.fresh { RunViewChoice::Fresh } else { RunViewChoice::Continue };
    let name = app.run_view(&plan.label, choice).ok_or_else(|| {
        CliError::new(format!("too many runs of {} in this directory", visible::name(plan.name())))
    })?;
    let hosts: Vec<String> = app.config.settings().sandbox.hosts.to_vec();
    let gateways = gateways::unreachable(&plan, &hosts);
    for line in keys_not_passed(&app, &plan).iter().chain(&gateways) {
        warn(line);
    }
    let mut continued = None;
    let runtime = &*runtime.insert(early.runtime()?);
    loop {
        let start = (runtime, early.supervisor.take(), continued.take());
        let mut ran = execute::execute(&app, &plan, (&name, options), start)?;
        let held = ran.terminal.as_mut().and_then(|terminal| terminal.held.take());
        let ended = settle::settle(&app, (&plan, &ran), (RunAction::of(args), options), (held, runtime))?;
        if let (RunEnd::Ended(outcome), OutputFormat::Json) = (&ended, options.output_format) {
            outcome::print_json(&ran, outcome)?;
        } else if let Some(state) = &ran.state {
            state.problem_lines(&ran.env.workspace).iter().for_each(|line| warn(line));
            if let Some(line) = state.line(plan.name()) {
                warn(&line);
            }
        }
        plan = match ended {
            RunEnd::Ended(outcome) => return Ok(outcome.code),
            RunEnd::Again(next, base) => {
                continued = base.map(|base| ContinuedTerminal::of(base, ran.terminal.take()));
                match next {
                    NextStart::Plain => plan.in_next_round(),
                    NextStart::Resumed(words) => plan.in_next_round().started_with(&app, args, words)?,
                }
            }
        };
    }
}

/// For each variable that the person lists in `sandbox.keep_env` and that programs do not get all the same, because it has a
/// key of one of placet's own providers.
fn keys_not_passed(app: &App, plan: &ProgramPlan) -> Vec<String> {
    let listed = &app.config.settings().sandbox.keep_env;
    let own = app.own_key_variables();
    let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_passed = |name: &&String| plan.access.variables.contains(name);
    let names = own.iter().filter(|name| listed.iter().any(|text| text == name.as_str()));
    let line = |name: &String| {
        format!(
            "note: {name} is not passed although `sandbox.keep_env` lists it: it is a key of placet's own; list it in the \
             `keys` of a preset"
        )
    };
    names.filter(is_set).filter(|name| !is_passed(name)).map(line).collect()
}
