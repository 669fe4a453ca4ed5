//! What the page of a running program is about: facts and differences that arrive for it, and what the person asks for.

use placet_workspace::{ChangeCount, RunningFileError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};

/// What is known of a running program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunPageFacts {
    pub changes: Vec<RunPageChange>,
    pub repositories: Vec<RunPageRepository>,
    /// How many there are, as the question about them counts.
    pub count: ChangeCount,
    /// There are more changes than are listed.
    pub is_cut: bool,
    /// Absent where the program has no network by name.
    pub hosts: Option<Vec<RunPageHost>>,
    /// The names of its processes.
    pub programs: Vec<String>,
    /// Why a part of it is missing.
    pub error: Option<String>,
}

/// A changed path: `A`, `M` or `D` and its name, as git shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPageChange {
    pub letter: char,
    pub path: String,
    /// Where it is in the workspace.
    pub at: PathBuf,
    /// Lines added and removed, where they are known.
    pub counts: Option<(usize, usize)>,
}

/// A changed repository: `M .git`, and below it what happened to it. All text is rendered for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPageRepository {
    pub letter: char,
    pub path: String,
    pub rows: Vec<String>,
}

/// What arrives for the page.
#[derive(Debug)]
pub enum RunPageNews {
    Facts(RunPageFacts),
    /// The difference of a file as a patch, or why there is none.
    Difference(PathBuf, Result<Vec<u8>, RunningFileError>),
}

/// What the person asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPageWish {
    /// To allow this entry.
    Allow(String),
    /// The difference of this file.
    Open(PathBuf),
}

/// A host that the program asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPageHost {
    pub state: RunPageHostState,
    pub name: String,
    pub port: Option<u16>,
    pub count: u64,
    /// The program that asked first.
    pub program: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunPageHostState {
    Refused,
    Allowed,
    Connected,
    Failed,
}

/// What connects the page with the thread that works for it.
pub struct RunPageFeed {
    pub news: Receiver<RunPageNews>,
    pub wishes: Sender<RunPageWish>,
    /// Set when the program has ended, or placet is to end.
    pub is_over: Arc<AtomicBool>,
}

impl RunPageHost {
    pub(super) fn with_port(&self) -> String {
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}", self.name)
    }

    /// What allows it, while it is refused.
    pub(super) fn entry(&self) -> Option<String> {
        (self.state == RunPageHostState::Refused).then(|| self.with_port())
    }
}
