//! The checks of a directory as a conversation has them.

use super::definition::CheckDefinition;
use super::store::CheckStore;
use std::path::Path;

/// The checks of the settings, and where their results are stored.
#[derive(Debug, Default)]
pub struct ProjectChecks {
    /// In the order in which they run: the required ones first, each group in the order of its names.
    pub definitions: Vec<CheckDefinition>,
    /// A mistake in the settings. No check is defined then, and a required one must not look as if it had passed.
    pub problem: Option<String>,
    pub store: CheckStore,
}

impl ProjectChecks {
    pub fn is_empty(&self) -> bool {
        self.definitions.is_empty() && self.problem.is_none()
    }

    /// The checks whose result one of these paths can change. Paths are absolute; `cwd` is where checks run.
    pub fn concerned<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path> + Clone,
        cwd: &Path,
    ) -> Vec<CheckDefinition> {
        let concerns = |check: &&CheckDefinition| {
            paths.clone().any(|path| check.concerns(path.strip_prefix(cwd).unwrap_or(path)))
        };
        self.definitions.iter().filter(concerns).cloned().collect()
    }
}
