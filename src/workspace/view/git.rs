//! What a repository's state is, as far as placet must know it: never read by git, never written.

use std::path::{Path, PathBuf};

/// A lock that some git process holds in this `.git` directory.
pub(super) fn lock_in(repository: &Path) -> Option<PathBuf> {
    let here = ["index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock"];
    let here = here.map(|name| repository.join(name)).into_iter();
    let refs = files_below(&repository.join("refs")).into_iter();
    here.chain(refs).find(|path| path.extension().is_some_and(|e| e == "lock") && path.exists())
}

/// True for the files whose change means that the repository moved on.
pub(super) fn is_state(repository: &Path, path: &Path) -> bool {
    let Ok(rel) = path.strip_prefix(repository) else { return false };
    matches!(rel.to_str(), Some("HEAD" | "index" | "packed-refs" | "ORIG_HEAD" | "MERGE_HEAD"))
        || rel.starts_with("refs")
}

/// The files that [`is_state`] holds for.
pub(super) fn state_files(repository: &Path) -> Vec<PathBuf> {
    let top = ["HEAD", "index", "packed-refs"].map(|name| repository.join(name));
    top.into_iter().filter(|path| path.is_file()).chain(files_below(&repository.join("refs"))).collect()
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files_below(&entry.path())),
            Ok(_) => found.push(entry.path()),
            Err(_) => {}
        }
    }
    found
}
