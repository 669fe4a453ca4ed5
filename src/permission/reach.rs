//! Reach: what a call wants to touch, on the resolved object.

use std::path::{Path, PathBuf};

/// Where a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Below one of the workspace's roots, after every symlink.
    Inside,
    /// Inside, and a file that something on this machine runs later: see [`super::is_protected`].
    Protected,
    Outside,
}

/// Paths are absolute and resolved: what the kernel would open, not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    Read {
        path: PathBuf,
        place: Place,
    },
    Write {
        path: PathBuf,
        place: Place,
    },
    /// A command line for `sh -c`. `confined`: it runs in the view, where it changes nothing for good.
    Run {
        command: String,
        cwd: PathBuf,
        confined: bool,
    },
    /// A host that a confined command may connect to: `crates.io`, `*.npmjs.org`, `localhost:5432`.
    Network {
        host: String,
    },
    /// That a plan is carried out: only the person can say so.
    Approval,
    /// Only the session's own things: scratchpads.
    Session,
}

impl Reach {
    /// The word rules use for this kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Reach::Read { .. } => "read",
            Reach::Write { .. } => "write",
            Reach::Run { .. } => "run",
            Reach::Network { .. } => "network",
            Reach::Approval => "approval",
            Reach::Session => "session",
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Reach::Read { path, .. } | Reach::Write { path, .. } => Some(path),
            Reach::Run { .. } | Reach::Network { .. } | Reach::Approval | Reach::Session => None,
        }
    }
}
