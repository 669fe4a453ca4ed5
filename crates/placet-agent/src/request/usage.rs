//! The use of the model's window by part: estimates, corrected by the provider's last count.

use super::client::ModelClient;
use super::weight::{BYTES_PER_TOKEN, estimate, part_weight, tokens, weight};
use crate::conversation::log::Conversation;
use placet_text::conversation::{AssistantBlock, InstructionsSource, Message, Note, Part};
use std::collections::BTreeMap;

/// One kind of content in the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsagePart {
    pub name: String,
    /// The name is the path of a file of instructions.
    pub is_file: bool,
    pub tokens: u64,
    /// The number of messages, results or pictures.
    pub count: usize,
    /// The action that would make room.
    pub hint: Option<&'static str>,
}

/// The window and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextUsage {
    /// Tokens that a request may have: the window without the answer. The status row counts in the same.
    pub usable: u64,
    /// Tokens that are reserved for the answer.
    pub answer: u64,
    /// The provider's count of the last request; 0 before the first.
    pub counted: u64,
    pub shares: Vec<UsagePart>,
    /// Messages that the summary replaces in requests.
    pub summed_up: usize,
}

impl ContextUsage {
    /// Tokens of the next request.
    pub fn used(&self) -> u64 {
        self.shares.iter().map(|share| share.tokens).sum()
    }
}

/// The rank of files of instructions, whose name is their path.
const INSTRUCTIONS: u8 = 3;

/// The share of the remaining room in the window that one result may take.
const SHARE: f64 = 1.0 / 3.0;

/// The ratio of the provider's last count to the estimate of that request; it corrects the present estimate.
fn correction(client: &ModelClient) -> f64 {
    match (client.costs.last_prompt, client.context.last_estimate()) {
        (prompt, last) if prompt > 0 && last > 0.0 => (prompt as f64 / last).clamp(0.5, 3.0),
        _ => 1.0,
    }
}

/// The tokens in the window, and the most possible, as the provider counts tokens.
fn used_and_whole(client: &ModelClient, conversation: &Conversation) -> (f64, f64) {
    let (system, tools) = client.context.fixed();
    let estimated = estimate(&conversation.sent());
    ((estimated + system + tools) * correction(client), client.usable_window())
}

/// How full the window is, from 0 to 1 and beyond.
pub(crate) fn fullness(client: &ModelClient, conversation: &Conversation) -> f64 {
    let (used, whole) = used_and_whole(client, conversation);
    used / whole
}

/// How many bytes each new result may have: a share of the remaining room.
pub(crate) fn room_for_results(client: &ModelClient, conversation: &Conversation) -> usize {
    let (used, whole) = used_and_whole(client, conversation);
    // If the provider counts less than the estimate, results may be longer.
    let correction = correction(client);
    let used = used / correction.min(1.0);
    ((whole - used).max(0.0) / correction.max(1.0) * BYTES_PER_TOKEN * SHARE) as usize
}

pub(crate) fn context_usage(client: &ModelClient, conversation: &Conversation) -> ContextUsage {
    let mut all: BTreeMap<(u8, String), (f64, usize)> = BTreeMap::new();
    let mut add = |rank: u8, name: &str, weight: f64| {
        let share = all.entry((rank, name.to_string())).or_default();
        *share = (share.0 + weight, share.1 + 1);
    };
    let (system, tools) = client.context.fixed();
    add(0, "instructions to the model", system);
    add(1, "tool definitions", tools);
    for message in conversation.sent().iter() {
        count(message, &mut add);
    }
    let counted = client.costs.last_prompt;
    let scale = match client.context.last_estimate() {
        last if counted > 0 && last > 0.0 => (counted as f64 / last.max(1.0)).clamp(0.3, 4.0),
        _ => 1.0,
    };
    let share = |((rank, name), (weight, count)): ((u8, String), (f64, usize))| UsagePart {
        hint: if rank == INSTRUCTIONS { None } else { hint(&name) },
        is_file: rank == INSTRUCTIONS,
        name,
        tokens: (weight * scale) as u64,
        count,
    };
    let answer = client.context.output_room(&client.model.spec, client.model.max_output);
    ContextUsage {
        usable: client.usable_window() as u64,
        answer,
        counted,
        shares: all.into_iter().map(share).collect(),
        summed_up: conversation.summarized(),
    }
}

/// Each file of instructions by its name, so that a person sees which one is long.
fn count_note(note: &Note, part: &Part, add: &mut impl FnMut(u8, &str, f64)) {
    match note {
        Note::Instructions { sources, .. } | Note::DirectoryInstructions { sources, .. }
            if !sources.is_empty() =>
        {
            for InstructionsSource { path, bytes } in sources {
                add(INSTRUCTIONS, path, tokens(*bytes));
            }
        }
        Note::Skills { .. } => add(4, "list of skills", part_weight(part)),
        _ => add(5, "notes by placet", part_weight(part)),
    }
}

fn count(message: &Message, add: &mut impl FnMut(u8, &str, f64)) {
    match message {
        Message::User { parts } => {
            for part in parts {
                match part {
                    Part::Image(_) => add(9, "pictures", part_weight(part)),
                    Part::Note(Note::Summary { .. }) => add(2, "summary", part_weight(part)),
                    Part::Note(note) => count_note(note, part, add),
                    Part::Text { text } => add(6, "your messages", tokens(text.len())),
                }
            }
        }
        Message::Results { results } => {
            for result in results {
                let (pictures, texts): (Vec<&Part>, Vec<&Part>) =
                    result.parts.iter().partition(|part| matches!(part, Part::Image(_)));
                let is_instructions =
                    |part: &&Part| matches!(part, Part::Note(Note::DirectoryInstructions { .. }));
                let (notes, texts): (Vec<&Part>, Vec<&Part>) = texts.into_iter().partition(is_instructions);
                for note in notes {
                    if let Part::Note(inner) = note {
                        count_note(inner, note, add);
                    }
                }
                for picture in pictures {
                    add(9, "pictures", part_weight(picture));
                }
                let weight: f64 = texts.into_iter().map(part_weight).sum();
                add(10, &format!("results of {}", result.name), weight);
            }
        }
        Message::Assistant(answer) => {
            let thinking: f64 = answer
                .blocks
                .iter()
                .map(|block| match block {
                    AssistantBlock::Thinking(t) => {
                        tokens(t.text.len() + t.redacted.as_ref().map_or(0, String::len))
                    }
                    _ => 0.0,
                })
                .sum();
            if thinking > 0.0 {
                add(8, "thinking", thinking);
            }
            add(7, "answers and calls", weight(message) - thinking);
        }
    }
}

fn hint(name: &str) -> Option<&'static str> {
    match name {
        "instructions to the model" | "tool definitions" | "summary" => None,
        "list of skills" => Some("/skills shows them"),
        "pictures" => Some("left out first when the window is full, after old results; /compact"),
        "notes by placet" => None,
        name if name.starts_with("results of") => Some("the oldest are left out first; /compact"),
        _ => Some("/compact"),
    }
}
