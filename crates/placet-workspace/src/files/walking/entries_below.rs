//! What is below a directory that may have several layers.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Every entry below a directory, deepest first, and whether it is a directory. `dirs` says which directories of the disk make
/// one, and `real` where the content of a path is, if there is one.
pub(crate) fn entries_below(
    dir: &Path,
    dirs: &dyn Fn(&Path) -> io::Result<Vec<PathBuf>>,
    real: &dyn Fn(&Path) -> io::Result<Option<PathBuf>>,
) -> io::Result<Vec<(PathBuf, bool)>> {
    let mut names = BTreeSet::new();
    for place in dirs(dir)? {
        for entry in std::fs::read_dir(place)? {
            names.insert(entry?.file_name());
        }
    }
    let mut found = Vec::new();
    for path in names.into_iter().map(|name| dir.join(name)) {
        let Some(place) = real(&path)? else { continue };
        let is_dir = std::fs::symlink_metadata(place)?.is_dir();
        if is_dir {
            found.append(&mut entries_below(&path, dirs, real)?);
        }
        found.push((path, is_dir));
    }
    Ok(found)
}
