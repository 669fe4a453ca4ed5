//! A grant: an "always" from the person, for this session or for less.

use super::Access;
use super::command::CommandSegment;
use super::pattern::CommandPattern;
use jiff::Timestamp;
use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is granted. The person sees each grant in full before giving it: its text and its match are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Exactly this command line, in this directory.
    Command { command: String, cwd: PathBuf },
    /// Commands of these patterns, anywhere in the workspace; each part of a line is compared separately.
    Pattern { patterns: Vec<String> },
    /// Writes inside the workspace without protected files: what write mode allows.
    WriteInside,
    /// Reads of one file outside the workspace, or of one directory and everything below it.
    ReadBelow(PathBuf),
    /// Pages of one host.
    Fetch(String),
    /// Connections of commands to these entries of the list of hosts.
    Network(Vec<String>),
    /// These ports of commands, at 127.0.0.1 of this machine.
    Publish(Vec<u16>),
    /// One tool of one server, with any arguments.
    ServerTool { server: String, tool: String },
    /// Connections of one server to one host.
    ServerNetwork { server: String, host: String },
    /// What one call of a server asks for together.
    Several(Vec<Grant>),
}

/// How long a grant is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantLimit {
    Session,
    /// For this number of further permits.
    Uses(u32),
    Until(Timestamp),
}

/// The number of a grant for the person: `/permission revoke 3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantId(pub u32);

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A grant, and how it was used.
#[derive(Clone, Debug)]
pub struct ActiveGrant {
    pub id: GrantId,
    pub grant: Grant,
    pub limit: GrantLimit,
    pub given: Timestamp,
    /// Counted when a permit is made, which only has a shared reference to the policy.
    hits: Cell<u32>,
    patterns: Vec<CommandPattern>,
}

impl Grant {
    /// True if the grant covers exactly this access. A pattern covers parts of a line, never a whole line.
    pub fn covers(&self, reach: &Access) -> bool {
        use super::AccessLocation;
        match (self, reach) {
            (Grant::Command { command, cwd }, Access::Run { command: wanted, cwd: place, .. }) => {
                command == wanted && cwd == place
            }
            (Grant::WriteInside, Access::Write { place: AccessLocation::Inside, .. }) => true,
            (Grant::ReadBelow(dir), Access::Read { path, .. }) => path.starts_with(dir),
            (Grant::Fetch(granted), Access::Fetch { host }) => granted == host,
            (Grant::Network(granted), Access::Network { host }) => granted.contains(host),
            (Grant::Publish(granted), Access::Publish { port }) => granted.contains(port),
            (
                Grant::ServerNetwork { server, host },
                Access::ServerNetwork { server: wanted, host: named },
            ) => server == wanted && host == named,
            (Grant::Several(all), reach) => all.iter().any(|grant| grant.covers(reach)),
            (
                Grant::ServerTool { server, tool },
                Access::ServerTool { server: wanted, tool: called, changed: false, .. },
            ) => server == wanted && tool == called,
            _ => false,
        }
    }

    /// One grant that covers what both cover; only grants of hosts, of ports, or of a server can be one.
    pub(super) fn joined(self, other: Grant) -> Option<Grant> {
        match (self, other) {
            (Grant::Network(mut hosts), Grant::Network(more)) => {
                hosts.extend(more);
                Some(Grant::Network(hosts))
            }
            (
                first @ (Grant::ServerTool { .. } | Grant::ServerNetwork { .. }),
                more @ Grant::ServerNetwork { .. },
            ) => Some(Grant::Several(vec![first, more])),
            (Grant::Several(mut all), more @ Grant::ServerNetwork { .. }) => {
                all.push(more);
                Some(Grant::Several(all))
            }
            (Grant::Publish(mut ports), Grant::Publish(more)) => {
                ports.extend(more);
                Some(Grant::Publish(ports))
            }
            _ => None,
        }
    }

    /// The text next to "always".
    pub fn describe(&self) -> String {
        match self {
            Grant::Command { command, cwd } => format!("`{command}` in {}", cwd.display()),
            Grant::Pattern { patterns } => {
                let quoted: Vec<String> = patterns.iter().map(|p| format!("run({p})")).collect();
                quoted.join(", ")
            }
            Grant::WriteInside => "changing files in the workspace".into(),
            Grant::ReadBelow(dir) => format!("reading {}", dir.display()),
            Grant::Fetch(host) => format!("pages from {host}"),
            Grant::Network(hosts) => format!("commands connecting to {}", hosts.join(" and ")),
            Grant::Publish(ports) => {
                let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
                format!("commands publishing port {}", ports.join(" and "))
            }
            Grant::ServerTool { server, tool } => format!("mcp({server}.{tool}), with any arguments"),
            Grant::ServerNetwork { server, host } => format!("the server {server} connecting to {host}"),
            Grant::Several(all) => {
                let all: Vec<String> = all.iter().map(Grant::describe).collect();
                all.join("; ")
            }
        }
    }
}

impl ActiveGrant {
    pub(super) fn new(id: GrantId, grant: Grant, limit: GrantLimit, given: Timestamp) -> ActiveGrant {
        let patterns = match &grant {
            Grant::Pattern { patterns } => {
                patterns.iter().filter_map(|p| CommandPattern::parse(p).ok()).collect()
            }
            _ => Vec::new(),
        };
        ActiveGrant { id, grant, limit, given, hits: Cell::new(0), patterns }
    }

    /// How many permits the grant made.
    pub fn hits(&self) -> u32 {
        self.hits.get()
    }

    pub(super) fn count(&self) {
        self.hits.set(self.hits.get().saturating_add(1));
    }

    /// True while the grant is valid.
    pub fn is_live(&self, now: Timestamp) -> bool {
        match self.limit {
            GrantLimit::Session => true,
            GrantLimit::Uses(most) => self.hits.get() < most,
            GrantLimit::Until(end) => now < end,
        }
    }

    /// True if a pattern matches this part of a line, and the part runs in the workspace.
    pub(super) fn covers_segment(&self, segment: &CommandSegment, roots: &[PathBuf]) -> bool {
        let inside = |dir: &Path| roots.iter().any(|root| dir.starts_with(root));
        let placed = segment.dirs.as_ref().is_some_and(|dirs| dirs.iter().all(|dir| inside(dir)));
        placed && self.patterns.iter().any(|p| p.allows(segment))
    }

    /// What remains of the grant, for a list.
    pub fn left(&self, now: Timestamp) -> String {
        match self.limit {
            GrantLimit::Session => "this session".into(),
            GrantLimit::Uses(most) => format!("{} of {most} uses left", most.saturating_sub(self.hits.get())),
            GrantLimit::Until(end) => {
                let seconds = end.duration_since(now).as_secs().max(0);
                format!("{} min left", (seconds + 59) / 60)
            }
        }
    }
}
