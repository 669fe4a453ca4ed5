//! Compaction: the model summarizes the beginning of a long conversation.
//!
//! The session stores every message; only the requests change. The person starts a compaction, or placet starts one
//! before the window is full. A beginning that is longer than the window is summarized piece by piece; each piece is
//! sent with the summary of the earlier pieces. placet itself adds what it knows (open steps, scratchpads, files that
//! were read, pending changes), because the model's summary may omit it. If a compaction fails, nothing changes:
//! requests are shortened when they are sent ([`super::request`]), as usual.

use super::budget::BudgetCheck;
use super::conversation::log::Conversation;
use super::conversation::notes::newest_first;
use super::event::{TurnEvent, TurnEvents};
use super::request::client::ModelClient;
use super::request::usage::fullness;
use super::request::weight::{estimate, weight};
use super::services::SharedServices;
use super::session_checks::SessionChecks;
use super::turn::ending::TurnEnding;
use futures_util::StreamExt;
use placet_provider::{ModelRequest, ProviderError, StreamEvent};
use placet_text::conversation::{AssistantMessage, ConversationSummary, Message, Note, Part, PinnedNoteKind};
use placet_text::text::sanitize::name;
use placet_tools::{TodoStatus, todo_lines, todos_in};
use placet_workspace::LayerKind;
use std::fmt::Write;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// The share of the window that the newest messages may take; they are not summarized.
const KEPT: f64 = 0.15;
/// The share of the conversation that is not summarized in a compaction that the person started.
const KEPT_OF_ALL: f64 = 0.25;
/// The share of the window that one piece of the beginning may take.
const PIECE: f64 = 0.6;
/// A conversation of fewer tokens would not become shorter.
const TOO_SHORT: f64 = 600.0;
/// Tokens a summary may have.
const LONGEST: u64 = 8_000;
/// The most pieces: if the beginning is still longer, its oldest results are omitted.
const MOST_PIECES: usize = 12;
/// After so many messages a failed attempt is repeated.
const AGAIN: usize = 12;
/// How many names of files and scratchpads are listed.
const LISTED: usize = 60;
/// How far below the threshold the person is warned.
const AHEAD: f64 = 0.10;

/// When the conversation is summarized, and the state of earlier attempts.
pub(super) struct CompactionState {
    /// How full the window may be, from 0 to 1; 0 never summarizes.
    threshold: f64,
    /// How many messages there were when a compaction failed, or when a summary was undone: it is not repeated at once.
    pub(super) failed_at: Option<usize>,
    /// The person was warned that the window fills up.
    is_warned: bool,
}

impl CompactionState {
    pub(super) fn new(threshold: f64) -> CompactionState {
        CompactionState { threshold, failed_at: None, is_warned: false }
    }

    /// Warns once per climb that the window fills up, while the person can still choose the time.
    pub(super) fn warn_ahead(&mut self, fullness: f64, events: &TurnEvents) {
        let at = self.threshold;
        if at <= AHEAD {
            return;
        }
        let is_near = fullness > at - AHEAD;
        if is_near && !self.is_warned && fullness <= at {
            events.notice(format!(
                "the model's window is {:.0}% full: at {:.0}% the beginning is summarized; /compact does it now",
                fullness * 100.0,
                at * 100.0
            ));
        }
        self.is_warned = is_near;
    }
}

/// Why nothing was summarized.
enum CompactError {
    /// A summary would not make anything shorter.
    Short,
    Stopped,
    /// The request may not be paid for.
    Blocked(TurnEnding),
    Failed(String),
}

/// Who starts a compaction: one that the person starts may summarize more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CompactCause {
    Person,
    Window,
}

/// The parts of a conversation that a summary is made with.
pub(super) struct Compaction<'a> {
    pub(super) conversation: &'a mut Conversation,
    pub(super) client: &'a mut ModelClient,
    pub(super) state: &'a mut CompactionState,
    pub(super) checks: &'a SessionChecks,
    pub(super) services: &'a SharedServices,
    pub(super) events: &'a TurnEvents,
}

