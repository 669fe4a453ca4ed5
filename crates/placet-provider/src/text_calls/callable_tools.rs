//! The tools that a text can be a call of.

use super::code_lines::{CodeLines, FENCE_WORDS};
use super::cursor::{WrittenArguments, WrittenCall};
use crate::{ModelRequest, ToolForm};
use placet_text::conversation::{AssistantMessage, CallInput, Message, Part, ToolSpec};
use serde_json::Value;
use std::sync::Arc;

/// How the ids of these calls begin: they tell them from calls that the server made.
pub(super) const ID: &str = "text_call_";

/// What a request offered, as far as a text can be a call of it.
#[derive(Debug)]
pub(super) struct CallableTools {
    pub(super) specs: Arc<[ToolSpec]>,
    pub(super) names: Vec<String>,
    /// The person's newest words.
    pub(super) asked: String,
    /// All texts that the model was shown: of files, commands and people.
    pub(super) shown: Vec<String>,
    pub(super) takes_unmarked: bool,
    /// The model was asked for blocks.
    pub(super) has_blocks: bool,
}

impl CallableTools {
    pub(super) fn of(request: &ModelRequest) -> CallableTools {
        let specs = Arc::clone(&request.tools);
        let names = specs.iter().map(|spec| spec.name.clone()).collect();
        let newest = request.messages.iter().rev().find_map(|message| match message {
            Message::User { parts } => Some(parts),
            _ => None,
        });
        let typed = newest.into_iter().flatten().filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let asked = typed.collect::<Vec<_>>().join("\n");
        CallableTools {
            specs,
            names,
            asked,
            shown: shown_texts(request),
            takes_unmarked: made_calls(request).all(|id| id.starts_with(ID)),
            has_blocks: request.model.capabilities.tools == ToolForm::Text,
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&ToolSpec> {
        self.specs.iter().find(|spec| spec.name == name)
    }

    pub(super) fn parameter(&self, tool: &str, name: &str) -> Option<&Value> {
        self.find(tool)?.schema.get("properties")?.get(name)
    }

    /// True if the person speaks of the tool by its name: a call in the answer may be what they asked for. A name such
    /// as `read` is also a word, and counts in quotes only.
    pub(super) fn is_asked_about(&self, name: &str) -> bool {
        let is_plain = name.contains('_') && self.asked.contains(name);
        is_plain || ['`', '"', '\''].iter().any(|quote| self.asked.contains(&format!("{quote}{name}{quote}")))
    }

    /// True for a text that the model was shown.
    pub(super) fn has_shown(&self, written: &str) -> bool {
        let written = essence(written);
        !written.is_empty() && self.shown.iter().any(|text| essence(text).contains(&written))
    }

    /// True if the arguments have the names of a tool's parameters.
    pub(super) fn may_take(&self, call: &WrittenCall) -> bool {
        let WrittenArguments::Given(CallInput::Object(Value::Object(given))) = &call.arguments else {
            return false;
        };
        let has_all = |spec: &ToolSpec| given.keys().all(|name| self.parameter(&spec.name, name).is_some());
        !given.is_empty() && self.specs.iter().any(has_all)
    }

    /// The end of an answer that looks like a call of a tool and could not be read: an object or tags that name the tool
    /// and a parameter that it requires. Nobody asked about the tool.
    pub(super) fn begun<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut lines = CodeLines::default();
        let mut start = 0;
        let mut begin = None;
        for line in text.split_inclusive('\n') {
            let said = line.trim_start();
            let is_structured = line.len() - said.len() < 4
                && (said.starts_with(['{', '[', '<', '`']) || said.starts_with("functools["));
            if is_structured && !lines.is_code() && begin.is_none() {
                begin = Some(start);
            }
            lines.pass(line);
            start += line.len();
        }
        let tail = text.get(begin?..)?.trim();
        let inside = match tail.strip_prefix("```").and_then(|fence| fence.split_once('\n')) {
            // XML that names a tool is what people are shown of other programs; a call in it has a marker.
            Some((word, _)) if word.trim() == "xml" || !FENCE_WORDS.contains(&word.trim()) => return None,
            Some((_, inside)) => inside.strip_suffix("```").unwrap_or(inside).trim(),
            None => tail,
        };
        // Words behind it explain it; and what is valid JSON is what it says.
        if inside.contains("```")
            || !inside.ends_with(['}', ']', ')', '>', '"', '\''])
            || serde_json::from_str::<serde::de::IgnoredAny>(inside).is_ok()
        {
            return None;
        }
        let names = |name: &str| {
            let marks =
                |c: Option<char>| c.is_some_and(|c| matches!(c, '"' | '\'' | '<' | '>' | '=' | '(' | '/'));
            tail.match_indices(name).any(|(at, _)| {
                let behind = tail.get(at + name.len()..).and_then(|rest| rest.chars().next());
                marks(tail.get(..at).and_then(|before| before.chars().next_back())) && marks(behind)
            })
        };
        let required = |spec: &ToolSpec| {
            let listed = spec.schema.get("required").and_then(Value::as_array);
            listed.into_iter().flatten().filter_map(Value::as_str).map(String::from).collect::<Vec<_>>()
        };
        let is_begun = |spec: &ToolSpec| {
            !self.is_asked_about(&spec.name)
                && names(&spec.name)
                && required(spec).iter().any(|name| names(name))
        };
        (self.specs.iter().any(is_begun) && !self.has_shown(tail)).then_some(tail)
    }

    /// True if all required arguments are there, and no others than the tool has.
    pub(super) fn fits(&self, tool: &str, input: &CallInput) -> bool {
        let (Some(spec), CallInput::Object(given)) = (self.find(tool), input) else { return false };
        let required = spec.schema.get("required").and_then(Value::as_array);
        let has_all =
            required.into_iter().flatten().filter_map(Value::as_str).all(|name| given.get(name).is_some());
        let names = given.as_object().into_iter().flat_map(|fields| fields.keys());
        has_all && names.into_iter().all(|name| self.parameter(tool, name).is_some())
    }
}

/// Letters and marks without what differs between a text and its repetition: blanks, the numbers of lines, escapes. Two
/// calls that differ in digits alone have the same: where one was shown, the other is text as well.
fn essence(text: &str) -> String {
    text.chars()
        .filter(|c| {
            !(c.is_whitespace() || c.is_ascii_digit() || matches!(c, '\\' | '\u{2192}' | '\u{2502}' | '`'))
        })
        .collect()
}

fn shown_texts(request: &ModelRequest) -> Vec<String> {
    let parts = request
        .messages
        .iter()
        .filter(|message| !matches!(message, Message::Assistant(_)))
        .flat_map(Message::parts);
    let text = |part: &Part| match part {
        Part::Text { text } if text.contains(['{', '<', '[', '`', '(']) => Some(text.clone()),
        _ => None,
    };
    parts.filter_map(text).collect()
}

/// The ids of all calls of the conversation.
pub(super) fn made_calls(request: &ModelRequest) -> impl Iterator<Item = &str> {
    let answers = request.messages.iter().filter_map(|message| match message {
        Message::Assistant(answer) => Some(answer),
        _ => None,
    });
    answers.flat_map(AssistantMessage::calls).map(|call| call.id.as_str())
}
