//! A check as the settings define it, validated.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use regex::Regex;
use std::path::Path;
use std::time::Duration;
use thiserror::Error;

/// The longest deadline of a check. A check that needs longer belongs to a continuous integration server.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

/// How the output of a check is read.
#[derive(Clone, Debug)]
pub enum CheckOutputForm {
    CargoJson,
    Tsc,
    EslintJson,
    RuffJson,
    Go,
    Pytest,
    Junit,
    Sarif,
    /// Each line that the pattern matches is a diagnostic.
    Pattern(Box<Regex>),
    Text,
}

/// When placet starts a check by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckMoment {
    #[default]
    Never,
    /// When the apply question opens.
    Apply,
    /// At the end of each turn that changed something; failures go back to the agent.
    Turn,
    /// After edits: what it finds that it did not find before is added to the result of the edit.
    Edit,
}

/// One check that can run.
#[derive(Clone, Debug)]
pub struct CheckDefinition {
    pub name: String,
    /// A command line for `sh -c`.
    pub command: String,
    paths: Option<GlobSet>,
    pub timeout: Duration,
    pub output: CheckOutputForm,
    pub when: CheckMoment,
    /// How often its failures go back to the agent in one turn.
    pub rounds: u32,
    pub is_required: bool,
}

/// What the settings say of one check, unread.
#[derive(Clone, Debug, Default)]
pub struct CheckFields {
    pub command: Option<String>,
    pub paths: Vec<String>,
    pub timeout_seconds: u64,
    pub output: String,
    pub pattern: Option<String>,
    pub when: String,
    pub rounds: u32,
    pub required: bool,
}

#[derive(Debug, Error)]
pub enum CheckDefinitionError {
    #[error("the name of a check has letters, digits, `-` and `_`, at most 40 of them; `{0}` is not one")]
    Name(String),
    #[error("the check `{0}` has no command")]
    NoCommand(String),
    #[error("the check `{check}` has an invalid pattern of paths `{pattern}`: {why}")]
    Paths { check: String, pattern: String, why: String },
    #[error("the check `{check}` has a timeout of {seconds} seconds; it is from 1 to {most}")]
    Timeout { check: String, seconds: u64, most: u64 },
    #[error("the check `{0}` has the output `regex`, which needs a `pattern`")]
    NoPattern(String),
    #[error("the check `{0}` has a `pattern`, which only the output `regex` uses")]
    UnusedPattern(String),
    #[error("the `pattern` of the check `{check}` is invalid: {why}")]
    Pattern { check: String, why: String },
    #[error("the `pattern` of the check `{0}` needs a group `(?P<message>...)`")]
    NoMessage(String),
    #[error("the check `{check}` has an unknown output `{output}`")]
    Output { check: String, output: String },
    #[error("the check `{check}` has an unknown `when`: `{when}`")]
    When { check: String, when: String },
}

impl CheckDefinition {
    /// True for a name that can be a key of the settings, a file and a word of the command line.
    pub fn is_name(name: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (1..=40).contains(&name.len()) && !name.starts_with('-') && name.chars().all(is_plain)
    }

    pub fn read(name: &str, fields: CheckFields) -> Result<CheckDefinition, CheckDefinitionError> {
        use CheckDefinitionError as E;
        let check = || name.to_string();
        if !CheckDefinition::is_name(name) {
            return Err(E::Name(check()));
        }
        let command = fields.command.filter(|line| !line.trim().is_empty());
        let command = command.ok_or_else(|| E::NoCommand(check()))?;
        let most = MAX_TIMEOUT.as_secs();
        if !(1..=most).contains(&fields.timeout_seconds) {
            return Err(E::Timeout { check: check(), seconds: fields.timeout_seconds, most });
        }
        if fields.output != "regex" && fields.pattern.is_some() {
            return Err(E::UnusedPattern(check()));
        }
        let output = match fields.output.as_str() {
            "regex" => {
                let pattern = fields.pattern.ok_or_else(|| E::NoPattern(check()))?;
                let regex = Regex::new(&pattern);
                let regex = regex.map_err(|e| E::Pattern { check: check(), why: e.to_string() })?;
                if regex.capture_names().flatten().all(|group| group != "message") {
                    return Err(E::NoMessage(check()));
                }
                CheckOutputForm::Pattern(Box::new(regex))
            }
            word => CheckOutputForm::of_word(word)
                .ok_or_else(|| E::Output { check: check(), output: word.into() })?,
        };
        Ok(CheckDefinition {
            name: check(),
            command,
            paths: globs(name, &fields.paths)?,
            timeout: Duration::from_secs(fields.timeout_seconds),
            output,
            when: CheckMoment::of_word(&fields.when)
                .ok_or_else(|| E::When { check: check(), when: fields.when })?,
            rounds: fields.rounds,
            is_required: fields.required,
        })
    }

    /// A hash of what runs: another command has not passed.
    pub fn command_hash(&self) -> String {
        blake3::hash(self.command.as_bytes()).to_hex().chars().take(16).collect()
    }