impl Compaction<'_> {
    /// The whole turn of `/compact`.
    pub(super) async fn run_turn(mut self, focus: &str, stop: &CancellationToken) -> TurnEnding {
        match self.compact(focus, CompactCause::Person, stop).await {
            Ok(words) => {
                self.events.notice(words);
                TurnEnding::Done
            }
            Err(CompactError::Stopped) => {
                self.client.settle(self.conversation, self.events);
                TurnEnding::Interrupted
            }
            Err(CompactError::Blocked(ending)) => ending,
            Err(CompactError::Short) => {
                self.events.notice("nothing to summarize: the conversation is already short");
                TurnEnding::Done
            }
            Err(CompactError::Failed(why)) => TurnEnding::Blocked {
                why: format!("the conversation was not summarized: {why}"),
                hint: Some("nothing has changed; /compact tries again".into()),
            },
        }
    }

    /// Summarizes before the window is full. A failure is reported, and the turn continues.
    pub(super) async fn run_in_time(
        mut self,
        cancel: &CancellationToken,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let count = self.conversation.transcript.len();
        let waits = self.state.failed_at.is_some_and(|failed| count < failed + AGAIN);
        let at = self.state.threshold;
        if waits || at <= 0.0 || fullness(self.client, self.conversation) <= at {
            return Ok(());
        }
        self.events.notice("the conversation nearly fills the model's window: summarizing its beginning");
        let either = cancel.child_token();
        let compacted = tokio::select! {
            compacted = self.compact("", CompactCause::Window, &either) => compacted,
            () = stop.cancelled() => Err(CompactError::Stopped),
        };
        self.client.settle(self.conversation, self.events);
        self.state.failed_at = Some(self.conversation.transcript.len());
        match compacted {
            Ok(words) => {
                self.state.failed_at = None;
                self.events.notice(words);
                // The summary was a separate request.
                self.check_budget(stop).await?;
            }
            // There may be something to summarize after the next turn.
            Err(CompactError::Short) => {
                self.state.failed_at = Some((self.conversation.transcript.len() + 2).saturating_sub(AGAIN))
            }
            Err(CompactError::Stopped) => {}
            Err(CompactError::Blocked(ending)) => return Err(ending),
            Err(CompactError::Failed(why)) => self.events.notice(format!(
                "the conversation was not summarized: {why}; older parts are left out instead"
            )),
        }
        Ok(())
    }

    async fn check_budget(&mut self, stop: &CancellationToken) -> Result<(), TurnEnding> {
        let (store, events) = (self.conversation.store(), self.events);
        BudgetCheck { client: self.client, store, events, stop }.run().await
    }

    async fn compact(
        &mut self,
        focus: &str,
        cause: CompactCause,
        cancel: &CancellationToken,
    ) -> Result<String, CompactError> {
        let before = estimate(&self.conversation.sent());
        if before < TOO_SHORT {
            return Err(CompactError::Short);
        }
        let window = self.client.model.spec.window as f64;
        let kept = match cause {
            CompactCause::Person => (KEPT * window).min(KEPT_OF_ALL * before),
            CompactCause::Window => KEPT * window,
        };
        let upto = cut_at(self.conversation.unsummarized(), kept, cause).ok_or(CompactError::Short)?;
        let trigger = if cause == CompactCause::Person { "manual" } else { "auto" };
        if let Some(why) = self.checks.before_summary(trigger, focus, self.events, cancel).await {
            return Err(CompactError::Failed(why));
        }
        let room = self.client.context.room(&self.client.model.spec, self.longest()) * PIECE;
        let mut so_far = self.conversation.summary().map(|(text, _)| text.to_string());
        let mut begin = 0;
        let ends = pieces(self.conversation.unsummarized(), upto, room);
        for (at, end) in ends.iter().enumerate() {
            if ends.len() > 1 {
                self.events.notice(format!("summarizing, part {} of {}", at + 1, ends.len()));
            }
            let piece = self.conversation.unsummarized().get(begin..*end).unwrap_or(&[]).to_vec();
            let messages = asking(so_far.as_deref(), piece, focus);
            so_far = Some(self.ask_for_summary(messages, cancel).await?);
            begin = *end;
        }
        let notes = self.notes(so_far.unwrap_or_default(), upto);
        let summary = ConversationSummary { upto: self.conversation.summarized() + upto, notes };
        self.conversation
            .add_summary(summary, self.services)
            .map_err(|e| CompactError::Failed(e.to_string()))?;
        self.client.context.reset_rejected();
        // The provider's last count was of the request for the summary, and is useless for the next requests.
        self.client.costs.last_prompt = 0;
        let after = estimate(&self.conversation.sent());
        Ok(format!(
            "summarized {upto} messages: about {} tokens became {}; /transcript shows the whole conversation",
            short(before),
            short(after)
        ))
    }

    /// How many tokens a summary of this model may have.
    fn longest(&self) -> u64 {
        LONGEST.min(self.client.model.max_output)
    }

    /// Asks the model for a summary. A request that is too long for the window is sent again, shorter.
    async fn ask_for_summary(
        &mut self,
        messages: Vec<Message>,
        cancel: &CancellationToken,
    ) -> Result<String, CompactError> {
        let mut attempts = 0;
        loop {
            let longest = self.longest();
            let built = self.client.context.build(&messages, &self.client.model.spec, longest);
            let request = built.map_err(|too_long| CompactError::Failed(too_long.to_string()))?.request;
            self.check_budget(cancel).await.map_err(|ending| match ending {
                TurnEnding::Interrupted => CompactError::Stopped,
                ending => CompactError::Blocked(ending),
            })?;
            match self.receive_summary(request, cancel).await {
                Ok(answer) => {
                    self.client.close(&answer, self.conversation, self.events);
                    let text = self.services.secrets().redact(&answer.text()).trim().to_string();
                    return match text.is_empty() {
                        true => Err(CompactError::Failed("the model wrote nothing".into())),
                        false => Ok(text),
                    };
                }
                Err(error) => {
                    self.client.settle(self.conversation, self.events);
                    match error {
                        ProviderError::TooLong { message, exceeded } if attempts < 2 => {
                            attempts += 1;
                            let said = (message.as_str(), exceeded);
                            self.client.context.reduce_limit(said, &self.client.model.spec);
                        }
                        ProviderError::Cancelled => return Err(CompactError::Stopped),
                        error => return Err(CompactError::Failed(self.checks.unseen(error).to_string())),
                    }
                }
            }
        }
    }

    async fn receive_summary(
        &mut self,
        request: ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<AssistantMessage, ProviderError> {
        let mut stream = self.client.send(request, self.conversation, self.events, cancel.child_token());
        while let Some(event) = stream.next().await {
            let event = event?;
            self.client.observe(&event, self.conversation, self.events);
            match event {
                StreamEvent::Finished(answer) => return Ok(answer),
                StreamEvent::Retrying { attempt, of, wait, error } => {
                    self.events.send(TurnEvent::Retrying { attempt, of, wait, error });
                }
                StreamEvent::Silent { since } => self.events.send(TurnEvent::Silent { since }),
                _ => {}
            }
        }
        Err(ProviderError::Protocol("the stream ended too early".into()))
    }

    /// The summary of `upto` messages, what placet adds to it, and the notes that still apply.
    fn notes(&self, mut text: String, upto: usize) -> Vec<Note> {
        text.push_str(&known_facts(self.conversation, self.services));
        let before = self.conversation.unsummarized().get(..upto).unwrap_or(&[]);
        // The earlier notes that still apply are in the last summary.
        let earlier = self.conversation.last_summary().map_or(&[][..], |summary| &summary.notes);
        let newest = |kind: PinnedNoteKind| {
            let mut notes = newest_first(before).chain(earlier.iter().rev());
            notes.find(|note| note.pinned_kind() == Some(kind)).cloned()
        };
        let kinds = [PinnedNoteKind::Instructions, PinnedNoteKind::Skills, PinnedNoteKind::Mode];
        let pinned = kinds.into_iter().filter_map(newest);
        std::iter::once(Note::Summary { text }).chain(pinned).collect()
    }
}

