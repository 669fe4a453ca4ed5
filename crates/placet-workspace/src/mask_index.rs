//! Which hidden files a workspace has, remembered by directory.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A directory as it was last listed: when, what in it is hidden, and the directories below.
#[derive(Debug)]
pub(super) struct DirListing {
    stamp: (i64, i64, i64, i64),
    hidden: Vec<PathBuf>,
    below: Vec<PathBuf>,
}

#[derive(Debug, Default)]
pub(super) struct MaskIndex {
    dirs: HashMap<PathBuf, DirListing>,
}

impl MaskIndex {
    pub(super) fn look(&mut self, is_hidden: &dyn Fn(&Path) -> bool, root: &Path, found: &mut Vec<PathBuf>) {
        let mut todo = vec![root.to_path_buf()];
        while let Some(dir) = todo.pop() {
            let Ok(meta) = std::fs::symlink_metadata(&dir) else {
                self.dirs.remove(&dir);
                continue;
            };
            // Programs can set the modification time, but not the change time.
            let stamp = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
            if self.dirs.get(&dir).is_none_or(|known| known.stamp != stamp) {
                self.dirs.insert(dir.clone(), list(is_hidden, &dir, stamp));
            }
            if let Some(known) = self.dirs.get(&dir) {
                found.extend(known.hidden.iter().cloned());
                todo.extend(known.below.iter().cloned());
            }
        }
    }

    pub(super) fn forget(&mut self) {
        self.dirs.clear();
    }
}

pub(super) fn list(is_hidden: &dyn Fn(&Path) -> bool, dir: &Path, stamp: (i64, i64, i64, i64)) -> DirListing {
    let mut listed = DirListing { stamp, hidden: Vec::new(), below: Vec::new() };
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if is_hidden(&path) {
            listed.hidden.push(path);
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            listed.below.push(path);
        }
    }
    listed
}
