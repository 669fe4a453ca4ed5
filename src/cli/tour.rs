//! `placet tour`: a project in a temporary directory, a shell in it, and nothing of either afterwards.

use super::command_line::options::{AnswererOptions, Options, OwnOptions, SettingOptions};
use super::conversation;
use super::report::{CliError, warn};
use crate::{private, repl};
use std::io::{self, IsTerminal};

pub(super) fn run(options: &Options) -> Result<u8, CliError> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(CliError::usage("`placet tour` needs a terminal"));
    }
    let cannot = |e: io::Error| CliError::new(format!("cannot make the project of the tour: {e}"));
    let dir = tempfile::Builder::new().prefix("placet-tour-").tempdir().map_err(cannot)?;
    // Links in the way to the temporary directory would make the tour's own files look as if they lay outside.
    let home = dir.path().canonicalize().map_err(cannot)?;
    let project = home.join("shop");
    for (name, text) in repl::TOUR_FILES {
        let path = project.join(name);
        let parent = path.parent().unwrap_or(&project);
        private::make_dir(parent).and_then(|()| std::fs::write(&path, text)).map_err(cannot)?;
    }
    let options = Options {
        cwd: Some(project),
        mode: Some("ask".into()),
        answerer: AnswererOptions {
            provider: Some("offline".into()),
            dialect: Some("native".into()),
            ..AnswererOptions::default()
        },
        no_project: true,
        // Sessions, history and the cache of the tour go with it.
        own: OwnOptions { tour: Some(home), ..OwnOptions::default() },
        linear: options.linear,
        settings: SettingOptions { set: options.settings.set.clone(), ..SettingOptions::default() },
        ..Options::default()
    };
    let code = conversation::converse(None, &options)?;
    dir.close().map_err(|e| CliError::new(format!("cannot remove the project of the tour: {e}")))?;
    warn("the project of the tour is removed");
    Ok(code)
}