/// Facts that placet knows, whatever the model remembers.
fn known_facts(conversation: &Conversation, services: &SharedServices) -> String {
    let mut out = String::new();
    let todos = todos_in(&conversation.transcript);
    if todos.iter().any(|item| item.status != TodoStatus::Done) {
        let _ = writeln!(out, "The list of steps:\n{}", todo_lines(&todos).join("\n"));
    }
    let pads = services.env.scratchpads.list().into_iter();
    let pads: Vec<String> = pads.map(|(name, bytes)| format!("{name} ({bytes} bytes)")).collect();
    push_list(&mut out, "Scratchpads", &pads);
    let workspace = &services.env.workspace;
    let shown = |path: &Path| name(&workspace.shown(path)).into_owned();
    let seen: Vec<String> = services.ledger().paths().map(shown).collect();
    push_list(
        &mut out,
        "Files read or written so far (read a file again before you edit it: you no longer see its content)",
        &seen,
    );
    let pending = workspace.view().and_then(|view| view.changes(LayerKind::Pending).ok()).unwrap_or_default();
    let pending: Vec<String> = pending.changes.iter().map(|change| shown(&change.path)).collect();
    push_list(&mut out, "Changed and waiting for the person", &pending);
    if out.is_empty() { out } else { format!("\n\n[what placet knows]\n{}", out.trim_end()) }
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

/// The end of the beginning that is summarized: at a message of the person or an answer, never between a call and its
/// result, with at most `kept` tokens after it if possible.
fn cut_at(messages: &[Message], kept: f64, cause: CompactCause) -> Option<usize> {
    let is_boundary = |at: usize| match messages.get(at) {
        Some(message) => !matches!(message, Message::Results { .. }),
        // After the last message: only if no call is open.
        None => {
            cause == CompactCause::Person
                && matches!(messages.last(), Some(Message::Assistant(answer)) if answer.calls().next().is_none())
        }
    };
    let mut tail = 0.0;
    let mut found = None;
    for at in (1..=messages.len()).rev() {
        tail += messages.get(at).map_or(0.0, weight);
        if tail > kept && found.is_some() {
            break;
        }
        if is_boundary(at) {
            found = Some(at);
        }
    }
    // A summary with only one more message would not become shorter in a new summary.
    found.filter(|at| *at >= 2)
}

/// The ends of pieces of at most `room` tokens, never between a call and its result.
fn pieces(messages: &[Message], upto: usize, room: f64) -> Vec<usize> {
    let total: f64 = messages.get(..upto).unwrap_or(&[]).iter().map(weight).sum();
    let room = room.max(total / MOST_PIECES as f64);
    let mut ends = Vec::new();
    let mut used = 0.0;
    for at in 0..upto {
        let Some(message) = messages.get(at) else { break };
        let begin = ends.last().copied().unwrap_or(0);
        if used + weight(message) > room && at > begin && !matches!(message, Message::Results { .. }) {
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
