//! Many paths at once: the directories above them, each once, and their order.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

/// The directories above the paths that were given to it. In a list of changes one path follows another of the same
/// directory, so that most paths cost one comparison of bytes, whatever the number of paths is.
#[derive(Debug, Default)]
pub(crate) struct DirsAbove<'p> {
    seen: HashSet<&'p OsStr>,
    last: Option<&'p OsStr>,
}

impl<'p> DirsAbove<'p> {
    /// Those above `path` that are above no earlier path, the innermost first.
    pub(crate) fn new_above(&mut self, path: &'p Path) -> Vec<&'p Path> {
        let parent = path.parent().map(Path::as_os_str);
        if parent == self.last {
            return Vec::new();
        }
        self.last = parent;
        // Above a directory that is known, all are.
        path.ancestors().skip(1).take_while(|dir| self.seen.insert(dir.as_os_str())).collect()
    }

    /// True for one of them.
    pub(crate) fn contains(&self, dir: &Path) -> bool {
        self.seen.contains(dir.as_os_str())
    }
}

/// The order of [`Path`] for paths without dots and with single slashes: by their bytes, with a slash before all others. Most of
/// the paths of a list begin alike, and to take each apart takes ten times as long.
pub(crate) fn compare_paths(a: &Path, b: &Path) -> Ordering {
    const AT_ONCE: usize = 16;
    let (a, b) = (a.as_os_str().as_encoded_bytes(), b.as_os_str().as_encoded_bytes());
    let same = a.chunks(AT_ONCE).zip(b.chunks(AT_ONCE)).take_while(|(a, b)| a == b).count();
    let key = |byte: &u8| (*byte != b'/', *byte);
    let [a, b] = [a, b].map(|bytes| bytes.get(same * AT_ONCE..).unwrap_or_default().iter().map(key));
    a.cmp(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_paths_and_each_directory_comes_once() {
        let names = [
            "/w",
            "/w/a",
            "/w/a/b",
            "/w/a-b",
            "/w/a b/c",
            "/w/a/b/longer than a chunk/x",
            "/w/a/b/longer than a chunk-/x",
            "/w/é",
            "/w/A",
        ];
        for (a, b) in names.iter().flat_map(|a| names.iter().map(move |b| (Path::new(a), Path::new(b)))) {
            assert_eq!(compare_paths(a, b), a.cmp(b), "{a:?} {b:?}");
        }
        let mut dirs = DirsAbove::default();
        let above: Vec<&Path> = names.iter().flat_map(|name| dirs.new_above(Path::new(name))).collect();
        let expected = [
            "/",
            "/w",
            "/w/a",
            "/w/a b",
            "/w/a/b/longer than a chunk",
            "/w/a/b",
            "/w/a/b/longer than a chunk-",
        ];
        assert_eq!(above, expected.map(Path::new));
        assert!(dirs.contains(Path::new("/w/a")) && !dirs.contains(Path::new("/w/A")));
    }
}