    /// True if a change at `path` can change the result; `path` is relative to the working directory. Without globs every
    /// path can, and so can a path outside of the working directory.
    pub fn concerns(&self, path: &Path) -> bool {
        self.paths.as_ref().is_none_or(|globs| path.is_absolute() || globs.is_match(path))
    }
}

impl CheckMoment {
    fn of_word(word: &str) -> Option<CheckMoment> {
        Some(match word {
            "never" => CheckMoment::Never,
            "apply" => CheckMoment::Apply,
            "turn" => CheckMoment::Turn,
            "edit" => CheckMoment::Edit,
            _ => return None,
        })
    }
}

impl CheckOutputForm {
    fn of_word(word: &str) -> Option<CheckOutputForm> {
        Some(match word {
            "cargo-json" => CheckOutputForm::CargoJson,
            "tsc" => CheckOutputForm::Tsc,
            "eslint-json" => CheckOutputForm::EslintJson,
            "ruff-json" => CheckOutputForm::RuffJson,
            "go" => CheckOutputForm::Go,
            "pytest" => CheckOutputForm::Pytest,
            "junit" => CheckOutputForm::Junit,
            "sarif" => CheckOutputForm::Sarif,
            "text" => CheckOutputForm::Text,
            _ => return None,
        })
    }
}

fn globs(check: &str, patterns: &[String]) -> Result<Option<GlobSet>, CheckDefinitionError> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let wrong = |e: globset::Error| CheckDefinitionError::Paths {
            check: check.into(),
            pattern: pattern.clone(),
            why: e.kind().to_string(),
        };
        // As in `.gitignore`, a pattern without a slash is a name in any directory.
        let anywhere = if pattern.contains('/') { pattern.clone() } else { format!("**/{pattern}") };
        let plain = anywhere.trim_start_matches("./").trim_start_matches('/');
        set.add(GlobBuilder::new(plain).literal_separator(true).build().map_err(wrong)?);
    }
    let wrong = |e: globset::Error| CheckDefinitionError::Paths {
        check: check.into(),
        pattern: patterns.join(", "),
        why: e.kind().to_string(),
    };
    set.build().map(Some).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields() -> CheckFields {
        CheckFields {
            command: Some("make check".into()),
            timeout_seconds: 60,
            output: "text".into(),
            when: "never".into(),
            rounds: 2,
            ..CheckFields::default()
        }
    }

    #[test]
    fn a_check_says_what_is_wrong_with_it() {
        let refused = |name: &str, fields: CheckFields| match CheckDefinition::read(name, fields) {
            Ok(check) => format!("accepted {}", check.name),
            Err(e) => e.to_string(),
        };
        let lines = [
            refused("a b", fields()),
            refused("", fields()),
            refused("x", CheckFields { command: None, ..fields() }),
            refused("x", CheckFields { command: Some("  ".into()), ..fields() }),
            refused("x", CheckFields { timeout_seconds: 0, ..fields() }),
            refused("x", CheckFields { timeout_seconds: 86_401, ..fields() }),
            refused("x", CheckFields { output: "regex".into(), ..fields() }),
            refused("x", CheckFields { pattern: Some("a".into()), ..fields() }),
            refused("x", CheckFields { output: "regex".into(), pattern: Some("error".into()), ..fields() }),
            refused("x", CheckFields { paths: vec!["[".into()], ..fields() }),
            refused("x", CheckFields { when: "always".into(), ..fields() }),
            refused("x", fields()),
        ];
        insta::assert_snapshot!(lines.join("\n"), @r"
        the name of a check has letters, digits, `-` and `_`, at most 40 of them; `a b` is not one
        the name of a check has letters, digits, `-` and `_`, at most 40 of them; `` is not one
        the check `x` has no command
        the check `x` has no command
        the check `x` has a timeout of 0 seconds; it is from 1 to 86400
        the check `x` has a timeout of 86401 seconds; it is from 1 to 86400
        the check `x` has the output `regex`, which needs a `pattern`
        the check `x` has a `pattern`, which only the output `regex` uses
        the `pattern` of the check `x` needs a group `(?P<message>...)`
        the check `x` has an invalid pattern of paths `[`: unclosed character class; missing ']'
        the check `x` has an unknown `when`: `always`
        accepted x
        ");
    }

    #[test]
    fn the_globs_of_a_check_are_those_of_an_ignore_file() {
        let paths = vec!["*.rs".into(), "src/**/*.toml".into(), "/Makefile".into()];
        let check = CheckDefinition::read("x", CheckFields { paths, ..fields() }).unwrap();
        for path in ["a.rs", "deep/er/a.rs", "src/a.toml", "src/b/a.toml", "Makefile", "/elsewhere/x"] {
            assert!(check.concerns(Path::new(path)), "{path}");
        }
        for path in ["a.py", "a.toml", "README"] {
            assert!(!check.concerns(Path::new(path)), "{path}");
        }
        assert!(CheckDefinition::read("x", fields()).unwrap().concerns(Path::new("anything")));
    }
}
