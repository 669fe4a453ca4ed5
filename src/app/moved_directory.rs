//! A directory that was moved: its sessions follow it, with what is pending in them.

use super::views::places::views_places;
use crate::conversation::SessionId;
use crate::session::{SessionError, SessionStore};
use crate::workspace::{
    DirectoryIdentity, StoredRoot, is_relocated_in_part, relocate, stored_roots, views_in,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A directory that was moved here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MovedDirectory {
    pub from: PathBuf,
    /// The views that followed it.
    pub followed: Vec<String>,
    /// Why others did not.
    pub failed: Vec<String>,
}

/// Where a stored directory is now, looked for around `here`. `None` where it is in its place, or not found.
pub(super) fn found_around(here: &Path, stored: &StoredRoot) -> Option<PathBuf> {
    let identity = stored.identity?;
    let is_it = |path: &Path| DirectoryIdentity::of(path) == Some(identity);
    if is_it(&stored.path) {
        return None;
    }
    // A session of a directory in a project that was moved: from the project, the end of its path is the same.
    let mut below = stored.path.components().rev().scan(PathBuf::new(), |end, name| {
        *end = Path::new(name.as_os_str()).join(&*end);
        Some(here.join(&*end))
    });
    let above = here.ancestors().find(|dir| is_it(dir)).map(Path::to_path_buf);
    above.or_else(|| below.find(|dir| dir != &stored.path && is_it(dir)))
}

/// Lets the views and the sessions of directories that were moved to `here` follow them. Each has the paths of the new
/// place from then on.
pub fn follow_moved(state: &Path, here: &Path) -> Vec<MovedDirectory> {
    let Some(identity) = DirectoryIdentity::of(here) else { return Vec::new() };
    let mut found: BTreeMap<PathBuf, MovedDirectory> = BTreeMap::new();
    for view in views_in(&views_places(state)).0 {
        let Some(first) = first_root(&view) else { continue };
        let is_moved = first.path != here
            && first.identity == Some(identity)
            && DirectoryIdentity::of(&first.path) != Some(identity);
        if !is_moved && !is_relocated_in_part(&view) {
            continue;
        }
        let name = view.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let from = || MovedDirectory { from: first.path.clone(), ..MovedDirectory::default() };
        let moved = found.entry(first.path.clone()).or_insert_with(from);
        match relocate(&view, &first.path, here) {
            // What a crash left may be of another directory.
            Ok(()) if first_root(&view).is_none_or(|now| now.path != here) => {}
            Ok(()) => moved.followed.push(name),
            Err(e) => moved.failed.push(format!("{name}: {e}")),
        }
    }
    let mut moved: Vec<MovedDirectory> = found.into_values().collect();
    moved.retain(|moved| !moved.followed.is_empty() || !moved.failed.is_empty());
    if let Err(e) = move_sessions(state, here, &moved) {
        tracing::warn!("sessions are listed in the directory that was moved: {e}");
    }
    moved
}

fn first_root(view: &Path) -> Option<StoredRoot> {
    stored_roots(view).ok()?.into_iter().next()
}

fn move_sessions(state: &Path, here: &Path, moved: &[MovedDirectory]) -> Result<(), SessionError> {
    if moved.iter().all(|moved| moved.followed.is_empty()) {
        return Ok(());
    }
    let (store, _) = SessionStore::open(state)?;
    for MovedDirectory { from, followed, .. } in moved {
        // A session that changed nothing has no view. Where another directory has the path now, it may belong to that.
        if !followed.is_empty() && !from.exists() {
            store.follow_directory(from, here)?;
        }
        followed.iter().try_for_each(|name| store.set_directory(&SessionId(name.clone()), here))?;
    }
    Ok(())
}
