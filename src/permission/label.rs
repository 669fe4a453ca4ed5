//! Classification, as pure functions: which level a path, a host or a session has, and which way data may flow.
//!
//! A session has seen what it has touched: its level (its taint) is the highest of all that, and data flows from it
//! only to what is classified as high or higher. Off unless the settings classify something; then it costs one
//! comparison for each call.

use super::Reach;
use super::command::Line;
use super::decision::Denial;
use super::pattern::Pattern;
use super::policy::Policy;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use thiserror::Error;

/// How far something may go, the widest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    #[default]
    Public,
    Internal,
    Confidential,
    Restricted,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::Public, Level::Internal, Level::Confidential, Level::Restricted];

    pub fn name(self) -> &'static str {
        match self {
            Level::Public => "PUBLIC",
            Level::Internal => "INTERNAL",
            Level::Confidential => "CONFIDENTIAL",
            Level::Restricted => "RESTRICTED",
        }
    }

    /// By its name, in upper or lower case.
    pub fn parse(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name.trim()))
    }

    fn from_index(index: u8) -> Level {
        // What cannot be is taken for the strictest.
        Level::ALL.get(usize::from(index)).copied().unwrap_or(Level::Restricted)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The level of the session: the one value that the prompt shows and the policy reads.
#[derive(Clone, Debug, Default)]
pub struct Taint(Arc<AtomicU8>);

impl Taint {
    pub fn load(&self) -> Level {
        Level::from_index(self.0.load(Ordering::Acquire))
    }

    /// It never falls by this.
    pub fn raise(&self, level: Level) {
        self.0.fetch_max(level as u8, Ordering::AcqRel);
    }

    /// Another conversation begins, or is taken up again.
    pub fn begin(&self, level: Level) {
        self.0.store(level as u8, Ordering::Release);
    }
}

/// What the settings classify.
#[derive(Clone, Debug)]
pub struct Labels {
    paths: Vec<(Level, Tree)>,
    hosts: Vec<(Level, Pattern)>,
    /// Of paths in the workspace that no pattern names.
    usual: Level,
    /// The highest level that may go to a host that no pattern names.
    network: Level,
    /// The highest level that may go to whoever answers: the provider, or an MCP client.
    provider: Level,
}

/// A glob; `secret/**` and `secret/*` speak of the directory itself as well.
#[derive(Clone, Debug)]
struct Tree {
    glob: Pattern,
    dir: Option<Pattern>,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum LabelError {
    #[error(
        "`{0}` is not of the form LEVEL:PATTERN; the levels are PUBLIC, INTERNAL, CONFIDENTIAL, RESTRICTED"
    )]
    Shape(String),
    #[error("the pattern in `{text}` is not a glob: {reason}")]
    Glob { text: String, reason: String },
}

impl Default for Labels {
    fn default() -> Labels {
        Labels {
            paths: Vec::new(),
            hosts: Vec::new(),
            usual: Level::Public,
            network: Level::Public,
            provider: Level::Confidential,
        }
    }
}

impl Labels {
    /// `paths` and `hosts` are texts like `CONFIDENTIAL:docs/board/**`; of several that match, the first counts.
    pub fn new(
        paths: &[String],
        hosts: &[String],
        [usual, network, provider]: [Level; 3],
    ) -> Result<Labels, LabelError> {
        let paths = paths.iter().map(|text| split(text).and_then(|(l, p)| Ok((l, tree(text, p)?))));
        let hosts = hosts
            .iter()
            .map(|text| split(text).and_then(|(l, p)| Ok((l, pattern(text, &p.to_ascii_lowercase())?))));
        Ok(Labels {
            paths: paths.collect::<Result<_, _>>()?,
            hosts: hosts.collect::<Result<_, _>>()?,
            usual,
            network,
            provider,
        })
    }

