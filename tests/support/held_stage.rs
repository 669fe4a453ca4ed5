//! A stage of the program that a test holds.

use crate::support::wait;
use std::path::PathBuf;
use tempfile::TempDir;

/// A stage at which placet waits until it is told to go on.
pub struct HeldStage {
    _place: TempDir,
    file: PathBuf,
}

impl HeldStage {
    pub fn new() -> HeldStage {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("hold");
        std::fs::write(&file, "").unwrap();
        HeldStage { _place: place, file }
    }

    pub fn variable(&self, stage: &str) -> String {
        format!("{stage}={}", self.file.display())
    }

    pub fn until_reached(&self) {
        let reached = self.file.with_file_name("hold.reached");
        wait::until("the stage", || reached.exists());
    }

    pub fn go_on(&self) {
        std::fs::remove_file(&self.file).unwrap();
    }
}
