//! What a program of `placet run` may see in addition to what every command sees.

use std::path::{Path, PathBuf};

/// What a program of the person's own may see in addition to what every command sees.
#[derive(Clone, Debug, Default)]
pub struct ProgramAccess {
    /// Its own credential files and state, which are not masked.
    pub unmasked: Vec<PathBuf>,
    /// Its environment variables that look like secrets.
    pub variables: Vec<String>,
    /// Where it and its interpreter are.
    pub readable: Vec<PathBuf>,
}

impl ProgramAccess {
    pub(super) fn unmasks(&self, file: &Path) -> bool {
        self.unmasked.iter().any(|path| path == file)
    }
}
