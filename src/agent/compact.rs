//! Summing up: the beginning of a long conversation becomes a summary that the model itself writes.
//!
//! The record keeps every message; only what is sent changes. Asked for by the person, or done in time before the window
//! is full. A beginning that is longer than the window is summed up piece by piece, each with the summary so far before
//! it. What placet knows itself (open steps, scratchpads, files that were seen, what is pending) it adds to the summary,
//! so that it does not hang on the model's memory. When summing up fails, nothing has changed: requests are shortened
//! as they are sent ([`super::request`]), as always.

use super::agent::{Agent, lock};
use super::conversation::notes::newest_first;
use super::event::TurnEvent;
use super::request::build::{estimate, weight};
use super::request::evicted::EvictedContent;
use super::turn::ending::TurnEnding;
use crate::conversation::{AssistantMessage, ConversationSummary, Message, Note, Part, PinnedNoteKind};
use crate::provider::{ProviderError, StreamEvent};
use crate::session::{SessionError, SessionRecord};
use crate::text::sanitize::name;
use crate::tools::{TodoStatus, todo_lines, todos_in};
use crate::workspace::LayerKind;
use futures_util::StreamExt;
use std::fmt::Write;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// Of the window, what the newest messages may take and are kept as they are.
const KEPT: f64 = 0.15;
/// Of a conversation that is summed up on request, what is kept as it is.
const KEPT_OF_ALL: f64 = 0.25;
/// Of the window, what one piece of the beginning may take.
const PIECE: f64 = 0.6;
/// A conversation of fewer tokens would not become shorter.
const TOO_SHORT: f64 = 600.0;
/// Tokens a summary may have.
const LONGEST: u64 = 8_000;
/// Pieces at most: of what is still longer the oldest results are left out.
const MOST_PIECES: usize = 12;
/// Messages after which a failed attempt is repeated.
const AGAIN: usize = 12;
/// Names of files and scratchpads that are listed.
const LISTED: usize = 60;

/// Why nothing was summed up.
enum CompactError {
    /// There is nothing that a summary would make shorter.
    Short,
    Stopped,
    /// It may not be paid for.
    Blocked(TurnEnding),
    Failed(String),
}

impl Agent {
    /// The whole turn of `/compact`.
    pub(super) async fn sum_up_asked(
        &mut self,
        focus: &str,
        events: &UnboundedSender<TurnEvent>,
        stop: &CancellationToken,
    ) -> TurnEnding {
        match self.sum_up(focus, true, events, stop).await {
            Ok(words) => {
                drop(events.send(TurnEvent::Notice(words)));
                TurnEnding::Done
            }
            Err(CompactError::Stopped) => {
                self.settle_request(events);
                TurnEnding::Interrupted
            }
            Err(CompactError::Blocked(ending)) => ending,
            Err(CompactError::Short) => {
                let words = "nothing to summarize: the conversation is already short";
                drop(events.send(TurnEvent::Notice(words.into())));
                TurnEnding::Done
            }
            Err(CompactError::Failed(why)) => TurnEnding::Blocked {
                why: format!("the conversation was not summarized: {why}"),
                hint: Some("nothing has changed; /compact tries again".into()),
            },
        }
    }

    /// Sums up before the window is full. A failure is reported, and the turn goes on.
    pub(super) async fn sum_up_in_time(
        &mut self,
        events: &UnboundedSender<TurnEvent>,
        cancel: &CancellationToken,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let count = self.transcript.len();
        let waits = self.not_summed_up.is_some_and(|failed| count < failed + AGAIN);
        let at = self.parts.sum_up_at;
        if waits || at <= 0.0 || self.fullness() <= at {
            return Ok(());
        }
        let words = "the conversation nearly fills the model's window: summarizing its beginning";
        drop(events.send(TurnEvent::Notice(words.into())));
        let either = cancel.child_token();
        let summed = tokio::select! {
            summed = self.sum_up("", false, events, &either) => summed,
            () = stop.cancelled() => Err(CompactError::Stopped),
        };
        self.settle_request(events);
        self.not_summed_up = Some(self.transcript.len());
        match summed {
            Ok(words) => {
                self.not_summed_up = None;
                drop(events.send(TurnEvent::Notice(words)));
                // The summary was a request of its own.
                self.may_spend(events, stop).await?;
            }
            // There may be something to sum up as soon as the next turn has been.
            Err(CompactError::Short) => {
                self.not_summed_up = Some((self.transcript.len() + 2).saturating_sub(AGAIN))
            }
            Err(CompactError::Stopped) => {}
            Err(CompactError::Blocked(ending)) => return Err(ending),
            Err(CompactError::Failed(why)) => {
                let words =
                    format!("the conversation was not summarized: {why}; older parts are left out instead");
                drop(events.send(TurnEvent::Notice(words)));
            }
        }
        Ok(())
    }

    /// The conversation as the model has it.
    pub(super) fn sent(&self) -> Vec<Message> {
        self.transcript.over(self.summaries.last()).into_owned()
    }

