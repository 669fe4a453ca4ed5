//! Whether a directory of a view may hold something.

use crate::history::damage::{DamageKind, list_records};
use std::io;
use std::path::{Path, PathBuf};

/// False only where it is known that nothing is there.
pub(in crate::view) fn may_exist(path: &Path) -> bool {
    std::fs::symlink_metadata(path).map_or_else(|e| e.kind() != io::ErrorKind::NotFound, |_| true)
}

/// The layers of a set that are there, `0` first.
pub(crate) fn layers(shelf: &Path) -> Result<Vec<PathBuf>, DamageKind> {
    let entries = list_records(shelf)?;
    let layer = |entry: &std::fs::DirEntry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()));
    let mut found: Vec<(usize, PathBuf)> = entries.iter().filter_map(layer).collect();
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// False only where it is known that no layer of the set holds anything.
pub(crate) fn may_hold(shelf: &Path) -> bool {
    let holds = |layer: &PathBuf| list_records(layer).map_or(true, |entries| !entries.is_empty());
    layers(shelf).map_or(true, |layers| layers.iter().any(holds))
}
