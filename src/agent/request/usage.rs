//! What fills the model's window: by part, as estimated, corrected by what the provider counted last.

use super::build::{BYTES_PER_TOKEN, estimate, part_weight, tokens, weight};
use crate::agent::agent::Agent;
use crate::conversation::{AssistantBlock, Message, Note, Part};
use std::collections::BTreeMap;

/// One kind of thing in the window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsagePart {
    pub name: String,
    pub tokens: u64,
    /// How many there are: messages, results, pictures.
    pub count: usize,
    /// What would make room.
    pub hint: Option<&'static str>,
}

/// The window and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextUsage {
    pub window: u64,
    /// Kept free for the answer.
    pub answer: u64,
    /// As the provider counted the last request; 0 before the first.
    pub counted: u64,
    pub shares: Vec<UsagePart>,
    /// Messages that stand behind the summary, and are not sent.
    pub summed_up: usize,
}

/// Of the room that is left in the window, what one result may take.
const SHARE: f64 = 1.0 / 3.0;

impl Agent {
    /// What the provider counted last against what was estimated then: what is estimated now is corrected by it.
    fn correction(&self) -> f64 {
        match (self.last_prompt(), self.context.last_estimate()) {
            (prompt, last) if prompt > 0 && last > 0.0 => (prompt as f64 / last).clamp(0.5, 3.0),
            _ => 1.0,
        }
    }

    /// What is in the window, and all that may be, in tokens as the provider counts them.
    fn used_and_whole(&self) -> (f64, f64) {
        let room = self.context.room(&self.parts.model, self.parts.max_output);
        let (system, tools) = self.context.fixed();
        let estimated = estimate(&self.transcript.over(self.summaries.last()));
        ((estimated + system + tools) * self.correction(), room + system + tools)
    }

    /// How full the window is, from 0 to 1 and beyond.
    pub(in crate::agent) fn fullness(&self) -> f64 {
        let (used, whole) = self.used_and_whole();
        used / whole
    }

    /// Results that come now may take a share of what is left each.
    pub(in crate::agent) fn leave_room_for_results(&self) {
        let (used, whole) = self.used_and_whole();
        // Where the provider counts less than is estimated, results may count more.
        let correction = self.correction();
        let used = used / correction.min(1.0);
        let bytes = (whole - used).max(0.0) / correction.max(1.0) * BYTES_PER_TOKEN * SHARE;
        self.parts.env.limits.room.leave(bytes as usize);
    }

    pub fn fill(&self) -> ContextUsage {
        let mut all: BTreeMap<(u8, String), (f64, usize)> = BTreeMap::new();
        let mut add = |rank: u8, name: &str, weight: f64| {
            let share = all.entry((rank, name.to_string())).or_default();
            *share = (share.0 + weight, share.1 + 1);
        };
        let (system, tools) = self.context.fixed();
        add(0, "instructions to the model", system);
        add(1, "tool definitions", tools);
        for message in self.sent() {
            count(&message, &mut add);
        }
        let estimated: f64 = all.values().map(|(weight, _)| weight).sum();
        let scale = match self.last_prompt() {
            0 => 1.0,
            _ if self.context.last_estimate() <= 0.0 => 1.0,
            counted => (counted as f64 / self.context.last_estimate().max(1.0)).clamp(0.3, 4.0),
        };
        let share = |((_, name), (weight, count)): ((u8, String), (f64, usize))| UsagePart {
            hint: hint(&name),
            name,
            tokens: (weight * scale) as u64,
            count,
        };
        tracing::debug!(estimated, scale, "the window");
        ContextUsage {
            window: self.parts.model.window,
            answer: self.parts.max_output.min(self.parts.model.window / 2),
            counted: self.last_prompt(),
            shares: all.into_iter().map(share).collect(),
            summed_up: self.summaries.last().map_or(0, |summary| summary.upto),
        }
    }
}

fn count(message: &Message, add: &mut impl FnMut(u8, &str, f64)) {
    match message {
        Message::User { parts } => {
            for part in parts {
                match part {
                    Part::Image(_) => add(7, "pictures", part_weight(part)),
                    Part::Note(Note::Summary { .. }) => add(2, "summary", part_weight(part)),
                    Part::Note(_) => add(3, "notes by placet", part_weight(part)),
                    Part::Text { text } => add(4, "your messages", tokens(text.len())),
                }
            }
        }
        Message::Results { results } => {
            for result in results {
                let (pictures, texts): (Vec<&Part>, Vec<&Part>) =
                    result.parts.iter().partition(|part| matches!(part, Part::Image(_)));
                for picture in pictures {
                    add(7, "pictures", part_weight(picture));
                }
                let weight: f64 = texts.into_iter().map(part_weight).sum();
                add(8, &format!("results of {}", result.name), weight);
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
                add(6, "thinking", thinking);
            }
            add(5, "answers and calls", weight(message) - thinking);
        }
    }
}

fn hint(name: &str) -> Option<&'static str> {
    match name {
        "instructions to the model" | "tool definitions" | "summary" => None,
        "notes by placet" => Some("shorten AGENTS.md"),
        "pictures" => Some("left out first when the window is full, after old results; /compact"),
        name if name.starts_with("results of") => Some("the oldest are left out first; /compact"),
        _ => Some("/compact"),
    }
}
