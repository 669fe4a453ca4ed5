//! What a program is given, decided before anything runs: the command line, hosts, variables and files.

use super::args::{RunArgs, RunTarget};
use super::preset::RunPreset;
use super::program;
use crate::app::{App, ProgramAccess};
use crate::cli::report::CliError;
use crate::sandbox::PortMapping;
use crate::text::shell_word;
use crate::workspace::ProgramRun;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// One program that is about to run.
#[derive(Clone, Debug)]
pub(super) struct ProgramPlan {
    pub(super) preset: Option<RunPreset>,
    pub(super) program: ProgramRun,
    /// The command line for `sh -c`.
    pub(super) line: String,
    /// The same for the journal, without the variables that the preset sets.
    pub(super) title: String,
    pub(super) hosts: Vec<String>,
    pub(super) published: Vec<PortMapping>,
    pub(super) access: ProgramAccess,
    /// The person's arguments for the program of the preset.
    pub(super) words: Vec<String>,
    /// What a view of it is called.
    pub(super) label: String,
    pub(super) home: Option<PathBuf>,
}

impl ProgramPlan {
    pub(super) fn new(app: &App, args: &RunArgs) -> Result<ProgramPlan, CliError> {
        let home = app.workspace.home().and_then(|home| home.canonicalize().ok());
        let raw: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        match args.target(&raw) {
            Some(RunTarget::Preset { name, .. }) if name.starts_with('-') => {
                Err(CliError::usage(format!("unknown option `{name}`")).hint("see `placet run --help`"))
            }
            Some(RunTarget::Preset { name, arguments }) => {
                ProgramPlan::of_preset(app, args, (RunPreset::find(&app.config, &name)?, arguments), home)
            }
            Some(RunTarget::Command(words)) => Ok(ProgramPlan::of_command(app, args, &words, home)),
            None => Err(CliError::usage("the preset or the command is missing").hint(
                "`placet run claude` runs a preset, `placet run -- npm install` a command\n      \
                 `placet run --list` lists the presets",
            )),
        }
    }

    fn of_preset(
        app: &App,
        args: &RunArgs,
        (preset, words): (RunPreset, Vec<String>),
        home: Option<PathBuf>,
    ) -> Result<ProgramPlan, CliError> {
        let preset = match &home {
            Some(home) => preset.resolved_at(home),
            None => preset,
        };
        let Some(path) = program::find(&preset.program, app.cwd()) else {
            let name = shell_word::quoted(&preset.program);
            return Err(CliError::new(format!(
                "{} is not installed: there is no program {name} in PATH",
                preset.name
            ))
            .hint(format!(
                "install it, or name the program: `--set run.presets.{}.program=/path/to/{name}`",
                preset.name
            )));
        };
        let argv: Vec<String> = std::iter::once(preset.program.clone())
            .chain(preset.flags.iter().cloned())
            .chain(words.iter().cloned())
            .collect();
        let command = joined(&argv);
        let variables: Vec<String> = preset.environment.iter().map(|text| assignment(text)).collect();
        let line = variables.iter().chain([&replacing(&command)]).cloned().collect::<Vec<_>>().join(" ");
        let access = ProgramAccess {
            unmasked: home.iter().flat_map(|home| preset.own_files(home)).collect(),
            variables: preset.keys.clone(),
            readable: program::needed(&path, app.cwd()),
        };
        let hosts = preset.hosts.iter().chain(&args.network).cloned().collect();
        let program = ProgramRun { preset: Some(preset.name.clone()), ..ProgramRun::new(&argv) };
        let label = plain(&preset.name);
        let title = program.line();
        let published = args.publish.clone();
        let preset = Some(preset);
        Ok(ProgramPlan { preset, program, line, title, hosts, published, access, words, label, home })
    }

    fn of_command(app: &App, args: &RunArgs, words: &[String], home: Option<PathBuf>) -> ProgramPlan {
        // A single argument is a command line; several are one command.
        let (title, line, argv) = match words {
            [word] if is_plain_word(word) => (word.clone(), replacing(word), vec![word.clone()]),
            [line] => (line.clone(), line.clone(), vec!["sh".to_string(), "-c".into(), line.clone()]),
            words => (joined(words), replacing(&joined(words)), words.to_vec()),
        };
        let first = match words {
            [line] => line.split_ascii_whitespace().next().unwrap_or_default().to_string(),
            words => words.first().cloned().unwrap_or_default(),
        };
        let found = program::find(&first, app.cwd());
        let access = ProgramAccess {
            readable: found.iter().flat_map(|path| program::needed(path, app.cwd())).collect(),
            ..ProgramAccess::default()
        };
        let name = Path::new(&first).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (program, label) = (ProgramRun::new(&argv), plain(&name));
        let (hosts, published, words) = (args.network.clone(), args.publish.clone(), Vec::new());
        ProgramPlan { preset: None, program, title, line, hosts, published, access, words, label, home }
    }

    /// The same for a start with other arguments of the person; those of the first start are kept for further ones.
    pub(super) fn started_with(
        self,
        app: &App,
        args: &RunArgs,
        words: Vec<String>,
    ) -> Result<ProgramPlan, CliError> {
        let round = self.program.round;
        let ProgramPlan { preset: Some(preset), words: first, home, .. } = self else { return Ok(self) };
        let mut plan = ProgramPlan::of_preset(app, args, (preset, words), home)?;
        plan.program.round = round;
        Ok(ProgramPlan { words: first, ..plan })
    }

    /// The same for the start after the changes were sent back.
    pub(super) fn in_next_round(mut self) -> ProgramPlan {
        self.program.round = Some(self.program.round.map_or(2, |round| round.saturating_add(1)));
        self
    }

    /// The name for a person: that of the preset or of the program.
    pub(super) fn name(&self) -> &str {
        self.preset.as_ref().map_or(&self.label, |preset| &preset.name)
    }

    /// The home directory, if the changes in it are separate from those of the workspace.
    pub(super) fn own_home(&self, app: &App) -> Option<&Path> {
        let home = self.home.as_deref()?;
        (!app.workspace.roots().iter().any(|root| home.starts_with(root))).then_some(home)
    }

    /// The keys of the preset that are set in this environment.
    pub(super) fn keys_set(&self) -> Vec<&str> {
        let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value: OsString| !value.is_empty());
        self.access.variables.iter().filter(is_set).map(String::as_str).collect()
    }
}

/// The name of a program and nothing else: a person who typed it did not think of a shell.
fn is_plain_word(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| c.is_ascii_alphanumeric() || "-_./+".contains(c))
}

/// The shell becomes the program: if the program stops itself, no shell may wait for it and hide that.
fn replacing(command: &str) -> String {
    format!("exec {command}")
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| shell_word::quoted(word)).collect::<Vec<_>>().join(" ")
}

/// `NAME=VALUE` as the shell reads it.
fn assignment(text: &str) -> String {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    format!("{name}={}", shell_word::quoted(value))
}

/// A part of the name of a directory: at most 24 letters, digits, `.`, `_` and `-`.
fn plain(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.chars().take(24).map(safe).collect();
    if name.is_empty() { "command".into() } else { name }
}
