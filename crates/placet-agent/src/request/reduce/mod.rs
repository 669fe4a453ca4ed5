//! Makes a conversation fit a window, in a fixed order: oldest results first, then pictures, then whole turns, then the
//! middles of long texts, then rounds of this turn. Cuts are made in a copy, and each cut leaves a line that reports
//! it.

pub(crate) mod images;
pub(crate) mod rejected;
use super::weight::{estimate, part_weight, tokens, weight};
use crate::conversation::notes::newest_first;
use placet_text::conversation::{
    AssistantBlock, CallFact, CallId, CallInput, CallResult, Message, Note, Part, PinnedNoteKind, ToolCall,
};
use serde_json::Value;
use std::collections::HashMap;

/// Results of the newest rounds remain whole as long as anything else can be removed.
const FRESH: usize = 4;
/// How many bytes of a call's arguments describe its omitted result.
const ARGUMENTS: usize = 120;

/// How many messages at the beginning [`shorten`] drops in any case: the turns after which more follows than `budget` takes,
/// by what no step before [`drop_old_turns`] makes shorter. Looks at no more of the history than that.
pub(crate) fn sure_to_go(messages: &[Message], budget: f64) -> usize {
    let (mut least, mut next_turn) = (0.0, None);
    for (at, message) in messages.iter().enumerate().rev() {
        least += match message {
            Message::Results { .. } => 0.0,
            Message::User { parts } => {
                parts.iter().filter(|part| part.as_image().is_none()).map(part_weight).sum()
            }
            Message::Assistant(_) => weight(message),
        };
        if begins_turn(message) {
            if least > budget {
                return next_turn.unwrap_or(at);
            }
            next_turn = Some(at);
        }
    }
    0
}

/// Shortens until the estimate fits `budget`; returns how many parts were removed. `before` are the messages that came
/// before `messages` and are sure to go.
pub(crate) fn shorten(
    messages: &mut Vec<Message>,
    before: &[Message],
    budget: f64,
    is_kept: &dyn Fn(&str) -> bool,
) -> usize {
    // What was before is so much that all old results and pictures are left out.
    let more = if before.is_empty() { 0.0 } else { budget + 1.0 };
    let mut total = estimate(messages) + more;
    let mut cut = 0;
    if total <= budget {
        return 0;
    }
    let fresh_from = messages.len().saturating_sub(FRESH);
    cut += drop_old_results(messages.iter_mut().take(fresh_from), &mut total, budget, is_kept);
    if total <= budget {
        return cut;
    }
    for part in messages.iter_mut().take(fresh_from).flat_map(Message::parts_mut) {
        if total > budget && matches!(part, Part::Image(_)) {
            total -= part_weight(part);
            *part = Part::Note(Note::PictureLeftOut);
            cut += 1;
        }
    }
    total -= more;
    cut += drop_old_turns(messages, before, &mut total, budget);
    cut += cut_middles(messages, &mut total, budget);
    cut + drop_old_rounds(messages, &mut total, budget)
}

/// Replaces each result with a line, the oldest first. The line names the scratchpad with the whole result, or the
/// call.
fn drop_old_results<'m>(
    messages: impl Iterator<Item = &'m mut Message>,
    total: &mut f64,
    budget: f64,
    is_kept: &dyn Fn(&str) -> bool,
) -> usize {
    let mut dropped = 0;
    let mut asked: HashMap<CallId, CallInput> = HashMap::new();
    for message in messages {
        if *total <= budget {
            return dropped;
        }
        match message {
            Message::Assistant(answer) => {
                asked = answer.calls().map(|call| (call.id.clone(), call.input.clone())).collect();
            }
            Message::Results { results } => {
                for result in results {
                    let (notes, content): (Vec<Part>, Vec<Part>) =
                        result.parts.iter().cloned().partition(|part| part.as_note().is_some());
                    let old: f64 = content.iter().map(part_weight).sum();
                    let note = Part::Note(left_out(result, asked.get(&result.id), is_kept));
                    let new = part_weight(&note);
                    // For a result shorter than 60 tokens the note would save almost nothing.
                    if old >= 60.0 && new < old {
                        // The notes that placet added to the result still apply.
                        result.parts = std::iter::once(note).chain(notes).collect();
                        *total -= old - new;
                        dropped += 1;
                    }
                }
            }
            Message::User { .. } => {}
        }
    }
    dropped
}

/// The note that replaces a result that is not sent.
fn left_out(result: &CallResult, asked: Option<&CallInput>, is_kept: &dyn Fn(&str) -> bool) -> Note {
    let tool = result.name.clone();
    let stored = result.facts.iter().find_map(|fact| match fact {
        CallFact::StoredIn { scratchpad } if is_kept(scratchpad) => Some(scratchpad.clone()),
        _ => None,
    });
    let arguments = asked.map(|input| input.to_replay().to_string()).unwrap_or_default();
    let shown = arguments.get(..arguments.floor_char_boundary(ARGUMENTS)).unwrap_or_default();
    let more = if shown.len() < arguments.len() { "…" } else { "" };
    Note::ResultLeftOut { tool, arguments: format!("{shown}{more}"), scratchpad: stored }
}

