//! Large losses: what an apply removes only with an approval of its own.

use crate::workspace::LargeLoss;
use std::fmt;
use std::path::{Path, PathBuf};

/// A large loss in the pending changes. Paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// The git repository at this path is removed.
    Repository {
        /// The directory of the repository.
        path: PathBuf,
        /// Files that are removed.
        files: usize,
    },
    /// Everything in this directory of the workspace is removed.
    Root {
        /// The directory.
        path: PathBuf,
        /// Files that are removed.
        files: usize,
    },
    /// More is deleted or emptied than the loss limit (`brake.files`, `brake.bytes`) allows.
    Files {
        /// Files that are removed.
        files: usize,
        /// Their bytes.
        bytes: u64,
    },
}

impl Loss {
    pub(super) fn of(loss: &LargeLoss) -> Loss {
        match loss.clone() {
            LargeLoss::Repository { path, files } => Loss::Repository { path, files },
            LargeLoss::Root { path, files } => Loss::Root { path, files },
            LargeLoss::Files { files, bytes } => Loss::Files { files, bytes },
        }
    }

    pub(super) fn large(&self) -> LargeLoss {
        match self.clone() {
            Loss::Repository { path, files } => LargeLoss::Repository { path, files },
            Loss::Root { path, files } => LargeLoss::Root { path, files },
            Loss::Files { files, bytes } => LargeLoss::Files { files, bytes },
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.large().words(&|path: &Path| path.into()))
    }
}
