//! The door: the command line, its subcommands, and the exit code.

mod audit;
mod changes;
mod checks;
mod checks_detect;
mod command_line;
mod commands;
mod conversation;
mod custom_prompt;
mod doctor;
mod import;
mod mcp;
mod metrics;
mod permission;
mod provider;
pub mod reference;
mod report;
mod review;
mod run;
mod screen;
mod screen_keys;
mod session;
mod settings_file;
mod setup;
mod startup;
mod stdin_forwarder;
mod terminal_run;
mod theme;
mod tour;
mod usage;

pub use command_line::args::Args;
pub use report::CliError;

use crate::process;
use crate::workspace::wait_for_removals_within;
use clap::Parser;
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

/// How long the end of the program waits until what commands left is removed.
const REMOVALS: Duration = Duration::from_secs(10);

/// Runs the program.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(code) = crate::tools::answer_git(&words) {
        return code;
    }
    match words.split_first() {
        Some((word, rest)) if word == process::RUN => {
            return process::supervise(rest.to_vec(), &crate::sandbox::START);
        }
        Some((word, _)) if word == terminal_run::GUARD => return terminal_run::guard(),
        _ => {}
    }
    run::start_early(&words);
    startup::panic_hook::install();
    if let Some(words) = command_line::usage_error::help_words(&words) {
        let words = std::iter::once(OsString::from("placet")).chain(words);
        return match command_line::args::command_for_help().try_get_matches_from(words) {
            Err(help) => usage(&help, &[]),
            Ok(_) => ExitCode::from(report::DONE),
        };
    }
    let args = match parsed().and_then(Args::with_one_prompt) {
        Ok(args) => args,
        Err(e) => {
            let several = matches!(e.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand)
                .then(|| command_line::bare_word::of_several(&words));
            return several.flatten().map_or_else(|| usage(&e, &words), |error| error.report());
        }
    };
    let done = command_line::bare_word::check(&args, &words).and_then(|()| run(args));
    wait_for_removals_within(REMOVALS);
    match done {
        Ok(code) => ExitCode::from(code),
        Err(failure) => failure.report(),
    }
}

/// The command line. `placet journal` alone lists, as `placet checks` does: a command that lacks its subcommand takes
/// `list`, or `show` where it has no list.
fn parsed() -> Result<Args, clap::Error> {
    // Behind `--` are the words of another program.
    let wants_help =
        std::env::args_os().take_while(|word| word != "--").any(|word| word == "-h" || word == "--help");
    let parsed = match wants_help {
        true => command_line::args::command_for_help()
            .try_get_matches()
            .and_then(|found| <Args as clap::FromArgMatches>::from_arg_matches(&found)),
        false => parsed_words(),
    };
    let error = match parsed {
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error,
        other => return other,
    };
    ["list", "show"]
        .iter()
        .find_map(|word| Args::try_parse_from(std::env::args_os().chain([word.into()])).ok())
        .ok_or(error)
}

/// As `Args::try_parse`, without freeing what describes all commands.
fn parsed_words() -> Result<Args, clap::Error> {
    // To describe the options of every command takes longer than the rest of the start.
    let alone = command_line::common_args::run_alone(std::env::args_os())
        .or_else(|| command_line::common_args::conversation_alone(std::env::args_os()));
    if let Some(alone) = alone {
        return Ok(alone);
    }
    let mut command = <Args as clap::CommandFactory>::command();
    let parsed = command
        .try_get_matches_from_mut(std::env::args_os())
        .and_then(|mut found| <Args as clap::FromArgMatches>::from_arg_matches_mut(&mut found))
        .map_err(|e| e.format(&mut command));
    // Thousands of small parts, which the end of the process frees at once.
    std::mem::forget(command);
    parsed
}

fn run(args: Args) -> Result<u8, CliError> {
    match args.command {
        None => conversation::converse(args.prompt, &args.options),
        Some(command) => {
            conversation::needs_print(&args.options)?;
            commands::run(command, &args.options)
        }
    }
}

/// Help and the version are no errors. A command that lacks its subcommand shows its help.
fn usage(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        report::warn(crate::text::visible::guard(&error.render().to_string()).trim_end());
        return ExitCode::from(report::USAGE);
    }
    if error.use_stderr() {
        return command_line::usage_error::of(error, words).report();
    }
    match report::written(error.print()) {
        Ok(()) => ExitCode::from(report::DONE),
        Err(failure) => failure.report(),
    }
}