/// True for what somebody said. A message of notes alone, such as the request for a summary, belongs to what is before it.
fn begins_turn(message: &Message) -> bool {
    matches!(message, Message::User { parts } if parts.iter().any(|part| part.as_note().is_none()))
}

/// Drops whole turns from the beginning. The newest turn always remains, and so do the notes that still apply.
fn drop_old_turns(messages: &mut Vec<Message>, before: &[Message], total: &mut f64, budget: f64) -> usize {
    let mut end = 0;
    while *total > budget {
        let is_turn = |(_, message): &(usize, &Message)| begins_turn(message);
        let Some((next, _)) = messages.iter().enumerate().skip(end + 1).find(is_turn) else { break };
        *total -= messages.iter().take(next).skip(end).map(weight).sum::<f64>();
        end = next;
    }
    let dropped: Vec<Message> = messages.drain(..end).collect();
    if dropped.is_empty() && before.is_empty() {
        return 0;
    }
    let stated_later: Vec<PinnedNoteKind> = newest_first(messages).filter_map(Note::pinned_kind).collect();
    let lost = PinnedNoteKind::ALL.into_iter().filter(|kind| !stated_later.contains(kind));
    let pinned = lost.filter_map(|kind| {
        newest_first(&dropped)
            .chain(newest_first(before))
            .find(|note| note.pinned_kind() == Some(kind))
            .cloned()
    });
    let notes: Vec<Part> = std::iter::once(Note::BeginningLeftOut).chain(pinned).map(Part::Note).collect();
    if let Some(Message::User { parts }) = messages.first_mut() {
        *total += notes.iter().map(part_weight).sum::<f64>();
        parts.splice(0..0, notes);
    }
    before.len() + dropped.len()
}

/// Drops rounds from the beginning of the only remaining turn; the newest round always remains.
fn drop_old_rounds(messages: &mut Vec<Message>, total: &mut f64, budget: f64) -> usize {
    let mut dropped = 0;
    let is_round = |messages: &[Message]| {
        matches!(
            messages,
            [Message::User { .. }, Message::Assistant(_), Message::Results { .. }, Message::Assistant(_), ..]
        )
    };
    while *total > budget && is_round(messages) {
        // An answer and its results are dropped together: providers refuse a call without its result.
        *total -= messages.drain(1..3).map(|m| weight(&m)).sum::<f64>();
        if dropped == 0
            && let Some(Message::User { parts }) = messages.first_mut()
        {
            let note = Part::Note(Note::WorkLeftOut);
            *total += part_weight(&note);
            parts.push(note);
        }
        dropped += 2;
    }
    dropped
}

/// Cuts the middles out of the longest texts until everything fits.
fn cut_middles(messages: &mut [Message], total: &mut f64, budget: f64) -> usize {
    let mut cut = 0;
    // Halved in each round, so that the longest texts become shorter before others do.
    let mut keep = 64 * 1024;
    while *total > budget && keep >= 256 {
        let blocks_and_parts = messages.iter_mut().flat_map(texts_mut);
        for text in blocks_and_parts {
            if *total > budget && text.len() > keep {
                let before = text.len();
                *text = without_middle(text, keep);
                *total -= tokens(before) - tokens(text.len());
                cut += 1;
            }
        }
        keep /= 2;
    }
    cut
}

/// Every text of a message that may be shortened: messages, results, and the arguments of calls.
fn texts_mut(message: &mut Message) -> Vec<&mut String> {
    match message {
        Message::Assistant(answer) => {
            let mut texts = Vec::new();
            for block in &mut answer.blocks {
                match block {
                    AssistantBlock::Text { text } => texts.push(text),
                    AssistantBlock::Call(ToolCall { input: CallInput::Object(value), .. }) => {
                        strings(value, &mut texts)
                    }
                    // Reasoning may be signed: its provider refuses reasoning that was changed.
                    AssistantBlock::Call(_) | AssistantBlock::Thinking(_) => {}
                }
            }
            texts
        }
        other => other
            .parts_mut()
            .filter_map(|p| match p {
                Part::Text { text } => Some(text),
                Part::Note(note) => note.text_mut(),
                Part::Image(_) => None,
            })
            .collect(),
    }
}

fn strings<'v>(value: &'v mut Value, out: &mut Vec<&'v mut String>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| strings(item, out)),
        Value::Object(map) => map.values_mut().for_each(|item| strings(item, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn without_middle(text: &str, keep: usize) -> String {
    let head = floor_boundary(text, keep * 2 / 3);
    let tail = floor_boundary(text, text.len().saturating_sub(keep / 3));
    let (start, end) = (text.get(..head).unwrap_or(""), text.get(tail..).unwrap_or(""));
    format!(
        "{start}\n[... {} bytes left out to fit the context window ...]\n{end}",
        tail.saturating_sub(head)
    )
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while at > 0 && !text.is_char_boundary(at) {
        at -= 1;
    }
    at.min(text.len())
}
