//! The options of `placet run`.

use crate::sandbox::PortMapping;
use clap::Args;

/// `placet run [OPTIONS] (PRESET [ARGS...] | -- COMMAND...)`; `placet sandbox run` takes the same.
#[derive(Debug, Args)]
#[command(
    after_help = "While the program runs, Ctrl-] shows placet's page: its changes so far, the hosts that it asked for, its \
                  processes.\n`placet runs` lists the programs that are running, and `placet runs stop PID` stops one."
)]
#[command(
    override_usage = "placet run [OPTIONS] PRESET [ARGS]...\n       placet run [OPTIONS] -- COMMAND [ARGS]..."
)]
pub struct RunArgs {
    /// Apply the changes without asking
    #[arg(long, conflicts_with = "discard")]
    pub apply: bool,
    /// Discard the changes without asking
    #[arg(long)]
    pub discard: bool,
    /// Allow a host: crates.io, *.npmjs.org:443
    #[arg(long, value_name = "HOST")]
    pub network: Vec<String>,
    /// Open a port of the program at 127.0.0.1: 8123, or 8124:80
    #[arg(long, value_name = "PORT")]
    pub publish: Vec<PortMapping>,
    /// Do not continue with pending changes of an earlier run
    #[arg(long)]
    pub fresh: bool,
    /// Refused with what to use instead: people expect the option of a conversation
    #[arg(long = "try", value_name = "NAME", hide = true)]
    pub try_name: Option<String>,
    /// Print what the program would get, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// List the presets
    #[arg(long, conflicts_with_all = ["apply", "discard", "dry_run", "fresh", "network", "publish", "words"])]
    pub list: bool,
    /// A preset, such as claude or codex, and arguments of its program; after `--`, a command and its arguments
    #[arg(value_name = "PRESET", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}

/// What happens to the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunAction {
    Ask,
    Apply,
    Discard,
}

impl RunAction {
    pub(super) fn of(args: &RunArgs) -> RunAction {
        match (args.apply, args.discard) {
            (true, _) => RunAction::Apply,
            (_, true) => RunAction::Discard,
            _ => RunAction::Ask,
        }
    }
}

/// What runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RunTarget {
    Preset {
        name: String,
        arguments: Vec<String>,
    },
    /// A single word is a command line for the shell.
    Command(Vec<String>),
}

impl RunArgs {
    /// What follows the options. `raw` is the whole command line: clap does not say whether `--` came first, and the words
    /// are the end of it.
    pub(super) fn target(&self, raw: &[String]) -> Option<RunTarget> {
        let (name, arguments) = self.words.split_first()?;
        let start = raw.len().saturating_sub(self.words.len() + 1);
        let longer = raw.get(start..).unwrap_or_default();
        if longer.first().is_some_and(|word| word == "--") {
            return Some(RunTarget::Command(self.words.clone()));
        }
        // With one word more the end begins with the preset: then clap has taken a `--` out of its arguments.
        let arguments = match longer.split_first() {
            Some((first, rest)) if first == name && rest.iter().any(|word| word == "--") => rest,
            _ => arguments,
        };
        Some(RunTarget::Preset { name: name.clone(), arguments: arguments.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        run: RunArgs,
    }

    fn target(words: &[&str]) -> Option<RunTarget> {
        let raw: Vec<String> = std::iter::once(&"placet").chain(words).map(ToString::to_string).collect();
        Line::try_parse_from(&raw).unwrap().run.target(&raw)
    }

    #[test]
    fn a_preset_takes_all_arguments_and_a_command_comes_after_two_dashes() {
        let preset = |name: &str, arguments: &[&str]| {
            let arguments = arguments.iter().map(ToString::to_string).collect();
            Some(RunTarget::Preset { name: name.into(), arguments })
        };
        let command =
            |words: &[&str]| Some(RunTarget::Command(words.iter().map(ToString::to_string).collect()));
        assert_eq!(
            target(&["--apply", "claude", "-p", "--apply", "hi"]),
            preset("claude", &["-p", "--apply", "hi"])
        );
        assert_eq!(target(&["claude", "--", "hi"]), preset("claude", &["--", "hi"]));
        assert_eq!(target(&["claude"]), preset("claude", &[]));
        assert_eq!(target(&["--", "claude", "-p"]), command(&["claude", "-p"]));
        assert_eq!(
            target(&["--network", "a", "--", "git", "checkout", "--", "x"]),
            command(&["git", "checkout", "--", "x"])
        );
        assert_eq!(target(&["--list"]), None);
    }
}
