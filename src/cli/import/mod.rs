//! `placet import`: what a person has in the settings of another program, as a change of placet's own settings. The
//! change is shown first; nothing is written without an answer or `--write`.

mod args;
mod claude;
mod codex;
mod command_files;
mod gemini;
mod hooks;
mod opencode;
mod plain_text;
mod proposal;
mod rules;
mod servers;
mod settings_edit;
mod show;
mod skip_reason;
mod source_file;
mod write;

pub(super) use args::ImportArgs;

use super::args::Options;
use super::report::{self, CliError, print, warn};
use super::{approvals, settings_file, start};
use crate::config::{AppDirs, SettingsLayer, home_dir};
use crate::guidance::repository_root;
use crate::text::visible;
use crate::tools::{SEARCH_WEB, ToolRegistry};
use crate::ui::line_ui;
use args::{ImportScope, ImportedProgram};
use proposal::ImportProposal;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Where the change goes.
struct ImportTarget {
    settings: PathBuf,
    /// placet's directory of commands.
    commands: PathBuf,
    before: String,
    after: String,
}

pub(super) fn run(args: &ImportArgs, options: &Options) -> Result<u8, CliError> {
    let dirs = start::paths()?;
    let home = home_dir()
        .ok_or_else(|| CliError::new("there is no home directory").hint("set the variable HOME"))?;
    let cwd = start::working_directory(options)?;
    let root = repository_root(&cwd).to_path_buf();
    let scope = if args.project { ImportScope::Project } else { ImportScope::User };
    if scope == ImportScope::Project && root == home {
        return Err(CliError::new("the home directory is not a project")
            .hint("without --project, placet reads your own settings"));
    }
    // Rules about the tool are rules whether an engine is configured or not.
    let tools = ToolRegistry::native().names().into_iter().chain([SEARCH_WEB.into()]).collect();
    let mut proposal = ImportProposal::new(scope, &home, &root, tools);
    match args.program {
        ImportedProgram::Claude => claude::propose(&mut proposal, &dirs.config),
        ImportedProgram::Codex => codex::propose(&mut proposal, &dirs.config),
        ImportedProgram::Gemini => gemini::propose(&mut proposal, &dirs.config),
        ImportedProgram::Opencode => opencode::propose(&mut proposal, &dirs.config),
    }
    let target = target(&mut proposal, &dirs, (&cwd, &root))?;
    print(&show::proposal(&proposal, &target, args.program.name()))?;
    if proposal.is_empty() {
        return Ok(report::DONE);
    }
    if !args.write && !asked(&target, &proposal) {
        let scope = if args.project { " --project" } else { "" };
        warn(&format!(
            "nothing was written\nhint: `placet import {}{scope} --write` writes it",
            args.program.name()
        ));
        return Ok(report::DONE);
    }
    write::write(&proposal, &target)?;
    warn(&format!("written to {}", proposal.shown(&target.settings)));
    if args.project {
        warn("hint: `placet config trust` accepts the file as it is now");
    }
    Ok(report::DONE)
}

/// The file that would change, before and after.
fn target(
    proposal: &mut ImportProposal,
    dirs: &AppDirs,
    (cwd, root): (&Path, &Path),
) -> Result<ImportTarget, CliError> {
    let (settings, commands) = match proposal.scope {
        ImportScope::User => (dirs.user_file(), dirs.config.join("commands")),
        ImportScope::Project => {
            let file = AppDirs::project_file(cwd, Some(&proposal.home));
            (file.unwrap_or_else(|| root.join(".placet/config.toml")), root.join(".placet/commands"))
        }
    };
    let leads_out = |path: &Path| proposal.is_project() && proposal::leads_out(path, root);
    if let Some(path) = [&settings, &commands].into_iter().find(|path| leads_out(path)) {
        return Err(CliError::new(format!("`{}` leads out of the project", visible::path(path)))
            .hint("remove the link; nothing was changed"));
    }
    let before = settings_file::read(&settings)?;
    let not_toml = |e: &toml_edit::TomlError| settings_file::not_toml(&settings, e.message());
    settings_edit::strictest_first(&mut proposal.rules);
    let after = settings_edit::edited(&before, &settings, proposal).map_err(|e| not_toml(&e))?;
    let problems = |text: &str| match proposal.scope {
        ImportScope::User => SettingsLayer::user_file(&settings, text).problems,
        ImportScope::Project => SettingsLayer::project_file(&settings, text).problems,
    };
    let known = problems(&before);
    if let Some(problem) =
        problems(&after).iter().find(|problem| known.iter().all(|k| k.message != problem.message))
    {
        return Err(
            CliError::new(format!("the settings would not be valid: {problem}")).hint("nothing was changed")
        );
    }
    let mut taken = Vec::new();
    proposal.commands.retain(|command| {
        let is_free = commands.join(&command.path).symlink_metadata().is_err();
        if !is_free {
            taken.push(command.from.clone());
        }
        is_free
    });
    for from in taken {
        proposal.skip("the command", &from, skip_reason::SkipReason::FileExists);
    }
    Ok(ImportTarget { settings, commands, before, after })
}

/// True if a person at the terminal wants what was shown.
fn asked(target: &ImportTarget, proposal: &ImportProposal) -> bool {
    if !approvals::can_ask() || !io::stdout().is_terminal() {
        return false;
    }
    let question = format!("write this to {}? `yes` and Enter writes it: ", proposal.shown(&target.settings));
    line_ui::consent_alone(&question).is_some_and(|answer| answer.trim() == "yes")
}
