//! Writes what was shown: the commands and links first, which replace nothing, and then the settings.

use super::proposal::ImportProposal;
use super::target::ImportTarget;
use crate::cli::report::CliError;
use crate::cli::settings_file;
use crate::private;
use crate::text::visible;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;

pub(super) fn write(proposal: &ImportProposal, target: &ImportTarget) -> Result<(), CliError> {
    if settings_file::read(&target.settings)? != target.before {
        let changed = format!("`{}` was changed in the meantime", visible::path(&target.settings));
        return Err(CliError::new(changed).hint("nothing was written; run the import again"));
    }
    for command in &proposal.commands {
        let path = target.commands.join(&command.path);
        new_file(&path, &command.text).map_err(|e| failed(&path, &e))?;
    }
    for link in &proposal.links {
        make_parent(&link.at).and_then(|()| symlink(&link.to, &link.at)).map_err(|e| failed(&link.at, &e))?;
    }
    if target.before != target.after {
        settings_file::replace(&target.settings, &target.after)?;
    }
    Ok(())
}

fn failed(path: &Path, error: &io::Error) -> CliError {
    CliError::new(format!("cannot write `{}`: {error}", visible::path(path)))
        .hint("the settings were not changed; run the import again")
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), private::make_dir)
}

/// A file that somebody made in the meantime is not replaced, and a link is not followed.
fn new_file(path: &Path, text: &str) -> io::Result<()> {
    make_parent(path)?;
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}
