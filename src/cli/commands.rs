//! The subcommands.

use super::changes::apply::ApplyConsent;
use super::changes::{apply, blame, pending, tries};
use super::command_line::args::{CliCommand, ConfigCommand, RunsCommand, SandboxCommand, ToolCommand};
use super::command_line::checks_args::ChecksCommand;
use super::command_line::options::Options;
use super::report::{self, CliError, print, print_foreign, print_list, warn};
use super::review::compare;
use super::setup::SetupCaller;
use super::startup::resumed_directory::in_view_directory;
use super::startup::start;
use super::{
    audit, checks, doctor, import, mcp, metrics, permission, provider, review, session, setup, theme, tour,
    usage,
};
use crate::agent::{ApprovalReply, CallOrigin, EntryPoint, SingleCall};
use crate::app::{self, IncludeProject};
use crate::config::{ProjectSettings, SettingKey, SettingKind};
use crate::conversation::{CallId, CallInput, CallOutcome, Part, ToolCall};
use crate::provider::ApiKey;
use crate::session::Scratchpads;
use crate::ui::term;
use std::fmt::Write as _;
use std::io::Read;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) fn run(command: CliCommand, options: &Options) -> Result<u8, CliError> {
    let options = &match session_of(&command) {
        Some(prefix) => in_view_directory(options, prefix)?,
        None => options.clone(),
    };
    match command {
        CliCommand::Session(command) => session::run(command, options),
        CliCommand::Tool(command) => tool(command, options),
        CliCommand::Config(command) => config(command, options),
        CliCommand::Permission(command) => permission::run(command, options),
        CliCommand::Audit(command) => audit::run(&command),
        CliCommand::Provider(command) => provider::run(command, options),
        CliCommand::Metrics { command } => metrics::run(command, options),
        CliCommand::Mcp(command) => mcp::run(command, options),
        CliCommand::Changes { json, patch, which } => pending::show(json, patch, &which, options),
        CliCommand::Apply { paths, checked: true, which, .. } => {
            checks::apply_checked(&paths, &which, options)
        }
        CliCommand::Apply { paths, yes, which, .. } => {
            let consent = if yes { ApplyConsent::Given } else { ApplyConsent::Asked };
            apply::apply(&paths, consent, &which, options)
        }
        CliCommand::Checks { command } => checks::run(command, options),
        CliCommand::Discard { paths, which } => pending::discard(&paths, &which, options),
        CliCommand::Undo { session: Some(prefix), .. } => pending::undo_discard_of(&prefix, options),
        CliCommand::Undo { what, rest, .. } => pending::undo(what.as_deref(), rest, options),
        CliCommand::Redo { rest } => pending::redo(rest, options),
        CliCommand::Blame { file, lines, json, which } => {
            let form = if json { blame::BlameOutputFormat::Json } else { blame::BlameOutputFormat::Table };
            blame::run(&file, lines.as_deref(), form, &which, options)
        }
        CliCommand::Try(command) => tries::run(command, options),
        CliCommand::Compare(args) => compare::run(&args, options),
        CliCommand::Review(args) => review::run(&args, options),
        CliCommand::Journal(command) => super::changes::journal::run(command, options),
        CliCommand::Run(args) | CliCommand::Sandbox(SandboxCommand::Run(args)) => {
            super::run::run(&args, options)
        }
        CliCommand::Runs { command: Some(RunsCommand::Stop { pid }), .. } => super::run::stop_running(pid),
        CliCommand::Runs { command: Some(RunsCommand::Page { pid }), .. } => {
            super::run::show_running(pid, options)
        }
        CliCommand::Runs { command: None, json } => super::run::list_running(json),
        CliCommand::Theme(command) => theme::run(command, options),
        CliCommand::Usage { since, json } => usage::run(since.as_deref(), json, options),
        CliCommand::Setup { linear, in_shell } => {
            let caller = if in_shell { SetupCaller::Shell } else { SetupCaller::CommandLine };
            setup::run(linear, caller, options)
        }
        CliCommand::Import(args) => import::run(&args, options),
        CliCommand::Tour => tour::run(options),
        CliCommand::Doctor => doctor::run(options),
        CliCommand::Completions { shell } => {
            let mut out = Vec::new();
            clap_complete::generate(shell, &mut super::command_line::args::command(), "placet", &mut out);
            print(&String::from_utf8_lossy(&out)).map(|()| report::DONE)
        }
        CliCommand::Man => man(),
    }
}

/// The session whose pending changes a command is about.
fn session_of(command: &CliCommand) -> Option<&str> {
    let which = match command {
        CliCommand::Changes { which, .. }
        | CliCommand::Apply { which, .. }
        | CliCommand::Discard { which, .. }
        | CliCommand::Blame { which, .. } => which,
        CliCommand::Review(args) => &args.which,
        CliCommand::Checks {
            command: Some(ChecksCommand::List { which } | ChecksCommand::Run { which, .. }),
        } => which,
        CliCommand::Undo { session, .. } => return session.as_deref(),
        _ => return None,
    };
    which.session.as_deref()
}

