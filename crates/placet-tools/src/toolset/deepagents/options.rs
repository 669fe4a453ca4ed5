//! What the tools of deepagents share.

use super::super::DeepagentsVersion;
use super::result_text::{cut, python_list};

/// What the tools share.
#[derive(Debug)]
pub(super) struct DeepagentsOptions {
    pub(super) virtual_paths: bool,
    pub(super) overwrite: bool,
    pub(super) version: DeepagentsVersion,
}

impl DeepagentsOptions {
    pub(super) fn is_newer(&self) -> bool {
        self.version == DeepagentsVersion::V07
    }

    /// The paths that ls and glob return, as text.
    pub(super) fn list(&self, paths: &[String]) -> String {
        match self.is_newer() && paths.is_empty() {
            true => "No files found".into(),
            false => cut(python_list(paths)),
        }
    }
}
