//! The files that an import would change.

use super::args::ImportScope;
use super::proposal::{self, ImportProposal};
use super::settings_edit;
use super::skip_reason::SkipReason;
use crate::cli::report::CliError;
use crate::cli::settings_file;
use crate::config::{AppDirs, SettingsLayer};
use crate::text::visible;
use std::path::{Path, PathBuf};

/// Where the change goes.
pub(super) struct ImportTarget {
    pub(super) settings: PathBuf,
    /// placet's directory of commands.
    pub(super) commands: PathBuf,
    pub(super) before: String,
    pub(super) after: String,
}

impl ImportTarget {
    /// The file that would change, before and after.
    pub(super) fn of(
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
            return Err(CliError::new(format!("the settings would not be valid: {problem}"))
                .hint("nothing was changed"));
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
            proposal.skip("the command", &from, SkipReason::FileExists);
        }
        Ok(ImportTarget { settings, commands, before, after })
    }
}
