//! Command lines that are parsed without the descriptions of all commands, because making those takes longer than to
//! read the settings: that of `placet run`, and one without a subcommand. All others are parsed as [`Args`].

use super::args::{Args, CliCommand};
use super::options::Options;
use crate::cli::run::RunArgs;
use clap::{Args as ClapArgs, Parser};
use std::ffi::OsString;

/// The command line of `placet run`, parsed without the descriptions of all other commands. `None` for any other command
/// line, and for one that clap does not accept: the error names what all commands have.
pub(in crate::cli) fn run_alone(words: impl Iterator<Item = OsString>) -> Option<Args> {
    const RUN: &str = "run";
    let words: Vec<OsString> = words.collect();
    if words.get(1)? != RUN {
        return None;
    }
    let run = <RunArgs as ClapArgs>::augment_args(clap::Command::new(RUN));
    let command = <Options as ClapArgs>::augment_args(clap::Command::new("placet")).subcommand(run);
    let mut found = command.try_get_matches_from(words).ok()?;
    let (_, mut of_run) = found.remove_subcommand()?;
    let run = <RunArgs as clap::FromArgMatches>::from_arg_matches_mut(&mut of_run).ok()?;
    let options = <Options as clap::FromArgMatches>::from_arg_matches_mut(&mut found).ok()?;
    Some(Args { prompt: None, options, command: Some(CliCommand::Run(run)) })
}

/// The names of all subcommands, for [`conversation_alone`].
const COMMANDS: [&str; 31] = [
    "session",
    "tool",
    "config",
    "changes",
    "apply",
    "discard",
    "undo",
    "redo",
    "blame",
    "try",
    "compare",
    "review",
    "journal",
    "run",
    "runs",
    "sandbox",
    "permission",
    "audit",
    "provider",
    "metrics",
    "checks",
    "mcp",
    "usage",
    "theme",
    "setup",
    "import",
    "tour",
    "doctor",
    "completions",
    "man",
    "help",
];

/// What a command line without a subcommand has.
#[derive(Debug, Parser)]
#[command(name = "placet")]
struct ConversationArgs {
    prompt: Option<String>,
    #[command(flatten)]
    options: Options,
}

/// A command line without a subcommand, parsed without the descriptions of all subcommands, which takes longer than to
/// read the settings. `None` where a word is the name of a subcommand, whatever it means there, and for a command line
/// that clap does not accept: help and errors name what all commands have.
pub(in crate::cli) fn conversation_alone(words: impl Iterator<Item = OsString>) -> Option<Args> {
    let words: Vec<OsString> = words.collect();
    if words.iter().skip(1).any(|word| COMMANDS.iter().any(|name| word == name)) {
        return None;
    }
    let ConversationArgs { prompt, options } = ConversationArgs::try_parse_from(words).ok()?;
    Some(Args { prompt, options, command: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_parsed_alone_as_it_is_with_all_commands() {
        let lines = [
            "run -- true",
            "run claude --model x -p --apply",
            "run --apply --mode ask claude",
            "run --fresh --network a.example --network b.example:8443 --set a=b --cwd / -- sh -c x",
            "run --output-format json --discard codex exec hi",
            "run --list",
            "run --appl -- x",
            "run",
        ];
        for line in lines {
            let words = || std::iter::once("placet").chain(line.split(' ')).map(OsString::from);
            let alone = run_alone(words()).map(|args| format!("{args:?}"));
            let whole = Args::try_parse_from(words()).ok().map(|args| format!("{args:?}"));
            assert!(alone.is_some() && alone == whole, "{line}: {alone:?}");
        }
        for line in ["run --apply --discard -- x", "run --help", "runs", "--mode ask run -- x", ""] {
            let words = std::iter::once("placet").chain(line.split(' ')).map(OsString::from);
            assert!(run_alone(words).is_none(), "{line}");
        }
    }

    #[test]
    fn a_conversation_is_parsed_alone_as_with_all_commands() {
        let lines = [
            "",
            "hello",
            "-p hello",
            "-p hello world",
            "-p --mode ask hello",
            "--provider offline --print",
            "-p",
            "-r",
            "-r abc",
            "-c -p more",
            "--add-dir a --add-dir b --set ui.theme=dark",
            "--output-format json -p x",
            "-- run",
            "-vv",
        ];
        for line in lines {
            let words = || std::iter::once("placet").chain(line.split_terminator(' ')).map(OsString::from);
            let alone = conversation_alone(words()).map(|args| format!("{args:?}"));
            let whole = Args::try_parse_from(words()).ok().map(|args| format!("{args:?}"));
            let may_differ = line.contains("run");
            assert!(may_differ && alone.is_none() || alone == whole, "{line}: {alone:?} {whole:?}");
        }
        for line in ["--no-such", "--help", "--version", "doctor", "-p x changes", "--mode"] {
            let words = std::iter::once("placet").chain(line.split(' ')).map(OsString::from);
            assert!(conversation_alone(words).is_none(), "{line}");
        }
        let command = <Args as clap::CommandFactory>::command();
        for name in command.get_subcommands().flat_map(|sub| sub.get_all_aliases().chain([sub.get_name()])) {
            assert!(COMMANDS.contains(&name), "{name}");
        }
    }
}
