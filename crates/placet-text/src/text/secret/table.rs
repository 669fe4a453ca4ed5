//! The table of secrets, and how its patterns are compared.

use super::table_rows::TABLE;
pub(super) use super::table_types::SecretShape;
use super::table_types::SecretTable;
use std::sync::LazyLock;

pub(super) fn table() -> &'static SecretTable {
    &TABLE
}

/// The words of which a text must contain one before it can contain the name of a secret.
pub(super) fn name_words() -> &'static [&'static str] {
    static WORDS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
        let named = TABLE.names.secret.iter().chain(TABLE.names.weak);
        let mut words: Vec<&str> = named.map(|pattern| longest_word(pattern)).collect();
        words.sort_by_key(|word| word.len());
        let mut least: Vec<&str> = Vec::new();
        for word in words {
            if !least.iter().any(|known| word.contains(known)) {
                least.push(word);
            }
        }
        least
    });
    &WORDS
}

fn longest_word(pattern: &str) -> &str {
    pattern.split('*').max_by_key(|part| part.len()).unwrap_or_default()
}

/// Compares a text with a pattern in which `*` matches any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    // Without a searcher of the standard library: each variable is compared with hundreds of patterns before a command
    // starts, and to prepare a searcher takes longer than to compare texts that are this short.
    let (mut pattern, mut text) = (pattern.as_bytes(), text.as_bytes());
    // Most pairs differ in their first or last byte.
    let differs = |wanted: Option<&u8>, found: Option<&u8>| wanted != Some(&b'*') && wanted != found;
    if differs(pattern.first(), text.first()) || differs(pattern.last(), text.last()) {
        return false;
    }
    // The pattern behind the last `*`, and the text that it is compared with.
    let mut again: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern, text) {
            ([b'*', rest @ ..], _) => {
                if rest.is_empty() {
                    return true;
                }
                let Some(from) = from_first_of(rest, text) else { return false };
                again = Some((rest, from));
                (pattern, text) = (rest, from);
            }
            ([wanted, pattern_rest @ ..], [found, text_rest @ ..]) if wanted == found => {
                (pattern, text) = (pattern_rest, text_rest);
            }
            ([], []) => return true,
            // The last `*` takes one more byte.
            _ => match again {
                Some((rest, [_, later @ ..])) => {
                    let Some(from) = from_first_of(rest, later) else { return false };
                    again = Some((rest, from));
                    (pattern, text) = (rest, from);
                }
                _ => return false,
            },
        }
    }
}

/// The text from the first byte of `pattern` on. `None` if the text does not have this byte.
fn from_first_of<'t>(pattern: &[u8], text: &'t [u8]) -> Option<&'t [u8]> {
    match pattern.first() {
        None | Some(b'*') => Some(text),
        Some(first) => text.get(text.iter().position(|byte| byte == first)?..),
    }
}

pub(super) fn any(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn every_pattern_of_the_table_compiles_and_has_its_words() {
        let table = table();
        assert!(table.shapes.len() > 20 && table.files.iter().map(|f| f.paths.len()).sum::<usize>() > 150);
        for shape in table.shapes {
            Regex::new(shape.pattern).unwrap();
            assert!(!shape.words.is_empty(), "{}", shape.kind);
        }
        let names = &table.names;
        for list in [names.secret, names.weak, names.variable, names.exempt, names.harmless, names.socket] {
            for name in list {
                assert_eq!(*name, name.to_uppercase());
                assert!(longest_word(name).len() >= 2, "{name} would match nearly everything");
            }
        }
        for path in table.files.iter().flat_map(|f| f.paths) {
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
            ("", "", true),
            ("", "a", false),
            ("a", "", false),
            ("**", "", true),
            ("a**b", "ab", true),
            ("*ab*", "aaab", true),
            ("*ab*", "ba", false),
            ("*aab", "aaab", true),
            ("*a", "ba", true),
            ("*é*", "été", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
