//! Names as the least exact file system compares them.
//!
//! On a file system that ignores case, `.ENVRC` is `.envrc`; HFS+ also ignores some invisible characters, and FAT and
//! NTFS ignore dots and spaces at the end of a name. A name that is the same file on any of them is protected on all of
//! them: an unnecessary question costs less than an unnoticed hook.

use std::path::{Component, Path};

/// The components of `path`, folded and joined by `/`.
pub(super) fn folded(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(folded_name(&name.to_string_lossy())),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

pub(crate) fn folded_name(name: &str) -> String {
    if name.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) && !name.ends_with(['.', ' ']) {
        return name.into();
    }
    // Upper case first: it unifies letters that differ only in their lower case, like the long s and the Kelvin sign.
    let upper: String = name.chars().filter(|c| !is_ignored(*c)).flat_map(char::to_uppercase).collect();
    let lower = upper.to_lowercase();
    let trimmed = lower.trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { lower } else { trimmed.into() }
}

/// The characters that HFS+ ignores in a comparison: the list that git uses for `.git`.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_one_file_on_some_file_system_are_folded_to_one() {
        for name in
            [".husky", ".HUSKY", ".hu\u{17f}ky", ".hus\u{212a}y", ".hus\u{200c}ky", ".husky.", ".husky "]
        {
            assert_eq!(folded_name(name), ".husky", "{name:?}");
        }
        assert_eq!(folded(Path::new("/A/./b/../C")), "a/b/c");
        assert_eq!((folded_name("..."), folded_name("a.b")), ("...".into(), "a.b".into()));
    }
}
