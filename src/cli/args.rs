//! The command line. Parsing is total and touches nothing: what the words mean for the world comes later, once each.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// An interactive agent shell in which every change waits for your assent.
#[derive(Debug, Parser)]
#[command(
    name = "placet",
    version,
    about,
    disable_help_subcommand = true,
    override_usage = "placet [OPTIONS] [PROMPT]\n       placet [OPTIONS] COMMAND",
    after_help = "Without a terminal and without a prompt, prompts are read line by line from standard input.\n\
                  Exit codes: 0 done, 1 error, 2 usage, 3 refused or pending, 4 provider,\n\
                  5 done but not recorded, 130 interrupted."
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

/// What `--print` has without a value: the words come from standard input.
const STDIN: &str = "-";

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
                let words = "the prompt was given twice: once with --print, once without";
                return Err(<Args as clap::CommandFactory>::command()
                    .error(clap::error::ErrorKind::ArgumentConflict, words));
            }
            _ => {}
        }
        Ok(self)
    }
}

/// Options of a conversation; the subcommands that run tools take them too.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct Options {
    /// One turn without a screen; `-` or nothing: from standard input
    #[arg(short, long, num_args = 0..=1, value_name = "PROMPT", default_missing_value = STDIN)]
    pub print: Option<String>,
    /// What --print writes: text, json, stream-json
    #[arg(long, value_enum, default_value_t = OutputFormat::Text, value_name = "FORMAT", global = true)]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub output_format: OutputFormat,
    /// How far calls may reach: none, read, ask, write, unrestricted
    #[arg(long, value_name = "MODE", global = true)]
    pub mode: Option<String>,
    /// Who answers: openai, ..., offline, or one of [providers]
    #[arg(long, value_name = "NAME", global = true)]
    pub provider: Option<String>,
    /// The model, as the provider calls it
    #[arg(long, value_name = "NAME", global = true)]
    pub model: Option<String>,
    /// Whose tools: native, codex, agsh, ...; a wrong name lists them
    #[arg(long, value_name = "NAME", global = true)]
    pub dialect: Option<String>,
    /// Where the provider is
    #[arg(long, value_name = "URL", global = true)]
    pub base_url: Option<String>,
    /// Ask for each answer whole instead of piece by piece
    #[arg(long, global = true)]
    pub no_stream: bool,
    /// Work in this directory
    #[arg(long, value_name = "DIR", global = true)]
    pub cwd: Option<PathBuf>,
    /// Another directory that belongs to the workspace
    #[arg(long, value_name = "DIR", global = true)]
    pub add_dir: Vec<PathBuf>,
    /// Go on with the last session of this directory
    #[arg(short, long = "continue")]
    pub continue_last: bool,
    /// Go on with the session whose name starts so, or choose one
    #[arg(short, long, num_args = 0..=1, value_name = "ID-PREFIX", default_missing_value = "", conflicts_with = "continue_last")]
    pub resume: Option<String>,
    /// The most requests one turn may make
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u64>,
    /// Set any configuration key
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub set: Vec<String>,
    /// Permit what would ask where the rule matches: run(cargo *)
    #[arg(long, value_name = "RULE", global = true)]
    pub allow: Vec<String>,
    /// Refuse what the rule matches, in every mode: read(.env)
    #[arg(long, value_name = "RULE", global = true)]
    pub deny: Vec<String>,
    /// Add to the system prompt
    #[arg(long, value_name = "TEXT")]
    pub append_system_prompt: Option<String>,
    /// With --print: land what is pending at the end
    #[arg(long, conflicts_with = "dry_run")]
    pub apply: bool,
    /// Also apply exactly this path, which a program runs later, or the loss of exactly this repository or root; may be
    /// repeated
    #[arg(long, value_name = "PATH", global = true)]
    pub apply_protected: Vec<PathBuf>,
    /// Also apply a loss over the loss limit, if it is of exactly this many files
    #[arg(long, value_name = "FILES", global = true)]
    pub apply_loss: Option<usize>,
    /// A batch of aOperations from a pipe runs, without a model
    #[arg(long)]
    pub batch: bool,
    /// With --print: show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write what the provider said to a file, for --replay
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Take the answers from a recording
    #[arg(long, value_name = "FILE", conflicts_with = "provider")]
    pub replay: Option<PathBuf>,
    /// Line by line, for screen readers; so does ACCESSIBLE=1
    #[arg(long)]
    pub linear: bool,
    /// Do not read the project's .placet/config.toml
    #[arg(long, global = true)]
    pub no_project: bool,
    /// Log more; twice for everything
    #[arg(short, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
}

