//! What a repository's state is, as far as placet must know it: never read by git, never written.

use std::path::{Path, PathBuf};

/// A lock that some git process holds in this `.git` directory.
pub(super) fn lock_in(repository: &Path) -> Option<PathBuf> {
    let here = std::fs::read_dir(repository).into_iter().flatten().flatten().map(|entry| entry.path());
    let refs = ["refs", "reftable"].into_iter().flat_map(|dir| files_below(&repository.join(dir)));
    here.chain(refs).find(|path| path.extension().is_some_and(|e| e == "lock"))
}

/// True for the files whose change means that the repository moved on.
pub(super) fn is_state(repository: &Path, path: &Path) -> bool {
    let Ok(rel) = path.strip_prefix(repository) else { return false };
    matches!(rel.to_str(), Some("HEAD" | "index" | "packed-refs" | "ORIG_HEAD" | "MERGE_HEAD"))
        || (rel.starts_with("refs") || rel.starts_with("reftable"))
            && rel.extension().is_none_or(|e| e != "lock")
}

/// The files that [`is_state`] holds for.
pub(super) fn state_files(repository: &Path) -> Vec<PathBuf> {
    let top = ["HEAD", "index", "packed-refs"].map(|name| repository.join(name));
    let refs = ["refs", "reftable"].into_iter().flat_map(|dir| files_below(&repository.join(dir)));
    let mut files: Vec<PathBuf> = top.into_iter().filter(|path| path.is_file()).chain(refs).collect();
    files.sort();
    files
}

/// What the files of [`state_files`] hold, in one word: two equal ones mean that the repository is where it was.
pub(in crate::workspace) fn repository_state(repository: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    for path in state_files(repository) {
        hasher.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
        let hash = super::node_at(&path).ok().and_then(|node| node.hash());
        hasher.update(hash.as_ref().map_or(b"?", |hash| hash.as_bytes().as_slice()));
    }
    hasher.finalize().to_hex().to_string()
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
