//! Very many paths below one directory, in one piece of memory: a repository may have a million refs, and a `PathBuf` of
//! each would take three times as much.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Paths below `dir`, in the order in which they were pushed, or sorted.
#[derive(Debug)]
pub(super) struct PathList {
    dir: PathBuf,
    /// The paths without `dir`, one after the other.
    bytes: Vec<u8>,
    /// Where each begins and ends in `bytes`.
    places: Vec<(u32, u32)>,
}

impl PathList {
    pub(super) fn below(dir: &Path) -> PathList {
        PathList { dir: dir.to_path_buf(), bytes: Vec::new(), places: Vec::new() }
    }

    /// Adds a path; false where it is not below the directory, or the list has 4 GiB.
    pub(super) fn push(&mut self, path: &Path) -> bool {
        let Ok(rel) = path.strip_prefix(&self.dir) else { return false };
        let rel = rel.as_os_str().as_bytes();
        let (begin, end) = (self.bytes.len(), self.bytes.len() + rel.len());
        let (Ok(begin), Ok(end)) = (u32::try_from(begin), u32::try_from(end)) else { return false };
        self.bytes.extend_from_slice(rel);
        self.places.push((begin, end));
        true
    }

    /// Sorts the paths as [`Path`] compares them: by their components.
    pub(super) fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places.sort_unstable_by(|a, b| path_at(bytes, *a).cmp(path_at(bytes, *b)));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = PathBuf> {
        self.places.iter().map(|place| self.dir.join(path_at(&self.bytes, *place)))
    }
}

fn path_at(bytes: &[u8], (begin, end): (u32, u32)) -> &Path {
    let at = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    Path::new(OsStr::from_bytes(bytes.get(at(begin)..at(end)).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_back_in_the_order_of_paths() {
        let dir = Path::new("/w/.git");
        let names = ["refs/heads/a", "refs/heads-x", "HEAD", "refs/heads/\u{e9}", "index", "refs/heads/a.b"];
        let mut list = PathList::below(dir);
        assert!(names.iter().all(|name| list.push(&dir.join(name))));
        assert!(!list.push(Path::new("/w/other")), "not below the directory");
        list.sort();
        let mut wanted: Vec<PathBuf> = names.iter().map(|name| dir.join(name)).collect();
        wanted.sort();
        assert_eq!(list.iter().collect::<Vec<_>>(), wanted);
        // `heads-x` is after `heads/a` by components and before it by bytes.
        assert!(dir.join("refs/heads/a") < dir.join("refs/heads-x"));
    }
}
