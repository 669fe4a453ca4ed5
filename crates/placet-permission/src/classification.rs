//! Classification: the level of a path, a host or a session, and the directions in which data may flow.
//!
//! The level of a session (its taint) is the highest level of everything that it has touched, and data flows from the
//! session only to targets of the same or a higher level. Classification is off unless the settings classify something;
//! then it costs one comparison for each call.

use super::decision::Denial;
use super::git_repository::{is_git_name, is_repository};
use super::pattern::RulePattern;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use thiserror::Error;

/// How far data may be shared, the widest level first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassificationLevel {
    #[default]
    Public,
    Internal,
    Confidential,
    Restricted,
}

impl ClassificationLevel {
    pub const ALL: [ClassificationLevel; 4] = [
        ClassificationLevel::Public,
        ClassificationLevel::Internal,
        ClassificationLevel::Confidential,
        ClassificationLevel::Restricted,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ClassificationLevel::Public => "PUBLIC",
            ClassificationLevel::Internal => "INTERNAL",
            ClassificationLevel::Confidential => "CONFIDENTIAL",
            ClassificationLevel::Restricted => "RESTRICTED",
        }
    }

    /// Finds a level by its name, in upper or lower case.
    pub fn parse(name: &str) -> Option<ClassificationLevel> {
        ClassificationLevel::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name.trim()))
    }

    fn from_index(index: u8) -> ClassificationLevel {
        // An impossible index counts as the strictest level.
        ClassificationLevel::ALL.get(usize::from(index)).copied().unwrap_or(ClassificationLevel::Restricted)
    }
}

impl fmt::Display for ClassificationLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The level of the session: the only value that the prompt shows and the policy reads.
#[derive(Clone, Debug, Default)]
pub struct Taint(Arc<AtomicU8>);

impl Taint {
    pub fn load(&self) -> ClassificationLevel {
        ClassificationLevel::from_index(self.0.load(Ordering::Acquire))
    }

    /// Raises the level; this never lowers it.
    pub fn raise(&self, level: ClassificationLevel) {
        self.0.fetch_max(level as u8, Ordering::AcqRel);
    }

    /// Called when another conversation begins or is resumed.
    pub fn begin(&self, level: ClassificationLevel) {
        self.0.store(level as u8, Ordering::Release);
    }
}

/// What the settings classify.
#[derive(Clone, Debug)]
pub struct ClassificationRules {
    paths: Vec<(ClassificationLevel, ClassificationGlob)>,
    hosts: Vec<(ClassificationLevel, RulePattern)>,
    /// The level of workspace paths that no pattern matches.
    usual: ClassificationLevel,
    /// The highest level that may go to a host that no pattern matches.
    network: ClassificationLevel,
    /// The highest level that may go to the provider or the MCP client that answers.
    provider: ClassificationLevel,
}

/// A glob; `secret/**` and `secret/*` match the directory itself as well.
#[derive(Clone, Debug)]
struct ClassificationGlob {
    glob: RulePattern,
    dir: Option<RulePattern>,
    /// The pattern names a repository's directory: `.git/**`.
    of_repository: bool,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum ClassificationError {
    #[error(
        "invalid classification `{0}`: expected LEVEL:PATTERN; the levels are PUBLIC, INTERNAL, CONFIDENTIAL, RESTRICTED"
    )]
    Shape(String),
    #[error("invalid glob in `{text}`: {reason}")]
    Glob { text: String, reason: String },
}

impl Default for ClassificationRules {
    fn default() -> ClassificationRules {
        ClassificationRules {
            paths: Vec::new(),
            hosts: Vec::new(),
            usual: ClassificationLevel::Public,
            network: ClassificationLevel::Public,
            provider: ClassificationLevel::Confidential,
        }
    }
}

impl ClassificationRules {
    /// `paths` and `hosts` are texts like `CONFIDENTIAL:docs/board/**`; of several that match, the first counts.
    pub fn new(
        paths: &[String],
        hosts: &[String],
        [usual, network, provider]: [ClassificationLevel; 3],
    ) -> Result<ClassificationRules, ClassificationError> {
        let paths = paths.iter().map(|text| split(text).and_then(|(l, p)| Ok((l, tree(text, p)?))));
        let hosts = hosts
            .iter()
            .map(|text| split(text).and_then(|(l, p)| Ok((l, pattern(text, &p.to_ascii_lowercase())?))));
        Ok(ClassificationRules {
            paths: paths.collect::<Result<_, _>>()?,
            hosts: hosts.collect::<Result<_, _>>()?,
            usual,
            network,
            provider,
        })
    }

    /// True if everything has the level PUBLIC.
    pub fn is_off(&self) -> bool {
        self.usual == ClassificationLevel::Public
            && self.paths.iter().all(|(level, _)| *level == ClassificationLevel::Public)
    }

    pub fn of_path(&self, path: &Path, roots: &[PathBuf]) -> ClassificationLevel {
        if !self.is_off() && in_repository(path, roots) {
            return self.of_repository(path, roots);
        }
        let found = self.paths.iter().find(|(_, tree)| tree.matches(path, roots));
        let inside = || roots.iter().any(|root| path.starts_with(root));
        match found {
            Some((level, _)) => *level,
            None if inside() => self.usual,
            None => ClassificationLevel::Public,
        }
    }

