//! What pytest prints: its short summary, with the lines from the tracebacks before it.

use super::findings::{CheckFindings, LineReader};
use crate::diagnostic::{Diagnostic, DiagnosticLevel};
use std::collections::HashMap;
use std::path::PathBuf;

/// How many places of failures are remembered until the summary names their tests.
const MOST_PLACES: usize = 2000;

pub(super) struct PytestReader {
    dir: PathBuf,
    /// The test whose traceback is printed: `test_total`, `TestCart.test_total`.
    section: Option<String>,
    /// Where each of them failed: file, line, and the line of the output.
    places: HashMap<String, (String, u32, usize)>,
}

impl PytestReader {
    pub(super) fn new(dir: PathBuf) -> PytestReader {
        PytestReader { dir, section: None, places: HashMap::new() }
    }

    /// `FAILED tests/test_cart.py::TestCart::test_total - assert 1 == 2`
    fn failure(&self, rest: &str, number: usize, found: &mut CheckFindings) {
        let (test, why) = rest.split_once(" - ").unwrap_or((rest, ""));
        let (file, name) = test.split_once("::").unwrap_or((test, ""));
        let section = name.replace("::", ".");
        let place = self.places.get(&section).filter(|(at, ..)| at == file || name.is_empty());
        let message = match (name.is_empty(), why.is_empty()) {
            (true, true) => "failed".to_string(),
            (true, false) => why.to_string(),
            (false, true) => format!("{name} failed"),
            (false, false) => format!("{name}: {why}"),
        };
        let diagnostic = Diagnostic::new(DiagnosticLevel::Error, &message);
        let line = place.map(|(_, line, _)| *line);
        found.add(diagnostic.at(file, line, None, &self.dir), Some(place.map_or(number, |(.., at)| *at)));
    }
}

impl LineReader for PytestReader {
    fn line(&mut self, line: &str, number: usize, found: &mut CheckFindings) {
        let between = |mark: char| {
            let inner = line.strip_prefix(mark)?.strip_suffix(mark)?.trim_matches(mark);
            inner.strip_prefix(' ')?.strip_suffix(' ').map(str::to_string)
        };
        if let Some(section) = between('_') {
            self.section = Some(section);
            return;
        }
        let summary = between('=').unwrap_or_else(|| line.to_string());
        if let Some((passed, failed)) = counts(&summary) {
            found.count_tests(passed, failed);
            return;
        }
        if let Some(rest) = line.strip_prefix("FAILED ").or_else(|| line.strip_prefix("ERROR ")) {
            return self.failure(rest, number, found);
        }
        // The end of a traceback: `tests/test_cart.py:12: AssertionError`.
        if let Some(section) = &self.section
            && self.places.len() < MOST_PLACES
            && let Some((file, rest)) = line.split_once(".py:")
            && let Some((row, _)) = rest.split_once(':')
            && let (Ok(row), false) = (row.parse(), file.contains(' '))
        {
            self.places.insert(section.clone(), (format!("{file}.py"), row, number));
        }
    }
}

/// `2 failed, 3 passed, 1 error in 0.12s`
fn counts(line: &str) -> Option<(u64, u64)> {
    let (list, time) = line.split_once(" in ")?;
    if !time.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (mut passed, mut failed) = (0u64, 0u64);
    for part in list.split(", ") {
        let (count, word) = part.split_once(' ')?;
        let count: u64 = count.parse().ok()?;
        match word {
            "passed" => passed = passed.saturating_add(count),
            "failed" | "error" | "errors" => failed = failed.saturating_add(count),
            _ => {}
        }
    }
    Some((passed, failed))
}
