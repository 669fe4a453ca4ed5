//! Reads directories of skills and commands: what both have in common.

use super::places::{GuidanceDir, GuidanceOrigin};
use placet_text::text::{regular_file, visible, width};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The largest file of a skill or a command that is read.
pub(super) const LARGEST: u64 = 1 << 20;
/// The most files of one directory.
pub(super) const MOST: usize = 1000;

/// A file that is not offered, or not as it was written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuidanceProblem {
    pub path: PathBuf,
    pub why: String,
}

impl GuidanceProblem {
    pub(super) fn new(path: &Path, why: impl ToString) -> GuidanceProblem {
        GuidanceProblem { path: path.into(), why: why.to_string() }
    }
}

/// Why a file of a skill or a command is not read.
#[derive(Debug, Error)]
pub(super) enum GuidanceReadError {
    #[error("it is a link out of the repository: not read")]
    LinkOut,
    #[error("a rule denies reading it")]
    Denied,
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// The text of a file in `dir`. A file of a project that leads out of its repository is not read: its author could name
/// any file of the person.
pub(super) fn text_of(
    path: &Path,
    dir: &GuidanceDir,
    may_read: &dyn Fn(&Path) -> bool,
) -> Result<String, GuidanceReadError> {
    let real = fs::canonicalize(path)?;
    if dir.origin == GuidanceOrigin::Project && !real.starts_with(fs::canonicalize(&dir.root)?) {
        return Err(GuidanceReadError::LinkOut);
    }
    if !may_read(path) || !may_read(&real) {
        return Err(GuidanceReadError::Denied);
    }
    Ok(regular_file::read_to_string(&real, LARGEST)?)
}

/// The entries of a directory by name, at most [`MOST`]. A directory that does not exist is empty.
pub(super) fn entries(dir: &Path, problems: &mut Vec<GuidanceProblem>) -> Vec<PathBuf> {
    let found = match fs::read_dir(dir) {
        Ok(found) => found,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Vec::new();
        }
        Err(e) => {
            problems.push(GuidanceProblem::new(dir, e));
            return Vec::new();
        }
    };
    let mut paths: Vec<PathBuf> = found.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    if paths.len() > MOST {
        problems.push(GuidanceProblem::new(dir, format!("only the first {MOST} entries are read")));
        paths.truncate(MOST);
    }
    paths
}

/// A description on one line, without anything that acts on a terminal or reorders text, and at most `most` columns.
/// The model gets the same text as the person. True where it was cut.
pub(super) fn one_line(text: &str, most: usize) -> (String, bool) {
    // Before the characters are looked at: a text of a megabyte has no use.
    let start: String = text.chars().take(most.saturating_mul(4)).collect();
    let words = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let clean = visible::line(&words).into_owned();
    let cut = width::cut(&clean, most);
    let is_cut = cut.len() < clean.len() || start.len() < text.trim_end().len();
    (cut, is_cut)
}

/// True for a name that can be typed after `/` and `$`: letters, digits, `-` and `_`, at most 64.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=64).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('-')
}
