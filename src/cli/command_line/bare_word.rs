//! A single word on the command line that is not a subcommand: `placet revew` is a mistake, not a message to the model.
//!
//! A message of one word is rare, and a mistyped subcommand that is sent starts a session and costs money. So the rule
//! does not guess: one word of lowercase letters, digits and `-` names a subcommand. A message has a blank or another
//! character, comes after `--` or `-p`, or resumes a session (`-c`, `-r`).

use super::args::{Args, command};
use crate::cli::report::CliError;
use crate::repl;
use crate::text::nearest;
use std::ffi::OsString;

/// What people type who know another program, and what does it here.
const ELSEWHERE: [(&str, &str); 19] = [
    ("auth", "`placet setup` chooses a provider and stores its key"),
    ("chat", "`placet` alone starts the shell"),
    ("continue", "`placet -c` resumes the last session of this directory"),
    ("diff", "`placet changes --patch` shows pending changes"),
    ("exec", "`placet -p \"...\"` runs one turn and exits"),
    ("history", "`placet session list` lists the sessions"),
    ("init", "`placet config init` writes a settings file"),
    ("login", "`placet setup` chooses a provider and stores its key"),
    ("logs", "`placet config path` shows where the log file is"),
    ("models", "`placet provider models` lists the models"),
    ("permissions", "`placet permission list` lists the rules"),
    ("print", "`placet -p \"...\"` runs one turn and exits"),
    ("resume", "`placet -r` lists the sessions to resume"),
    ("serve", "`placet mcp serve` offers the tools to other programs"),
    ("sessions", "`placet session list` lists the sessions"),
    ("settings", "`placet config show` shows the settings"),
    ("skill", "in the shell, /skills lists the skills"),
    ("stats", "`placet usage` shows tokens and cost"),
    ("version", "`placet --version` shows the version"),
];

const QUOTED: &str = "to send a message of several words, put it in quotes: `placet \"fix the bug\"`";

/// Refuses a prompt that can only be a mistyped subcommand. `words` is the command line without the program's name.
pub(in crate::cli) fn check(args: &Args, words: &[OsString]) -> Result<(), CliError> {
    let options = &args.options;
    let goes_on =
        options.session.continue_last || options.session.resume.is_some() || options.print.is_some();
    match &args.prompt {
        // With both, the message would not be sent: `placet revew apply`.
        Some(word) if args.command.is_some() => Err(unknown(word, QUOTED)),
        Some(word) if !goes_on && !is_literal(words) && names_a_command(word) => {
            Err(unknown(word, &format!("to send it as a message: `placet -- {word}`")))
        }
        _ => Ok(()),
    }
}

/// The same for a command line that clap refuses because more words follow the first: `placet revew src/a.rs`.
pub(in crate::cli) fn of_several(words: &[OsString]) -> Option<CliError> {
    // `placet help frob` is about the second word.
    if let [help, asked, ..] = words
        && help == "help"
    {
        let asked = asked.to_str().filter(|word| names_a_command(word) && !is_subcommand(word))?;
        return Some(unknown(asked, "`placet --help` lists the commands"));
    }
    let first = words.first()?.to_str().filter(|word| names_a_command(word) && !is_subcommand(word))?;
    words.get(1).filter(|second| !second.to_string_lossy().starts_with('-'))?;
    Some(unknown(first, QUOTED))
}

fn unknown(word: &str, as_message: &str) -> CliError {
    let hint = match meant(word) {
        Some(meant) => format!("{meant}\n      {as_message}"),
        None => as_message.to_string(),
    };
    CliError::usage(format!("there is no command `{word}`")).hint(hint)
}

/// What follows `--` is taken as it is.
fn is_literal(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "--")
}

fn names_a_command(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn is_subcommand(word: &str) -> bool {
    command().get_subcommands().any(|known| known.get_name() == word)
}

fn meant(word: &str) -> Option<String> {
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(name, _)| *name == word) {
        return Some((*ours).into());
    }
    let command = command();
    let known = || command.get_subcommands().map(clap::Command::get_name);
    if let Some(one) = known().find(|one| word.strip_suffix('s') == Some(one)) {
        return Some(format!("did you mean `placet {one}`?"));
    }
    // A slash command of exactly this name is nearer than a subcommand that is spelled alike.
    if repl::COMMANDS.iter().any(|row| row.name == word) {
        return Some(format!("in the shell, type /{word}"));
    }
    nearest(word, known()).map(|near| format!("did you mean `placet {near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn checked(line: &str) -> Result<(), CliError> {
        let words: Vec<OsString> = line.split(' ').map(|word| word.replace('_', " ").into()).collect();
        let args = Args::try_parse_from(std::iter::once(OsString::from("placet")).chain(words.clone()));
        check(&args.unwrap().with_one_prompt().unwrap(), &words)
    }

    #[test]
    fn one_word_is_a_command_and_everything_else_is_a_message() {
        for mistake in ["revew", "login", "hello", "provider2", "--mode ask sesion", "tour-of"] {
            let error = checked(mistake).unwrap_err();
            assert_eq!(error.code, crate::cli::report::USAGE, "{mistake}");
            assert!(error.hint.unwrap().contains("`placet -- "), "{mistake}");
        }
        for message in [
            "fix_the_bug",
            "Hello",
            "why?",
            "/status",
            "-- revew",
            "-- review",
            "-p revew",
            "-c continue",
            "-r 06h yes",
            "review",
        ] {
            assert_eq!(checked(message), Ok(()), "{message}");
        }
    }

    #[test]
    fn the_hint_names_what_was_meant() {
        let hint = |word: &str| checked(word).unwrap_err().hint.unwrap();
        assert_eq!(
            hint("revew"),
            "did you mean `placet review`?\n      to send it as a message: `placet -- revew`"
        );
        assert!(hint("login").starts_with("`placet setup` chooses a provider and stores its key\n"));
        assert!(hint("model").starts_with("in the shell, type /model\n"));
        assert!(hint("tools").starts_with("did you mean `placet tool`?\n"));
        let words = ["help", "revew"].map(OsString::from);
        let error = of_several(&words).unwrap();
        assert_eq!(error.message, "there is no command `revew`");
        assert!(error.hint.unwrap().starts_with("did you mean `placet review`?\n"));
        assert!(checked("revew apply").unwrap_err().hint.unwrap().contains("in quotes"));
        assert_eq!(hint("hello"), "to send it as a message: `placet -- hello`");
    }

    #[test]
    fn several_words_without_quotes_say_how_to_write_a_message() {
        let of = |line: &str| of_several(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(of("revew src/a.rs").unwrap().hint.unwrap().starts_with("did you mean `placet review`?"));
        assert!(of("fix the bug").unwrap().hint.unwrap().contains("in quotes"));
        assert_eq!(of("review --nope"), None);
        assert_eq!(of("revew --nope"), None);
    }

    #[test]
    fn no_word_of_another_program_hides_a_subcommand() {
        assert!(ELSEWHERE.iter().all(|(name, _)| !is_subcommand(name)));
    }
}
