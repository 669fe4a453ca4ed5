//! Access: what a call wants to touch, on the resolved object.

use std::path::{Path, PathBuf};

/// The location of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessLocation {
    /// Below one of the workspace's roots, after every symlink.
    Inside,
    /// Inside the workspace, and a file that something on this machine runs later: see [`super::is_protected`].
    Protected,
    /// Inside the workspace, and a file whose permissions forbid writing.
    ReadOnly,
    Outside,
}

/// Paths are absolute and resolved: the paths that the kernel would open, not the written ones.
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
    /// A command line for `sh -c`. `confined`: it runs in the view, where it changes nothing permanently.
    Run {
        command: String,
        cwd: PathBuf,
        confined: bool,
    },
    /// A host that a confined command may connect to: `crates.io`, `*.npmjs.org`, `localhost:5432`.
    Network {
        host: String,
    },
    /// A host that a server in the view may connect to when it starts, although its settings do not name the host.
    ServerNetwork {
        server: String,
        host: String,
    },
    /// A port of a command that programs of this machine reach at 127.0.0.1.
    Publish {
        port: u16,
    },
    /// A host from which placet itself gets a page: `docs.rs`, with a port if it is not the usual one.
    Fetch {
        host: String,
    },
    /// A tool of a server that speaks MCP.
    ServerTool {
        server: String,
        tool: String,
        /// It runs in the view and reaches no host: what it changes is pending or discarded.
        confined: bool,
        /// A server that the person trusts says that the tool changes nothing.
        vouched: bool,
        /// The server describes the tool in another way than before, and no person has approved that.
        changed: bool,
    },
    /// Starting to carry out a plan: only the person can approve this.
    Approval,
    /// Only the session's own data: scratchpads.
    Session,
}

impl Access {
    /// The name of this kind in rules.
    pub fn kind(&self) -> &'static str {
        match self {
            Access::Read { .. } => "read",
            Access::Write { .. } => "write",
            Access::Run { .. } => "run",
            Access::Network { .. } | Access::ServerNetwork { .. } => "network",
            Access::Publish { .. } => "publish",
            Access::Fetch { .. } => "fetch",
            Access::ServerTool { .. } => "mcp",
            Access::Approval => "approval",
            Access::Session => "session",
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Access::Read { path, .. } | Access::Write { path, .. } => Some(path),
            Access::Run { .. }
            | Access::Network { .. }
            | Access::ServerNetwork { .. }
            | Access::Publish { .. }
            | Access::Fetch { .. }
            | Access::ServerTool { .. }
            | Access::Approval
            | Access::Session => None,
        }
    }
}
