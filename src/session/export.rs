//! A session as a document: Markdown for people, JSON for programs.

use super::record::Loaded;
use super::store::SessionRow;
use crate::conversation::{Block, Input, Message, Outcome, Part};
use serde_json::{Value, json};
use std::fmt::Write;

/// Everything that was said and done, readable. Pictures are named, not embedded.
pub fn markdown(row: &SessionRow, loaded: &Loaded) -> String {
    let mut out = format!("# {}\n\nSession {} in `{}`\n", row.title, row.id, row.cwd.display());
    for message in loaded.transcript.messages() {
        match message {
            Message::User { parts } => {
                out.push_str("\n## You\n\n");
                push_parts(&mut out, parts);
            }
            Message::Assistant(answer) => {
                let model = if answer.model.is_empty() { "Agent" } else { &answer.model };
                let _ = write!(out, "\n## {model}\n\n");
                for block in &answer.blocks {
                    push_block(&mut out, block);
                }
            }
            Message::Results { results } => {
                for result in results {
                    let word = match result.outcome {
                        Outcome::Done => "result",
                        Outcome::Failed => "failed",
                        Outcome::Denied => "denied",
                        Outcome::Interrupted => "interrupted",
                    };
                    let _ = write!(out, "\n### `{}`: {word}\n\n", result.name);
                    let body = result.body();
                    push_fenced(&mut out, "", &body);
                    for part in &result.parts {
                        if let Part::Image(image) = part {
                            let _ = writeln!(out, "*picture: {}*", image.describe());
                        }
                    }
                }
            }
        }
    }
    out
}

fn push_parts(out: &mut String, parts: &[Part]) {
    for part in parts {
        match part {
            Part::Text { text } => {
                let _ = writeln!(out, "{text}");
            }
            Part::Image(image) => {
                let _ = writeln!(out, "*picture: {}*", image.describe());
            }
        }
    }
}

fn push_block(out: &mut String, block: &Block) {
    match block {
        Block::Text { text } => {
            let _ = writeln!(out, "{}", text.trim_end());
        }
        Block::Thinking(thinking) if !thinking.text.is_empty() => {
            for line in thinking.text.lines() {
                let _ = writeln!(out, "> {line}");
            }
        }
        Block::Thinking(_) => {}
        Block::Call(call) => {
            let _ = write!(out, "\n### call `{}`\n\n", call.name);
            let arguments = match &call.input {
                Input::Object(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
                Input::Malformed { raw, .. } => raw.clone(),
            };
            push_fenced(out, "json", &arguments);
        }
    }
}

/// A fence longer than any inside the text.
fn push_fenced(out: &mut String, language: &str, text: &str) {
    let longest = text.lines().map(|l| l.chars().take_while(|c| *c == '`').count()).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = write!(out, "{fence}{language}\n{}\n{fence}\n", text.trim_end_matches('\n'));
}

/// The same, with nothing left out but the pictures' bytes.
pub fn to_json(row: &SessionRow, loaded: &Loaded) -> Value {
    json!({
        "version": 1,
        "session": row,
        "usage": loaded.usage,
        "messages": loaded.transcript.messages(),
        "dropped": loaded.dropped,
    })
}
