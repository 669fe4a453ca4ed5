//! What clap refuses, in placet's own words: what is wrong, and which words there are.

use super::args;
use crate::cli::report::CliError;
use crate::text::nearest;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use std::ffi::OsString;

/// `words` is the command line without the program's name.
pub(in crate::cli) fn of(error: &clap::Error, words: &[OsString]) -> CliError {
    let (path, command) = asked(words);
    let help = format!("see `{path} --help`");
    let one = |kind| texts(error, kind).into_iter().next();
    let name = || name_of(&one(ContextKind::InvalidArg).unwrap_or_default());
    let meant = |kind| one(kind).map(|near| format!("did you mean `{near}`?"));
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = one(ContextKind::InvalidSubcommand).unwrap_or_default();
            let known: Vec<&str> =
                command.get_subcommands().filter(|c| !c.is_hide_set()).map(clap::Command::get_name).collect();
            let hint = match nearest(&word, known.iter().copied()) {
                Some(near) => format!("did you mean `{path} {near}`?"),
                None => format!("the commands of `{path}` are {}", known.join(", ")),
            };
            CliError::usage(format!("there is no command `{path} {word}`")).hint(hint)
        }
        ErrorKind::UnknownArgument => {
            let word = one(ContextKind::InvalidArg).unwrap_or_default();
            let kind = if word.starts_with('-') { "unknown option" } else { "unexpected argument" };
            let hint = meant(ContextKind::SuggestedArg).unwrap_or(help);
            CliError::usage(format!("{kind} `{word}`")).hint(hint)
        }
        ErrorKind::InvalidValue => {
            let valid = texts(error, ContextKind::ValidValue);
            let list = (!valid.is_empty()).then(|| format!("the values are {}", valid.join(", ")));
            let value = one(ContextKind::InvalidValue).filter(|value| !value.is_empty());
            let message = match &value {
                Some(value) => format!("invalid value `{value}` for {}", name()),
                None => format!("{} needs a value", name()),
            };
            CliError::usage(message).hint(list.unwrap_or(help))
        }
        ErrorKind::ValueValidation => {
            let value = one(ContextKind::InvalidValue).unwrap_or_default();
            let why = error.source().map(|why| format!(": {why}")).unwrap_or_default();
            CliError::usage(format!("invalid value `{value}` for {}{why}", name())).hint(help)
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = texts(error, ContextKind::InvalidArg);
            let noun = if missing.len() == 1 { "missing argument" } else { "missing arguments" };
            let usage = one(ContextKind::Usage).and_then(|text| {
                text.lines().next()?.strip_prefix("Usage: ").map(|line| format!("usage: {line}"))
            });
            CliError::usage(format!("{noun}: {}", missing.join(", "))).hint(usage.unwrap_or(help))
        }
        ErrorKind::ArgumentConflict => match texts(error, ContextKind::PriorArg) {
            prior if prior.is_empty() => CliError::usage(first_words(error)).hint(help),
            prior => {
                let prior: Vec<String> = prior.iter().map(|prior| name_of(prior)).collect();
                CliError::usage(format!("{} cannot be used with {}", name(), prior.join(", "))).hint(help)
            }
        },
        _ => CliError::usage(first_words(error)).hint(help),
    }
}

/// The command that `placet help COMMAND` is about, as `COMMAND --help`.
pub(in crate::cli) fn help_words(words: &[OsString]) -> Option<Vec<OsString>> {
    let (first, rest) = words.split_first()?;
    if first != "help" {
        return None;
    }
    let mut command = args::command();
    for word in rest {
        command = command.find_subcommand(word)?.clone();
    }
    Some(rest.iter().cloned().chain([OsString::from("--help")]).collect())
}

/// The command that is asked for, and its words.
fn asked(words: &[OsString]) -> (String, clap::Command) {
    let (mut path, mut command) = ("placet".to_string(), args::command());
    for word in words.iter().take_while(|word| *word != "--") {
        let Some(found) = command.find_subcommand(word).cloned() else { continue };
        path.push(' ');
        path.push_str(found.get_name());
        command = found;
    }
    (path, command)
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(all)) => all.clone(),
        Some(ContextValue::StyledStrs(all)) => all.iter().map(ToString::to_string).collect(),
        Some(ContextValue::None) | None => Vec::new(),
        Some(other) => vec![other.to_string()],
    }
}

/// `--mode <MODE>` is `--mode`, and `<SHELL>` is SHELL.
fn name_of(argument: &str) -> String {
    match argument.split_once(' ') {
        Some((option, _)) => format!("`{option}`"),
        None if argument.starts_with('-') => format!("`{argument}`"),
        None => argument.trim_matches(['<', '>', '[', ']', '.']).to_string(),
    }
}

/// What clap says first, on one line.
fn first_words(error: &clap::Error) -> String {
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = first.lines().map(str::trim).collect();
    words.join(" ").trim_start_matches("error: ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn refused(line: &str) -> (String, String) {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let error =
            args::Args::try_parse_from(std::iter::once("placet".into()).chain(words.clone())).unwrap_err();
        let error = of(&error, &words);
        assert_eq!(error.code, crate::cli::report::USAGE, "{line}");
        (error.message, error.hint.unwrap())
    }

    #[test]
    fn each_error_of_the_command_line_names_the_words_that_there_are() {
        for (line, message, hint) in [
            (
                "config frob",
                "there is no command `placet config frob`",
                "the commands of `placet config` are ",
            ),
            ("config shw", "there is no command `placet config shw`", "did you mean `placet config show`?"),
            (
                "import cursor",
                "invalid value `cursor` for PROGRAM",
                "the values are claude, codex, gemini, opencode",
            ),
            ("--mode", "`--mode` needs a value", "see `placet --help`"),
            ("metrics serve --port x", "invalid value `x` for `--port`", ""),
            ("mcp add", "missing arguments: <NAME>, <COMMAND>...", "usage: placet mcp add "),
            ("config show --frob", "unknown option `--frob`", "see `placet config show --help`"),
            ("apply --dry-run --apply", "", "see `placet apply --help`"),
        ] {
            let (said, hinted) = refused(line);
            assert!(said.starts_with(message), "{line}: {said}");
            assert!(hinted.starts_with(hint), "{line}: {hinted}");
            assert!(!said.contains('\n') && !said.contains("error: "), "{said}");
        }
    }

    #[test]
    fn help_is_a_word_for_the_option() {
        let words = |line: &str| line.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        assert_eq!(help_words(&words("help")).unwrap(), words("--help"));
        assert_eq!(help_words(&words("help mcp add")).unwrap(), words("mcp add --help"));
        assert_eq!(help_words(&words("help frob")), None);
        assert_eq!(help_words(&words("review help")), None);
    }
}
