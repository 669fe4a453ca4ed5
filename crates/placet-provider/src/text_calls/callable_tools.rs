//! The tools that a text can be a call of.

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

/// The ids of all calls of the conversation.
pub(super) fn made_calls(request: &ModelRequest) -> impl Iterator<Item = &str> {
    let answers = request.messages.iter().filter_map(|message| match message {
        Message::Assistant(answer) => Some(answer),
        _ => None,
    });
    answers.flat_map(AssistantMessage::calls).map(|call| call.id.as_str())
}
