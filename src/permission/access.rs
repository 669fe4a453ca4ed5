//! Reach: what a call wants to touch, on the resolved object.

use std::path::{Path, PathBuf};

/// Where a path lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessLocation {
    /// Below one of the workspace's roots, after every symlink.
    Inside,
    /// Inside, and a file that something on this machine runs later: see [`super::is_protected`].
    Protected,
    Outside,
}

/// Paths are absolute and resolved: what the kernel would open, not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    Read {
        path: PathBuf,
        place: AccessLocation,
    },
    Write {
        path: PathBuf,
        place: AccessLocation,
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

impl Access {
    /// The word rules use for this kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Access::Read { .. } => "read",
            Access::Write { .. } => "write",
            Access::Run { .. } => "run",
            Access::Network { .. } => "network",
            Access::Approval => "approval",
            Access::Session => "session",
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Access::Read { path, .. } | Access::Write { path, .. } => Some(path),
            Access::Run { .. } | Access::Network { .. } | Access::Approval | Access::Session => None,
        }
    }
}
