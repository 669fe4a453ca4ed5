//! Recognizes git repositories: the only implementation, for every part that asks about a directory.

use super::protected::folded_name;
use std::path::Path;

/// Entries of a repository's directory in addition to `objects` and `refs`; one of them is enough.
const OTHERS: [&str; 5] = ["HEAD", "config", "hooks", "packed-refs", "info"];

/// True for a directory that git would take for a repository, or for the common part of a repository, whatever its name
/// is. `exists` answers for every relevant state.
///
/// git accepts a directory that has `HEAD`, `objects` and `refs`, or whose `commondir` leads to the last two; it checks
/// only whether the names exist. A directory that a `commondir` leads to needs no `HEAD` of its own.
pub fn is_repository(dir: &Path, exists: &dyn Fn(&Path) -> bool) -> bool {
    let has = |name: &str| exists(&dir.join(name));
    if is_git_name(dir) {
        return true;
    }
    if has("objects") && (has("refs") || has("reftable")) {
        // With only these two it may be any directory of a project; git reads and runs nothing from it then.
        return OTHERS.iter().any(|name| has(name));
    }
    has("commondir") && has("HEAD")
}

/// True for a name that some file system takes for `.git`: in capitals, with characters that HFS+ ignores, with dots and
/// blanks at its end, or as Windows shortens it.
pub fn is_spelling_of_git(name: &str) -> bool {
    matches!(&*folded_name(name), ".git" | "git~1")
}

pub fn is_git_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".git")
}