    async fn sum_up(
        &mut self,
        focus: &str,
        asked: bool,
        events: &UnboundedSender<TurnEvent>,
        cancel: &CancellationToken,
    ) -> Result<String, CompactError> {
        let before = estimate(&self.sent());
        let from = self.summaries.last().map_or(0, |summary| summary.upto);
        if before < TOO_SHORT {
            return Err(CompactError::Short);
        }
        let window = self.parts.model.window as f64;
        let kept = if asked { (KEPT * window).min(KEPT_OF_ALL * before) } else { KEPT * window };
        let upto = cut_at(self.transcript.since(from), 0, kept, asked).ok_or(CompactError::Short)?;
        let room = self.context.room(&self.parts.model, self.longest()) * PIECE;
        let mut so_far = self.summary().map(|(text, _)| text.to_string());
        let mut begin = 0;
        let ends = pieces(self.transcript.since(from), 0, upto, room);
        for (at, end) in ends.iter().enumerate() {
            if ends.len() > 1 {
                let words = format!("summarizing, part {} of {}", at + 1, ends.len());
                drop(events.send(TurnEvent::Notice(words)));
            }
            let piece = self.transcript.since(from).get(begin..*end).unwrap_or(&[]).to_vec();
            let messages = asking(so_far.as_deref(), piece, focus);
            so_far = Some(self.ask_for_summary(messages, events, cancel).await?);
            begin = *end;
        }
        let summary = ConversationSummary {
            upto: from + upto,
            notes: self.notes(so_far.unwrap_or_default(), from, upto),
        };
        self.take(summary).map_err(|e| CompactError::Failed(e.to_string()))?;
        // What the provider counted was the request for the summary, and says nothing of what is sent from now on.
        self.set_last_prompt(0);
        let after = estimate(&self.sent());
        Ok(format!(
            "summarized {} messages: about {} tokens became {}; /transcript shows the whole conversation",
            upto,
            short(before),
            short(after)
        ))
    }

    /// Tokens that a summary may have of this model.
    fn longest(&self) -> u64 {
        LONGEST.min(self.parts.max_output)
    }

    /// The model's own words for it. One that is too long for the window is sent again, shorter.
    async fn ask_for_summary(
        &mut self,
        messages: Vec<Message>,
        events: &UnboundedSender<TurnEvent>,
        cancel: &CancellationToken,
    ) -> Result<String, CompactError> {
        let mut attempts = 0;
        loop {
            let request = self.context.build(&messages, &self.parts.model, self.longest()).request;
            self.may_spend(events, cancel).await.map_err(|ending| match ending {
                TurnEnding::Interrupted => CompactError::Stopped,
                ending => CompactError::Blocked(ending),
            })?;
            self.open_request(events);
            let heard = self.receive_summary(request, events, cancel).await;
            match &heard {
                Ok(answer) => self.close_request(answer, events),
                Err(_) => self.settle_request(events),
            }
            match heard {
                Ok(answer) => {
                    let text = self.parts.gate.secrets.redact(&answer.text()).trim().to_string();
                    return match text.is_empty() {
                        true => Err(CompactError::Failed("the model wrote nothing".into())),
                        false => Ok(text),
                    };
                }
                Err(ProviderError::TooLong { message }) if attempts < 2 => {
                    attempts += 1;
                    self.context.reduce_limit(&message, &self.parts.model);
                }
                Err(ProviderError::Cancelled) => return Err(CompactError::Stopped),
                Err(error) => return Err(CompactError::Failed(self.unseen(error).to_string())),
            }
        }
    }

    async fn receive_summary(
        &mut self,
        request: crate::provider::ModelRequest,
        events: &UnboundedSender<TurnEvent>,
        cancel: &CancellationToken,
    ) -> Result<AssistantMessage, ProviderError> {
        let mut stream = self.parts.provider.answer(request, cancel.child_token());
        while let Some(event) = stream.next().await {
            let event = event?;
            self.meter(&event, events);
            match event {
                StreamEvent::Finished(answer) => return Ok(answer),
                StreamEvent::Retrying { attempt, of, wait, error } => {
                    drop(events.send(TurnEvent::Retrying { attempt, of, wait, error }));
                }
                StreamEvent::Silent { since } => drop(events.send(TurnEvent::Silent { since })),
                _ => {}
            }
        }
        Err(ProviderError::Protocol("the stream ended too early".into()))
    }

    /// Saved first; then it holds.
    pub(super) fn take(&mut self, summary: ConversationSummary) -> Result<(), SessionError> {
        let record = SessionRecord::SummedUp { summary: summary.clone() };
        self.append_record(record)?;
        let from = self.summaries.last().map_or(0, |before| before.upto);
        let gone = self.transcript.since(from);
        let gone = gone.get(..summary.upto.saturating_sub(from)).unwrap_or(gone);
        let out_of_view = EvictedContent::between(gone, &[]);
        self.context.reset_rejected();
        if from == summary.upto {
            // The same beginning in other words.
            self.summaries.pop();
        }
        self.summaries.push(summary);
        self.forget_unseen(out_of_view);
        self.save_ledger();
        Ok(())
    }