/// The words need no help of their own: with it, `--help` would be twice as long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    #[default]
    Text,
    Json,
    StreamJson,
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
    /// What is pending in this directory
    Changes {
        /// One object for each path
        #[arg(long, conflicts_with = "patch")]
        json: bool,
        /// A patch that `git apply` and `patch -p1` take
        #[arg(long)]
        patch: bool,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Land what is pending: all of it, or these paths
    Apply {
        paths: Vec<PathBuf>,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Throw away what is pending: all of it, or these paths
    Discard {
        paths: Vec<PathBuf>,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Take back the last turn's changes, the last N turns', or those to one path
    Undo {
        what: Option<String>,
        /// Go on although not everything can be brought back
        #[arg(long)]
        rest: bool,
    },
    /// Put back what undo took away
    Redo {
        /// Go on although not everything can be put back
        #[arg(long)]
        rest: bool,
    },
    /// Who wrote each line of a file: which turn, which call, and who let it land
    Blame {
        file: PathBuf,
        /// Only these lines: 12, or 12,20
        #[arg(value_name = "LINE[,LINE]")]
        lines: Option<String>,
        /// One object for each line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Review what is pending, a git difference or a patch, with the keyboard
    Review(super::review::ReviewArgs),
    /// What was applied in this directory
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Run a command in the copy-on-write view
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// Show the rules, and how a command would be judged
    #[command(subcommand)]
    Permission(PermissionCommand),
    /// The audit log: what was decided, what ran, who consented
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Who may answer: list them, add one, try one out
    #[command(subcommand)]
    Provider(ProviderCommand),
    /// How often each tool ran and how long it took, as Prometheus reads it
    Metrics {
        #[command(subcommand)]
        command: Option<MetricsCommand>,
    },
    /// Offer the tools to other programs
    #[command(subcommand)]
    Mcp(McpCommand),
    /// What was spent, by day and model
    Usage {
        /// From this time on: 7d, 12h, 2026-11-01; without it, of 30 days
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// List the themes, show what one looks like
    #[command(subcommand)]
    Theme(ThemeCommand),
    /// Check this installation and say what is wrong
    Doctor,
    /// Print completions for a shell
    Completions { shell: clap_complete::Shell },
    /// Print the manual page
    Man,
}

/// Whose pending changes.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct SessionSelector {
    /// Of the session whose name starts so; otherwise of the one that changed something last
    #[arg(long, value_name = "ID-PREFIX")]
    pub session: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// The transactions, newest first
    List {
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
    /// What one transaction changed
    Show { id: u64 },
    /// Remove what is older or more than the settings keep
    Prune,
    /// Move damaged records aside and make again what can be; deletes nothing
    Repair,
}

#[derive(Debug, Subcommand)]
pub enum ThemeCommand {
    /// The built-in themes and your own, `*` at the one that is set
    List,
    /// A sample of everything a theme colours: of the one that is set, or of this one
    Preview { name: Option<String> },
}

#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run it, show what it would change, and ask
    Run {
        /// Land the effects without asking
        #[arg(long, conflicts_with = "discard")]
        apply: bool,
        /// Throw the effects away without asking
        #[arg(long)]
        discard: bool,
        /// A host it may reach: crates.io, *.npmjs.org:443
        #[arg(long, value_name = "HOST")]
        network: Vec<String>,
        #[arg(last = true, required = true, num_args = 1..)]
        command: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// The newest sessions
    List {
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
    /// What was said in a session
    Show { id: String },
    /// A session as a document
    Export {
        id: String,
        #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
        format: ExportFormat,
        /// Into this file, or into this directory with the pictures beside it
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// A session from what `export --format json` wrote
    Import { file: PathBuf },
    /// Remove what is older or takes more than the settings keep
    Prune {
        /// Say what would go, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Give a session another title
    Rename {
        id: String,
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// List a session first and never remove it by itself
    Pin { id: String },
    /// Take the pin away
    Unpin { id: String },
    /// Remove a session for good
    Delete { id: String },
    /// Find what was said, in all sessions
    Search {
        query: Vec<String>,
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Markdown,
    Html,
    Json,
}

#[derive(Debug, Subcommand)]
pub enum ToolCommand {
    /// The tools, a line each
    List,
    /// A tool's description and its parameters
    Show { name: String },
    /// Call a tool; the arguments are a JSON object, or `-` for standard input
    Call { name: String, arguments: String },
}

#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Effective values
    Show {
        /// Say where each comes from
        #[arg(long)]
        origin: bool,
    },
    /// Where the files are
    Path,
    /// Write a commented configuration file; with --key, store a provider's key (read from standard input)
    Init {
        #[arg(long, value_name = "PROVIDER")]
        key: Option<String>,
    },
    /// Trust this project's .placet/config.toml as it is now
    Trust,
}

#[derive(Debug, Subcommand)]
pub enum PermissionCommand {
    /// How a command line would be judged, part by part; 0 when it is allowed, 3 when it asks or is refused
    Check {
        /// As one argument, quoted
        command: String,
        /// Judge it as inside the view, where it changes nothing for good
        #[arg(long)]
        view: bool,
        #[arg(long)]
        json: bool,
    },
    /// The rules in force, strictest first, and where each was written
    List {
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check that nothing was changed, removed or added; 0 when all is as it was written
    Verify,
    /// The newest entries
    Show {
        #[arg(short = 'n', long, default_value_t = 20)]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
    /// The whole log as it stands in its file, one object a line
    Export,
}

#[derive(Debug, Subcommand)]
pub enum ProviderCommand {
    /// Those there are, `*` at the one that answers, and where each key is found
    List {
        /// Also look for servers on this machine, at their usual ports
        #[arg(long)]
        discover: bool,
        #[arg(long)]
        json: bool,
    },
    /// Write one of your own into the configuration; --base-url and --model say where and what
    Add {
        name: String,
        /// The built-in one it is like; without it, any server that speaks Chat Completions
        #[arg(long, value_name = "NAME")]
        preset: Option<String>,
        /// The environment variable that holds its key
        #[arg(long, value_name = "VARIABLE")]
        key_env: Option<String>,
        /// It answers from now on
        #[arg(long)]
        default: bool,
    },
    /// Make one tiny real call for each: key, streaming, tools, images
    Test {
        /// Without it: the one that answers
        name: Option<String>,
        #[arg(long)]
        json: bool,
    },
    /// Take one of your own out of the configuration
    Remove { name: String },
    /// Ask a provider which models it has, and say what is known of them
    Models {
        /// Without it: the one that answers
        name: Option<String>,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum MetricsCommand {
    /// Answer `GET /metrics` on 127.0.0.1 until it is stopped
    Serve {
        /// 0 takes any free one
        #[arg(long, default_value_t = 9477)]
        port: u16,
    },
    /// Send them to `metrics.otlp_endpoint` once (in builds with the feature `otlp`)
    Push,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Serve the tools over standard input and output
    Serve {
        /// The workspace; the current directory otherwise
        #[arg(long, value_name = "DIR")]
        root: Option<PathBuf>,
    },
}
