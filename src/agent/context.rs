//! What the model sees: the fixed prefix, and a conversation that fits its window.
//!
//! The system prompt and the tools never change within a session, so that provider caches hold. When the
//! conversation is too long it is shortened here, locally and by a fixed order, so that no state exists in which
//! only starting over helps: oldest results first, then pictures, then whole turns, then the middles of long texts, then rounds of this turn.

use super::pictures::Pictures;
use super::refused::Refused;
use super::standing::{self, Standing};
use crate::conversation::{Block, Call, CallId, CallResult, Input, Message, Part, ToolSpec};
use crate::provider::{Model, Request};
use crate::session::{Scratchpads, Store};
use crate::tools::kept_as;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Bytes per token, on the low side: code and CJK have fewer than prose.
const BYTES_PER_TOKEN: f64 = 3.5;
/// Results of the newest rounds stay whole as long as anything else can give way.
const FRESH: usize = 4;
/// Bytes of a call's arguments that stand for its result.
const ARGUMENTS: usize = 120;

pub(super) struct Context {
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    pictures: Pictures,
    refused: Refused,
    scratchpads: Option<Arc<Scratchpads>>,
    /// The most that may be sent, in tokens as estimated here; learned when a server says that a request was too long.
    most: Option<f64>,
    /// The window as the server told it, where it is smaller than what is known of the model.
    told_window: Option<u64>,
    last: Sent,
}

/// The size of the last request: as estimated here, and the room it asked for.
#[derive(Clone, Copy, Default)]
struct Sent {
    estimate: f64,
    max_output: u64,
}

/// A request, and what had to be left out of it, in sentences for the person.
pub(super) struct Built {
    pub(super) request: Request,
    pub(super) notes: Vec<String>,
    /// What the model no longer has before it, or not as it was.
    pub(super) out_of_view: OutOfView,
}

/// What has left the model's view: results, and files that the person attached.
#[derive(Debug, Default)]
pub(super) struct OutOfView {
    pub(super) calls: Vec<CallId>,
    pub(super) attached: Vec<String>,
}

impl OutOfView {
    /// What was in `all` and is not in `sent`.
    pub(super) fn between(all: &[Message], sent: &[Message]) -> OutOfView {
        let still: HashSet<&str> = attached(sent).collect();
        let gone = attached(all).filter(|path| !still.contains(path));
        OutOfView { calls: lost(all, sent), attached: gone.map(String::from).collect() }
    }
}

/// The words that stand before a file that the person attached.
pub const ATTACHED: &str = "[placet: the person attached ";

fn attached(messages: &[Message]) -> impl Iterator<Item = &str> {
    let said = messages.iter().filter(|m| matches!(m, Message::User { .. })).flat_map(parts_of);
    said.filter_map(attached_path)
}

/// The file that stands after these words.
pub(super) fn attached_path(part: &Part) -> Option<&str> {
    part.as_text()?.strip_prefix(ATTACHED)?.strip_suffix(']')
}

impl Context {
    pub(super) fn new(system: String, tools: Vec<ToolSpec>) -> Context {
        Context {
            system: system.into(),
            tools: tools.into(),
            pictures: Pictures::default(),
            refused: Refused::default(),
            scratchpads: None,
            most: None,
            told_window: None,
            last: Sent::default(),
        }
    }

    /// What a request is built with besides the messages: the session's pictures, and results that were kept whole.
    pub(super) fn draw_on(&mut self, store: Option<Store>, scratchpads: Arc<Scratchpads>) {
        self.pictures.read_from(store);
        self.scratchpads = Some(scratchpads);
    }

    /// An answer came to the last request.
    pub(super) fn answered(&mut self) {
        self.refused.answered();
    }

    /// What was sent is another list of messages from now on.
    pub(super) fn begin_anew(&mut self) {
        self.refused.begin_anew();
    }

    /// The provider refused something in the messages: says what is left out for it, if anything more can be.
    pub(super) fn leave_out(&mut self, messages: &[Message]) -> Option<String> {
        self.refused.leave_out(messages)
    }

    /// Another model: what was learned of the last one's window, and what it refused, says nothing of it.
    pub(super) fn meet_another(&mut self) {
        (self.most, self.told_window) = (None, None);
        self.refused.forget();
        self.pictures.forget_refusals();
    }

    pub(super) fn withhold(&mut self, hash: String, reason: String) {
        self.pictures.withhold(hash, reason);
    }