    /// The summary, what placet adds to it, and the notes that still hold.
    fn notes(&self, mut text: String, from: usize, upto: usize) -> Vec<Note> {
        text.push_str(&self.known());
        let before = self.transcript.since(from).get(..upto).unwrap_or(&[]);
        // What held before that is in the summary so far.
        let earlier = self.summaries.last().map_or(&[][..], |summary| &summary.notes);
        let newest = |kind: PinnedNoteKind| {
            let mut notes = newest_first(before).chain(earlier.iter().rev());
            notes.find(|note| note.pinned_kind() == Some(kind)).cloned()
        };
        let pinned = [PinnedNoteKind::Instructions, PinnedNoteKind::Mode].into_iter().filter_map(newest);
        std::iter::once(Note::Summary { text }).chain(pinned).collect()
    }

    /// What is so, whatever the model remembers.
    fn known(&self) -> String {
        let mut out = String::new();
        let todos = todos_in(&self.transcript);
        if todos.iter().any(|item| item.status != TodoStatus::Done) {
            let _ = writeln!(out, "The list of steps:\n{}", todo_lines(&todos).join("\n"));
        }
        let pads: Vec<String> = self
            .parts
            .env
            .scratchpads
            .list()
            .into_iter()
            .map(|(name, bytes)| format!("{name} ({bytes} bytes)"))
            .collect();
        push_list(&mut out, "Scratchpads", &pads);
        let workspace = &self.parts.env.workspace;
        let seen: Vec<String> = lock(&self.parts.env.ledger)
            .paths()
            .map(|path| name(&workspace.shown(path)).into_owned())
            .collect();
        push_list(
            &mut out,
            "Files read or written so far (read a file again before you edit it: you no longer see its content)",
            &seen,
        );
        let pending =
            workspace.view().and_then(|view| view.changes(LayerKind::Pending).ok()).unwrap_or_default();
        let pending: Vec<String> =
            pending.changes.iter().map(|change| name(&workspace.shown(&change.path)).into_owned()).collect();
        push_list(&mut out, "Changed and waiting for the person", &pending);
        if out.is_empty() { out } else { format!("\n\n[what placet knows]\n{}", out.trim_end()) }
    }
}

fn push_list(out: &mut String, title: &str, all: &[String]) {
    if all.is_empty() {
        return;
    }
    let more = all.len().saturating_sub(LISTED);
    let shown = all.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    let _ = write!(out, "{title}: {shown}");
    let _ = if more > 0 { writeln!(out, " and {more} more") } else { writeln!(out) };
}

/// Where the beginning ends that is summed up: at a message of the person or an answer, never between a call and its
/// result, with at most `kept` tokens behind it where that can be had.
fn cut_at(messages: &[Message], from: usize, kept: f64, asked: bool) -> Option<usize> {
    let is_boundary = |at: usize| match messages.get(at) {
        Some(message) => !matches!(message, Message::Results { .. }),
        // After everything: when no call is open.
        None => {
            asked
                && matches!(messages.last(), Some(Message::Assistant(answer)) if answer.calls().next().is_none())
        }
    };
    let mut tail = 0.0;
    let mut found = None;
    for at in (from + 1..=messages.len()).rev() {
        tail += messages.get(at).map_or(0.0, weight);
        if tail > kept && found.is_some() {
            break;
        }
        if is_boundary(at) {
            found = Some(at);
        }
    }
    // One message that is a summary already, and one more, are not made shorter by another.
    found.filter(|at| at - from >= 2)
}

/// The ends of pieces of at most `room` tokens, never between a call and its result.
fn pieces(messages: &[Message], from: usize, upto: usize, room: f64) -> Vec<usize> {
    let total: f64 = messages.get(from..upto).unwrap_or(&[]).iter().map(weight).sum();
    let room = room.max(total / MOST_PIECES as f64);
    let mut ends = Vec::new();
    let mut used = 0.0;
    for at in from..upto {
        let Some(message) = messages.get(at) else { break };
        let begins = ends.last().copied().unwrap_or(from);
        if used + weight(message) > room && at > begins && !matches!(message, Message::Results { .. }) {
            ends.push(at);
            used = 0.0;
        }
        used += weight(message);
    }
    ends.push(upto);
    ends
}

/// The messages of a request for a summary of `piece`.
fn asking(so_far: Option<&str>, piece: Vec<Message>, focus: &str) -> Vec<Message> {
    let note = |note: Note| Message::User { parts: vec![Part::Note(note)] };
    let mut messages = Vec::new();
    let opening = so_far.map(|text| Note::Summary { text: text.into() }).or_else(|| {
        // A conversation begins with the person.
        (!matches!(piece.first(), Some(Message::User { .. }))).then_some(Note::GoesOn)
    });
    messages.extend(opening.map(note));
    messages.extend(piece);
    messages.push(note(Note::SumUp { focus: focus.into() }));
    messages
}

fn short(tokens: f64) -> String {
    if tokens < 1000.0 { format!("{tokens:.0}") } else { format!("{:.1}k", tokens / 1000.0) }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
