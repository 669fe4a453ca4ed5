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
        let hash = std::fs::read(&path).map(|bytes| meaning(&path, &bytes));
        hasher.update(hash.as_ref().map_or(b"?", |hash| hash.as_bytes().as_slice()));
    }
    hasher.finalize().to_hex().to_string()
}

/// What a state file says, apart from what git notes in it for its own speed: `git status` writes the index anew with
/// other times and says nothing new by it.
pub(super) fn meaning(path: &Path, bytes: &[u8]) -> blake3::Hash {
    let index = path.file_name().is_some_and(|name| name == "index");
    index.then(|| entries_of(bytes)).flatten().unwrap_or_else(|| blake3::hash(bytes))
}

/// The hash of an index's entries: path, mode, object, stage and flags. `None` for a form that is not known here.
/// The format is git's own: `index-format` in its technical documentation.
fn entries_of(bytes: &[u8]) -> Option<blake3::Hash> {
    let word = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let version = word(4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    let (mut at, mut path) = (12, Vec::new());
    for _ in 0..word(8)? {
        let start = at;
        // Times, device and inode before the mode; owner and size after it.
        hasher.update(bytes.get(start + 24..start + 28)?).update(bytes.get(start + 40..start + 60)?);
        let flags = u16::from_be_bytes(bytes.get(start + 60..start + 62)?.try_into().ok()?);
        hasher.update(&(flags & 0xf000).to_be_bytes());
        at = start + 62;
        if flags & 0x4000 != 0 {
            hasher.update(bytes.get(at..at + 2)?);
            at += 2;
        }
        if version == 4 {
            let strip = number(bytes, &mut at)?;
            path.truncate(path.len().checked_sub(strip)?);
        } else {
            path.clear();
        }
        let end = at + bytes.get(at..)?.iter().position(|b| *b == 0)?;
        path.extend_from_slice(bytes.get(at..end)?);
        at = if version == 4 { end + 1 } else { start + (end - start + 8) / 8 * 8 };
        hasher.update(&(path.len() as u64).to_be_bytes()).update(&path);
    }
    // What follows are caches; a split or sparse index says more in them.
    let caches = bytes.get(at..bytes.len().checked_sub(20)?)?;
    let telling = [&b"link"[..], b"sdir"];
    if telling.iter().any(|name| caches.starts_with(name)) { None } else { Some(hasher.finalize()) }
}

/// The number of bytes to leave out of the path before, in git's own variable length.
fn number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut byte = *bytes.get(*at)?;
    let mut value = usize::from(byte & 0x7f);
    *at += 1;
    while byte & 0x80 != 0 {
        byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    Some(value)
}

impl super::View {
    /// True when a repository's state file says what `known` said, whatever else git wrote into it.
    pub(super) fn says_the_same(
        &self,
        known: &super::super::node::Node,
        path: &Path,
    ) -> std::io::Result<bool> {
        if super::node_at(path)? == *known {
            return Ok(true);
        }
        let Some(then) = known.hash().and_then(|hash| self.objects().get(hash).ok()) else {
            return Ok(false);
        };
        let Ok(now) = std::fs::read(path) else { return Ok(false) };
        Ok(meaning(path, &now) == meaning(path, &then))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// An index of the given version with these paths, modes and times; objects are all alike.
    fn index(version: u32, time: u8, entries: &[(&str, u8)]) -> Vec<u8> {
        let mut out = b"DIRC".to_vec();
        out.extend(version.to_be_bytes());
        out.extend((entries.len() as u32).to_be_bytes());
        let mut last = String::new();
        for (path, mode) in entries {
            let start = out.len();
            out.extend([time; 24]);
            out.extend([0, 0, 0, *mode]);
            out.extend([time; 12]);
            out.extend([7; 20]);
            out.extend((path.len() as u16).to_be_bytes());
            if version == 4 {
                let same = path.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
                out.push((last.len() - same) as u8);
                out.extend(&path.as_bytes()[same..]);
                out.push(0);
            } else {
                out.extend(path.as_bytes());
                out.push(0);
                while !(out.len() - start).is_multiple_of(8) {
                    out.push(0);
                }
            }
            last = (*path).to_string();
        }
        out.extend(b"TREE\0\0\0\x01x");
        out.extend([9; 20]);
        out
    }

    #[test]
    fn an_index_written_anew_by_git_status_says_the_same() {
        let path = Path::new("/w/.git/index");
        let files = [("a", 1), ("dir/long name.txt", 2), ("dir/long other.txt", 2)];
        for version in [2, 4] {
            let old = index(version, 1, &files);
            assert_eq!(meaning(path, &old), meaning(path, &index(version, 200, &files)), "{version}");
            let moded = [("a", 3), files[1], files[2]];
            assert_ne!(meaning(path, &old), meaning(path, &index(version, 1, &moded)), "{version}");
            assert_ne!(meaning(path, &old), meaning(path, &index(version, 1, &files[..2])), "{version}");
        }
        assert_eq!(meaning(path, &index(2, 1, &files)), meaning(path, &index(4, 1, &files)));
        // What is not understood is compared byte for byte.
        assert_ne!(meaning(path, b"DIRC?"), meaning(path, b"DIRC!"));
        assert_ne!(meaning(Path::new("/w/.git/HEAD"), b"a"), meaning(Path::new("/w/.git/HEAD"), b"b"));
    }
}
