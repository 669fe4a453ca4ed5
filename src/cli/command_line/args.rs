//! The command line. Parsing is total and touches nothing: what the words mean for the world comes later, once each.

use super::checks_args::ChecksCommand;
use super::mcp_args::McpCommand;
use super::option_number::number;
use super::options::{Options, STDIN};
use super::session_args::SessionCommand;
use super::session_selector::SessionSelector;
use super::try_args::{CompareArgs, TryCommand};
use crate::cli::import::ImportArgs;
use crate::cli::run::RunArgs;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// An interactive agent shell in which every change waits for your approval.
#[derive(Debug, Parser)]
#[command(
    name = "placet",
    version,
    about,
    disable_help_subcommand = true,
    override_usage = "placet [OPTIONS] [PROMPT]\n       placet [OPTIONS] COMMAND",
    after_help = "Without a terminal and without a prompt, placet reads prompts from standard input, one per line.\n\
                  Exit codes: 0 done, 1 error, 2 usage, 3 refused or pending, 4 provider, \
                  5 not recorded, 130 stopped."
)]
pub struct Args {
    /// The first turn
    #[arg(hide = true)]
    pub prompt: Option<String>,

    #[command(flatten)]
    pub options: Options,

    #[command(subcommand)]
    pub command: Option<CliCommand>,
}