    /// The pictures that would be sent as they stand: those that came since the last answer, or all where none did.
    pub(super) fn suspect_images(&self, messages: &[Message]) -> Vec<(String, String)> {
        let new = self.sent_images(messages.get(self.refused.answered_messages()..).unwrap_or_default());
        if new.is_empty() { self.sent_images(messages) } else { new }
    }

    fn sent_images(&self, messages: &[Message]) -> Vec<(String, String)> {
        let all = messages.iter().flat_map(parts_of).filter_map(|p| match p {
            Part::Image(image) if !self.pictures.is_withheld(&image.hash) => Some(image),
            _ => None,
        });
        let mut seen = HashSet::new();
        all.filter(|i| seen.insert(i.hash.clone())).map(|i| (i.hash.clone(), i.describe())).collect()
    }

    /// Leaves out the tool at `at` for the rest of the session and returns its name.
    pub(super) fn drop_tool(&mut self, at: usize) -> Option<String> {
        let name = self.tools.get(at)?.name.clone();
        self.tools =
            self.tools.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, t)| t.clone()).collect();
        Some(name)
    }

    /// The server said that the last request was too long, perhaps with its figures: the next one will be smaller.
    pub(super) fn was_too_long(&mut self, message: &str, model: &Model) {
        let told: Vec<u64> = figures(message).into_iter().filter(|n| *n > 500).collect();
        let smallest = told.iter().copied().min().filter(|n| *n < model.window);
        let most = match (told.iter().copied().max(), told.iter().copied().min()) {
            // What it counted and what it allows: what was estimated is corrected by the two.
            (Some(counted), Some(limit)) if counted > limit => {
                self.told_window = smallest.or(self.told_window);
                let room = limit.saturating_sub(self.output_room(model, self.last.max_output));
                let used = counted.saturating_sub(self.last.max_output).max(1);
                self.last.estimate * room as f64 / used as f64 * 0.95
            }
            (_, Some(limit)) if limit < model.window => {
                self.told_window = smallest;
                limit.saturating_sub(self.output_room(model, self.last.max_output)) as f64 * 0.5
            }
            // Nothing is told: well below a third, question and answer together, fits most windows at once.
            _ => {
                let total = self.last.estimate + self.last.max_output as f64;
                self.told_window = Some((total * 0.3) as u64);
                self.last.estimate * 0.3
            }
        };
        self.most = Some(most.min(self.last.estimate * 0.9));
    }

    /// The tokens of an answer that leave room for the question.
    fn output_room(&self, model: &Model, wanted: u64) -> u64 {
        match self.told_window {
            Some(window) => wanted.min(window / 4),
            None => wanted.min(model.window / 2),
        }
        .max(256)
    }

    /// Builds the request. `messages` is left as it is; what is cut is cut from a copy.
    pub(super) fn build(&mut self, messages: &[Message], model: &Model, max_output: u64) -> Built {
        let mut notes = Vec::new();
        self.refused.going_out(messages.len());
        let mut copy = self.refused.without(messages).into_owned();
        let unread = self.pictures.prepare(&mut copy, model, &mut notes);
        let max_output = self.output_room(model, max_output);
        let fixed = tokens(self.fixed_bytes());
        let window = self.told_window.unwrap_or(model.window).min(model.window);
        let room = (window.saturating_sub(max_output) as f64) * 0.95;
        let budget = self.most.map_or(room, |most| most.min(room)) - fixed;
        let is_kept = |name: &str| self.scratchpads.as_ref().is_some_and(|pads| pads.contains(name));
        let cut = shorten(&mut copy, budget.max(200.0), &is_kept);
        self.pictures.read(&mut copy, &unread, model, &mut notes);
        if cut > 0 {
            notes.push(format!("the conversation is longer than the model's window: {cut} older parts were left out of the request (the session keeps them)"));
        }
        self.last = Sent { estimate: estimate(&copy) + fixed, max_output };
        let request = Request {
            model: model.clone(),
            system: Arc::clone(&self.system),
            tools: Arc::clone(&self.tools),
            messages: copy,
            max_output,
        };
        let is_whole = cut == 0 && self.refused.is_empty();
        let out_of_view =
            if is_whole { OutOfView::default() } else { OutOfView::between(messages, &request.messages) };
        Built { request, notes, out_of_view }
    }

    /// How many tokens there are for messages, as estimated here.
    pub(super) fn room(&self, model: &Model, max_output: u64) -> f64 {
        let window = self.told_window.unwrap_or(model.window).min(model.window);
        let room = window.saturating_sub(self.output_room(model, max_output)) as f64;
        (self.most.map_or(room, |most| most.min(room)) - tokens(self.fixed_bytes())).max(200.0)
    }

    /// What the last request was estimated at, to compare with what the provider counted.
    pub(super) fn last_estimate(&self) -> f64 {
        self.last.estimate
    }

    pub(super) fn fixed(&self) -> (f64, f64) {
        (tokens(self.system.len()), tokens(self.fixed_bytes() - self.system.len()))
    }

    fn fixed_bytes(&self) -> usize {
        let tool = |t: &ToolSpec| t.name.len() + t.description.len() + t.schema.to_string().len();
        self.system.len() + self.tools.iter().map(tool).sum::<usize>()
    }
}

