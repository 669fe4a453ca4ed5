//! What the forms of calls are read with, and what is read.

use placet_text::conversation::CallInput;

/// A call as it was written. What its values mean depends on the schema of the tool.
#[derive(Debug, PartialEq)]
pub(super) struct WrittenCall {
    pub(super) name: String,
    pub(super) arguments: WrittenArguments,
}

#[derive(Debug, PartialEq)]
pub(super) enum WrittenArguments {
    Given(CallInput),
    /// The values are plain text.
    Words(Vec<(String, String)>),
    /// What is behind the name, and the texts below it: see [`super::block`].
    Block {
        head: String,
        texts: Vec<String>,
    },
}

/// The rest of a text that is being read.
pub(super) struct Cursor<'t> {
    pub(super) rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub(super) fn blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(super) fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// The text before `end`, and goes behind it.
    pub(super) fn until(&mut self, end: &str) -> Option<&'t str> {
        let (text, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(text)
    }

    /// From `from` to `to`, if the text begins with `from`.
    pub(super) fn skip(&mut self, from: &str, to: &str) {
        if let Some(rest) = self.rest.strip_prefix(from)
            && let Some(at) = rest.find(to)
        {
            self.rest = rest.get(at + to.len()..).unwrap_or_default();
        }
    }

    pub(super) fn name(&mut self) -> Option<String> {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if name.is_empty() {
            return None;
        }
        self.rest = rest;
        Some(name.into())
    }

    /// The JSON object or list at the beginning.
    pub(super) fn json(&mut self) -> Option<&'t str> {
        if !self.rest.starts_with(['{', '[']) {
            return None;
        }
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<serde::de::IgnoredAny>();
        values.next()?.ok()?;
        let (json, rest) = self.rest.split_at(values.byte_offset());
        self.rest = rest;
        Some(json)
    }

    pub(super) fn open_fence(&mut self) -> bool {
        let Some((line, rest)) = self.rest.strip_prefix("```").and_then(|rest| rest.split_once('\n')) else {
            return false;
        };
        let is_word = line.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_word {
            self.rest = rest;
            self.blank();
        }
        is_word
    }

    pub(super) fn close_fence(&mut self) {
        self.blank();
        self.take("```");
    }
}