impl Args {
    /// `-p --mode ask "words"` means what `--mode ask -p "words"` does.
    ///
    /// # Errors
    ///
    /// The prompt was given twice.
    pub fn with_one_prompt(mut self) -> Result<Args, clap::Error> {
        match (self.options.print.as_deref(), &self.prompt) {
            (Some(STDIN), Some(_)) => self.options.print = self.prompt.take(),
            (Some(_), Some(_)) => {
                let words = "the prompt was given twice: with --print and as an argument";
                return Err(<Args as clap::CommandFactory>::command()
                    .error(clap::error::ErrorKind::ArgumentConflict, words));
            }
            _ => {}
        }
        Ok(self)
    }
}

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    /// List, show, name, pin, export, delete and search sessions
    #[command(subcommand)]
    Session(SessionCommand),
    /// List, show and call the tools
    #[command(subcommand)]
    Tool(ToolCommand),
    /// Show the settings and where they come from
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Show pending changes
    Changes {
        /// Print JSON: one object per path
        #[arg(long, conflicts_with = "patch")]
        json: bool,
        /// Print a patch for `git apply` or `patch -p1`
        #[arg(long)]
        patch: bool,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Apply pending changes: all, or only these paths
    Apply {
        /// Apply only these paths, without the question
        paths: Vec<PathBuf>,
        /// Apply without the question, also at a terminal
        #[arg(short, long)]
        yes: bool,
        /// Apply only if the required checks pass on exactly these changes
        #[arg(long)]
        checked: bool,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Discard pending changes: all, or only these paths
    Discard {
        /// Discard only these paths
        paths: Vec<PathBuf>,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Undo the changes of the last turn, of the last N turns, or to one path
    Undo {
        /// A number of turns, or a path
        what: Option<String>,
        /// Undo what can be undone and skip the rest
        #[arg(long)]
        rest: bool,
        /// Restore what was discarded last in the session with this ID prefix
        #[arg(long, value_name = "ID-PREFIX", conflicts_with_all = ["what", "rest"])]
        session: Option<String>,
    },
    /// Redo the changes that undo removed
    Redo {
        /// Redo what can be redone and skip the rest
        #[arg(long)]
        rest: bool,
    },
    /// Show who wrote each line of a file: turn, tool call, and who approved it
    Blame {
        /// The file
        file: PathBuf,
        /// Only these lines: 12, or 12,20
        #[arg(value_name = "LINE[,LINE]")]
        lines: Option<String>,
        /// Print JSON: one object per line of the file
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// List, rename, drop and prune tries; `placet compare A B` compares two
    #[command(subcommand)]
    Try(TryCommand),
    /// Review one try against another, and take parts of it
    Compare(CompareArgs),
    /// Review pending changes, a git diff or a patch
    Review(super::review_args::ReviewArgs),
    /// Show the changes applied in this directory
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Run a program in the copy-on-write view, and ask about its changes
    Run(RunArgs),
    /// List, show or stop the programs of `placet run` that are running
    Runs {
        #[command(subcommand)]
        command: Option<RunsCommand>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// The old name of `placet run`
    #[command(subcommand, hide = true)]
    Sandbox(SandboxCommand),
    /// Show the permission rules, and check a command against them
    #[command(subcommand)]
    Permission(PermissionCommand),
    /// The audit log: decisions, calls that ran, and who approved them
    #[command(subcommand)]
    Audit(AuditCommand),
    /// List, add, test and remove providers
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// Print how often each tool ran and how long it took, in the Prometheus format
    #[command(hide = true)]
    Metrics {
        #[command(subcommand)]
        command: Option<MetricsCommand>,
    },
    /// Run checks on pending changes, list them, or propose them
    Checks {
        #[command(subcommand)]
        command: Option<ChecksCommand>,
    },
    /// Add and test MCP servers, or offer the tools as one
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Show tokens and cost, by day and model
    Usage {
        /// From this time on: 7d, 12h, 2026-11-01 [default: 30d]
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the themes and preview one
    #[command(subcommand)]
    Theme(ThemeCommand),
    /// Choose a provider, a key and a model, and write the settings
    Setup {
        /// Ask numbered questions, without a full screen
        #[arg(long)]
        linear: bool,
        /// The shell runs it, for /setup, and reports itself who answers
        // Hidden: of no use to a person.
        #[arg(long, hide = true)]
        in_shell: bool,
    },
    /// Show what settings of claude, codex, gemini or opencode become here, and write it
    Import(ImportArgs),
    /// Learn placet in a minute, in a project that is removed afterwards
    Tour,
    /// Check this installation and report problems
    Doctor,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(hide = true)]
    Man,
}

#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// List the transactions, newest first
    List {
        /// Show at most N entries
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = number::<usize>)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a transaction changed
    Show {
        /// Number of the transaction [default: the newest]
        #[arg(value_parser = number::<u64>)]
        id: Option<u64>,
        /// Print a patch of it for `git apply` or `patch -p1`
        #[arg(long)]
        patch: bool,
    },
    /// Remove transactions that are older or larger than the settings allow
    Prune,
    /// Move damaged records aside and rebuild what can be rebuilt; deletes nothing
    Repair,
}

#[derive(Debug, Subcommand)]
pub enum ThemeCommand {
    /// List the built-in themes and your own; `*` marks the current theme
    List,
    /// Preview a theme [default: the current theme]
    Preview {
        /// Name of the theme
        name: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run a program in the copy-on-write view, and ask about its changes; the same as `placet run`
    Run(RunArgs),
}

#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Show placet's page of a program that runs in another terminal
    Page {
        /// The process number in the list; needed if several programs are running
        pid: Option<u32>,
    },
    /// Stop a program: everything that it started ends, and placet asks about nothing
    Stop {
        /// The process number in the list
        pid: u32,
    },
}

#[derive(Debug, Subcommand)]
pub enum ToolCommand {
    /// List the tools, one per line
    List,
    /// Show a tool's description and parameters
    Show {
        /// Name of the tool
        name: String,
    },
    /// Call a tool
    Call {
        /// Name of the tool
        name: String,
        /// A JSON object, or `-` for standard input
        arguments: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show the effective settings
    Show {
        /// Show where each setting comes from
        #[arg(long)]
        origin: bool,
    },
    /// Show the paths of placet's files
    Path,
    /// Write a commented configuration file; with --key, store a provider's key (read from standard input)
    Init {
        /// Store the key of this provider
        #[arg(long, value_name = "PROVIDER")]
        key: Option<String>,
    },
    /// Trust this project's .placet/config.toml as it is now
    Trust,
}

#[derive(Debug, Subcommand)]
pub enum PermissionCommand {
    /// Check a command line, part by part. Exit code 0: allowed; 3: it would ask, or it is denied
    Check {
        /// The command line, quoted as one argument
        command: String,
        /// Check it as if it ran in the copy-on-write view [default: as it would run here]
        #[arg(long, conflicts_with = "no_view")]
        view: bool,
        /// Check it as if there were no copy-on-write view
        #[arg(long)]
        no_view: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the rules, strictest first, and where each is defined
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that no entry was changed, removed or added. Exit code 0: the log is intact
    Verify,
    /// Show the newest entries
    Show {
        /// Show at most N entries
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = number::<usize>)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the whole log file, one JSON object per line
    Export,
}

#[derive(Debug, Subcommand)]
pub enum ProviderCommand {
    /// List the providers; `*` marks the default. Shows where each key was found
    List {
        /// Also look for local servers at their default ports
        #[arg(long)]
        discover: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a provider to the configuration; one without --preset needs --base-url and --model
    Add {
        /// Name of the provider
        name: String,
        /// The built-in provider to start from [default: a server for Chat Completions]
        #[arg(long, value_name = "NAME")]
        preset: Option<String>,
        /// The environment variable that holds its key
        #[arg(long, value_name = "VARIABLE")]
        key_env: Option<String>,
        /// Make it the default provider
        #[arg(long)]
        default: bool,
    },
    /// Test a provider with small real requests: key, streaming, tools, images
    Test {
        /// Name of the provider [default: the current provider]
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a provider from the configuration
    Remove {
        /// Name of the provider
        name: String,
    },
    /// List a provider's models and what placet knows about them
    Models {
        /// Name of the provider [default: the current provider]
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum MetricsCommand {
    /// Serve `GET /metrics` on 127.0.0.1 until stopped
    Serve {
        /// Port; 0 takes any free port
        #[arg(long, default_value_t = 9477, value_parser = number::<u16>)]
        port: u16,
    },
    /// Send the metrics to `metrics.otlp_endpoint` once (only in builds with the feature `otlp`)
    Push,
}

/// The command line as clap knows it: for completions, the manual page and the reference.
pub(in crate::cli) fn command() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// The same for help: what only this command takes is listed before what every command takes. It is more work than a
/// start should do.
pub(in crate::cli) fn command_for_help() -> clap::Command {
    let mut command = command();
    command.build();
    command.mut_subcommands(with_own_options_first)
}

fn with_own_options_first(command: clap::Command) -> clap::Command {
    let shared = |arg: clap::Arg| {
        if arg.is_global_set() { arg.help_heading("Options of every command") } else { arg }
    };
    command.mut_args(shared).mut_subcommands(with_own_options_first)
}
