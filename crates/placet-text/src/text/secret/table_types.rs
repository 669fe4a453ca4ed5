//! The types of the table of secrets.

use regex::Regex;
use std::sync::OnceLock;

pub(super) struct SecretTable {
    pub(super) names: SecretNamePatterns,
    pub(super) values: SecretValuePatterns,
    pub(super) shapes: &'static [SecretShape],
    pub(super) files: &'static [CredentialFiles],
    pub(super) located: &'static [CredentialVariable],
}

/// Patterns of variables' names, in capitals.
pub(super) struct SecretNamePatterns {
    pub(super) secret: &'static [&'static str],
    pub(super) weak: &'static [&'static str],
    pub(super) variable: &'static [&'static str],
    pub(super) exempt: &'static [&'static str],
    pub(super) harmless: &'static [&'static str],
    pub(super) socket: &'static [&'static str],
}

pub(super) struct SecretValuePatterns {
    pub(super) plain: &'static [&'static str],
    pub(super) stands_for: &'static [&'static str],
}

/// The shape of the secrets of one issuer.
pub(super) struct SecretShape {
    pub(super) kind: &'static str,
    pub(super) words: &'static [&'static str],
    pub(super) pattern: &'static str,
    made: OnceLock<Option<Regex>>,
}

impl SecretShape {
    pub(super) const fn new(
        kind: &'static str,
        words: &'static [&'static str],
        pattern: &'static str,
    ) -> SecretShape {
        SecretShape { kind, words, pattern, made: OnceLock::new() }
    }

    /// Compiled when a text first contains one of the words: the compilation of all shapes takes longer than a start
    /// may take.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.made.get_or_init(|| Regex::new(self.pattern).ok()).as_ref()
    }
}

pub(super) struct CredentialFiles {
    pub(super) paths: &'static [&'static str],
}

/// A variable that contains the path of credentials.
pub(super) struct CredentialVariable {
    pub(super) variable: &'static str,
    pub(super) paths: &'static [&'static str],
}
