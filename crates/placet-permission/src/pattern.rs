//! Patterns of rules: over paths, over commands, over hosts.

use super::command::{CommandSegment, SegmentKind};
use super::tables::is_safe_variable;
use globset::{Glob, GlobBuilder, GlobMatcher};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A glob over the words of one command, joined with one space. `cargo test *` matches `cargo test` too.
#[derive(Clone, Debug)]
pub(super) struct CommandPattern {
    whole: LazyGlob,
    /// The pattern without its last ` *`.
    bare: Option<LazyGlob>,
}

#[derive(Clone, Debug)]
pub(super) struct RulePattern {
    pub(super) raw: String,
    path: LazyGlob,
    pub(super) command: CommandPattern,
}

/// A parsed glob, which is compiled on its first comparison: most rules of most runs are never compared.
#[derive(Clone, Debug)]
struct LazyGlob {
    glob: Glob,
    ready: OnceLock<GlobMatcher>,
}

impl LazyGlob {
    fn is_match(&self, text: impl AsRef<Path>) -> bool {
        self.ready.get_or_init(|| self.glob.compile_matcher()).is_match(text)
    }
}

fn glob(raw: &str, path: bool) -> Result<LazyGlob, globset::Error> {
    let glob = GlobBuilder::new(raw).literal_separator(path).backslash_escape(true).build()?;
    Ok(LazyGlob { glob, ready: OnceLock::new() })
}

impl CommandPattern {
    pub(super) fn parse(raw: &str) -> Result<CommandPattern, globset::Error> {
        let bare = raw.strip_suffix(" *").map(|bare| glob(bare, false)).transpose()?;
        Ok(CommandPattern { whole: glob(raw, false)?, bare })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.whole.is_match(text) || self.bare.as_ref().is_some_and(|bare| bare.is_match(text))
    }

    /// Consent to this part of a line: the program is certain, and variables that change its meaning are named.
    pub(super) fn allows(&self, segment: &CommandSegment) -> bool {
        if segment.kind != SegmentKind::Simple || segment.program().is_none() {
            return false;
        }
        let either = |texts: [String; 2]| texts.iter().any(|text| self.is_match(text));
        let plain = segment.assignments.iter().all(|(name, value)| is_safe_variable(name, value));
        if plain && either([segment.text(), segment.source()]) {
            return true;
        }
        let prefix = segment.prefix();
        !prefix.is_empty()
            && either([format!("{prefix} {}", segment.text()), format!("{prefix} {}", segment.source())])
    }

    /// Caution about this part of a line: any spelling of it matches.
    pub(super) fn matches_any_spelling(&self, segment: &CommandSegment) -> bool {
        let (text, source) = (segment.text(), segment.source());
        let by_name = segment.program().map(|name| {
            let rest: Vec<&str> = segment.arguments().iter().map(|w| w.shown()).collect();
            format!("{name} {}", rest.join(" ")).trim_end().to_string()
        });
        let with_prefix = format!("{} {source}", segment.prefix()).trim().to_string();
        [Some(text), Some(source), by_name, Some(with_prefix)]
            .into_iter()
            .flatten()
            .any(|t| !t.is_empty() && self.is_match(&t))
    }
}

impl RulePattern {
    pub(super) fn parse(raw: &str) -> Result<RulePattern, globset::Error> {
        Ok(RulePattern { raw: raw.into(), path: glob(raw, true)?, command: CommandPattern::parse(raw)? })
    }

    /// The same for paths that begin with `prefix` (with a slash at both ends), which means `dir`.
    pub(super) fn mounted(self, prefix: &str, dir: &Path) -> Result<RulePattern, globset::Error> {
        let Some(rest) = format!("{}/", self.raw).strip_prefix(prefix).map(String::from) else {
            return Ok(self);
        };
        let dir = globset::escape(&dir.to_string_lossy());
        let raw = format!("{dir}/{rest}").trim_end_matches('/').to_string();
        Ok(RulePattern { path: glob(&raw, true)?, raw, ..self })
    }

    pub(super) fn matches_path(&self, path: &Path, roots: &[PathBuf]) -> bool {
        if self.path.is_match(path) {
            return true;
        }
        roots.iter().filter_map(|root| path.strip_prefix(root).ok()).any(|relative| {
            // A pattern without a slash matches files at any depth, as in an ignore file.
            let anywhere =
                !self.raw.contains('/') && relative.iter().any(|part| self.path.is_match(Path::new(part)));
            anywhere || self.path.is_match(relative)
        })
    }

    /// True for `localhost` and `localhost:...`, also with a wildcard for the port.
    pub(super) fn names_this_machine(&self) -> bool {
        self.raw.split(':').next() == Some("localhost")
    }

    /// A server and its tool, `github.get_issue`. A name is not a path: `*` matches any character of it.
    pub(super) fn matches_name(&self, name: &str) -> bool {
        self.command.is_match(name)
    }

    /// A host with or without its port; upper and lower case are equal.
    pub(super) fn matches_host(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let name = host.rsplit_once(':').filter(|(_, port)| port.chars().all(|c| c.is_ascii_digit()));
        self.path.is_match(&host) || name.is_some_and(|(name, _)| self.path.is_match(name))
    }
}
