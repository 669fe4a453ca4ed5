//! The directory of the session that a command line names, found before anything of a directory is read.

use super::start::{follow_moved, paths, working_directory};
use crate::app::{session_directory, view_directory};
use crate::cli::command_line::options::Options;
use crate::cli::report::{CliError, warn};
use crate::session::SessionStore;
use crate::text::visible;
use std::path::{Path, PathBuf};

/// The options with the directory of the session that is resumed: its pending changes belong there, whatever the directory
/// is that placet was started in.
pub(in crate::cli) fn in_session_directory(options: &Options) -> Result<Options, CliError> {
    let named = options.session.resume.as_deref().filter(|prefix| !prefix.is_empty());
    if named.is_none() && !options.session.continue_last {
        return Ok(options.clone());
    }
    let (state, here) = (paths()?.state, working_directory(options)?);
    follow_moved(&state, &here);
    // Reported where the session is opened.
    let Ok((store, notes)) = SessionStore::open(&state) else { return Ok(options.clone()) };
    notes.iter().for_each(|note| warn(&format!("note: {note}")));
    let dir = match named {
        Some(prefix) => session_directory(&state, &store.find(prefix)?, &here)?,
        None => used_above(&store, &here)?,
    };
    Ok(in_directory(options, &here, dir))
}

/// The options with the directory of the view whose name begins with `prefix`, for commands about pending changes. A view
/// whose directory does not exist stays listed, and is discarded, from here.
pub(in crate::cli) fn in_view_directory(options: &Options, prefix: &str) -> Result<Options, CliError> {
    let (state, here) = (paths()?.state, working_directory(options)?);
    follow_moved(&state, &here);
    Ok(in_directory(options, &here, view_directory(&state, prefix, &here)))
}

fn in_directory(options: &Options, here: &Path, dir: Option<PathBuf>) -> Options {
    let mut options = options.clone();
    let Some(dir) = dir else { return options };
    warn(&format!("note: in `{}`, the directory of the session", visible::path(&dir)));
    options.add_dir = options.add_dir.iter().map(|more| here.join(more)).collect();
    options.cwd = Some(dir);
    options
}

/// The nearest directory above `here` that has a session, up to the root of its repository, where `here` has none.
fn used_above(store: &SessionStore, here: &Path) -> Result<Option<PathBuf>, CliError> {
    let Some(top) = here.ancestors().find(|dir| dir.join(".git").exists()) else { return Ok(None) };
    for dir in here.ancestors().take_while(|dir| dir.starts_with(top)) {
        if store.latest(dir)?.is_some() {
            return Ok((dir != here).then(|| dir.to_path_buf()));
        }
    }
    Ok(None)
}
