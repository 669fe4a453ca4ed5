//! The modes of placet's own files, all of them: what an older version or another umask left open is shut.

use crate::private::tighten;
use std::io;
use std::path::{Path, PathBuf};

/// A file that was open to others, with the mode that it had.
type TightenedFiles = Vec<(PathBuf, u32)>;
type TightenFailures = Vec<(PathBuf, io::Error)>;

/// Tightens everything below these directories, but the file of `keys`: one that others could read is refused until the
/// person looks at it. Contents of the workspace keep their modes:
/// they lie in directories that are shut.
pub(in crate::cli) fn tighten_all(dirs: &[&Path], keys: &Path) -> (TightenedFiles, TightenFailures) {
    let (mut tightened, mut failed) = (Vec::new(), Vec::new());
    let mut todo: Vec<PathBuf> = dirs.iter().map(|dir| dir.to_path_buf()).collect();
    while let Some(path) = todo.pop() {
        if path == keys || is_layer(&path) {
            continue;
        }
        match tighten(&path) {
            Ok(Some(mode)) => tightened.push((path.clone(), mode)),
            Ok(None) => {}
            Err(e) => failed.push((path.clone(), e)),
        }
        let is_dir = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir());
        if is_dir {
            todo.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    tightened.sort();
    (tightened, failed)
}

/// What has the modes of the workspace, because it goes back there: every directory in `views/NAME` (what is pending or
/// was discarded, now and in steps of it that a crash left), layers, and temporary files of commands.
fn is_layer(path: &Path) -> bool {
    let is_named =
        |path: Option<&Path>, name: &str| path.and_then(Path::file_name).is_some_and(|n| n == name);
    let parent = path.parent();
    let in_view = is_named(parent.and_then(Path::parent), "views");
    is_named(parent, "layers")
        || is_named(parent, "scratch")
        || in_view && path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}
