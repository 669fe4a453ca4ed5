//! Globs over names and paths in which `?` and `[...]` stand for characters.
//!
//! The glob library compares bytes: its `?` does not match `ä`, and `[ä]` matches half of it. Where a name is text, its
//! regular expression is compiled for characters here; where it is not, the bytes are compared.

use super::look_alike::composed;
use globset::{Glob, GlobBuilder, GlobMatcher};
use regex::{Regex, RegexBuilder};
use std::path::Path;
use std::sync::OnceLock;

/// A parsed glob. It is compiled at its first comparison: most rules of most runs are never compared.
#[derive(Clone, Debug)]
pub struct NameGlob {
    glob: Glob,
    separator: bool,
    ready: OnceLock<(GlobMatcher, Option<Regex>)>,
    composed: OnceLock<Option<Box<NameGlob>>>,
}

impl NameGlob {
    /// `*` and `?` match no slash; a backslash takes a special character for itself.
    pub fn of_path(pattern: &str) -> Result<NameGlob, globset::Error> {
        NameGlob::new(pattern, true)
    }

    /// The same for a text that is no path: `*` matches a slash, too.
    pub fn of_text(pattern: &str) -> Result<NameGlob, globset::Error> {
        NameGlob::new(pattern, false)
    }

    fn new(pattern: &str, separator: bool) -> Result<NameGlob, globset::Error> {
        let glob = GlobBuilder::new(pattern).literal_separator(separator).backslash_escape(true).build()?;
        Ok(NameGlob { glob, separator, ready: OnceLock::new(), composed: OnceLock::new() })
    }

    /// The pattern as it was written.
    pub fn pattern(&self) -> &str {
        self.glob.glob()
    }

    pub fn is_match(&self, name: impl AsRef<Path>) -> bool {
        let name = name.as_ref();
        let (bytes, characters) =
            self.ready.get_or_init(|| (self.glob.compile_matcher(), by_characters(&self.glob)));
        match (characters, name.to_str()) {
            (Some(characters), Some(text)) => characters.is_match(text),
            _ => bytes.is_match(name),
        }
    }

    /// For caution: also a name that differs only in the form of its letters, `é` as one character or as two.
    pub fn matches_any_form(&self, name: impl AsRef<Path>) -> bool {
        let name = name.as_ref();
        if self.is_match(name) {
            return true;
        }
        let Some(text) = name.to_str().filter(|text| !text.is_ascii()) else { return false };
        let glob = self
            .composed
            .get_or_init(|| NameGlob::new(&composed(self.pattern()), self.separator).ok().map(Box::new));
        glob.as_ref().is_some_and(|glob| glob.is_match(composed(text)))
    }
}

/// The glob's expression over characters; `None` where it means the same over bytes, or cannot be compiled.
fn by_characters(glob: &Glob) -> Option<Regex> {
    if !glob.glob().contains(['?', '[']) {
        return None;
    }
    let bytes = glob.regex().strip_prefix("(?-u)")?;
    // A character beyond ASCII is written as its bytes, `\xc3\xa4`.
    let (mut out, mut rest, mut character) = (String::new(), bytes, Vec::new());
    while let Some(c) = rest.chars().next() {
        let escaped = rest.strip_prefix("\\x").and_then(|after| after.get(..2));
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|byte| *byte > 0x7f) {
            Some(byte) => {
                character.push(byte);
                rest = rest.get(4..)?;
            }
            // A backslash and what it escapes belong together.
            None if c == '\\' => {
                let end = 1 + rest.get(1..)?.chars().next()?.len_utf8();
                out.push_str(rest.get(..end)?);
                rest = rest.get(end..)?;
            }
            None => {
                out.push(c);
                rest = rest.get(c.len_utf8()..)?;
            }
        }
        if let Ok(text) = std::str::from_utf8(&character)
            && !text.is_empty()
        {
            out.push_str(text);
            character.clear();
        }
    }
    RegexBuilder::new(&out).dot_matches_new_line(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_question_mark_and_a_set_match_characters() {
        #[rustfmt::skip]
        let table = [
            ("?.pem", "ä.pem", true), ("?.pem", "日.pem", true), ("??.pem", "ä.pem", false), ("?.pem", "a.pem", true),
            ("?.pem", "ab.pem", false), ("?", "/", false), ("?", "\n", true), ("[äö].txt", "ä.txt", true),
            ("[äö].txt", "ü.txt", false), ("[ä-ö].txt", "å.txt", true), ("[!a].txt", "é.txt", true),
            ("[!ä].txt", "ä.txt", false), ("*.ä?", "x.äb", true), ("?/*.md", "ü/a.md", true), ("a\\?b", "a?b", true),
            ("a\\?b", "aäb", false), ("{ä,b}?", "äx", true), ("**/?.rs", "d/é.rs", true), ("\\[ä]?", "[ä]x", true),
            ("ä*", "äß/", false), ("a.?", "axy", false), ("日[!x]", "日本", true),
        ];
        for (pattern, name, expected) in table {
            assert_eq!(NameGlob::of_path(pattern).unwrap().is_match(name), expected, "{pattern} {name}");
        }
        // A name that is not text is compared by its bytes.
        let bytes = Path::new(OsStr::from_bytes(b"\xff.pem"));
        assert!(NameGlob::of_path("?.pem").unwrap().is_match(bytes));
        assert!(NameGlob::of_text("?b").unwrap().is_match("/b"));
    }

    #[test]
    fn caution_knows_both_forms_of_a_letter() {
        let (one, two) = ("\u{e9}.key", "e\u{301}.key");
        for (pattern, name) in [(one, two), (two, one), ("?.key", two), ("[\u{e9}].key", two)] {
            let glob = NameGlob::of_path(pattern).unwrap();
            assert!(glob.matches_any_form(name) && !glob.matches_any_form("fo.key"), "{pattern} {name}");
        }
        assert!(!NameGlob::of_path(one).unwrap().is_match(two));
    }
}
