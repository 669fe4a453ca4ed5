//! Output of checks, read into diagnostics as it arrives. The readers are pure, and everything that they keep is bounded:
//! a check may print without end.

mod cargo;
mod documents;
mod findings;
mod go;
mod junit;
mod line_patterns;
mod lines;
mod pytest;

use super::definition::CheckOutputForm;
pub use findings::CheckFindings;
use findings::LineReader;
use lines::LineSplitter;
use std::path::PathBuf;

/// The largest document (JSON or XML) that is read. It is kept in memory while the check runs.
const LARGEST_DOCUMENT: usize = 16 << 20;

/// A reader of a whole document, somewhere in the output.
type DocumentReader = fn(&str, &std::path::Path, &mut CheckFindings);

enum FormReader {
    Lines(LineSplitter, Box<dyn LineReader>),
    Document { bytes: Vec<u8>, read: DocumentReader },
}

/// Reads the output of one run, in pieces of any size.
pub struct FindingsReader {
    form: FormReader,
    dir: PathBuf,
    found: CheckFindings,
}

impl FindingsReader {
    /// `dir` is the directory in which the check runs.
    pub fn new(form: &CheckOutputForm, dir: PathBuf) -> FindingsReader {
        let by_line = |reader: Box<dyn LineReader>| FormReader::Lines(LineSplitter::default(), reader);
        let whole = |read: DocumentReader| FormReader::Document { bytes: Vec::new(), read };
        let form = match form {
            CheckOutputForm::CargoJson => by_line(Box::new(cargo::CargoReader::new(dir.clone()))),
            CheckOutputForm::Tsc => by_line(Box::new(line_patterns::tsc(dir.clone()))),
            CheckOutputForm::Go => by_line(Box::new(go::GoReader::new(dir.clone()))),
            CheckOutputForm::Pytest => by_line(Box::new(pytest::PytestReader::new(dir.clone()))),
            CheckOutputForm::Pattern(regex) => {
                by_line(Box::new(line_patterns::PatternReader::of((**regex).clone(), dir.clone())))
            }
            CheckOutputForm::Text => by_line(Box::new(line_patterns::compilers(dir.clone()))),
            CheckOutputForm::EslintJson => whole(documents::eslint),
            CheckOutputForm::RuffJson => whole(documents::ruff),
            CheckOutputForm::Sarif => whole(documents::sarif),
            CheckOutputForm::Junit => whole(junit::junit),
        };
        FindingsReader { form, dir, found: CheckFindings::default() }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        let found = &mut self.found;
        match &mut self.form {
            FormReader::Lines(splitter, reader) => {
                splitter.push(bytes, &mut |line, number| reader.line(line, number, found));
            }
            FormReader::Document { bytes: all, .. } => {
                let room = LARGEST_DOCUMENT.saturating_sub(all.len());
                found.is_cut |= bytes.len() > room;
                all.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            }
        }
    }

    pub fn finish(mut self) -> CheckFindings {
        let found = &mut self.found;
        match &mut self.form {
            FormReader::Lines(splitter, reader) => {
                splitter.end(&mut |line, number| reader.line(line, number, found));
                reader.end(found);
                found.is_cut |= splitter.is_cut();
            }
            FormReader::Document { bytes, read } => {
                read(&String::from_utf8_lossy(bytes), &self.dir, found);
            }
        }
        self.found
    }
}

#[cfg(test)]
mod reader_tests;
