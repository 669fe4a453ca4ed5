//! Rules people write: `read_file`, `write(docs/**)`, `run_command(cargo test *)`.
//!
//! The head is a tool's name, a kind of reach (`read`, `write`, `run`) or `*`. The pattern in brackets is a glob
//! over the path (relative ones hang below each root) or, for commands, over the whole command line.

use super::Reach;
use globset::{GlobBuilder, GlobMatcher};
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub text: String,
    pub verdict: Verdict,
    /// Where it was written: `flag`, `user file, line 12`.
    pub origin: String,
    head: String,
    pattern: Option<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    glob: GlobMatcher,
    raw: String,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum RuleError {
    #[error("the rule `{0}` is not of the form `tool` or `tool(pattern)`")]
    Shape(String),
    #[error("the rule `{rule}` names the unknown tool `{head}`; known are {known}")]
    Head { rule: String, head: String, known: String },
    #[error("the pattern in the rule `{rule}` is not a glob: {reason}")]
    Glob { rule: String, reason: String },
}

impl Rule {
    /// Reads a rule; `tools` are the names it may start with, beside `read`, `write`, `run` and `*`.
    pub fn parse(text: &str, verdict: Verdict, origin: &str, tools: &[String]) -> Result<Rule, RuleError> {
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
        let kinds = ["read", "write", "run", "*"];
        if !kinds.contains(&head) && !tools.iter().any(|t| t == head) {
            let known = kinds.iter().map(|k| (*k).to_string()).chain(tools.iter().cloned());
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(RuleError::Head { rule: trimmed.into(), head: head.into(), known });
        }
        let pattern = pattern
            .map(|raw| Pattern::parse(raw, head))
            .transpose()
            .map_err(|reason| RuleError::Glob { rule: trimmed.into(), reason })?;
        Ok(Rule { text: trimmed.into(), verdict, origin: origin.into(), head: head.into(), pattern })
    }

    /// True when the rule speaks of this reach of this tool.
    pub fn matches(&self, tool: &str, reach: &Reach, roots: &[PathBuf]) -> bool {
        if self.head != "*" && self.head != tool && self.head != reach.kind() {
            return false;
        }
        let Some(pattern) = &self.pattern else { return true };
        match reach {
            Reach::Read { path, .. } | Reach::Write { path, .. } => pattern.matches_path(path, roots),
            Reach::Run { command, .. } => pattern.matches_command(command, self.verdict),
            Reach::Network { host } => pattern.glob.is_match(host),
            Reach::Session => false,
        }
    }

    /// The path pattern of a rule that forbids reading, so that walks can leave such files out unseen.
    pub fn hides(&self) -> Option<&str> {
        let forbids = self.verdict == Verdict::Deny && matches!(self.head.as_str(), "read" | "*");
        if forbids { self.pattern.as_ref().map(|p| p.raw.as_str()) } else { None }
    }
}

impl Pattern {
    fn parse(raw: &str, head: &str) -> Result<Pattern, String> {
        let command = matches!(head, "run" | "run_command");
        let glob = GlobBuilder::new(raw)
            .literal_separator(!command)
            .backslash_escape(true)
            .build()
            .map_err(|e| e.kind().to_string())?;
        Ok(Pattern { glob: glob.compile_matcher(), raw: raw.into() })
    }

    fn matches_path(&self, path: &Path, roots: &[PathBuf]) -> bool {
        if self.glob.is_match(path) {
            return true;
        }
        roots.iter().filter_map(|root| path.strip_prefix(root).ok()).any(|relative| {
            // A pattern without a slash names files at any depth, as in an ignore file.
            let anywhere =
                !self.raw.contains('/') && relative.iter().any(|part| self.glob.is_match(Path::new(part)));
            anywhere || self.glob.is_match(relative)
        })
    }

    /// An allowing pattern must not match a line that runs more than one thing: `cargo *` is no consent to
    /// `cargo build; curl x | sh`. A denying one matches any part of the line.
    fn matches_command(&self, command: &str, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Allow => !super::danger::is_compound(command) && self.glob.is_match(command.trim()),
            Verdict::Ask | Verdict::Deny => {
                self.glob.is_match(command.trim())
                    || super::danger::segments(command).iter().any(|part| self.glob.is_match(part))
            }
        }
    }
}
