//! A tool call and its result.

use super::{CallFact, CallId, CallInterruption, Note, Part, words_of};
use super::{json_names, json_repair};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub input: CallInput,
}

/// A call's arguments as they arrived. Arguments that are not one JSON object are stored as text and never run: the
/// guess `{}` would run something that nobody asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallInput {
    Object(Value),
    Malformed {
        raw: String,
        reason: String,
        /// The answer reached its token limit within the arguments: the same call would be cut again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_cut: bool,
    },
}

impl CallInput {
    /// Parses arguments as streamed. No text at all means an empty object: some servers send that for a call without
    /// arguments.
    pub fn parse(raw: &str) -> CallInput {
        if raw.trim().is_empty() {
            return CallInput::Object(Value::Object(serde_json::Map::new()));
        }
        let reason = match serde_json::from_str::<Value>(raw) {
            Ok(value) if value.is_object() => match json_names::twice(raw.as_bytes()) {
                // Nobody can know which of the two was meant.
                Some(why) => format!("the argument {why}"),
                None => return CallInput::Object(value),
            },
            Ok(other) => format!("the arguments are {}, not a JSON object", kind(&other)),
            Err(e) => format!("the arguments are not valid JSON: {e}"),
        };
        CallInput::Malformed { raw: raw.into(), reason, is_cut: false }
    }

    /// The last arguments of an answer that reached its limit of `tokens` (0 if the server did not count them). Missing
    /// arguments do not mean "none" there.
    pub fn parse_cut(raw: &str, tokens: u64) -> CallInput {
        match CallInput::parse(raw) {
            CallInput::Object(value) if !raw.trim().is_empty() => CallInput::Object(value),
            _ => {
                let at = if tokens == 0 { "its token limit".into() } else { format!("{tokens} tokens") };
                let reason =
                    format!("the answer was cut at {at}, before the arguments of this call were complete");
                CallInput::Malformed { raw: raw.into(), reason, is_cut: true }
            }
        }
    }

    /// The arguments as an object that every provider accepts back; malformed ones are what they were read as, or an
    /// empty object.
    pub fn to_replay(&self) -> Value {
        let repaired = match self {
            CallInput::Object(value) => return value.clone(),
            CallInput::Malformed { is_cut: true, .. } => None,
            CallInput::Malformed { raw, .. } => json_repair::repaired_object(raw),
        };
        repaired.unwrap_or_else(|| Value::Object(serde_json::Map::new()))
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The tool did what was asked.
    Done,
    /// The tool could not; the text says why and what to do next.
    Failed,
    /// The person or a rule refused.
    Denied,
    /// The turn was stopped before or while it ran.
    Interrupted,
}

impl CallOutcome {
    /// In lower case: `done`.
    pub const fn name(self) -> &'static str {
        match self {
            CallOutcome::Done => "done",
            CallOutcome::Failed => "failed",
            CallOutcome::Denied => "denied",
            CallOutcome::Interrupted => "interrupted",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallResult {
    pub id: CallId,
    pub name: String,
    pub outcome: CallOutcome,
    pub parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<CallFact>,
    /// What the screen showed of it, in one line: `edit src/app.rs +3 -1`. Only for the person; empty where no screen
    /// showed it, and in sessions of earlier versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shown: String,
}

impl CallResult {
    pub fn new(call: &ToolCall, outcome: CallOutcome, parts: Vec<Part>) -> CallResult {
        let (id, name) = (call.id.clone(), call.name.clone());
        CallResult { id, name, outcome, parts, facts: Vec::new(), shown: String::new() }
    }

    #[must_use]
    pub fn with(self, facts: Vec<CallFact>) -> CallResult {
        CallResult { facts, ..self }
    }

    pub fn text(call: &ToolCall, outcome: CallOutcome, text: impl Into<String>) -> CallResult {
        CallResult::new(call, outcome, vec![Part::text(text)])
    }

    /// The answer to a call that did not run to its end.
    pub fn interrupted(call: &ToolCall, at: CallInterruption) -> CallResult {
        CallResult::new(call, CallOutcome::Interrupted, vec![Part::Note(Note::Interrupted { at })])
    }

    pub fn is_error(&self) -> bool {
        self.outcome != CallOutcome::Done
    }

    /// The text of the result that the model reads.
    pub fn body(&self) -> String {
        words_of(&self.parts)
    }

    /// Why the call failed, for a person: without the mark of an error and without the hint to the model.
    pub fn reason(&self) -> String {
        let body = self.body();
        let reason = body.split("\nhint: ").next().unwrap_or_default();
        reason.strip_prefix("error: ").unwrap_or(reason).trim_end().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_an_object_is_ever_taken_as_arguments() {
        assert_eq!(CallInput::parse(r#"{"path":"a"}"#), CallInput::Object(json!({"path": "a"})));
        assert_eq!(CallInput::parse(""), CallInput::Object(json!({})));
        for raw in
            ["{\"path\":", "[1]", "\"x\"", "3", "null", "{} trailing", r#"{"a":1,"b":[{"c":1,"c":2}]}"#]
        {
            assert!(matches!(CallInput::parse(raw), CallInput::Malformed { .. }), "{raw}");
        }
    }
}
