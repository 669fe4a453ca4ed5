//! The conversation as entries: messages, thinking, calls and results, each with its exact text.
//!
//! Entries are positions in the messages and own no text: a conversation of any length is listed at once.

use crate::picture;
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallFact, CallInput, CallOutcome, CallResult, Message, Note, Part,
    StopReason, ToolCall,
};
use serde_json::Value;

/// Names of arguments that say what a call is about, the most telling first.
const TELLING: [&str; 8] = ["command", "path", "file_path", "pattern", "query", "name", "url", "prompt"];

#[derive(Clone, Copy)]
pub(crate) enum TranscriptContent<'m> {
    Person(&'m str),
    /// A picture, or what placet added for the model.
    Attached(&'m Part),
    Answer(&'m AssistantMessage, &'m str),
    Thinking(&'m str),
    Call(&'m ToolCall, Option<&'m CallResult>),
}

#[derive(Clone, Copy)]
pub(crate) struct TranscriptEntry<'m> {
    pub(crate) what: TranscriptContent<'m>,
    /// The turn it belongs to, from 1.
    pub(crate) turn: usize,
    /// It is the first of its turn.
    pub(crate) begins: bool,
}

/// Every entry of a conversation, in order.
pub(crate) fn entries(messages: &[Message]) -> Vec<TranscriptEntry<'_>> {
    let mut out = Vec::new();
    let mut turn = 0;
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User { parts } => {
                turn += 1;
                let before = |n: usize| n.checked_sub(1).and_then(|n| parts.get(n)).and_then(Part::as_note);
                let part =
                    |(n, part)| TranscriptEntry { what: of_part(part, before(n)), turn, begins: n == 0 };
                out.extend(parts.iter().enumerate().map(part));
            }
            Message::Assistant(answer) => {
                let results: &[CallResult] = match messages.get(at + 1) {
                    Some(Message::Results { results }) => results,
                    _ => &[],
                };
                let of = |block| of_block(answer, block, results);
                out.extend(answer.blocks.iter().map(|block| TranscriptEntry {
                    what: of(block),
                    turn,
                    begins: false,
                }));
            }
            // Shown with their calls.
            Message::Results { .. } => {}
        }
    }
    out
}

/// The content of a part of a message; `before` is the note before the part.
fn of_part<'m>(part: &'m Part, before: Option<&Note>) -> TranscriptContent<'m> {
    match part {
        Part::Text { .. }
            if matches!(before, Some(Note::AttachedFile { .. } | Note::AttachedScratchpad { .. })) =>
        {
            TranscriptContent::Attached(part)
        }
        Part::Text { text } => TranscriptContent::Person(text),
        Part::Image(_) | Part::Note(_) => TranscriptContent::Attached(part),
    }
}

fn of_block<'m>(
    answer: &'m AssistantMessage,
    block: &'m AssistantBlock,
    results: &'m [CallResult],
) -> TranscriptContent<'m> {
    match block {
        AssistantBlock::Text { text } => TranscriptContent::Answer(answer, text),
        AssistantBlock::Thinking(thinking) => TranscriptContent::Thinking(&thinking.text),
        AssistantBlock::Call(call) => {
            TranscriptContent::Call(call, results.iter().find(|result| result.id == call.id))
        }
    }
}

impl<'m> TranscriptEntry<'m> {
    /// The exact text of an entry; of a call, its exact result.
    pub(crate) fn text(&self) -> String {
        match self.what {
            TranscriptContent::Person(text)
            | TranscriptContent::Answer(_, text)
            | TranscriptContent::Thinking(text) => text.into(),
            TranscriptContent::Attached(Part::Text { text }) => text.clone(),
            TranscriptContent::Attached(Part::Note(note)) => note.words().into_owned(),
            TranscriptContent::Attached(Part::Image(image)) => image.describe(),
            TranscriptContent::Call(call, None) => input(call),
            TranscriptContent::Call(_, Some(result)) => result.body(),
        }
    }

