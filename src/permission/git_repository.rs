//! What a git repository is: the one answer for everything that asks about a directory.

use std::path::Path;

/// Names that a directory of a repository has besides `objects` and `refs`, or one of them.
const OTHERS: [&str; 5] = ["HEAD", "config", "hooks", "packed-refs", "info"];

/// True for a directory that git would take for a repository, or for the common part of one, whatever it is called.
/// `exists` answers for every state that matters.
///
/// git accepts a directory that has `HEAD`, `objects` and `refs`, or whose `commondir` leads to the last two; it asks
/// only whether the names exist. A directory that a `commondir` leads to needs no `HEAD` of its own.
pub fn is_repository(dir: &Path, exists: &dyn Fn(&Path) -> bool) -> bool {
    let has = |name: &str| exists(&dir.join(name));
    if is_git_name(dir) {
        return true;
    }
    if has("objects") && (has("refs") || has("reftable")) {
        // With the two alone it may be any directory of a project; git reads and runs nothing from it then.
        return OTHERS.iter().any(|name| has(name));
    }
    has("commondir") && has("HEAD")
}

pub fn is_git_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".git")
}
