//! The conversation in the one shape that every provider accepts, before a wire format encodes it.
//!
//! [`turns`] guarantees what servers enforce: roles alternate, and the person begins and ends; every call is answered
//! by exactly one result in the very next turn; no text is blank; call ids are well formed and unique in the whole
//! history (placet's own ids are unique within an answer only). Answers that were cut lose their calls: those never
//! ran. A longer history gives the same turns for its beginning, and prompt caches stay valid.

use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallResult, Image, Message, Part, StopReason, ThinkingBlock,
};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

#[derive(Debug, PartialEq)]
pub(super) enum WireTurn<'a> {
    /// The results of the previous answer come first, then the person's message.
    User {
        results: Vec<WireToolResult<'a>>,
        parts: Vec<WireContent<'a>>,
    },
    Assistant(Vec<WireAssistantPart<'a>>),
}

/// A piece of content as it is sent: notes become text here, and not earlier.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum WireContent<'a> {
    /// Never blank.
    Text(Cow<'a, str>),
    Image(&'a Image),
}

impl<'a> WireContent<'a> {
    /// `None` for a blank part.
    fn of(part: &'a Part) -> Option<WireContent<'a>> {
        match (part.as_image(), part.words()) {
            (Some(image), _) => Some(WireContent::Image(image)),
            (None, words) => words.filter(|words| !is_blank(words)).map(WireContent::Text),
        }
    }
}

/// A result under the id that its call was sent with; `None` where the history has lost the call.
#[derive(Debug, PartialEq)]
pub(super) struct WireToolResult<'a> {
    pub(super) id: String,
    /// The tool, as its call named it.
    pub(super) name: Cow<'a, str>,
    pub(super) result: Option<WireResultContent<'a>>,
}

impl WireToolResult<'_> {
    pub(super) fn is_error(&self) -> bool {
        self.result.as_ref().is_none_or(|result| result.is_error)
    }

    pub(super) fn content(&self) -> &[WireContent<'_>] {
        self.result.as_ref().map_or(&[], |result| result.content.as_slice())
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct WireResultContent<'a> {
    pub(super) is_error: bool,
    pub(super) content: Vec<WireContent<'a>>,
}

impl<'a> From<&'a CallResult> for WireResultContent<'a> {
    fn from(result: &'a CallResult) -> WireResultContent<'a> {
        WireResultContent {
            is_error: result.is_error(),
            content: result.parts.iter().filter_map(WireContent::of).collect(),
        }
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum WireAssistantPart<'a> {
    Text(&'a str),
    Thinking(&'a ThinkingBlock),
    Call { id: String, name: Cow<'a, str>, input: Value },
}

/// What happens to the model's reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReasoningPolicy<'a> {
    /// The wire format has no place for reasoning.
    Drop,
    /// Proven reasoning goes back to the model that wrote it, where the proof is one of this wire format.
    Proven { wire: &'a str, model: &'a str },
    /// The same, also where reasoning ends an answer: there is a place for a proof alone.
    ProvenToTheEnd { wire: &'a str, model: &'a str },
    /// Reasoning as text goes back to the model that wrote it.
    Words { model: &'a str },
}

/// The text in place of a call whose result is not in the history.
pub(super) const NO_RESULT: &str = "no result: the call was interrupted";

/// The text for a result without content.
pub(super) const NO_OUTPUT: &str = "(no output)";

/// The person's text where a message has nothing that can be sent.
pub(super) const NOTHING: &str = "(an empty message)";

/// The person's text where the history ends with the model.
pub(super) const GO_ON: &str = "(the answer above was cut off; continue where it ends)";

/// The person's text where the history begins with the model.
const BEGINNING: &str = "(the beginning of this conversation is left out)";

const LONGEST_NAME: usize = 64;

pub(super) fn turns<'a>(messages: &'a [Message], reasoning: ReasoningPolicy<'_>) -> Vec<WireTurn<'a>> {
    let mut writer =
        WireHistoryWriter { turns: Vec::new(), open: Vec::new(), used: HashSet::new(), reasoning };
    for message in messages {
        match message {
            Message::User { parts } => writer.user(parts),
            Message::Assistant(answer) => writer.assistant(answer),
            Message::Results { results } => writer.results(results),
        }
    }
    // Calls at the end of the history need an answer too.
    writer.results(&[]);
    let note = match writer.turns.last() {
        None => Some(NOTHING),
        // An answer that broke off and is requested once more.
        Some(WireTurn::Assistant(_)) => Some(GO_ON),
        Some(WireTurn::User { .. }) => None,
    };
    if let Some(note) = note {
        let note = WireContent::Text(Cow::Borrowed(note));
        writer.turns.push(WireTurn::User { results: Vec::new(), parts: vec![note] });
    }
    writer.turns
}

struct WireHistoryWriter<'a, 'r> {
    turns: Vec<WireTurn<'a>>,
    /// Calls that wait for their results: placet's id and the id that was sent.
    open: Vec<(&'a CallId, String, Cow<'a, str>)>,
    used: HashSet<String>,
    reasoning: ReasoningPolicy<'r>,
}

impl<'a> WireHistoryWriter<'a, '_> {
    fn user(&mut self, parts: &'a [Part]) {
        self.results(&[]);
        let mut said = parts.iter().filter_map(WireContent::of).peekable();
        if said.peek().is_some() {
            let (_, parts) = user_turn(&mut self.turns);
            parts.extend(said);
        }
    }

    fn results(&mut self, results: &'a [CallResult]) {
        if self.open.is_empty() {
            return;
        }
        let (replies, _) = user_turn(&mut self.turns);
        for (ours, id, name) in self.open.drain(..) {
            let result = results.iter().find(|r| r.id == *ours).map(WireResultContent::from);
            replies.push(WireToolResult { id, name, result });
        }
    }

    fn assistant(&mut self, answer: &'a AssistantMessage) {
        self.results(&[]);
        let mut said: Vec<WireAssistantPart<'a>> = Vec::new();
        for block in &answer.blocks {
            match block {
                AssistantBlock::Text { text } if !is_blank(text) => said.push(WireAssistantPart::Text(text)),
                AssistantBlock::Text { .. } => {}
                AssistantBlock::Thinking(thinking) if self.goes_back(answer, thinking) => {
                    said.push(WireAssistantPart::Thinking(thinking));
                }
                AssistantBlock::Thinking(_) => {}
                AssistantBlock::Call(_) if answer.stop == StopReason::Cut => {}
                AssistantBlock::Call(call) => {
                    let id = self.fresh_id(call.id.as_str());
                    let name = name(&call.name);
                    self.open.push((&call.id, id.clone(), name.clone()));
                    said.push(WireAssistantPart::Call { id, name, input: object(call.input.to_replay()) });
                }
            }
        }
        // A server refuses reasoning without text or call at the end of an answer.
        let may_end = matches!(self.reasoning, ReasoningPolicy::ProvenToTheEnd { .. });
        while matches!(said.last(), Some(WireAssistantPart::Thinking(_)))
            && !(may_end && answer.stop != StopReason::Cut)
        {
            said.pop();
        }
        if said.is_empty() {
            return;
        }
        match self.turns.last_mut() {
            Some(WireTurn::Assistant(before)) => before.append(&mut said),
            Some(WireTurn::User { .. }) => self.turns.push(WireTurn::Assistant(said)),
            None => {
                let note = WireContent::Text(Cow::Borrowed(BEGINNING));
                self.turns.push(WireTurn::User { results: Vec::new(), parts: vec![note] });
                self.turns.push(WireTurn::Assistant(said));
            }
        }
    }

    fn goes_back(&self, answer: &AssistantMessage, thinking: &ThinkingBlock) -> bool {
        let proven = thinking.signature.is_some() || thinking.redacted.is_some();
        match self.reasoning {
            ReasoningPolicy::Drop => false,
            ReasoningPolicy::Proven { wire, model } | ReasoningPolicy::ProvenToTheEnd { wire, model } => {
                proven && thinking.wire == wire && answer.model == model
            }
            ReasoningPolicy::Words { model } => !is_blank(&thinking.text) && answer.model == model,
        }
    }

    fn fresh_id(&mut self, ours: &str) -> String {
        let first = well_formed(ours);
        let mut id = first.clone();
        let mut again = 2;
        while !self.used.insert(id.clone()) {
            id = format!("{first}-{again}");
            again += 1;
        }
        id
    }
}

fn user_turn<'t, 'a>(
    turns: &'t mut Vec<WireTurn<'a>>,
) -> (&'t mut Vec<WireToolResult<'a>>, &'t mut Vec<WireContent<'a>>) {
    if !matches!(turns.last(), Some(WireTurn::User { .. })) {
        turns.push(WireTurn::User { results: Vec::new(), parts: Vec::new() });
    }
    match turns.last_mut() {
        Some(WireTurn::User { results, parts }) => (results, parts),
        _ => unreachable!("a user turn was just pushed"),
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn object(value: Value) -> Value {
    if value.is_object() { value } else { Value::Object(serde_json::Map::new()) }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// An id from another provider may have characters that this provider refuses; a digest replaces it.
fn well_formed(id: &str) -> String {
    // 56 bytes, so that a repeated id with `-N` behind it fits into the 64 bytes that servers accept.
    if !id.is_empty() && id.len() <= 56 && id.chars().all(is_plain) {
        return id.to_string();
    }
    let digest = blake3::hash(id.as_bytes()).to_hex();
    format!("call_{}", digest.get(..24).unwrap_or_default())
}

/// The name of a tool as it was called, with what no server accepts replaced: models invent names.
fn name(called: &str) -> Cow<'_, str> {
    if called.is_empty() {
        return Cow::Borrowed("unknown");
    }
    if called.len() <= LONGEST_NAME && called.chars().all(is_plain) {
        return Cow::Borrowed(called);
    }
    Cow::Owned(called.chars().take(LONGEST_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect())
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
