//! The messages of `cargo ... --message-format json`, and the lines that Rust's test programs print between them.

use super::findings::{CheckFindings, LineReader};
use crate::diagnostic::{Diagnostic, DiagnosticLevel};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Deserialize)]
struct CargoLine {
    reason: String,
    message: Option<CompilerMessage>,
}

#[derive(Deserialize)]
struct CompilerMessage {
    level: String,
    message: String,
    #[serde(default)]
    spans: Vec<CompilerSpan>,
}

#[derive(Deserialize)]
struct CompilerSpan {
    file_name: String,
    line_start: u32,
    column_start: u32,
    is_primary: bool,
}

pub(super) struct CargoReader {
    dir: PathBuf,
    /// A test panicked here: the next line has the message.
    panicked: Option<PanicPlace>,
}

/// `thread 'name' panicked at src/lib.rs:5:9:`
struct PanicPlace {
    thread: String,
    file: String,
    line: Option<u32>,
    column: Option<u32>,
    at: usize,
}

impl CargoReader {
    pub(super) fn new(dir: PathBuf) -> CargoReader {
        CargoReader { dir, panicked: None }
    }

    fn message(&self, message: &CompilerMessage, number: usize, found: &mut CheckFindings) {
        let level = DiagnosticLevel::of_word(&message.level);
        let primary = message.spans.iter().find(|span| span.is_primary).or(message.spans.first());
        // rustc ends with a count of what it reported.
        let is_summary = primary.is_none()
            && (message.message.starts_with("aborting due to") || message.message.contains(" emitted"));
        if is_summary || level == DiagnosticLevel::Note && primary.is_none() {
            return;
        }
        let diagnostic = Diagnostic::new(level, &message.message);
        let diagnostic = match primary {
            Some(span) => {
                diagnostic.at(&span.file_name, Some(span.line_start), Some(span.column_start), &self.dir)
            }
            None => diagnostic,
        };
        found.add(diagnostic, Some(number));
    }

    fn panic_at(line: &str, number: usize) -> Option<PanicPlace> {
        let (thread, place) = line.strip_prefix("thread '")?.split_once("' ")?;
        // Newer versions have the number of the thread between the two.
        let (_, place) = place.split_once("panicked at ")?;
        let mut parts = place.trim_end_matches(':').rsplitn(3, ':');
        let (column, row, file) = (parts.next()?, parts.next()?, parts.next()?);
        let (line, column) = (row.parse().ok(), column.parse().ok());
        Some(PanicPlace { thread: thread.into(), file: file.into(), line, column, at: number })
    }
}

impl LineReader for CargoReader {
    fn line(&mut self, line: &str, number: usize, found: &mut CheckFindings) {
        if line.starts_with('{') {
            if let Ok(CargoLine { reason, message: Some(message) }) = serde_json::from_str(line)
                && reason == "compiler-message"
            {
                self.message(&message, number, found);
            }
            return;
        }
        if let Some(PanicPlace { thread, file, line: row, column, at }) = self.panicked.take() {
            let diagnostic = Diagnostic::new(DiagnosticLevel::Error, &format!("{thread}: {line}"));
            found.add(diagnostic.at(&file, row, column, &self.dir), Some(at));
            return;
        }
        self.panicked = CargoReader::panic_at(line, number);
        if let Some(counts) = line.strip_prefix("test result: ") {
            let figure = |word: &str| {
                let part = counts.split([';', '.']).find_map(|part| part.trim().strip_suffix(word));
                part.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
            };
            found.count_tests(figure("passed"), figure("failed"));
        } else if let Some(message) = line.strip_prefix("error: ")
            && !message.starts_with("could not compile")
            && !message.starts_with("test failed, to rerun")
            && !message.ends_with("target failed:")
        {
            found.add(Diagnostic::new(DiagnosticLevel::Error, message), Some(number));
        }
    }
}
