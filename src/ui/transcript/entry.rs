//! The conversation as entries: what was said, thought, called and answered, each with its exact text.
//!
//! Entries are places in the messages and own no text: a conversation of any length is listed at once.

use crate::conversation::{
    AssistantBlock, AssistantMessage, CallInput, CallOutcome, CallResult, Message, Note, Part, StopReason,
    ToolCall,
};
use crate::ui::picture;
use serde_json::Value;

/// Names of arguments that say what a call is about, the most telling first.
const TELLING: [&str; 8] = ["command", "path", "file_path", "pattern", "query", "name", "url", "prompt"];

#[derive(Clone, Copy)]
pub(super) enum What<'m> {
    Person(&'m str),
    /// A picture, or what placet added for the model.
    Attached(&'m Part),
    Answer(&'m AssistantMessage, &'m str),
    Thinking(&'m str),
    Call(&'m ToolCall, Option<&'m CallResult>),
}

#[derive(Clone, Copy)]
pub(super) struct Entry<'m> {
    pub(super) what: What<'m>,
    /// The turn it belongs to, from 1.
    pub(super) turn: usize,
    /// It is the first of its turn.
    pub(super) begins: bool,
}

/// Every entry of a conversation, in order.
pub(super) fn entries(messages: &[Message]) -> Vec<Entry<'_>> {
    let mut out = Vec::new();
    let mut turn = 0;
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::User { parts } => {
                turn += 1;
                let before = |n: usize| n.checked_sub(1).and_then(|n| parts.get(n)).and_then(Part::as_note);
                let part = |(n, part)| Entry { what: of_part(part, before(n)), turn, begins: n == 0 };
                out.extend(parts.iter().enumerate().map(part));
            }
            Message::Assistant(answer) => {
                let results: &[CallResult] = match messages.get(at + 1) {
                    Some(Message::Results { results }) => results,
                    _ => &[],
                };
                let of = |block| of_block(answer, block, results);
                out.extend(answer.blocks.iter().map(|block| Entry { what: of(block), turn, begins: false }));
            }
            // Shown with their calls.
            Message::Results { .. } => {}
        }
    }
    out
}

/// A part of what was said, and the note before it.
fn of_part<'m>(part: &'m Part, before: Option<&Note>) -> What<'m> {
    match part {
        Part::Text { .. }
            if matches!(before, Some(Note::AttachedFile { .. } | Note::AttachedScratchpad { .. })) =>
        {
            What::Attached(part)
        }
        Part::Text { text } => What::Person(text),
        Part::Image(_) | Part::Note(_) => What::Attached(part),
    }
}

fn of_block<'m>(
    answer: &'m AssistantMessage,
    block: &'m AssistantBlock,
    results: &'m [CallResult],
) -> What<'m> {
    match block {
        AssistantBlock::Text { text } => What::Answer(answer, text),
        AssistantBlock::Thinking(thinking) => What::Thinking(&thinking.text),
        AssistantBlock::Call(call) => What::Call(call, results.iter().find(|result| result.id == call.id)),
    }
}

impl<'m> Entry<'m> {
    /// Exactly what was said; of a call, exactly what came of it.
    pub(super) fn text(&self) -> String {
        match self.what {
            What::Person(text) | What::Answer(_, text) | What::Thinking(text) => text.into(),
            What::Attached(Part::Text { text }) => text.clone(),
            What::Attached(Part::Note(note)) => note.words().into_owned(),
            What::Attached(Part::Image(image)) => image.describe(),
            What::Call(call, None) => input(call),
            What::Call(_, Some(result)) => result.body(),
        }
    }

    /// What a call was given: its command alone where it is one, else its arguments.
    pub(super) fn input(&self) -> Option<String> {
        match self.what {
            What::Call(call, _) => Some(input(call)),
            _ => None,
        }
    }

    /// The path a call is about.
    pub(super) fn path(&self) -> Option<&'m str> {
        let What::Call(call, _) = self.what else { return None };
        let CallInput::Object(value) = &call.input else { return None };
        ["path", "file_path", "file"].iter().find_map(|name| value.get(name)?.as_str())
    }

    /// The first words: what an entry is, in one line.
    pub(super) fn head(&self) -> String {
        match self.what {
            What::Person(_) => "you".into(),
            What::Attached(Part::Image(image)) => format!("{} {}", image.word(), picture::chip(image)),
            What::Attached(Part::Note(note)) => note.headline().into_owned(),
            What::Attached(Part::Text { text }) => text.lines().next().unwrap_or_default().to_string(),
            What::Answer(answer, _) if answer.model.is_empty() => "answer".into(),
            What::Answer(answer, _) => answer.model.clone(),
            What::Thinking(_) => "thinking".into(),
            What::Call(call, _) => match telling(&call.input) {
                Some(words) => format!("{} {words}", call.name),
                None => call.name.clone(),
            },
        }
    }

    pub(super) fn outcome(&self) -> Option<CallOutcome> {
        match self.what {
            What::Call(_, result) => Some(result.map_or(CallOutcome::Interrupted, |result| result.outcome)),
            _ => None,
        }
    }

    /// What is to be known of it beside its text.
    pub(super) fn note(&self) -> Option<String> {
        let What::Answer(answer, _) = self.what else { return None };
        match &answer.stop {
            StopReason::EndTurn | StopReason::ToolUse => None,
            StopReason::MaxTokens => Some("cut off: the most it may write".into()),
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
