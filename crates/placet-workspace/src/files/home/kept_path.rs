//! Which files below the home directory a list of paths keeps. `placet run` and servers have such lists.

use placet_permission::is_protected;
use std::path::{Path, PathBuf};

/// Directories that programs fill again by themselves. A change in them is no loss.
const CACHES: [&str; 7] =
    [".cache", ".npm", ".cargo/registry", ".cargo/git", "go/pkg/mod", ".local/state/nix", ".local/share/uv"];

/// What a list says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptPath {
    No,
    Yes,
    /// It is below a directory of the list, and some program would run or obey it.
    RunsLater,
}

impl KeptPath {
    /// `path` and `list` are relative to the home directory.
    pub fn of(path: &Path, list: &[String]) -> KeptPath {
        let Some(pattern) = list.iter().find(|pattern| is_home_match(pattern, path)) else {
            return KeptPath::No;
        };
        // A kept directory may have anything in it, also a repository with hooks.
        let below: PathBuf = path.components().skip(Path::new(pattern).components().count()).collect();
        if is_protected(&below) { KeptPath::RunsLater } else { KeptPath::Yes }
    }
}

/// Whether a pattern covers a path: name by name, and with `/` at the end also everything below.
pub fn is_home_match(pattern: &str, path: &Path) -> bool {
    let mut names = path.iter();
    let wanted = pattern.trim_end_matches('/').split('/');
    for want in wanted {
        if !names.next().and_then(|name| name.to_str()).is_some_and(|name| is_name_match(want, name)) {
            return false;
        }
    }
    pattern.ends_with('/') || names.next().is_none()
}

/// Whether a text can be in a list: a path below the home directory.
pub fn is_home_pattern(pattern: &str) -> bool {
    let plain = Path::new(pattern).components().all(|c| matches!(c, std::path::Component::Normal(_)));
    !pattern.is_empty() && plain
}

/// Whether a path below the home directory is in a cache.
pub fn is_in_home_cache(path: &Path) -> bool {
    CACHES.iter().any(|cache| path.starts_with(cache))
}

/// `*` matches any text.
fn is_name_match(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .any(|at| rest.get(at..).is_some_and(|rest| is_name_match(tail, rest)))
}
