//! The table of secrets, as data. It is parsed on first use: the start of placet does not wait for it.

use regex::Regex;
use serde::Deserialize;
use std::sync::{LazyLock, OnceLock};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretTable {
    pub(super) names: SecretNamePatterns,
    pub(super) values: SecretValuePatterns,
    #[serde(rename = "shape")]
    pub(super) shapes: Vec<SecretShape>,
    pub(super) files: Vec<CredentialFiles>,
    pub(super) located: Vec<CredentialVariable>,
    /// The words of which a text must contain one before it can contain the name of a secret.
    #[serde(skip)]
    pub(super) name_words: Vec<String>,
}

/// Patterns of variables' names, in capitals.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretNamePatterns {
    pub(super) secret: Vec<String>,
    pub(super) weak: Vec<String>,
    pub(super) variable: Vec<String>,
    pub(super) exempt: Vec<String>,
    pub(super) harmless: Vec<String>,
    pub(super) socket: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretValuePatterns {
    pub(super) plain: Vec<String>,
    pub(super) stands_for: Vec<String>,
}

/// The shape of the secrets of one issuer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SecretShape {
    pub(super) kind: String,
    pub(super) words: Vec<String>,
    pub(super) pattern: String,
    #[serde(skip)]
    made: OnceLock<Option<Regex>>,
}

impl SecretShape {
    /// Compiled when a text first contains one of the words: the compilation of all shapes takes longer than a start
    /// may take.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.made.get_or_init(|| Regex::new(&self.pattern).ok()).as_ref()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CredentialFiles {
    #[serde(rename = "of")]
    _of: String,
    pub(super) paths: Vec<String>,
}

/// A variable that contains the path of credentials.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CredentialVariable {
    pub(super) variable: String,
    #[serde(default)]
    pub(super) paths: Vec<String>,
}

pub(super) fn table() -> &'static SecretTable {
    static TABLE: LazyLock<SecretTable> = LazyLock::new(|| {
        // A test reads the same text, and so this cannot fail.
        let mut table: SecretTable = toml::from_str(include_str!("table.toml")).unwrap_or_default();
        let named = table.names.secret.iter().chain(&table.names.weak);
        let mut words: Vec<String> = named.map(|pattern| longest_word(pattern).to_string()).collect();
        words.sort_by_key(String::len);
        let mut least: Vec<String> = Vec::new();
        for word in words {
            if !least.iter().any(|known| word.contains(known.as_str())) {
                least.push(word);
            }
        }
        table.name_words = least;
        table
    });
    &TABLE
}

fn longest_word(pattern: &str) -> &str {
    pattern.split('*').max_by_key(|part| part.len()).unwrap_or_default()
}

/// Compares a text with a pattern in which `*` matches any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    // Without a searcher of the standard library: each variable is compared with hundreds of patterns before a command
    // starts, and to prepare a searcher takes longer than to compare texts that are this short.
    let (mut pattern, mut text) = (pattern.as_bytes(), text.as_bytes());
    // The pattern behind the last `*`, and the text that it is compared with.
    let mut again: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern, text) {
            ([b'*', rest @ ..], _) => {
                if rest.is_empty() {
                    return true;
                }
                again = Some((rest, text));
                pattern = rest;
            }
            ([wanted, pattern_rest @ ..], [found, text_rest @ ..]) if wanted == found => {
                (pattern, text) = (pattern_rest, text_rest);
            }
            ([], []) => return true,
            // The last `*` takes one more byte.
            _ => match again {
                Some((rest, [_, later @ ..])) => {
                    again = Some((rest, later));
                    (pattern, text) = (rest, later);
                }
                _ => return false,
            },
        }
    }
}

pub(super) fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_every_pattern_compiles_and_has_its_words() {
        let table: SecretTable = toml::from_str(include_str!("table.toml")).unwrap();
        assert!(table.shapes.len() > 20 && table.files.iter().map(|f| f.paths.len()).sum::<usize>() > 150);
        for shape in &table.shapes {
            Regex::new(&shape.pattern).unwrap();
            assert!(!shape.words.is_empty(), "{}", shape.kind);
        }
        let names = &table.names;
        for list in
            [&names.secret, &names.weak, &names.variable, &names.exempt, &names.harmless, &names.socket]
        {
            for name in list {
                assert_eq!(name, &name.to_uppercase());
                assert!(longest_word(name).len() >= 2, "{name} would match nearly everything");
            }
        }
        for path in table.files.iter().flat_map(|f| &f.paths) {
            assert!(!path.starts_with('/') && !path.contains(".."), "{path}");
        }
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("*_TOKEN", "X_TOKEN", true),
            ("*_TOKEN", "X_TOKENS", false),
            ("*SECRET*", "MY_SECRET_1", true),
            ("A*B*C", "AxxByyC", true),
            ("A*B*C", "AxxCyyB", false),
            ("*.b.c", "a.b.c", true),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
