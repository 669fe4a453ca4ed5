//! What of another program's settings may be copied: nothing that is or may be a secret.

use super::skip_reason::SkipReason;
use crate::text::secret;
use reqwest::Url;

/// The longest value of a variable that is copied.
const LONGEST: usize = 200;

/// True if a text contains a secret by its shape, or an address with a password or a key in it.
pub(super) fn has_secret(text: &str) -> bool {
    secret::redact(text, &[]) != text || text.split_whitespace().any(is_secret_address)
}

fn is_secret_address(word: &str) -> bool {
    let Some(at) = word.find("://") else { return false };
    let start = word.get(..at).map_or(0, |before| {
        before.rfind(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).map_or(0, |at| at + 1)
    });
    let Some(url) = word.get(start..).and_then(|url| Url::parse(url).ok()) else { return false };
    url.password().is_some_and(|password| !is_variable(&password.replace("%7B", "{").replace("%7D", "}")))
        || url.query_pairs().any(|(name, value)| is_secret_name(&name) && !is_variable(&value))
}

/// True for a name under which people keep secrets: `API_KEY`, `api-token`, `password`.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let name = name.trim_matches('_');
    matches!(
        secret::why_withheld(name, "x", &[]),
        Some(secret::WithheldReason::Name | secret::WithheldReason::Socket)
    )
}

/// `${NAME}` or `$NAME`, also within other text: the value comes from the environment.
pub(super) fn is_variable(text: &str) -> bool {
    text.contains("${") || text.starts_with('$') && text.len() > 1
}

/// An address of a provider that may be copied, or why it may not.
pub(super) fn check_address(url: &str) -> Result<(), SkipReason> {
    let is_web = |url: Url| matches!(url.scheme(), "http" | "https");
    let is_address =
        !url.contains(char::is_control) && (is_variable(url) || Url::parse(url).is_ok_and(is_web));
    match is_plain_value("BASE", url) {
        true if is_address => Ok(()),
        false if is_address => Err(SkipReason::SecretAddress),
        _ => Err(SkipReason::NoAddress),
    }
}

/// True if the value of a variable is copied: a switch, a number, a path, an address or one word, under a name that is
/// none of a secret.
pub(super) fn is_plain_value(name: &str, value: &str) -> bool {
    if value.len() > LONGEST || has_secret(value) {
        return false;
    }
    if value.contains("${") {
        // What surrounds the variable must not be a secret either: `Bearer ${TOKEN}`, not `abc${X}`.
        return value.starts_with("${") && value.ends_with('}') && value.matches("${").count() == 1;
    }
    if secret::why_withheld(name, value, &[]).is_some() || is_secret_name(name) {
        return false;
    }
    let is_number = value.len() <= 6 && value.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_word = value.len() <= 16 && value.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_');
    let is_word = is_word
        || matches!(value, "INFO" | "DEBUG" | "WARN" | "WARNING" | "ERROR" | "TRACE" | "True" | "False");
    let is_path = value.starts_with('/') || value.starts_with("./") || value.starts_with("~/");
    let is_address = value.contains("://") && Url::parse(value).is_ok_and(|url| url.username().is_empty());
    is_number || is_word || is_path || is_address
}

/// The number of the first argument that looks like a secret, counted from 1.
pub(super) fn secret_argument(arguments: &[String]) -> Option<usize> {
    let mut before = "";
    for (at, argument) in (1..).zip(arguments) {
        let named = argument.split_once('=').or_else(|| argument.split_once(": "));
        let is_named = |(name, value): (&str, &str)| is_secret_name(name) && !is_variable(value);
        let follows = before.starts_with('-')
            && !before.contains('=')
            && is_secret_name(before)
            && !argument.starts_with('-')
            && !is_variable(argument);
        let bearer = argument.contains("Bearer ") && !is_variable(argument);
        if has_secret(argument) || named.is_some_and(is_named) || follows || bearer {
            return Some(at);
        }
        before = argument;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_values_are_copied() {
        for (name, value) in [
            ("LOG_LEVEL", "debug"),
            ("PORT", "8080"),
            ("ROOT", "/srv/data"),
            ("BASE", "https://example.com/v1"),
            ("API_KEY", "${API_KEY}"),
            ("FLAG", "true"),
        ] {
            assert!(is_plain_value(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("API_KEY", "swordfish"),
            ("TOKEN", "123456"),
            ("K", "secret123"),
            ("DSN", "postgres://u:p@h/db"),
            ("BASE", "https://h/?api_key=abc"),
            ("X", concat!("gh", "p_0123456789abcdefghijABCDEFGHIJ012345")),
            ("PASSWORD", "/etc"),
            ("X", "hunter2${Y}"),
        ] {
            assert!(!is_plain_value(name, value), "{name}={value}");
        }
    }

    #[test]
    fn an_address_that_is_none_is_not_called_a_secret() {
        let why = |url: &str| check_address(url).err().map(|why| why.to_string());
        assert_eq!(why("https://example.com/v1"), None);
        assert_eq!(why("${BASE_URL}"), None);
        assert!(why("https://h/?api_key=abc").unwrap().contains("secret"));
        for url in ["javascript:\u{7}", "http://\u{1b}", "https://h/\n", "h", ""] {
            assert!(why(url).unwrap().contains("not valid"), "{url:?}");
        }
    }

    #[test]
    fn secrets_in_arguments_are_found() {
        let found =
            |words: &[&str]| secret_argument(&words.iter().map(|w| (*w).to_string()).collect::<Vec<_>>());
        assert_eq!(found(&["-y", "pkg", "/tmp"]), None);
        assert_eq!(found(&["--token", "${TOKEN}"]), None);
        assert_eq!(found(&["--api-key", "abc"]), Some(2));
        assert_eq!(found(&["--api-key=abc"]), Some(1));
        assert_eq!(found(&["mcp-remote", "https://u:pw@h/x"]), Some(2));
        assert_eq!(found(&["--header", "Authorization: Bearer abc"]), Some(2));
        assert_eq!(found(&["--header", "Authorization: Bearer ${T}"]), None);
        assert_eq!(found(&["url=https://h/sse?token=abc"]), Some(1));
    }
}
