//! The directory of a shell, and the one in which placet is to start again: see `commands/directory.rs`.

use crate::config::ProposedSettings;
use crate::conversation::SessionId;
use crate::permission::Mode;
use std::path::PathBuf;

/// Where placet starts again, and with what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryChange {
    pub to: PathBuf,
    pub from: PathBuf,
    /// The conversation, where there is one.
    pub session: Option<SessionId>,
    pub reason: DirectoryChangeReason,
    /// The widest mode to start in.
    pub mode: Mode,
    /// Provider and model, where the person chose others than the settings name.
    pub answerer: Option<(String, String)>,
}

/// Why placet starts again in another directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectoryChangeReason {
    /// This conversation continues there.
    Continue,
    /// Another session is resumed, whose directory it is.
    Resume,
}

/// What a shell knows of the directories before and after its own.
#[derive(Clone, Debug, Default)]
pub struct ShellDirectory {
    /// The directory that `/cd -` goes to.
    pub previous: Option<PathBuf>,
    /// Why the directory cannot be changed at all.
    pub fixed: Option<String>,
    pub next: Option<DirectoryChange>,
    /// Settings of this directory that the person is asked about. With the yes placet starts again here.
    pub proposed: Option<ProposedSettings>,
}
