//! What `go build`, `go vet` and `go test` print.

use super::findings::{CheckFindings, LineReader};
use crate::diagnostic::{Diagnostic, DiagnosticLevel};
use regex::Regex;
use std::path::PathBuf;
use std::sync::LazyLock;

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:vet: )?(?P<file>[^\s:][^:]*\.go):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*)$")
        .ok()
});

pub(super) struct GoReader {
    dir: PathBuf,
    /// The failed test whose first line of output comes next, and the line on which it was reported.
    failed: Option<(String, usize)>,
}

impl GoReader {
    pub(super) fn new(dir: PathBuf) -> GoReader {
        GoReader { dir, failed: None }
    }

    fn place(&self, line: &str, test: Option<&str>) -> Option<Diagnostic> {
        let groups = PLACE.as_ref()?.captures(line)?;
        let group = |name: &str| groups.name(name).map(|found| found.as_str());
        let message = group("message").unwrap_or_default();
        let message = test.map_or_else(|| message.to_string(), |test| format!("{test}: {message}"));
        let figure = |name: &str| group(name).and_then(|text| text.parse().ok());
        let diagnostic = Diagnostic::new(DiagnosticLevel::Error, &message);
        Some(diagnostic.at(group("file")?, figure("line"), figure("column"), &self.dir))
    }

    fn report_failed(&mut self, found: &mut CheckFindings) {
        if let Some((test, number)) = self.failed.take() {
            found.add(Diagnostic::new(DiagnosticLevel::Error, &format!("{test} failed")), Some(number));
        }
    }
}

impl LineReader for GoReader {
    fn line(&mut self, line: &str, number: usize, found: &mut CheckFindings) {
        let text = line.trim_start();
        let name = |rest: &str| rest.split(' ').next().unwrap_or_default().to_string();
        if let Some(rest) = text.strip_prefix("--- FAIL: ") {
            // A test with subtests is listed before them, with no output of its own.
            match self.failed.take() {
                Some((parent, _)) if name(rest).starts_with(&format!("{parent}/")) => {}
                other => {
                    self.failed = other;
                    self.report_failed(found);
                    found.count_tests(0, 1);
                }
            }
            self.failed = Some((name(rest), number));
        } else if text.starts_with("--- PASS: ") {
            self.report_failed(found);
            found.count_tests(1, 0);
        } else if let Some((test, at)) = self.failed.clone().filter(|_| text.len() < line.len()) {
            if let Some(diagnostic) = self.place(text, Some(&test)) {
                self.failed = None;
                found.add(diagnostic, Some(at));
            }
        } else if !line.starts_with(' ') && !line.starts_with('\t') {
            self.report_failed(found);
            if let Some(diagnostic) = self.place(line, None) {
                found.add(diagnostic, Some(number));
            }
        }
    }

    fn end(&mut self, found: &mut CheckFindings) {
        self.report_failed(found);
    }
}
