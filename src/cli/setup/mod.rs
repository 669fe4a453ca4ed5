//! `placet setup`: a provider, its key and a model, asked for on one screen and written into the person's settings.
//!
//! The key is in memory only until the last question is answered. It goes to the server that it belongs to and to the
//! place where the person stores it, and to no screen, log, history, session or argument of a process.

mod background;
mod candidates;
mod check;
mod flow;
mod key_tool;
mod pages;
mod plan;
mod state;
mod write;

use super::command_line::options::Options;
use super::report::{self, CliError, warn};
use super::startup::start::{self, StartedFor};
use super::{screen, settings_file};
use crate::app::App;
use crate::config::TomlText;
use crate::provider::ProviderPreset;
use crate::repl::keymap;
use crate::text::visible;
use crate::ui::full_screen::FullScreenPane;
use crate::ui::line_ui::TerminalLineUi;
use crate::ui::wizard::WizardPane;
use crate::ui::{full_screen, picker, term};
use flow::{SetupEnd, SetupFlow};
pub(super) use key_tool::is_program;
use plan::{KeyChoice, KeyPlace, SetupAnswers};
use std::io::{self, IsTerminal};
use std::path::Path;
use write::SetupFiles;

/// Who started `placet setup`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetupCaller {
    CommandLine,
    /// The command `/setup`. The shell names the model that answers from then on, so only what was written is reported here.
    Shell,
}

pub(super) fn run(linear: bool, caller: SetupCaller, options: &Options) -> Result<u8, CliError> {
    let paths = start::paths()?;
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(without_terminal(&paths.user_file()));
    }
    let before = settings_file::read(&paths.user_file())?;
    // Before anything is asked: a file that cannot be edited cannot be the end of it.
    TomlText::parse(&before).map_err(|e| settings_file::not_toml(&paths.user_file(), e.message()))?;
    let app = start::load(options, StartedFor::Program)?.app;
    let runtime = start::runtime()?;
    let files = SetupFiles { settings: paths.user_file(), keys: paths.keys_file() };
    let mut flow = SetupFlow::new(&app, runtime.handle().clone(), files.clone(), before)?;
    show(&mut flow, &app, linear || options.linear)?;
    let end = flow.end.take().unwrap_or(SetupEnd::Left);
    drop(flow);
    // What was stopped is not waited for.
    runtime.shutdown_background();
    match end {
        SetupEnd::Left => {
            warn("nothing was changed");
            Ok(report::INTERRUPTED)
        }
        SetupEnd::Unchanged => {
            warn("nothing to change: the settings are like this already");
            Ok(report::DONE)
        }
        SetupEnd::Written(answers) => {
            report_written(&answers, &files, caller);
            report_overrides(&answers, options)?;
            Ok(report::DONE)
        }
    }
}

fn show(flow: &mut SetupFlow<'_>, app: &App, linear: bool) -> Result<(), CliError> {
    let settings = app.config.settings();
    let keys = keymap(&app.config, "picker", picker::KEYS).map_err(CliError::usage)?;
    let base = term::BaseMode::enter_any().map_err(|e| CliError::new(format!("no terminal: {e}")))?;
    let is_linear = linear || settings.ui.linear;
    let (theme, _) = if is_linear { screen::theme(app) } else { screen::theme_of_screen(app) }?;
    let mut pane = WizardPane::new(flow, &theme, keys);
    if is_linear {
        pane.run_line_ui(&mut TerminalLineUi);
    } else {
        full_screen::run(&mut pane).map_err(|e| CliError::new(format!("the terminal failed: {e}")))?;
    }
    drop(base);
    Ok(())
}

/// What to write by hand instead.
fn without_terminal(file: &Path) -> CliError {
    let first =
        ProviderPreset::all().iter().find_map(|preset| Some((&preset.name, preset.default_model.as_ref()?)));
    let lines = first.map_or_else(String::new, |(name, model)| {
        format!(
            "\n        provider = \"{name}\"\n        [providers.{name}]\n        model = \"{model}\"\n      and store the key: `placet config init --key {name} < FILE`"
        )
    });
    CliError::usage("`placet setup` asks questions, which needs a terminal").hint(format!(
        "without a terminal, write into {}:{lines}\n      docs/guide/providers.md describes the other providers",
        file.display()
    ))
}

fn report_written(answers: &SetupAnswers, files: &SetupFiles, caller: SetupCaller) {
    let key = match (&answers.key, answers.place) {
        (KeyChoice::Typed(_), KeyPlace::File) => {
            format!("\nstored the key in {}, which only you can read", visible::path(&files.keys))
        }
        (KeyChoice::Typed(_), KeyPlace::Tool(tool)) => format!("\nstored the key in {}", tool.label()),
        _ => String::new(),
    };
    let (model, file) = (visible::guard_line(&answers.model), visible::path(&files.settings));
    warn(&match caller {
        SetupCaller::Shell => format!("wrote the settings to {file}{key}"),
        SetupCaller::CommandLine => format!(
            "{} with {model} answers from now on: {file}{key}\nhint: `placet` starts the shell, `placet provider test` tests streaming, tools and pictures",
            answers.provider,
        ),
    });
}

/// Something else may win over what was written: a variable, a flag, a project's file.
fn report_overrides(answers: &SetupAnswers, options: &Options) -> Result<(), CliError> {
    let app = start::load(options, StartedFor::Program)?.app;
    let all = app.config.all();
    let origin = |key: &str| all.iter().find(|(name, ..)| name == key).map(|(_, _, from)| from.to_string());
    if app.chosen().as_deref() != Some(answers.provider.as_str()) {
        let from = origin("provider").unwrap_or_default();
        warn(&format!("warning: another provider answers here: `provider` is set by {from}"));
        return Ok(());
    }
    let server = app.server(&answers.provider)?;
    let model = app.config.settings().conversation.model.clone().or(server.preset.default_model.clone());
    if model.as_deref() != Some(answers.model.as_str()) {
        let from = origin("model").unwrap_or_default();
        warn(&format!("warning: another model answers here: `model` is set by {from}"));
    }
    if let (KeyChoice::Typed(key), KeyPlace::File) = (&answers.key, answers.place)
        && !matches!(app.key(&server), Ok(crate::provider::ApiKeySource::Value(used)) if used == *key)
    {
        let (_, words) = app.key_standing(&server);
        warn(&format!("warning: placet uses another key before the key file: {words}"));
    }
    Ok(())
}