    /// Nothing can have another level than PUBLIC.
    pub fn is_off(&self) -> bool {
        self.usual == Level::Public && self.paths.iter().all(|(level, _)| *level == Level::Public)
    }

    pub fn of_path(&self, path: &Path, roots: &[PathBuf]) -> Level {
        let found = self.paths.iter().find(|(_, tree)| tree.matches(path, roots));
        let inside = || roots.iter().any(|root| path.starts_with(root));
        match found {
            Some((level, _)) => *level,
            None if inside() => self.usual,
            None => Level::Public,
        }
    }

    pub fn of_host(&self, host: &str) -> Level {
        let found = self.hosts.iter().find(|(_, pattern)| pattern.matches_host(host));
        found.map_or(self.network, |(level, _)| *level)
    }

    /// The highest level that whoever answers may see.
    pub fn provider_ceiling(&self) -> Level {
        self.provider
    }
}

fn split(text: &str) -> Result<(Level, &str), LabelError> {
    let parts = text.split_once(':').and_then(|(level, rest)| Some((Level::parse(level)?, rest.trim())));
    parts.filter(|(_, rest)| !rest.is_empty()).ok_or_else(|| LabelError::Shape(text.into()))
}

fn pattern(text: &str, raw: &str) -> Result<Pattern, LabelError> {
    Pattern::parse(raw).map_err(|reason| LabelError::Glob { text: text.into(), reason })
}

fn tree(text: &str, raw: &str) -> Result<Tree, LabelError> {
    let dir = raw.strip_suffix("/**").or_else(|| raw.strip_suffix("/*"));
    let raw = match dir {
        Some(dir) => format!("{dir}/**"),
        None => raw.to_string(),
    };
    Ok(Tree { glob: pattern(text, &raw)?, dir: dir.map(|dir| pattern(text, dir)).transpose()? })
}

impl Tree {
    fn matches(&self, path: &Path, roots: &[PathBuf]) -> bool {
        self.glob.matches_path(path, roots)
            || self.dir.as_ref().is_some_and(|dir| dir.matches_path(path, roots))
    }
}

/// A flow that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// To a file of a lower level.
    File { taint: Level, target: String, level: Level },
    /// To a host of a lower level.
    Sink { taint: Level, target: String, level: Level },
    /// From a file that whoever answers must not see.
    Ceiling { target: String, level: Level, ceiling: Level },
}

impl Violation {
    pub(super) fn denial(&self) -> Denial {
        let lower = "keep it where the classification is as high or higher, or leave out what the session has seen; the \
                     person can lower the session with /taint reset, which also clears the conversation";
        let (reason, hint) = match self {
            Violation::File { taint, target, level } => (
                format!(
                    "Write-down blocked — your session taint is {taint}, but the target resource \"{target}\" is classified {level}"
                ),
                lower,
            ),
            Violation::Sink { taint, target, level } => (
                format!(
                    "Write-down blocked — your session taint is {taint}, but the host \"{target}\" may have {level} at most"
                ),
                lower,
            ),
            Violation::Ceiling { target, level, ceiling } => (
                format!(
                    "Access denied — \"{target}\" is classified {level}, which exceeds your session ceiling {ceiling}"
                ),
                "its content would go to whoever answers here; do without it, or ask the person, who sets \
                 `classification.provider_ceiling`",
            ),
        };
        Denial { reason, hint: hint.into() }
    }
}

/// What a call would do to the session's level, and whether it may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flowing {
    /// The highest level it touches: the session's taint is at least that once it is not refused.
    pub level: Level,
    /// All that is not allowed about it; the first is told.
    pub violations: Vec<Violation>,
}

impl Policy {
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    pub fn taint(&self) -> &Taint {
        &self.taint
    }

    pub fn level_of(&self, path: &Path) -> Level {
        self.labels.of_path(path, self.roots())
    }