    /// A repository may contain every version of each file: its directory has the highest level of all paths, unless a
    /// pattern matches that directory by its name.
    fn of_repository(&self, path: &Path, roots: &[PathBuf]) -> ClassificationLevel {
        let named = self.paths.iter().find(|(_, tree)| tree.of_repository && tree.matches(path, roots));
        let all = || self.paths.iter().map(|(level, _)| *level).max().unwrap_or_default().max(self.usual);
        named.map_or_else(all, |(level, _)| *level)
    }

    pub fn of_host(&self, host: &str) -> ClassificationLevel {
        let found = self.hosts.iter().find(|(_, pattern)| pattern.matches_host(host));
        found.map_or(self.network, |(level, _)| *level)
    }

    /// The highest level that the provider or client may see.
    pub fn provider_ceiling(&self) -> ClassificationLevel {
        self.provider
    }
}

fn split(text: &str) -> Result<(ClassificationLevel, &str), ClassificationError> {
    let parts = text
        .split_once(':')
        .and_then(|(level, rest)| Some((ClassificationLevel::parse(level)?, rest.trim())));
    parts.filter(|(_, rest)| !rest.is_empty()).ok_or_else(|| ClassificationError::Shape(text.into()))
}

fn pattern(text: &str, raw: &str) -> Result<RulePattern, ClassificationError> {
    RulePattern::parse(raw)
        .map_err(|e| ClassificationError::Glob { text: text.into(), reason: e.kind().to_string() })
}

fn tree(text: &str, raw: &str) -> Result<ClassificationGlob, ClassificationError> {
    let dir = raw.strip_suffix("/**").or_else(|| raw.strip_suffix("/*"));
    let raw = match dir {
        Some(dir) => format!("{dir}/**"),
        None => raw.to_string(),
    };
    let of_repository = raw.split('/').any(|name| name.ends_with(".git"));
    Ok(ClassificationGlob {
        glob: pattern(text, &raw)?,
        dir: dir.map(|dir| pattern(text, dir)).transpose()?,
        of_repository,
    })
}

/// True at and below a repository's directory: `.git`, and the content directories of any other directory with the form
/// of a repository. A root may be inside a bare repository, as its worktree; therefore only the part of the path below
/// the root is examined.
fn in_repository(path: &Path, roots: &[PathBuf]) -> bool {
    /// The content directories of a repository.
    const HOLD: [&str; 4] = ["objects", "lfs", "rr-cache", "modules"];
    let root = roots.iter().find(|root| path.starts_with(root));
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    path.ancestors().take_while(|dir| root.is_none_or(|root| dir.starts_with(root))).any(|dir| {
        let name = dir.file_name().unwrap_or_default();
        let holds = || HOLD.iter().any(|known| name == *known);
        let formed = || dir.parent().is_some_and(|above| is_repository(above, &exists));
        is_git_name(dir) || holds() && formed()
    })
}

impl ClassificationGlob {
    fn matches(&self, path: &Path, roots: &[PathBuf]) -> bool {
        self.glob.matches_path(path, roots, true)
            || self.dir.as_ref().is_some_and(|dir| dir.matches_path(path, roots, true))
    }
}

/// A forbidden flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlowViolation {
    /// To a file of a lower level.
    File { taint: ClassificationLevel, target: String, level: ClassificationLevel },
    /// To a host of a lower level.
    Sink { taint: ClassificationLevel, target: String, level: ClassificationLevel },
    /// From a file that the provider or client must not see.
    Ceiling { target: String, level: ClassificationLevel, ceiling: ClassificationLevel },
}

impl FlowViolation {
    pub(super) fn denial(&self) -> Denial {
        let lower = "write to a target with the same or a higher classification, or leave out classified content; the person can lower the session with /taint reset, which also clears the conversation";
        let (reason, hint) = match self {
            FlowViolation::File { taint, target, level } => (
                format!(
                    "Write-down blocked — your session taint is {taint}, but the target resource \"{target}\" is classified {level}"
                ),
                lower,
            ),
            FlowViolation::Sink { taint, target, level } => (
                format!(
                    "Write-down blocked — your session taint is {taint}, but the host \"{target}\" may have {level} at most"
                ),
                lower,
            ),
            FlowViolation::Ceiling { target, level, ceiling } => (
                format!(
                    "Access denied — \"{target}\" is classified {level}, which exceeds your session ceiling {ceiling}"
                ),
                "the content would be sent to the provider; continue without it, or ask the person, who sets `classification.provider_ceiling`",
            ),
        };
        Denial::new(reason, hint)
    }
}

/// What a call would do to the session's level, and whether it may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowCheck {
    /// The highest level that the call touches: if the call is not refused, the session's taint is at least this level.
    pub level: ClassificationLevel,
    /// All violations of the call; the first is reported.
    pub violations: Vec<FlowViolation>,
}

#[cfg(test)]
#[path = "classification_tests.rs"]
mod tests;
