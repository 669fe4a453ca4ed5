//! The directory of a session: where its pending changes belong.
//!
//! A session is resumed only there. Its changes were made to the files of that directory, and a view of other files has no
//! place for them.

use super::App;
use super::error::AppError;
use super::moved_directory::found_around;
use super::views::places::{view_of, views_places};
use crate::session::SessionRow;
use crate::workspace::{ChangeCount, View, ViewPaths, keeps_pending, stored_roots, views_in};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The directory of a session, where that is not `here`. `state` is the directory of placet's state.
///
/// # Errors
///
/// [`AppError::NoDirectory`] where the directory does not exist any more.
pub fn session_directory(state: &Path, row: &SessionRow, here: &Path) -> Result<Option<PathBuf>, AppError> {
    let view = view_of(state, row.id.as_str());
    let stored = view.as_ref().and_then(|view| stored_roots(view).ok()?.into_iter().next());
    // Sessions are stored with a directory whose name is text.
    let is_here = stored.is_none() && row.cwd.as_os_str() == here.to_string_lossy().as_ref();
    let moved = stored.as_ref().and_then(|stored| found_around(here, stored));
    let dir = moved.or(stored.map(|stored| stored.path)).unwrap_or_else(|| row.cwd.clone());
    if is_here || dir == here {
        return Ok(None);
    }
    if dir.is_dir() {
        return Ok(Some(dir));
    }
    let pending = view.map_or(0, |view| pending_files(state, view));
    Err(AppError::NoDirectory { id: row.id.to_string(), dir, pending })
}

/// The directory of the view whose name begins with `prefix`, where that is not `here`: also of runs and of sessions that
/// were deleted. `None` where several directories have such a view, and where the directory does not exist.
pub fn view_directory(state: &Path, prefix: &str, here: &Path) -> Option<PathBuf> {
    let mut dirs = BTreeSet::new();
    for view in views_in(&views_places(state)).0.iter().filter(|view| is_named(view, prefix)) {
        dirs.extend(stored_roots(view).ok().and_then(|roots| Some(roots.into_iter().next()?.path)));
    }
    let only = if dirs.len() == 1 { dirs.pop_first() } else { None };
    only.filter(|dir| dir != here && dir.is_dir())
}

/// Whether a view is meant by the beginning of a name. What a program left in the home directory has the name of its run.
pub(super) fn is_named(view: &Path, prefix: &str) -> bool {
    let name = view.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(prefix) || prefix.strip_suffix("-home").is_some_and(|run| *name == *run)
}

impl App {
    /// [`session_directory`] for a session that is to be open in this directory.
    pub fn session_directory(&self, row: &SessionRow) -> Result<Option<PathBuf>, AppError> {
        session_directory(&self.paths.state, row, self.cwd())
    }
}

/// How many files have pending changes; one where that cannot be read.
fn pending_files(state: &Path, view: PathBuf) -> usize {
    if !keeps_pending(&view) {
        return 0;
    }
    let places = ViewPaths {
        layers: Vec::new(),
        objects: state.join("objects"),
        journal: state.join("journal"),
        scratch: view.clone(),
        view,
    };
    let view = View::at(places, &[]);
    view.pending_count().map_or(1, ChangeCount::total)
}