/// The results of `all` that are not in `sent`, or no longer whole.
fn lost(all: &[Message], sent: &[Message]) -> Vec<CallId> {
    fn results(messages: &[Message]) -> impl Iterator<Item = &CallResult> {
        messages.iter().flat_map(|m| match m {
            Message::Results { results } => results.as_slice(),
            _ => &[],
        })
    }
    let kept: HashMap<&CallId, &CallResult> = results(sent).map(|r| (&r.id, r)).collect();
    let gone = results(all).filter(|r| kept.get(&r.id).is_none_or(|k| k.body() != r.body()));
    gone.map(|r| r.id.clone()).collect()
}

pub(super) fn tokens(bytes: usize) -> f64 {
    bytes as f64 / BYTES_PER_TOKEN
}

/// The estimated tokens of a conversation.
pub(super) fn estimate(messages: &[Message]) -> f64 {
    messages.iter().map(weight).sum()
}

pub(super) fn weight(message: &Message) -> f64 {
    let parts: f64 = parts_of(message).map(part_weight).sum();
    let blocks: f64 = match message {
        Message::Assistant(answer) => answer
            .blocks
            .iter()
            .map(|block| match block {
                Block::Text { text } => tokens(text.len()),
                Block::Thinking(t) => tokens(t.text.len() + t.redacted.as_ref().map_or(0, String::len)),
                Block::Call(call) => tokens(call.name.len() + call.input.to_replay().to_string().len() + 40),
            })
            .sum(),
        _ => 0.0,
    };
    parts + blocks + 8.0
}

pub(super) fn part_weight(part: &Part) -> f64 {
    match part {
        Part::Text { text } => tokens(text.len()),
        Part::Image(image) => image.tokens() as f64,
    }
}

fn parts_of(message: &Message) -> Box<dyn Iterator<Item = &Part> + '_> {
    match message {
        Message::User { parts } => Box::new(parts.iter()),
        Message::Results { results } => Box::new(results.iter().flat_map(|r| r.parts.iter())),
        Message::Assistant(_) => Box::new(std::iter::empty()),
    }
}

pub(super) fn parts_of_mut(message: &mut Message) -> Box<dyn Iterator<Item = &mut Part> + '_> {
    match message {
        Message::User { parts } => Box::new(parts.iter_mut()),
        Message::Results { results } => Box::new(results.iter_mut().flat_map(|r| r.parts.iter_mut())),
        Message::Assistant(_) => Box::new(std::iter::empty()),
    }
}

/// Shortens until the estimate fits `budget`; returns how many parts gave way.
fn shorten(messages: &mut Vec<Message>, budget: f64, is_kept: &dyn Fn(&str) -> bool) -> usize {
    let mut total = estimate(messages);
    let mut cut = 0;
    if total <= budget {
        return 0;
    }
    let fresh_from = messages.len().saturating_sub(FRESH);
    cut += drop_old_results(messages.iter_mut().take(fresh_from), &mut total, budget, is_kept);
    if total <= budget {
        return cut;
    }
    for part in messages.iter_mut().take(fresh_from).flat_map(parts_of_mut) {
        if total > budget && matches!(part, Part::Image(_)) {
            total -= part_weight(part);
            *part = Part::text("[a picture was left out to fit the context window]");
            cut += 1;
        }
    }
    cut += drop_old_turns(messages, &mut total, budget);
    cut += cut_middles(messages, &mut total, budget);
    cut + drop_old_rounds(messages, &mut total, budget)
}