fn man() -> Result<u8, CliError> {
    let mut out = Vec::new();
    let page = clap_mangen::Man::new(super::command_line::args::command());
    page.render(&mut out).map_err(CliError::new)?;
    let mut text = String::from_utf8_lossy(&out).into_owned();
    text.push_str(".SH IN THE SHELL\n");
    for row in crate::repl::COMMANDS {
        let _ = write!(text, ".TP\n\\fB/{}\\fR {}\n{}\n", row.name, row.arguments, row.help);
    }
    print(&text).map(|()| report::DONE)
}

fn tool(command: ToolCommand, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    match command {
        ToolCommand::List => {
            let mut out = String::new();
            for spec in app.registry.specs() {
                let _ = writeln!(out, "{:<16} {}", spec.name, spec.summary());
            }
            print_list(&out).map(|()| report::DONE)
        }
        ToolCommand::Show { name } => {
            let tool = app.registry.get(&name).map_err(tool_failure)?;
            let spec = tool.spec();
            let schema = serde_json::to_string_pretty(&spec.schema).map_err(CliError::new)?;
            print(&format!("{}\n\n{}\n\n{schema}\n", spec.name, spec.description.trim()))
                .map(|()| report::DONE)
        }
        ToolCommand::Call { name, arguments } => {
            app.registry.get(&name).map_err(tool_failure)?;
            let mut text = arguments;
            if text == "-" {
                text.clear();
                std::io::stdin().lock().read_to_string(&mut text).map_err(CliError::new)?;
            }
            let input = match CallInput::parse(&text) {
                CallInput::Malformed { reason, .. } => return Err(CliError::usage(reason)),
                input => input,
            };
            let title = format!("placet tool call {name}");
            let call = ToolCall { id: CallId::new("call"), name, input };
            let env = app.env(Arc::new(Scratchpads::in_memory()), &app.fresh_view());
            let workspace = env.workspace.clone();
            if let Some(view) = workspace.view() {
                view.begin_single_call(0, title);
            }
            let single = SingleCall {
                registry: Arc::clone(&app.registry),
                env,
                policy: Arc::clone(&app.policy),
                origin: CallOrigin {
                    interceptors: Arc::clone(&app.gate),
                    session: None,
                    entry_point: EntryPoint::CommandLine,
                },
                call,
                reply: ApprovalReply::Nobody,
                cancel: CancellationToken::new(),
            };
            let (result, _) = start::runtime()?.block_on(single.run(warn));
            let code = print_result(&result.parts, result.outcome)?;
            Ok(pending::after(&workspace, code))
        }
    }
}

fn tool_failure(error: crate::tools::ToolError) -> CliError {
    CliError { hint: error.hint.as_ref().map(ToString::to_string), ..CliError::usage(error.message) }
}

/// The result on standard output, an error and placet's notes on standard error: a result in JSON is nothing but JSON.
fn print_result(parts: &[Part], outcome: CallOutcome) -> Result<u8, CliError> {
    let (mut out, mut notes) = (String::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text { text } => {
                out.push_str(text);
                if !text.ends_with('\n') {
                    out.push('\n');
                }
            }
            Part::Note(note) => notes.push(note.words()),
            Part::Image(image) => {
                let _ = writeln!(out, "[{}: {}]", image.word(), image.describe());
            }
        }
    }
    let code = match outcome {
        CallOutcome::Done => print_foreign(&out).map(|()| report::DONE)?,
        other => {
            // The tool's words, and what they quote: not placet's own.
            report::pass_on(out.trim_end());
            if other == CallOutcome::Denied { report::REFUSED } else { report::ERROR }
        }
    };
    notes.iter().for_each(|note| warn(note));
    Ok(code)
}

fn config(command: ConfigCommand, options: &Options) -> Result<u8, CliError> {
    match command {
        ConfigCommand::Show { origin } => {
            let app = start::app(options)?;
            let mut out = String::new();
            for (name, value, from) in app.config.all() {
                let shown =
                    if origin { format!("{name} = {value}  # {from}") } else { format!("{name} = {value}") };
                let _ = writeln!(out, "{shown}");
            }
            print_list(&out).map(|()| report::DONE)
        }
        ConfigCommand::Path => {
            let paths = start::paths()?;
            let cwd = start::working_directory(options)?;
            let home = crate::config::home_dir();
            let project = crate::config::AppDirs::project_file(&cwd, home.as_deref());
            let project = project.map_or("none".to_string(), |p| p.display().to_string());
            print_list(&format!(
                "user file     {}\nkey file      {}\nproject file  {project}\nsessions      {}\nlog           {}\n",
                paths.user_file().display(),
                paths.keys_file().display(),
                paths.state.join("placet.db").display(),
                paths.log_file().display()
            ))
            .map(|()| report::DONE)
        }
        ConfigCommand::Init { key: Some(provider) } => store_key(&provider, options),
        ConfigCommand::Init { key: None } => init(),
        ConfigCommand::Trust => trust(options),
    }
}

