//! What is below a directory of a view.

use super::View;
use std::io;
use std::path::{Path, PathBuf};

/// Every entry below a directory, as the view has it, deepest first, and whether it is a directory.
pub(crate) fn entries_below(view: Option<&View>, dir: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let dirs = view.map_or_else(|| Ok(vec![dir.to_path_buf()]), |view| view.dirs(dir))?;
    let mut names = std::collections::BTreeSet::new();
    for real in dirs {
        for entry in std::fs::read_dir(real)? {
            names.insert(entry?.file_name());
        }
    }
    let mut found = Vec::new();
    for path in names.into_iter().map(|name| dir.join(name)) {
        let real = view.map_or_else(|| Ok(Some(path.clone())), |view| view.real(&path))?;
        let Some(real) = real else { continue };
        let is_dir = std::fs::symlink_metadata(real)?.is_dir();
        if is_dir {
            found.append(&mut entries_below(view, &path)?);
        }
        found.push((path, is_dir));
    }
    Ok(found)
}

pub(super) fn directories_below(view: Option<&View>, dir: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = entries_below(view, dir)?.into_iter();
    Ok(entries.filter_map(|(path, is_dir)| is_dir.then_some(path)).collect())
}
