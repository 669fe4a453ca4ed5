//! Rules that people write: `read_file`, `write(docs/**)`, `run(cargo test *)`, `network(*.crates.io)`,
//! `mcp(github.get_*)`.
//!
//! The head is a tool's name, a kind of access (`read`, `write`, `run`, `network`, `publish`, `mcp`) or `*`. The
//! pattern in brackets is a glob: over the path (relative patterns start at each root), over the words of each command of
//! a line, over the host, over the port, or over a server and its tool.

use super::Access;
use super::command;
use super::command::{CommandSegment, ShellParseContext};
use super::pattern::RulePattern;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleVerdict {
    Allow,
    Ask,
    Deny,
}

impl RuleVerdict {
    pub fn name(self) -> &'static str {
        match self {
            RuleVerdict::Allow => "allow",
            RuleVerdict::Ask => "ask",
            RuleVerdict::Deny => "deny",
        }
    }
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub text: String,
    pub verdict: RuleVerdict,
    /// Where the rule was written: `flag`, `user file, line 12`.
    pub origin: String,
    /// The reason that its author gave; shown when the rule decides.
    pub reason: Option<String>,
    head: String,
    pattern: Option<RulePattern>,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    #[error("invalid rule `{0}`: expected `tool` or `tool(pattern)`")]
    Shape(String),
    #[error("unknown tool `{head}` in the rule `{rule}`; the tools are {known}")]
    Head { rule: String, head: String, known: String },
    #[error("invalid glob in the rule `{rule}`: {reason}")]
    Glob { rule: String, reason: String },
    #[error("the rule `{rule}` does not match its example `{example}`")]
    Misses { rule: String, example: String },
    #[error("the rule `{rule}` matches `{example}`, its own `not_match` example")]
    Catches { rule: String, example: String },
}

impl RuleError {
    fn glob(rule: &str, error: &globset::Error) -> RuleError {
        RuleError::Glob { rule: rule.into(), reason: error.kind().to_string() }
    }
}

const KINDS: [&str; 8] = ["read", "write", "run", "network", "publish", "fetch", "mcp", "*"];
/// The kinds whose patterns are host names.
const HOSTS: [&str; 3] = ["network", "fetch", "fetch_url"];

