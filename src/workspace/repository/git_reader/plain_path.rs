//! Paths in the index and in trees.
//!
//! git makes only paths of plain names, and does not check them when it reads an index: with a path such as
//! `.git/info/../hooks/post-checkout` it writes a hook, and with `../x` a file outside of the work tree.

use crate::permission::is_spelling_of_git;

/// True for a relative path of plain names.
pub(super) fn is_plain_path(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').all(is_plain_name)
}

/// True for a name that is that of an ordinary file on every file system.
pub(super) fn is_plain_name(name: &[u8]) -> bool {
    let is_odd = name.is_empty() || matches!(name, b"." | b"..") || name.contains(&b'/');
    // Windows takes the part after a colon for a stream of the file, and a backslash for a slash.
    let mut parts = name.split(|byte| matches!(byte, b'\\' | b':'));
    // An index has many names, and few begin like this one.
    let may_be = |part: &[u8]| !part.is_ascii() || part.first().is_some_and(|first| b".gG".contains(first));
    !is_odd && !parts.any(|part| may_be(part) && is_spelling_of_git(&String::from_utf8_lossy(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_path_of_plain_names_is_one() {
        for path in ["a", ".github/a", ".gitmodules", "a/.git2", "git", "a..b/...", "a\\b", "a:b", ".git.x"] {
            assert!(is_plain_path(path.as_bytes()), "{path}");
        }
        for path in [
            "",
            "/a",
            "a//b",
            "a/",
            "./a",
            "../a",
            "a/../b",
            ".git/config",
            "a/.GIT/x",
            ".git./x",
            ".git /x",
            "git~1/x",
            ".git::$INDEX_ALLOCATION/x",
            "a\\.git\\hooks",
            ".g\u{200c}it/x",
        ] {
            assert!(!is_plain_path(path.as_bytes()), "{path}");
        }
    }
}
