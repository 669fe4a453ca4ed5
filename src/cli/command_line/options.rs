//! The options of a conversation, in groups. Their order is that of `--help`.

use super::option_number::number;
use crate::agent::CheckGoal;
use crate::session::TryName;
use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;

/// What `--print` has without a value: the words come from standard input.
pub(in crate::cli) const STDIN: &str = "-";

/// Options of a conversation; the subcommands that run tools take them too.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Options {
    /// Run one turn and exit; `-` or no PROMPT reads standard input
    #[arg(short, long, num_args = 0..=1, value_name = "PROMPT", default_missing_value = STDIN)]
    pub print: Option<String>,
    /// Output format of --print: text, json, stream-json
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT", global = true)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub output_format: OutputFormat,
    /// What tool calls may do: none, read, ask, write, unrestricted
    #[arg(long, value_name = "MODE", global = true)]
    pub mode: Option<String>,
    #[command(flatten)]
    pub answerer: AnswererOptions,
    /// Work in this directory
    #[arg(long, value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
    /// Add a directory to the workspace
    #[arg(long, value_name = "DIR", global = true)]
    pub add_dir: Vec<PathBuf>,
    #[command(flatten)]
    pub session: ResumeOptions,
    /// With --print: continue until these checks pass, at most N more turns
    // Hidden: `--help` has to fit a screen, and the guide page of checks explains it.
    #[arg(long, value_name = "CHECKS[:N]", value_parser = CheckGoal::parse, hide = true)]
    pub until: Option<CheckGoal>,
    #[command(flatten)]
    pub settings: SettingOptions,
    #[command(flatten)]
    pub changes: ChangeOptions,
    #[command(flatten)]
    pub recording: RecordingOptions,
    /// Print line by line, for screen readers (or set ACCESSIBLE=1)
    #[arg(long)]
    pub linear: bool,
    /// Do not read the project's .placet/config.toml
    #[arg(long, global = true)]
    pub no_project: bool,
    /// More log output; -vv for everything
    #[arg(short, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    #[command(flatten)]
    pub own: OwnOptions,
}

/// Who answers, and how.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct AnswererOptions {
    /// The provider: openai, ..., offline, or a name from [providers]
    #[arg(long, value_name = "NAME", global = true)]
    pub provider: Option<String>,
    /// The model, by the provider's name for it
    #[arg(long, value_name = "NAME", global = true)]
    pub model: Option<String>,
    /// The tool set: native, codex, agsh, ...
    #[arg(long, value_name = "NAME", global = true)]
    pub dialect: Option<String>,
    /// Base URL of the provider
    #[arg(long, value_name = "URL", global = true)]
    pub base_url: Option<String>,
    /// Do not stream answers
    // Hidden: `--help` has to fit a screen, and few servers need it.
    #[arg(long, global = true, hide = true)]
    pub no_stream: bool,
}

/// Which session is continued.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct ResumeOptions {
    /// Resume the last session of this directory
    #[arg(short, long = "continue")]
    pub continue_last: bool,
    /// Resume the session with this ID, or choose from a list
    #[arg(short, long, num_args = 0..=1, value_name = "ID-PREFIX", default_missing_value = "", conflicts_with = "continue_last")]
    pub resume: Option<String>,
    /// Work in the try of this name
    #[arg(long = "try", value_name = "NAME", value_parser = TryName::parse, conflicts_with_all = ["continue_last", "resume"])]
    pub try_name: Option<TryName>,
}

/// Settings of this run alone.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct SettingOptions {
    /// Maximum number of requests in one turn
    #[arg(long, value_name = "N", value_parser = number::<u64>)]
    pub max_turns: Option<u64>,
    /// Set any configuration key
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Allow calls that match the rule without asking: run(cargo *)
    #[arg(long, value_name = "RULE", global = true)]
    pub allow: Vec<String>,
    /// Deny calls that match the rule, in every mode: read(.env)
    #[arg(long, value_name = "RULE", global = true)]
    pub deny: Vec<String>,
    /// Add to the system prompt
    #[arg(long, value_name = "TEXT")]
    pub append_system_prompt: Option<String>,
}

/// Where changes come from without a model, and what becomes of them without the question.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct ChangeOptions {
    /// With --print: apply pending changes at the end
    #[arg(long, conflicts_with = "dry_run")]
    pub apply: bool,
    /// Also apply this path, which runs later; can be repeated
    #[arg(long, value_name = "PATH", global = true)]
    pub apply_protected: Vec<PathBuf>,
    /// Also apply a loss of exactly this many files
    #[arg(long, value_name = "FILES", global = true, value_parser = number::<usize>)]
    pub apply_loss: Option<usize>,
    /// Run a JSON batch of operations from standard input
    #[arg(long)]
    pub batch: bool,
    /// With --print: show what would change, but change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Answers of a provider in a file.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct RecordingOptions {
    /// Record the provider's answers in a file, for --replay
    // Hidden: `--help` has to fit a screen, and --replay names it.
    #[arg(long, value_name = "FILE", hide = true)]
    pub record: Option<PathBuf>,
    /// Take the provider's answers from a recording that --record FILE made
    #[arg(long, value_name = "FILE", conflicts_with = "provider")]
    pub replay: Option<PathBuf>,
}

/// What placet gives itself.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct OwnOptions {
    /// The directory that `/cd` left. Only for placet itself, which starts again in another directory.
    #[arg(long, hide = true, value_name = "DIR")]
    pub moved_from: Option<PathBuf>,
    /// The widest mode to start in. It only narrows what the settings say.
    #[arg(long, hide = true, value_name = "MODE")]
    pub mode_at_most: Option<String>,
    /// The directory of a tour, which holds its project and its state.
    #[arg(skip)]
    pub tour: Option<PathBuf>,
}

/// The words need no help of their own: with it, `--help` would be twice as long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    #[default]
    Text,
    Json,
    StreamJson,
}
