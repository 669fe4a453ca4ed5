//! Formats with one diagnostic on a line: TypeScript's, those of C compilers, and a pattern of the person.

use super::findings::{CheckFindings, LineReader};
use crate::diagnostic::{Diagnostic, DiagnosticLevel};
use regex::Regex;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Reads lines with the groups `file`, `line`, `column`, `level` and `message`, of which only the last is needed.
pub(super) struct PatternReader {
    patterns: Vec<Regex>,
    dir: PathBuf,
    /// Each line with an error says so.
    names_errors: bool,
}

static TSC: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r"^(?P<file>[^()\s][^()]*)\((?P<line>\d+),(?P<column>\d+)\): (?P<level>error|warning|message) (?P<message>TS\d+: .*)$",
        // With `--pretty`.
        r"^(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+) - (?P<level>error|warning|message) (?P<message>TS\d+: .*)$",
        // About the project, without a file.
        r"^(?P<level>error) (?P<message>TS\d+: .*)$",
    ])
});

static COMPILERS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    compiled(&[
        r"^(?P<file>[^\s:][^:]*):(?P<line>\d+)(?::(?P<column>\d+))?: (?:fatal )?(?P<level>error|warning|note)[:\[] ?(?P<message>.*)$",
        r"^CMake (?P<level>Error|Warning) at (?P<file>[^:]+):(?P<line>\d+)(?P<message>.*)$",
    ])
});

/// Fixed patterns: the tests compile each of them.
fn compiled(patterns: &[&str]) -> Vec<Regex> {
    patterns.iter().filter_map(|pattern| Regex::new(pattern).ok()).collect()
}

pub(super) fn tsc(dir: PathBuf) -> PatternReader {
    PatternReader { patterns: TSC.clone(), dir, names_errors: true }
}

pub(super) fn compilers(dir: PathBuf) -> PatternReader {
    PatternReader { patterns: COMPILERS.clone(), dir, names_errors: true }
}

impl PatternReader {
    pub(super) fn of(pattern: Regex, dir: PathBuf) -> PatternReader {
        PatternReader { patterns: vec![pattern], dir, names_errors: false }
    }
}

impl LineReader for PatternReader {
    fn line(&mut self, line: &str, number: usize, found: &mut CheckFindings) {
        // Groups take ten times as long as a match, and a check may print millions of warnings.
        if found.is_full() && self.names_errors && !line.contains("rror") {
            found.found += usize::from(self.patterns.iter().any(|pattern| pattern.is_match(line)));
            return;
        }
        let Some(groups) = self.patterns.iter().find_map(|pattern| pattern.captures(line)) else { return };
        let group = |name: &str| groups.name(name).map(|found| found.as_str());
        let figure = |name: &str| group(name).and_then(|text| text.parse().ok());
        let level = group("level").map_or(DiagnosticLevel::Error, DiagnosticLevel::of_word);
        let diagnostic = Diagnostic::new(level, group("message").unwrap_or_default());
        let diagnostic = match group("file") {
            Some(file) => diagnostic.at(file.trim(), figure("line"), figure("column"), &self.dir),
            None => diagnostic,
        };
        found.add(diagnostic, Some(number));
    }
}
