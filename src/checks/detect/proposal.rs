//! One proposal, and the files that it comes from.

use crate::text::regular_file;
use std::path::Path;

/// The largest file of a project that is read for proposals.
const LARGEST: u64 = 1 << 20;

/// A check that the project's files suggest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedCheck {
    pub name: String,
    pub command: String,
    pub output: &'static str,
    pub paths: Vec<String>,
    /// The file that suggests it.
    pub from: String,
}

impl ProposedCheck {
    pub(super) fn new(name: &str, command: &str, output: &'static str, from: &str) -> ProposedCheck {
        ProposedCheck {
            name: name.into(),
            command: command.into(),
            output,
            paths: Vec::new(),
            from: from.into(),
        }
    }

    #[must_use]
    pub(super) fn on(mut self, paths: &[&str]) -> ProposedCheck {
        self.paths = paths.iter().map(|path| (*path).to_string()).collect();
        self
    }
}

/// A project's directory, whose files are read at most once each.
pub(super) struct ProjectFiles<'a> {
    pub(super) dir: &'a Path,
}

impl ProjectFiles<'_> {
    /// A file that cannot be read suggests nothing.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        regular_file::read_to_string(&self.dir.join(name), LARGEST).ok()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }
}
