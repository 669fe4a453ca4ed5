//! Patterns of rules: over paths, over commands, over hosts.

use super::command::{CommandSegment, SegmentKind};
use super::tables::is_safe_variable;
use placet_text::text::NameGlob;
use std::path::{Path, PathBuf};

/// A glob over the words of one command, joined with one space. `cargo test *` matches `cargo test` too.
#[derive(Clone, Debug)]
pub(super) struct CommandPattern {
    whole: NameGlob,
    /// The pattern without its last ` *`.
    bare: Option<NameGlob>,
}

#[derive(Clone, Debug)]
pub(super) struct RulePattern {
    pub(super) raw: String,
    path: NameGlob,
    pub(super) command: CommandPattern,
}

impl CommandPattern {
    pub(super) fn parse(raw: &str) -> Result<CommandPattern, globset::Error> {
        let bare = raw.strip_suffix(" *").map(NameGlob::of_text).transpose()?;
        Ok(CommandPattern { whole: NameGlob::of_text(raw)?, bare })
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
        Ok(RulePattern {
            raw: raw.into(),
            path: NameGlob::of_path(raw)?,
            command: CommandPattern::parse(raw)?,
        })
    }

    /// The same for paths that begin with `prefix` (with a slash at both ends), which means `dir`.
    pub(super) fn mounted(self, prefix: &str, dir: &Path) -> Result<RulePattern, globset::Error> {
        let Some(rest) = format!("{}/", self.raw).strip_prefix(prefix).map(String::from) else {
            return Ok(self);
        };
        let dir = globset::escape(&dir.to_string_lossy());
        let raw = format!("{dir}/{rest}").trim_end_matches('/').to_string();
        Ok(RulePattern { path: NameGlob::of_path(&raw)?, raw, ..self })
    }

    /// `is_caution`: a name that looks the same matches, too. Consent is about exactly one name.
    pub(super) fn matches_path(&self, path: &Path, roots: &[PathBuf], is_caution: bool) -> bool {
        let fits = |path: &Path| match is_caution {
            true => self.path.matches_any_form(path),
            false => self.path.is_match(path),
        };
        if fits(path) {
            return true;
        }
        roots.iter().filter_map(|root| path.strip_prefix(root).ok()).any(|relative| {
            // A pattern without a slash matches files at any depth, as in an ignore file.
            let anywhere = !self.raw.contains('/') && relative.iter().any(|part| fits(Path::new(part)));
            anywhere || fits(relative)
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
