//! An API key: never printed.

use std::fmt;

/// A shorter value occurs in many texts, and hiding it would protect nothing.
pub(crate) const SHORTEST: usize = 4;

/// A shorter value may be a word such as `vllm`, which servers that need no key are sent, and which names of models
/// contain.
const WORD: usize = 8;

/// So much of the beginning of a key is more than the `sk-` of its vendor.
pub(crate) const QUOTED: usize = 10;

/// A secret word. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Space around it, such as a file's last line break, does not belong to it.
    pub fn new(secret: &str) -> ApiKey {
        ApiKey(secret.trim().to_string())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why the key cannot be sent: a header may contain visible ASCII only.
    pub fn problem(&self) -> Option<&'static str> {
        match self.0.as_str() {
            "" => Some("it is empty"),
            key if key.bytes().all(|b| b.is_ascii_graphic()) => None,
            _ => Some("it contains a space, a control character or a letter outside ASCII"),
        }
    }

    /// `text` without the key, for messages from a server. A server that truncates a quotation leaves only a beginning
    /// of the key, which is removed as well.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST {
            return text.to_string();
        }
        let beginning = self.0.get(..QUOTED).unwrap_or(&self.0);
        let (mut out, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(beginning) {
            let (before, found) = rest.split_at(at);
            let same = found.bytes().zip(self.0.bytes()).take_while(|(a, b)| a == b).count();
            out.push_str(before);
            out.push_str("[key]");
            rest = found.get(same..).unwrap_or_default();
        }
        out.push_str(rest);
        out
    }

    /// True if `name` shows the key or its beginning.
    pub(crate) fn is_quoted_in(&self, name: &str) -> bool {
        if self.0.len() < WORD { name == self.0 } else { self.redact(name) != name }
    }

    /// The secret itself, for the request that sends it and the place that stores it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([hidden])")
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_shows_a_key_is_found_and_a_name_with_a_common_word_is_not() {
        let quotes = |key: &str, name: &str| ApiKey::new(key).is_quoted_in(name);
        assert!(quotes("sk-secret-0123456789", "m-sk-secret-0123456789"));
        assert!(quotes("sk-secret-0123456789", "sk-secret-0"), "the beginning");
        assert!(quotes("k4-9x7q2", "org/k4-9x7q2"));
        assert!(quotes("vllm", "vllm"));
        assert!(!quotes("vllm", "vllm/qwen3"));
        assert!(!quotes("", "qwen3") && !quotes("sk-secret-0123456789", "sk-1"));
    }
}
