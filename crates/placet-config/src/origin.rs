//! The origin of a setting.

use std::fmt;
use std::path::PathBuf;

/// The origin of a value. Later origins override earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    Default,
    User {
        path: PathBuf,
        line: usize,
    },
    Project {
        path: PathBuf,
        line: usize,
    },
    Environment(String),
    Flag(String),
    /// Restricted, because some permission setting cannot be parsed.
    Doubt,
}

/// Whether the person trusts the author of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorTrust {
    Trusted,
    Untrusted,
}

impl SettingOrigin {
    /// The same origin, but another line of it.
    pub(super) fn at_line(&self, other: Option<usize>) -> SettingOrigin {
        match (self, other) {
            (SettingOrigin::User { path, .. }, Some(line)) => {
                SettingOrigin::User { path: path.clone(), line }
            }
            (SettingOrigin::Project { path, .. }, Some(line)) => {
                SettingOrigin::Project { path: path.clone(), line }
            }
            (origin, _) => origin.clone(),
        }
    }
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingOrigin::Default => f.write_str("default"),
            SettingOrigin::User { path, line } => write!(f, "user file {}, line {line}", path.display()),
            SettingOrigin::Project { path, line } => {
                write!(f, "project file {}, line {line}", path.display())
            }
            SettingOrigin::Environment(name) => write!(f, "environment {name}"),
            SettingOrigin::Flag(flag) => write!(f, "flag {flag}"),
            SettingOrigin::Doubt => f.write_str("restricted: a permission setting cannot be read"),
        }
    }
}