/// A file that lists every key in a comment, so that the file itself sets nothing. A line has the full name of its key:
/// its meaning does not depend on its position or on the other lines that are set.
pub(super) fn template() -> String {
    let mut out = String::from("# placet's settings. Remove the `#` before a name to set it.\n");
    // TOML would read a root key after a table as a key of that table.
    let (root, tables): (Vec<_>, Vec<_>) = SettingKey::all().partition(|key| !key.name.contains('.'));
    for key in root.into_iter().chain(tables) {
        let name = match key.name {
            "keys.*.*" => "keys.SCREEN.ACTION".to_string(),
            name => name.replace('*', "NAME"),
        };
        let _ = write!(out, "\n# {} ({})\n#{name} = {}\n", key.help, key.kind.describe(), example(key));
    }
    out
}

/// The default; where there is none, a value of the key's type.
fn example(key: &SettingKey) -> String {
    match key.kind {
        _ if !key.default.is_empty() => key.default.into(),
        SettingKind::Text => "\"\"".into(),
        SettingKind::Word(words) => format!("\"{}\"", words.first().unwrap_or(&"")),
        // Nobody wants none of what these count.
        SettingKind::Number if key.name == "max_output_tokens" => "8192".into(),
        SettingKind::Number if key.name == "context_window" => "200000".into(),
        SettingKind::Number => "60".into(),
        SettingKind::Flag => "true".into(),
        SettingKind::Texts | SettingKind::Rules | SettingKind::Hooks => "[]".into(),
    }
}

fn init() -> Result<u8, CliError> {
    let path = start::paths()?.user_file();
    if path.exists() {
        return Err(CliError::new(format!("`{}` already exists", path.display()))
            .hint("edit it, or move it away first"));
    }
    let dir = path.parent().unwrap_or(std::path::Path::new("."));
    crate::private::make_dir(dir)
        .and_then(|()| crate::private::write(&path, template().as_bytes()))
        .map_err(|e| CliError::new(format!("cannot write `{}`: {e}", path.display())))?;
    print(&format!("wrote {}\n", path.display())).map(|()| report::DONE)
}

fn store_key(provider: &str, options: &Options) -> Result<u8, CliError> {
    use std::io::IsTerminal;
    // Before anybody types a secret: a name that is misspelt would store a key that is never found.
    start::app(options)?.known_provider(provider)?;
    if std::io::stdin().is_terminal() {
        warn(
            "type or paste the key, then Enter and Ctrl-D (the screen shows the key as you type; use a pipe to hide it):",
        );
        // What was typed before is no part of the key.
        term::forget_input();
    }
    let mut key = String::new();
    std::io::stdin().lock().read_to_string(&mut key).map_err(CliError::new)?;
    let key = key.trim();
    if key.is_empty() || key.contains(char::is_whitespace) {
        return Err(CliError::usage("expected one word on standard input: the key"));
    }
    let path = start::paths()?.keys_file();
    app::keys::store(&path, provider, &ApiKey::new(key))?;
    print(&format!("stored the key of {provider} in {}\n", path.display())).map(|()| report::DONE)
}

fn trust(options: &Options) -> Result<u8, CliError> {
    let cwd = start::working_directory(options)?;
    let (sources, mut store) = app::sources(&start::paths()?, &cwd, IncludeProject::Yes);
    let files: Vec<ProjectSettings> = sources.project.into_iter().chain(sources.mcp_file).collect();
    if files.is_empty() {
        return Err(CliError::new("no .placet/config.toml and no .mcp.json in this project"));
    }
    for ProjectSettings { path, text, hash, .. } in files {
        print_foreign(&format!("# {}\n{text}\n", path.display()))?;
        store.trust(&path, &hash).map_err(CliError::new)?;
    }
    warn("trusted with exactly this content; placet asks again when the file changes");
    Ok(report::DONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, SettingsLayer, SettingsSources};

    #[test]
    fn every_line_of_the_template_can_be_set_alone_and_with_all_others() {
        let read = |text: &str| {
            let user = SettingsLayer::user_file("config.toml".as_ref(), text);
            let count = user.values.len();
            let problems = Config::merge(SettingsSources { user, ..SettingsSources::default() }).problems;
            assert!(problems.is_empty(), "{text}\n{problems:?}");
            count
        };
        let template = template();
        assert_eq!(read(&template), 0);
        let set = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
        let lines: Vec<&str> = template.lines().filter(set).map(|line| &line[1..]).collect();
        assert_eq!(lines.len(), SettingKey::all().count());
        for line in &lines {
            assert_eq!(read(line), 1, "{line}");
        }
        assert_eq!(read(&lines.join("\n")), lines.len());
        let root = lines.iter().rposition(|line| !line.split(" = ").next().unwrap().contains('.')).unwrap();
        assert!(
            lines[..root].iter().all(|line| !line.split(" = ").next().unwrap().contains('.')),
            "{lines:?}"
        );
    }
}