    /// What `reach` would come to. Changes nothing.
    pub fn flow(&self, tool: &str, reach: &[Reach]) -> Flowing {
        if self.labels.is_off() {
            return Flowing::default();
        }
        let mut reads: Vec<PathBuf> = Vec::new();
        let mut writes: Vec<PathBuf> = Vec::new();
        for one in reach {
            match one {
                Reach::Read { path, .. } => reads.push(path.clone()),
                Reach::Write { path, .. } => writes.push(path.clone()),
                Reach::Run { cwd, .. } => {
                    reads.push(cwd.clone());
                    if let Some(line) = Line::read(tool, one, self.home()) {
                        let (read, written) = line.files();
                        reads.extend(read);
                        writes.extend(written);
                    }
                }
                Reach::Network { .. } | Reach::Session => {}
            }
        }
        let touched = reads.iter().chain(&writes).map(|path| self.level_of(path)).max();
        let level = touched.unwrap_or_default();
        // What is written may hold what the same call reads; but what it replaces flows nowhere.
        let read = reads.iter().map(|path| self.level_of(path)).max().unwrap_or_default();
        let taint = self.taint.load().max(read);
        let mut violations = Vec::new();
        let ceiling = self.labels.provider_ceiling();
        for path in reads.iter().chain(&writes) {
            let level = self.level_of(path);
            if level > ceiling {
                violations.push(Violation::Ceiling { target: self.told(path), level, ceiling });
            }
        }
        for path in &writes {
            let level = self.level_of(path);
            if level < taint {
                violations.push(Violation::File { taint, target: self.told(path), level });
            }
        }
        for one in reach {
            if let Reach::Network { host } = one
                && self.labels.of_host(host) < taint
            {
                let level = self.labels.of_host(host);
                violations.push(Violation::Sink { taint, target: host.clone(), level });
            }
        }
        violations.dedup();
        Flowing { level, violations }
    }

