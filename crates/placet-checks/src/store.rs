//! The last results of each check in a directory, on disk: the shell, the command line and the apply read the same ones.

use super::result::CheckResult;
use super::state_hash::StateHash;
use placet_text::private;
use placet_text::text::regular_file;
use std::io;
use std::path::{Path, PathBuf};

/// How many results of a check are stored. An older state is rarely asked about.
const MOST: usize = 20;
const LARGEST: u64 = 64 << 20;

/// The results of the checks of one workspace.
#[derive(Clone, Debug, Default)]
pub struct CheckStore {
    dir: PathBuf,
}

impl CheckStore {
    pub fn at(dir: PathBuf) -> CheckStore {
        CheckStore { dir }
    }

    /// The directory of one check, for its results and its output.
    pub fn dir_of(&self, check: &str) -> PathBuf {
        self.dir.join(check)
    }

    /// The stored output of the last run.
    pub fn output(&self, check: &str) -> PathBuf {
        self.dir_of(check).join("output")
    }

    fn file(&self, check: &str) -> PathBuf {
        self.dir_of(check).join("results.json")
    }

    /// The stored results, the newest first. What cannot be read has not passed: it counts as no result.
    pub fn results(&self, check: &str) -> Vec<CheckResult> {
        let text = regular_file::read_to_string(&self.file(check), LARGEST).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The newest result of this command for exactly this state.
    pub fn for_state(&self, check: &str, command: &str, state: &StateHash) -> Option<CheckResult> {
        let mut results = self.results(check).into_iter();
        results.find(|result| result.state == *state && result.command == command)
    }

    /// The newest result of this command for any state.
    pub fn newest(&self, check: &str, command: &str) -> Option<CheckResult> {
        self.results(check).into_iter().find(|result| result.command == command)
    }

    /// Stores a result with its output.
    pub fn add(&self, result: &CheckResult, output: &[u8]) -> io::Result<()> {
        let dir = self.dir_of(&result.check);
        private::make_dir(&dir)?;
        private::write(&self.output(&result.check), output)?;
        let mut results = self.results(&result.check);
        results.retain(|old| old.state != result.state || old.command != result.command);
        results.insert(0, result.clone());
        results.truncate(MOST);
        let text = serde_json::to_vec(&results).map_err(io::Error::other)?;
        private::write(&self.file(&result.check), &text)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
