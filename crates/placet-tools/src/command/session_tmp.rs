//! The size of the session's `/tmp`, which is a directory on the disk. It is measured after a command and not while one runs:
//! nothing of the system limits a directory.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Empties `dir` if it takes more than `most` bytes of the disk. Returns how much it had then, or a part of it.
pub(super) fn empty_above(dir: &Path, most: u64) -> Option<u64> {
    let size = size_up_to(dir, most);
    if size <= most {
        return None;
    }
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        // Of a link the link goes, and what a background command makes meanwhile may stay.
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(&path),
            _ => std::fs::remove_file(&path),
        };
    }
    Some(size)
}

/// The size, or more than `most` as soon as that is known.
fn size_up_to(dir: &Path, most: u64) -> u64 {
    let (mut size, mut dirs) = (0, vec![dir.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(known) = entry.metadata() else { continue };
            // A sparse file takes less than its length, and a block has 512 bytes here on every file system.
            size += known.blocks() * 512;
            if size > most {
                return size;
            }
            if known.is_dir() {
                dirs.push(entry.path());
            }
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_above_its_limit_is_emptied_and_nothing_outside_of_it() {
        let base = tempfile::tempdir().unwrap();
        let (dir, outside) = (base.path().join("tmp"), base.path().join("outside"));
        std::fs::create_dir_all(dir.join("a/b")).unwrap();
        std::fs::write(&outside, "theirs").unwrap();
        std::fs::write(dir.join("a/b/large"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(base.path(), dir.join("a/up")).unwrap();
        std::os::unix::fs::symlink(&outside, dir.join("link")).unwrap();
        std::fs::File::create(dir.join("sparse")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(empty_above(&dir, 1 << 21), None);
        assert!(dir.join("a/b/large").exists());
        assert!(empty_above(&dir, 1 << 19).is_some_and(|size| size > 1 << 19));
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
        assert_eq!(std::fs::read_to_string(outside).unwrap(), "theirs");
        assert_eq!(empty_above(&base.path().join("missing"), 0), None);
    }
}