impl Rule {
    /// Parses a rule; `tools` are the names with which it may start, in addition to `read`, `write`, `run`, `network`,
    /// `publish`, `fetch`, `mcp` and `*`.
    pub fn parse(
        text: &str,
        verdict: RuleVerdict,
        origin: &str,
        tools: &[String],
    ) -> Result<Rule, RuleError> {
        let trimmed = text.trim();
        let (head, pattern) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((head, rest)) => {
                (head, Some(rest.strip_suffix(')').ok_or_else(|| RuleError::Shape(trimmed.into()))?))
            }
        };
        let well_formed =
            !head.is_empty() && head.chars().all(|c| c.is_ascii_alphanumeric() || "_-*".contains(c));
        if !well_formed {
            return Err(RuleError::Shape(trimmed.into()));
        }
        if !KINDS.contains(&head) && !tools.iter().any(|t| t == head) {
            let known = KINDS.iter().map(|k| (*k).to_string()).chain(tools.iter().cloned());
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(RuleError::Head { rule: trimmed.into(), head: head.into(), known });
        }
        let lower =
            |raw: &str| if HOSTS.contains(&head) { raw.to_ascii_lowercase() } else { raw.to_string() };
        let pattern = pattern
            .map(|raw| RulePattern::parse(&lower(raw)))
            .transpose()
            .map_err(|e| RuleError::glob(trimmed, &e))?;
        let (text, origin, head) = (trimmed.into(), origin.into(), head.into());
        Ok(Rule { text, verdict, origin, reason: None, head, pattern })
    }

    /// The same with prefixes of paths that mean directories elsewhere: a rule about `/memories/**` applies to the
    /// files that tools find there.
    pub fn mounted(self, mounts: &[(String, PathBuf)]) -> Result<Rule, RuleError> {
        let is_path = |head: &str| !["mcp", "publish"].contains(&head) && !HOSTS.contains(&head);
        let Some(mut pattern) = self.pattern.clone().filter(|_| is_path(&self.head)) else {
            return Ok(self);
        };
        for (prefix, dir) in mounts {
            pattern = pattern.mounted(prefix, dir).map_err(|e| RuleError::glob(&self.text, &e))?;
        }
        Ok(Rule { pattern: Some(pattern), ..self })
    }

    /// Adds the reason that its author gave.
    pub fn because(self, reason: Option<String>) -> Rule {
        Rule { reason, ..self }
    }

    /// Compares the rule with examples that it must match and examples that it must not match. A path is compared as
    /// written and below each root; a command line as [`Rule::matches`] does.
    pub fn check(&self, matching: &[String], other: &[String], roots: &[PathBuf]) -> Result<(), RuleError> {
        let (rule, owned) = (self.text.clone(), |example: &String| example.clone());
        if let Some(example) = matching.iter().find(|e| !self.matches_example(e, roots)) {
            return Err(RuleError::Misses { rule, example: owned(example) });
        }
        match other.iter().find(|e| self.matches_example(e, roots)) {
            Some(example) => Err(RuleError::Catches { rule, example: owned(example) }),
            None => Ok(()),
        }
    }

    fn matches_example(&self, example: &str, roots: &[PathBuf]) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let is_caution = self.verdict != RuleVerdict::Allow;
        match self.head.as_str() {
            head if HOSTS.contains(&head) => pattern.matches_host(example),
            "mcp" | "publish" => pattern.matches_name(example),
            "run" | "run_command" => self.matches_line(example, root),
            "*" => {
                self.matches_line(example, root)
                    || pattern.matches_path(&command::join(root, example), roots, is_caution)
            }
            _ => pattern.matches_path(&command::join(root, example), roots, is_caution),
        }
    }

    fn matches_line(&self, line: &str, cwd: &Path) -> bool {
        match command::parse(line, ShellParseContext { cwd, home: None }) {
            Ok(segments) if self.verdict == RuleVerdict::Allow => {
                !segments.is_empty() && segments.iter().all(|s| self.allows(s))
            }
            Ok(segments) => {
                segments.iter().flat_map(CommandSegment::all).any(|s| self.matches_any_spelling(s))
            }
            Err(_) => self.catches_text(line),
        }
    }

    /// True if the rule applies to this access of this tool. For a command line, an allowing rule must match every
    /// part, and any other rule only one part.
    pub fn matches(&self, tool: &str, reach: &Access, roots: &[PathBuf]) -> bool {
        if !self.applies_to(tool, reach) {
            return false;
        }
        // The programs of this machine are not among "all hosts": a rule that allows one of them has to name it.
        if self.verdict == RuleVerdict::Allow
            && matches!(reach, Access::Network { host } | Access::ServerNetwork { host, .. } | Access::Fetch { host } if host.to_ascii_lowercase().starts_with("localhost:"))
            && !self.pattern.as_ref().is_some_and(RulePattern::names_this_machine)
        {
            return false;
        }
        let Some(pattern) = &self.pattern else { return true };
        match reach {
            Access::Read { path, .. } | Access::Write { path, .. } => {
                pattern.matches_path(path, roots, self.verdict != RuleVerdict::Allow)
            }
            Access::Run { command, cwd, .. } => self.matches_line(command, cwd),
            Access::Network { host } | Access::ServerNetwork { host, .. } | Access::Fetch { host } => {
                pattern.matches_host(host)
            }
            Access::Publish { port } => pattern.matches_name(&port.to_string()),
            Access::ServerTool { server, tool, .. } => pattern.matches_name(&format!("{server}.{tool}")),
            Access::Session | Access::Approval => false,
        }
    }

    /// The path pattern of a rule that forbids reading, so that walks can skip such files.
    pub fn denied_read_pattern(&self) -> Option<&str> {
        let forbids = self.verdict == RuleVerdict::Deny && matches!(self.head.as_str(), "read" | "*");
        if forbids { self.pattern.as_ref().map(|p| p.raw.as_str()) } else { None }
    }

    pub(super) fn applies_to(&self, tool: &str, reach: &Access) -> bool {
        // A rule that forbids connections to a host also forbids its pages; one that allows them is about commands only.
        let is_forbidden_host = self.head == "network"
            && self.verdict != RuleVerdict::Allow
            && matches!(reach, Access::Fetch { .. });
        self.head == "*" || self.head == tool || self.head == reach.kind() || is_forbidden_host
    }

    /// True if the rule matches everything that a tool or a kind does.
    pub(super) fn is_whole(&self) -> bool {
        self.pattern.is_none()
    }

    pub(super) fn allows(&self, segment: &CommandSegment) -> bool {
        let itself = self.pattern.as_ref().is_none_or(|p| p.command.allows(segment));
        let inner = || !segment.inner.is_empty() && segment.inner.iter().all(|s| self.allows(s));
        itself || segment.carrier == command::WrapperKind::Transparent && inner()
    }

    pub(super) fn matches_any_spelling(&self, segment: &CommandSegment) -> bool {
        self.pattern.as_ref().is_none_or(|p| p.command.matches_any_spelling(segment))
    }

    /// For a line that cannot be parsed: it is split at everything that could start a command.
    pub(super) fn catches_text(&self, line: &str) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let cut = |c: char| "\n;|&`(){}\"'".contains(c);
        std::iter::once(line).chain(line.split(cut)).any(|part| {
            let words: Vec<&str> = part.split_whitespace().collect();
            (0..words.len())
                .any(|at| pattern.command.is_match(&words.get(at..).unwrap_or_default().join(" ")))
        })
    }

    /// Whether a command that names `path` names a path that the rule guards.
    pub(super) fn guards(&self, kind: &str, path: &Path, roots: &[PathBuf]) -> bool {
        (self.head == kind || self.head == "*")
            && self.pattern.as_ref().is_some_and(|pattern| pattern.matches_path(path, roots, true))
    }
}
