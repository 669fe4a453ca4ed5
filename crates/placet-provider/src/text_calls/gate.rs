//! Holds back streamed text that may be the beginning of a call, so that a call is never shown as text. All other text
//! passes at once.

use super::code_lines::CodeLines;
use super::format::openers;
use super::syntax::{ARGUMENT_KEYS, NAME_KEYS};

/// The most bytes of a text without a marker in which the name of the tool must have come.
const SOON: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct TextGate {
    held: String,
    lines: CodeLines,
    /// The present line, as far as it has passed, and whether it is blank.
    line: String,
    has_words: bool,
}

impl TextGate {
    /// Takes more text and returns what can be shown.
    pub(super) fn push(&mut self, text: &str, names: &[String]) -> String {
        self.held.push_str(text);
        let mut end = 0;
        while let Some(rest) = self.held.get(end..).filter(|rest| !rest.is_empty()) {
            let Some(c) = rest.chars().next() else { break };
            // No call begins with a blank: each letter is looked at once.
            if !c.is_whitespace() && self.may_begin_call(rest, names) {
                break;
            }
            self.pass(c);
            end += c.len_utf8();
        }
        let held = self.held.split_off(end);
        std::mem::replace(&mut self.held, held)
    }

    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Everything that was held back; what comes next is another text.
    pub(super) fn release(&mut self) -> String {
        std::mem::take(self).held
    }

    fn pass(&mut self, c: char) {
        self.line.push(c);
        self.has_words |= !c.is_whitespace();
        if c == '\n' {
            self.has_words = false;
            let line = std::mem::take(&mut self.line);
            self.lines.pass(&line);
        }
    }

    fn may_begin_call(&self, rest: &str, names: &[String]) -> bool {
        if self.lines.is_code() {
            return false;
        }
        // A fence begins its line; any other marker may follow words.
        let may_be_here = || match rest.starts_with('`') {
            true => !self.has_words,
            false => !self.line.ends_with(['`', '"', '\'']),
        };
        let is_marker = rest.starts_with(['<', '[', '`'])
            && may_be_here()
            && openers().any(|open| rest.starts_with(open) || open.starts_with(rest));
        is_marker || !self.has_words && may_be_bare(rest, names)
    }
}

/// True for the beginning of a line that may become a call without a marker.
fn may_be_bare(text: &str, names: &[String]) -> bool {
    let text = text.trim_start_matches([' ', '\t']);
    match text.strip_prefix("```") {
        Some(fence) => match fence.split_once('\n') {
            None => fence.len() < 16 && fence.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'),
            Some((_, body)) => {
                let body = body.trim_start();
                let marked = openers().any(|open| body.starts_with(open) || open.starts_with(body));
                marked || may_be_object(body, names) || may_be_python(body, names)
            }
        },
        None => "```".starts_with(text) || may_be_object(text, names) || may_be_python(text, names),
    }
}

/// `{"name": "read_f`, with whatever else may be in front of the name.
fn may_be_object(text: &str, names: &[String]) -> bool {
    let Some(text) = text.trim_start_matches(['[', ' ', '\n', '\r', '\t']).strip_prefix('{') else {
        return text.chars().all(|c| matches!(c, '[' | ' ' | '\n' | '\r' | '\t'));
    };
    let text = text.trim_start();
    let Some(key) = text.strip_prefix('"') else { return text.is_empty() };
    let Some((key, value)) = key.split_once('"') else { return key.len() < 16 };
    if NAME_KEYS.contains(&key) && !value.trim_start_matches([' ', ':']).starts_with('{') {
        let value = value.trim_start_matches([' ', '\n', ':']);
        let Some(name) = value.strip_prefix('"') else { return value.is_empty() };
        return match name.split_once('"') {
            // An unknown tool is a fault, and is shown as text when that is known.
            Some((name, _)) => names.iter().any(|known| known == name),
            None => names.iter().any(|known| known.starts_with(name)),
        };
    }
    let may_follow = ARGUMENT_KEYS.contains(&key)
        || matches!(key, "id" | "type" | "function" | "tool_calls" | "tool_call_id");
    may_follow && (text.len() < SOON || names.iter().any(|name| text.contains(&format!("\"{name}\""))))
}

/// `[read_file(`, `print(read_file(`.
fn may_be_python(text: &str, names: &[String]) -> bool {
    let text = text.strip_prefix('[').unwrap_or(text).trim_start();
    let is_begun = |text: &str| {
        names.iter().any(|name| match text.strip_prefix(name.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('('),
            None => name.starts_with(text),
        })
    };
    match text.strip_prefix("print(") {
        Some(inner) => is_begun(inner),
        None => "print(".starts_with(text) || is_begun(text),
    }
}
