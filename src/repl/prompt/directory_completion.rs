//! Directories that complete the argument of `/cd`, as a shell completes them: those of the directory typed so far.

use std::path::{Path, PathBuf};

/// Entries of a directory that are looked at; no key waits for more.
const ENTRIES: usize = 5_000;

/// The directories that `typed` begins, each as it would be typed, in order.
pub(super) fn directories(root: &Path, typed: &str, most: usize) -> Vec<String> {
    let (dir, start) = match typed.rfind('/') {
        Some(at) => typed.split_at(at + 1),
        None => ("", typed),
    };
    let home = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let base = match dir.strip_prefix("~/") {
        Some(below) => home().join(below),
        None => root.join(dir),
    };
    let Ok(entries) = std::fs::read_dir(&base) else { return Vec::new() };
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let is_hidden = name.starts_with('.') && !start.starts_with('.');
        let fits = name.starts_with(start) && !is_hidden && !name.contains(char::is_control);
        (fits && entry.path().is_dir()).then(|| format!("{dir}{name}/"))
    };
    let mut out: Vec<String> = entries.flatten().take(ENTRIES).filter_map(name).collect();
    out.sort();
    out.truncate(most);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_completed_and_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["src/text", "src/tools", ".git", "two words"] {
            std::fs::create_dir_all(dir.path().join(path)).unwrap();
        }
        std::fs::write(dir.path().join("src/table.rs"), "").unwrap();
        let found = |typed: &str| directories(dir.path(), typed, 9);
        assert_eq!(found(""), ["src/", "two words/"]);
        assert_eq!(found("src/t"), ["src/text/", "src/tools/"]);
        assert_eq!(found(".g"), [".git/"]);
        assert_eq!(found("two w"), ["two words/"]);
        let absolute = format!("{}/sr", dir.path().display());
        assert_eq!(found(&absolute), [format!("{}/src/", dir.path().display())]);
        assert!(found("nowhere/").is_empty());
    }
}
