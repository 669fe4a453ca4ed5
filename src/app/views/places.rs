//! The directories in which views are stored.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The directories that hold the views of all workspaces: a state directory inside of a workspace has its views elsewhere.
pub(in crate::app) fn views_places(state: &Path) -> Vec<PathBuf> {
    vec![state.join("views"), private(Path::new("/var/tmp")).join("views")]
}

/// The view of this name, if there is one.
pub(in crate::app) fn view_of(state: &Path, name: &str) -> Option<PathBuf> {
    views_places(state).into_iter().map(|views| views.join(name)).find(|view| view.is_dir())
}

/// A directory of placet's own below one that all users share: no other user may have made it.
pub(in crate::app) fn private(shared: &Path) -> PathBuf {
    let uid = rustix::process::geteuid().as_raw();
    let dir = shared.join(format!("placet-{uid}"));
    // The directory usually exists already; whether only this user owns it is checked below.
    drop(std::fs::DirBuilder::new().mode(0o700).create(&dir));
    let ours =
        std::fs::symlink_metadata(&dir).is_ok_and(|m| m.is_dir() && m.uid() == uid && m.mode() & 0o077 == 0);
    if ours { dir } else { std::env::temp_dir().join(format!("placet-{uid}-{}", std::process::id())) }
}
