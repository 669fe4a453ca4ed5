//! What a check reports about one place, as values. Texts and paths are those of the checked program: hostile until a
//! front end renders them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Errors first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticLevel {
    Error,
    Warning,
    Note,
}

impl DiagnosticLevel {
    /// Of the words that programs use.
    pub fn of_word(word: &str) -> DiagnosticLevel {
        match word.trim().to_ascii_lowercase().as_str() {
            "warning" | "warn" | "w" => DiagnosticLevel::Warning,
            "note" | "info" | "information" | "help" | "hint" | "none" | "failure-note" | "notice" => {
                DiagnosticLevel::Note
            }
            _ => DiagnosticLevel::Error,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            DiagnosticLevel::Error => "error",
            DiagnosticLevel::Warning => "warning",
            DiagnosticLevel::Note => "note",
        }
    }
}

/// The file of a diagnostic. Only a file inside can be opened from a diagnostic: the program chose the path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiagnosticFile {
    /// Relative to the directory in which the check ran, without `..`.
    Inside(PathBuf),
    Outside(PathBuf),
}

impl DiagnosticFile {
    /// The path as the program wrote it; `dir` is where it ran. Only names decide: nothing is opened.
    pub fn of(text: &str, dir: &Path) -> DiagnosticFile {
        let path = Path::new(text);
        let mut plain = PathBuf::new();
        for part in dir.join(path).components() {
            match part {
                Component::ParentDir => {
                    plain.pop();
                }
                Component::CurDir => {}
                part => plain.push(part),
            }
        }
        match plain.strip_prefix(dir) {
            Ok(inside) if !inside.as_os_str().is_empty() => DiagnosticFile::Inside(inside.into()),
            _ => DiagnosticFile::Outside(path.into()),
        }
    }

    pub fn path(&self) -> &Path {
        match self {
            DiagnosticFile::Inside(path) | DiagnosticFile::Outside(path) => path,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DiagnosticPlace {
    pub file: DiagnosticFile,
    /// From 1.
    pub line: Option<u32>,
    pub column: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub place: Option<DiagnosticPlace>,
    pub level: DiagnosticLevel,
    /// One line, of at most [`Diagnostic::MAX_MESSAGE`] bytes.
    pub message: String,
}

impl Diagnostic {
    pub const MAX_MESSAGE: usize = 1000;
    /// A path is cut at the length that the kernel accepts.
    const MAX_PATH: usize = 4096;

    pub fn new(level: DiagnosticLevel, message: &str) -> Diagnostic {
        let mut line = message.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = line.floor_char_boundary(Diagnostic::MAX_MESSAGE);
        line.truncate(end);
        Diagnostic { place: None, level, message: line }
    }

    #[must_use]
    pub fn at(mut self, file: &str, line: Option<u32>, column: Option<u32>, dir: &Path) -> Diagnostic {
        let file = file.get(..file.floor_char_boundary(Diagnostic::MAX_PATH)).unwrap_or_default();
        if !file.is_empty() {
            let some = |number: &u32| *number > 0;
            let file = DiagnosticFile::of(file, dir);
            self.place = Some(DiagnosticPlace { file, line: line.filter(some), column: column.filter(some) });
        }
        self
    }
}

/// The diagnostics of `now` that `before` does not have. Lines and columns do not count: an edit moves what is below it.
pub fn new_diagnostics<'a>(before: &'a [Diagnostic], now: &'a [Diagnostic]) -> Vec<&'a Diagnostic> {
    fn key(found: &Diagnostic) -> (Option<&DiagnosticFile>, DiagnosticLevel, &str) {
        (found.place.as_ref().map(|place| &place.file), found.level, &found.message)
    }
    let mut known: BTreeMap<_, usize> = BTreeMap::new();
    for found in before {
        *known.entry(key(found)).or_default() += 1;
    }
    let mut new = Vec::new();
    for found in now {
        match known.get_mut(&key(found)) {
            Some(left) if *left > 0 => *left -= 1,
            _ => new.push(found),
        }
    }
    new
}

/// How many tests passed and failed, where the program reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCounts {
    pub passed: u64,
    pub failed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_outside_cannot_be_opened_from_a_diagnostic() {
        let dir = Path::new("/w/p");
        let inside = |path: &str| DiagnosticFile::Inside(path.into());
        let outside = |path: &str| DiagnosticFile::Outside(path.into());
        for (text, expected) in [
            ("src/a.rs", inside("src/a.rs")),
            ("./src/../b.rs", inside("b.rs")),
            ("/w/p/src/a.rs", inside("src/a.rs")),
            ("../other/a.rs", outside("../other/a.rs")),
            ("/etc/passwd", outside("/etc/passwd")),
            ("src/../../../etc/passwd", outside("src/../../../etc/passwd")),
            (".", outside(".")),
            ("/w/pp/a", outside("/w/pp/a")),
        ] {
            assert_eq!(DiagnosticFile::of(text, dir), expected, "{text}");
        }
    }

    #[test]
    fn what_only_moved_to_another_line_is_not_new() {
        let at = |file: &str, line, message: &str| {
            Diagnostic::new(DiagnosticLevel::Error, message).at(file, Some(line), None, Path::new("/w"))
        };
        let before = [at("a.rs", 3, "unused"), at("a.rs", 9, "unused"), at("b.rs", 1, "gone")];
        let now = [
            at("a.rs", 5, "unused"),
            at("a.rs", 11, "unused"),
            at("a.rs", 20, "unused"),
            at("b.rs", 1, "unused"),
            Diagnostic::new(DiagnosticLevel::Warning, "unused"),
        ];
        let found = new_diagnostics(&before, &now);
        assert_eq!(found, [&now[2], &now[3], &now[4]]);
        assert!(new_diagnostics(&now, &now).is_empty());
    }

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        let long = Diagnostic::new(DiagnosticLevel::Error, &"ä\n".repeat(9000));
        assert!(long.message.len() <= Diagnostic::MAX_MESSAGE && !long.message.contains('\n'));
    }
}
