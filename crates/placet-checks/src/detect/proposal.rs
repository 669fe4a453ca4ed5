//! One proposal, and the files that it comes from.

use placet_text::text::regular_file;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
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
    /// The programs of which it needs one.
    pub programs: Vec<String>,
}

impl ProposedCheck {
    pub(super) fn new(name: &str, command: &str, output: &'static str, from: &str) -> ProposedCheck {
        let program = command.split_whitespace().next().unwrap_or_default();
        ProposedCheck {
            programs: vec![program.into()],
            name: name.into(),
            command: command.into(),
            output,
            paths: Vec::new(),
            from: from.into(),
        }
    }

    /// It needs one of these programs instead of the one that its command names.
    #[must_use]
    pub(super) fn with_one_of(mut self, programs: &[&str]) -> ProposedCheck {
        self.programs = programs.iter().map(|program| (*program).to_string()).collect();
        self
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

    /// In a directory of `PATH`, or among the programs that npm installed for the project.
    pub(super) fn has_program(&self, name: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs = std::env::split_paths(&path).chain([self.dir.join("node_modules/.bin")]);
        dirs.map(|dir| dir.join(name)).any(|program| {
            program.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.dir.join(name).exists()
    }
}
