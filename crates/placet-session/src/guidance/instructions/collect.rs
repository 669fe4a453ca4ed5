//! Reads instruction files and what they import, up to a total size. What is not read is reported in the text, for the
//! model, and in a list, for the person.

use super::imports::{imports_in, is_clearly_a_path};
use crate::guidance::MayRead;
use placet_text::conversation::InstructionsSource;
use placet_text::text::regular_file;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};
use thiserror::Error;

/// The largest file that is read in order to cut it, in bytes.
const LARGEST: u64 = 8 << 20;
/// How deep imports may be: a file that is imported by a file that is imported, and so on.
const DEEPEST: usize = 5;
/// The most files that are imported.
const MOST: usize = 100;

/// The instructions that were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectedInstructions {
    pub text: String,
    /// The files that were read, with the bytes that are sent of each.
    pub sources: Vec<InstructionsSource>,
    /// The files that are not sent, or not sent whole, and why, for the person.
    pub left_out: Vec<String>,
}

/// Why a file of instructions is omitted.
#[derive(Debug, Error)]
enum InstructionsError {
    #[error("it is a link out of the workspace: not read")]
    LinkOut,
    #[error("it is imported from outside of the workspace: not read")]
    ImportOut,
    #[error("a rule denies reading it")]
    Denied,
    #[error("there is no such file")]
    Missing,
    #[error("imports are read {DEEPEST} levels deep")]
    TooDeep,
    #[error("more than {MOST} files are imported")]
    TooMany,
    #[error(transparent)]
    Read(#[from] io::Error),
}

pub(super) struct InstructionsCollector<'a> {
    may_read: &'a MayRead<'a>,
    most: usize,
    found: CollectedInstructions,
    /// Files that were read, by their real names: a cycle ends here.
    seen: HashSet<PathBuf>,
}

/// A file, and how placet came to it.
struct InstructionsFile<'p> {
    path: &'p Path,
    /// No file outside of this directory is read.
    root: &'p Path,
    depth: usize,
}

impl<'a> InstructionsCollector<'a> {
    pub(super) fn new(may_read: &'a MayRead<'a>, most: usize) -> InstructionsCollector<'a> {
        InstructionsCollector {
            may_read,
            most,
            found: CollectedInstructions::default(),
            seen: HashSet::new(),
        }
    }

    pub(super) fn finish(self) -> CollectedInstructions {
        self.found
    }

    /// Adds a file of a project. Its author may have made it a link to a file of the person, and so a link counts only
    /// within the repository.
    pub(super) fn add(&mut self, path: &Path, root: &Path) {
        self.add_file(&InstructionsFile { path, root, depth: 0 });
    }

    /// Adds the person's own file, which may be a link to wherever they store it. Its imports stay next to it.
    pub(super) fn add_own(&mut self, path: &Path) {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let root = real.parent().unwrap_or(path).to_path_buf();
        self.add_file(&InstructionsFile { path, root: &root, depth: 0 });
    }

    fn add_file(&mut self, file: &InstructionsFile<'_>) {
        let real = fs::canonicalize(file.path).ok();
        if real.as_ref().is_some_and(|real| !self.seen.insert(real.clone())) {
            return;
        }
        let text = match self.text_of(file, real) {
            Ok(text) => text,
            Err(why) => return self.leave_out(file.path, &why),
        };
        if text.trim().is_empty() {
            return;
        }
        self.push(file.path, &text);
        let dir = file.path.parent().unwrap_or(file.root);
        for import in imports_in(&text) {
            self.import(&import, dir, file);
        }
    }

    fn import(&mut self, import: &str, dir: &Path, by: &InstructionsFile<'_>) {
        let path = match (import.strip_prefix("~/"), placet_config::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => dir.join(import),
        };
        let why = match fs::canonicalize(&path) {
            Err(_) if is_clearly_a_path(import) => InstructionsError::Missing,
            Err(_) => return,
            Ok(real) if real.is_dir() || self.seen.contains(&real) => return,
            Ok(real) if !fs::canonicalize(by.root).is_ok_and(|root| real.starts_with(root)) => {
                InstructionsError::ImportOut
            }
            Ok(_) if by.depth == DEEPEST => InstructionsError::TooDeep,
            Ok(_) if self.seen.len() >= MOST => InstructionsError::TooMany,
            Ok(_) => {
                return self.add_file(&InstructionsFile {
                    path: &tidy(&path),
                    root: by.root,
                    depth: by.depth + 1,
                });
            }
        };
        self.leave_out(&tidy(&path), &why);
    }

    fn text_of(
        &self,
        file: &InstructionsFile<'_>,
        real: Option<PathBuf>,
    ) -> Result<String, InstructionsError> {
        let real = match real {
            Some(real) => real,
            None => fs::canonicalize(file.path)?,
        };
        // `is_file`, because a device or a pipe has an error of its own.
        let inside = real.starts_with(fs::canonicalize(file.root)?);
        if !inside && real.is_file() {
            return Err(InstructionsError::LinkOut);
        }
        if !(self.may_read)(file.path) || !(self.may_read)(&real) {
            return Err(InstructionsError::Denied);
        }
        Ok(regular_file::read_to_string(&real, LARGEST)?)
    }

    fn leave_out(&mut self, path: &Path, why: &InstructionsError) {
        self.found.text.push_str(&format!("--- {}\n[left out: {why}]\n", path.display()));
        self.found.left_out.push(format!("{} is left out: {why}", path.display()));
    }

    /// Appends a file, or as much of it as there is room for.
    fn push(&mut self, path: &Path, text: &str) {
        let CollectedInstructions { text: out, sources, left_out } = &mut self.found;
        out.push_str(&format!("--- {}\n", path.display()));
        let room = self.most.saturating_sub(out.len());
        let end = text.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= room).last();
        let end = end.unwrap_or(0);
        let cut = text.len() - end;
        out.push_str(text.get(..end).unwrap_or(""));
        match (end, cut) {
            (0, _) => out.push_str(&format!("[left out: {cut} bytes in {}]\n", path.display())),
            (_, 0) if text.ends_with('\n') => {}
            (_, 0) => out.push('\n'),
            _ => out.push_str(&format!("\n[cut here: {cut} more bytes in {}]\n", path.display())),
        }
        if cut > 0 {
            let most = self.most.div_ceil(1024);
            left_out.push(format!(
                "{}: {cut} of {} bytes are not sent: instructions may have {most} KB",
                path.display(),
                text.len()
            ));
        }
        sources.push(InstructionsSource { path: path.display().to_string(), bytes: end });
    }
}

/// The path without `.` and `..`, by its text: for a name on the screen.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    out
}
