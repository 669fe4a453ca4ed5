//! What is found in the output of one run, in bounded memory.

use crate::diagnostic::{Diagnostic, DiagnosticLevel, TestCounts};

/// The most diagnostics that are kept of one run: the first errors, then what else fits.
pub(super) const MOST: usize = 500;
/// What was read from the output of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckFindings {
    pub diagnostics: Vec<Diagnostic>,
    /// All of them, kept or not.
    pub found: usize,
    pub tests: Option<TestCounts>,
    /// A line or the document was too long to be read.
    pub is_cut: bool,
    /// The line of the output, from 1, that reports the first error.
    pub first_failure: Option<usize>,
}

impl CheckFindings {
    /// `line` is the line of the output on which the diagnostic is, if it is known.
    pub(super) fn add(&mut self, diagnostic: Diagnostic, line: Option<usize>) {
        self.found += 1;
        let is_error = diagnostic.level == DiagnosticLevel::Error;
        if is_error && self.first_failure.is_none() {
            self.first_failure = line;
        }
        if self.diagnostics.len() < MOST {
            self.diagnostics.push(diagnostic);
        } else if is_error
            && let Some(place) = self.diagnostics.iter().rposition(|d| d.level != DiagnosticLevel::Error)
        {
            // Warnings must not push errors out.
            self.diagnostics.remove(place);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Only an error could still be added to the list.
    pub(super) fn is_full(&self) -> bool {
        self.diagnostics.len() >= MOST
    }

    pub(super) fn count_tests(&mut self, passed: u64, failed: u64) {
        let tests = self.tests.get_or_insert_default();
        tests.passed = tests.passed.saturating_add(passed);
        tests.failed = tests.failed.saturating_add(failed);
    }
}

/// A reader of one line after the other.
pub(super) trait LineReader: Send {
    /// `number` counts from 1.
    fn line(&mut self, line: &str, number: usize, found: &mut CheckFindings);

    /// The output has ended.
    fn end(&mut self, _: &mut CheckFindings) {}
}
