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
mod target;
mod write;

pub(super) use args::ImportArgs;

use super::changes::approvals;
use super::command_line::options::Options;
use super::report::{self, CliError, print, warn};
use super::startup::start;
use crate::config::home_dir;
use crate::guidance::repository_root;
use crate::tools::{SEARCH_WEB, ToolRegistry};
use crate::ui::line_ui;
use args::{ImportScope, ImportedProgram};
use proposal::ImportProposal;
use std::io::{self, IsTerminal};
use target::ImportTarget;

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
    let target = ImportTarget::of(&mut proposal, &dirs, (&cwd, &root))?;
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

/// True if a person at the terminal wants what was shown.
fn asked(target: &ImportTarget, proposal: &ImportProposal) -> bool {
    if !approvals::can_ask() || !io::stdout().is_terminal() {
        return false;
    }
    let question = format!("write this to {}? `yes` and Enter writes it: ", proposal.shown(&target.settings));
    line_ui::consent_alone(&question).is_some_and(|answer| answer.trim() == "yes")
}
