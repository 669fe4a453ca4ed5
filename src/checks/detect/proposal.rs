//! One proposal, and the files that it comes from.

use crate::text::regular_file;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The largest file of a project that is read for proposals.
pub(super) const LARGEST: u64 = 1 << 20;

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
    dir: &'a Path,
    /// Files that are larger than placet reads, with their sizes.
    too_large: RefCell<BTreeMap<String, u64>>,
}

impl<'a> ProjectFiles<'a> {
    pub(super) fn of(dir: &'a Path) -> ProjectFiles<'a> {
        ProjectFiles { dir, too_large: RefCell::default() }
    }

    pub(super) fn dir(&self) -> &'a Path {
        self.dir
    }

    /// A file that cannot be read suggests nothing.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        let file = self.dir.join(name);
        let read = regular_file::read_to_string(&file, LARGEST);
        if read.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::FileTooLarge) {
            let size = file.metadata().map_or(LARGEST, |meta| meta.len());
            self.too_large.borrow_mut().insert(name.into(), size);
        }
        read.ok()
    }

    pub(super) fn too_large(self) -> BTreeMap<String, u64> {
        self.too_large.into_inner()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }
}
