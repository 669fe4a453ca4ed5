//! A path without its dots, by its names alone.

use std::path::{Component, Path, PathBuf};

/// The path without `.` and `..`, by its names alone.
pub(crate) fn flat(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}