    /// The input of a call: only its command where it has one, else its arguments.
    pub(crate) fn input(&self) -> Option<String> {
        match self.what {
            TranscriptContent::Call(call, _) => Some(input(call)),
            _ => None,
        }
    }

    /// The path a call is about.
    pub(crate) fn path(&self) -> Option<&'m str> {
        let TranscriptContent::Call(call, _) = self.what else { return None };
        let CallInput::Object(value) = &call.input else { return None };
        ["path", "file_path", "file"].iter().find_map(|name| value.get(name)?.as_str())
    }

    /// The first words: what an entry is, in one line.
    pub(crate) fn head(&self) -> String {
        match self.what {
            TranscriptContent::Person(_) => "you".into(),
            TranscriptContent::Attached(Part::Image(image)) => {
                format!("{} {}", image.word(), picture::chip(image))
            }
            TranscriptContent::Attached(Part::Note(note)) => note.headline().into_owned(),
            TranscriptContent::Attached(Part::Text { text }) => {
                text.lines().next().unwrap_or_default().to_string()
            }
            TranscriptContent::Answer(answer, _) if answer.model.is_empty() => "answer".into(),
            TranscriptContent::Answer(answer, _) => answer.model.clone(),
            TranscriptContent::Thinking(_) => "thinking".into(),
            TranscriptContent::Call(call, _) => match telling(&call.input) {
                Some(words) => format!("{} {words}", call.name),
                None => call.name.clone(),
            },
        }
    }

    pub(crate) fn outcome(&self) -> Option<CallOutcome> {
        match self.what {
            TranscriptContent::Call(_, result) => {
                Some(result.map_or(CallOutcome::Interrupted, |result| result.outcome))
            }
            _ => None,
        }
    }

    /// The exit code of the command that a call ran.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        let TranscriptContent::Call(_, Some(result)) = self.what else { return None };
        result.facts.iter().find_map(|fact| match fact {
            CallFact::Exit { code } => *code,
            _ => None,
        })
    }

    /// What the command of a call printed, where all of it is in the result.
    pub(crate) fn printed(&self) -> Option<String> {
        let TranscriptContent::Call(_, Some(result)) = self.what else { return None };
        if result.facts.iter().any(|fact| matches!(fact, CallFact::Cut { .. })) {
            return None;
        }
        let bytes = result.facts.iter().find_map(|fact| match fact {
            CallFact::Printed { bytes } => Some(*bytes),
            _ => None,
        })?;
        let mut body = result.body();
        body.truncate(body.floor_char_boundary(bytes));
        Some(body)
    }

    /// A remark on the entry, besides its text.
    pub(crate) fn note(&self) -> Option<String> {
        let TranscriptContent::Answer(answer, _) = self.what else { return None };
        match &answer.stop {
            StopReason::EndTurn | StopReason::ToolUse => None,
            StopReason::MaxTokens => Some("cut off: output limit".into()),
            StopReason::TextCall(_) => Some("a tool call as text, not run".into()),
            StopReason::Refusal => Some("refused".into()),
            StopReason::Cut => Some("cut: the stream ended early".into()),
            StopReason::Other(reason) => Some(reason.clone()),
        }
    }
}

fn input(call: &ToolCall) -> String {
    match &call.input {
        CallInput::Malformed { raw, .. } => raw.clone(),
        CallInput::Object(value) => match value.get("command").and_then(Value::as_str) {
            Some(command) => command.into(),
            None => serde_json::to_string_pretty(value).unwrap_or_default(),
        },
    }
}

fn telling(input: &CallInput) -> Option<&str> {
    let CallInput::Object(Value::Object(map)) = input else { return None };
    let named = TELLING.iter().find_map(|name| map.get(*name)?.as_str());
    let text = named.or_else(|| map.values().find_map(Value::as_str))?;
    text.lines().find(|line| !line.trim().is_empty()).map(str::trim)
}