    /// The path as people name it.
    fn told(&self, path: &Path) -> String {
        let relative = self.roots().iter().find_map(|root| path.strip_prefix(root).ok());
        match relative {
            Some(relative) if relative.as_os_str().is_empty() => ".".into(),
            Some(relative) => relative.display().to_string(),
            None => path.display().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Decision, Mode, ModeCell, Place};
    use super::*;
    use crate::conversation::CallId;

    fn policy(paths: &[&str], taint: Level) -> Policy {
        let paths: Vec<String> = paths.iter().map(|p| (*p).to_string()).collect();
        let hosts = ["RESTRICTED:vault.corp".to_string(), "INTERNAL:*.corp".to_string()];
        let levels = [Level::Public, Level::Public, Level::Confidential];
        let labels = Labels::new(&paths, &hosts, levels).unwrap();
        let cell = Taint::default();
        cell.begin(taint);
        Policy::new(ModeCell::new(Mode::Write), Vec::new(), vec!["/w".into()]).classified(labels, cell)
    }

    const PATHS: [&str; 4] =
        ["PUBLIC:secret/open.txt", "RESTRICTED:vault/**", "CONFIDENTIAL:secret/**", "INTERNAL:*.plan"];

    #[test]
    fn the_first_pattern_that_matches_gives_the_level_and_a_tree_includes_its_directory() {
        let policy = policy(&PATHS, Level::Public);
        for (path, level) in [
            ("/w/secret/open.txt", Level::Public),
            ("/w/secret/a/b", Level::Confidential),
            ("/w/secret", Level::Confidential),
            ("/w/secrets", Level::Public),
            ("/w/vault/x", Level::Restricted),
            ("/w/deep/in/x.plan", Level::Internal),
            ("/w/src/main.rs", Level::Public),
            ("/etc/passwd", Level::Public),
        ] {
            assert_eq!(policy.level_of(Path::new(path)), level, "{path}");
        }
    }

    /// `r` reads, `w` writes, `n` is a host, `$` a command line.
    fn reach(text: &str) -> Reach {
        let (kind, rest) = text.split_once(' ').unwrap();
        let (path, place) = (PathBuf::from("/w").join(rest), Place::Inside);
        match kind {
            "r" => Reach::Read { path, place },
            "w" => Reach::Write { path, place },
            "n" => Reach::Network { host: rest.into() },
            _ => Reach::Run { command: rest.into(), cwd: "/w".into(), confined: true },
        }
    }

    #[test]
    fn data_flows_up_and_never_down() {
        use Level::{Confidential, Internal, Public, Restricted};
        // taint, reach, the level it touches, the violation's first word.
        for (taint, wanted, level, violation) in [
            (Public, "r src/a", Public, ""),
            (Public, "r secret/a", Confidential, ""),
            (Public, "w secret/a", Confidential, ""),
            (Public, "r vault/a", Restricted, "Ceiling"),
            (Confidential, "w secret/a", Confidential, ""),
            (Confidential, "w src/a", Public, "File"),
            (Confidential, "w x.plan", Internal, "File"),
            (Internal, "w x.plan", Internal, ""),
            (Public, "n example.org", Public, ""),
            (Internal, "n example.org", Public, "Sink"),
            (Internal, "n git.corp:443", Public, ""),
            (Confidential, "n GIT.corp", Public, "Sink"),
            (Confidential, "n vault.corp", Public, ""),
            (Public, "$ cat secret/a", Confidential, ""),
            (Public, "$ cat secret/a > out.txt", Confidential, "File"),
            (Public, "$ cp secret/a out.txt", Confidential, "File"),
            (Public, "$ cp src/a secret/a", Confidential, ""),
            (Public, "$ sh -c 'cat secret/a | tee out.txt'", Confidential, "File"),
            (Public, "$ cat vault/key", Restricted, "Ceiling"),
            (Confidential, "$ ls", Public, ""),
            (Confidential, "$ echo x > out.txt", Public, "File"),
            (Confidential, "$ echo x > secret/out.txt", Confidential, ""),
            (Confidential, "$ echo x > /dev/null", Public, ""),
            (Public, "$ cat 'secret/a", Confidential, ""),
        ] {
            let flowing = policy(&PATHS, taint).flow("run_command", &[reach(wanted)]);
            let first = flowing.violations.first().map(|v| format!("{v:?}")).unwrap_or_default();
            let first = first.split(' ').next().unwrap_or_default();
            assert_eq!((flowing.level, first), (level, violation), "{taint} {wanted}");
        }
    }

    #[test]
    fn a_write_down_is_denied_and_says_what_to_do() {
        let policy = policy(&PATHS, Level::Confidential);
        let Decision::Deny(denial) = policy.decide(&CallId::new("c"), "write_file", vec![reach("w out.txt")])
        else {
            panic!("not denied")
        };
        assert_eq!(
            denial.reason,
            "Write-down blocked — your session taint is CONFIDENTIAL, but the target resource \"out.txt\" is classified PUBLIC"
        );
        assert!(denial.hint.contains("/taint reset"), "{}", denial.hint);
    }

    #[test]
    fn without_classification_nothing_flows_anywhere() {
        let off = Labels::default();
        assert!(off.is_off());
        let taint = Taint::default();
        taint.raise(Level::Internal);
        taint.raise(Level::Public);
        assert_eq!(taint.load(), Level::Internal);
        let policy = policy(&[], Level::Restricted);
        assert_eq!(policy.flow("x", &[reach("w a"), reach("n example.org")]), Flowing::default());
    }

    #[test]
    fn what_is_no_label_is_said_to_be_none() {
        let bad = |text: &str| Labels::new(&[text.into()], &[], [Level::Public; 3]).unwrap_err().to_string();
        assert!(bad("SECRET:a").starts_with("`SECRET:a` is not of the form LEVEL:PATTERN"));
        assert!(bad("INTERNAL:").contains("not of the form"));
        assert!(bad("INTERNAL:a[").contains("not a glob"));
    }
}