/// Puts a line in the place of each result, the oldest first: where it is kept whole, or which call gave it.
fn drop_old_results<'m>(
    messages: impl Iterator<Item = &'m mut Message>,
    total: &mut f64,
    budget: f64,
    is_kept: &dyn Fn(&str) -> bool,
) -> usize {
    let mut dropped = 0;
    let mut asked: HashMap<CallId, Input> = HashMap::new();
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
                    let old: f64 = result.parts.iter().map(part_weight).sum();
                    let note = Part::text(left_out(result, asked.get(&result.id), is_kept));
                    let new = part_weight(&note);
                    if old >= 60.0 && new < old {
                        result.parts = vec![note];
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

/// What stands for a result that is not sent.
fn left_out(result: &CallResult, asked: Option<&Input>, is_kept: &dyn Fn(&str) -> bool) -> String {
    let name = &result.name;
    let first = result.parts.iter().find_map(Part::as_text);
    if let Some(pad) = first.and_then(kept_as).filter(|pad| is_kept(pad)) {
        return format!(
            "[this result of {name} was left out to fit the context window; all of it is in the scratchpad `{pad}`]"
        );
    }
    let arguments = asked.map(|input| input.to_replay().to_string()).unwrap_or_default();
    let shown = arguments.get(..arguments.floor_char_boundary(ARGUMENTS)).unwrap_or_default();
    let more = if shown.len() < arguments.len() { "…" } else { "" };
    format!(
        "[this result of {name} {shown}{more} was left out to fit the context window; call it again if you need it]"
    )
}

/// Drops whole turns from the beginning; the newest one always stays.
fn drop_old_turns(messages: &mut Vec<Message>, total: &mut f64, budget: f64) -> usize {
    let mut dropped = 0;
    let mut standing: Vec<(Standing, String)> = Vec::new();
    while *total > budget {
        let next_turn =
            messages.iter().skip(1).position(|m| matches!(m, Message::User { .. })).map(|at| at + 1);
        let Some(end) = next_turn else { break };
        for message in messages.drain(..end) {
            *total -= weight(&message);
            for text in parts_of(&message).filter_map(Part::as_text) {
                standing.extend(standing::kind_of(text).map(|kind| (kind, text.to_string())));
            }
        }
        dropped += end;
    }
    if dropped > 0 {
        let mut notes = vec![
            "[placet: the beginning of this conversation was left out to fit the context window]".to_string(),
        ];
        let told_later: Vec<Standing> =
            messages.iter().flat_map(parts_of).filter_map(|p| standing::kind_of(p.as_text()?)).collect();
        for kind in standing::KINDS.into_iter().filter(|kind| !told_later.contains(kind)) {
            notes.extend(standing.iter().rev().find(|(k, _)| *k == kind).map(|(_, text)| text.clone()));
        }
        if let Some(Message::User { parts }) = messages.first_mut() {
            *total += notes.iter().map(|note| tokens(note.len())).sum::<f64>();
            parts.splice(0..0, notes.into_iter().map(Part::text));
        }
    }
    dropped
}

/// Drops rounds from the beginning of the one turn that is left; the newest one always stays.
fn drop_old_rounds(messages: &mut Vec<Message>, total: &mut f64, budget: f64) -> usize {
    let note = "[placet: the beginning of this work was left out to fit the context window]";
    let mut dropped = 0;
    let is_round = |messages: &[Message]| {
        matches!(
            messages,
            [Message::User { .. }, Message::Assistant(_), Message::Results { .. }, Message::Assistant(_), ..]
        )
    };
    while *total > budget && is_round(messages) {
        *total -= messages.drain(1..3).map(|m| weight(&m)).sum::<f64>();
        if dropped == 0
            && let Some(Message::User { parts }) = messages.first_mut()
        {
            parts.push(Part::text(note));
            *total += tokens(note.len());
        }
        dropped += 2;
    }
    dropped
}

/// Cuts the middles out of the longest texts until everything fits.
fn cut_middles(messages: &mut [Message], total: &mut f64, budget: f64) -> usize {
    let mut cut = 0;
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

/// Every text of a message that may be shortened: what was said, what came back, and the arguments of calls.
fn texts_mut(message: &mut Message) -> Vec<&mut String> {
    match message {
        Message::Assistant(answer) => {
            let mut texts = Vec::new();
            for block in &mut answer.blocks {
                match block {
                    Block::Text { text } => texts.push(text),
                    Block::Call(Call { input: Input::Object(value), .. }) => strings(value, &mut texts),
                    Block::Call(_) | Block::Thinking(_) => {}
                }
            }
            texts
        }
        other => parts_of_mut(other)
            .filter_map(|p| match p {
                Part::Text { text } => Some(text),
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

/// The whole numbers in a server's message, thousands separators allowed.
fn figures(message: &str) -> Vec<u64> {
    let cleaned: String = message.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    cleaned.split(|c: char| !c.is_ascii_digit()).filter_map(|run| run.parse().ok()).collect()
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
