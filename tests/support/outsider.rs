//! Somebody else who writes the same file.

use std::path::Path;

/// Puts a new file in its place.
pub fn by_rename(path: &Path, number: u64) {
    let new = path.with_extension("theirs");
    std::fs::write(&new, format!("theirs {number}\n")).unwrap();
    std::fs::rename(&new, path).unwrap();
}

/// Writes the file that is there.
pub fn in_place(path: &Path, number: u64) {
    std::fs::write(path, format!("theirs {number}\n")).unwrap();
}
