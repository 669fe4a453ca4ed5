//! What a person does with the summary of the beginning of a conversation: read it, rewrite it,
//! undo it.
//!
//! The record keeps every message, so nothing is lost by any of it; only what is sent changes, from the next request on.
//! Each step is saved before it holds. Making a summary is [`super::compact`].

use super::Agent;
use super::event::TurnEvent;
use crate::conversation::{ConversationSummary, Note};
use crate::session::{SessionError, SessionRecord};
use tokio::sync::mpsc::UnboundedSender;

/// How far below the setting the person is warned.
const AHEAD: f64 = 0.10;

impl Agent {
    /// What the model has in place of the beginning, and of how many messages.
    pub fn summary(&self) -> Option<(&str, usize)> {
        let summary = self.summaries.last()?;
        let text = summary.notes.iter().find_map(|note| match note {
            Note::Summary { text } => Some(text),
            _ => None,
        })?;
        Some((text, summary.upto))
    }

    /// The summary in the person's words. What looks like a secret is kept from the model here as well.
    pub fn rewrite_summary(&mut self, text: &str) -> Result<(), SessionError> {
        let Some(summary) = self.summaries.last() else { return Ok(()) };
        let text = self.parts.gate.secrets.redact(text.trim()).into_owned();
        let others = summary.notes.iter().filter(|note| !matches!(note, Note::Summary { .. })).cloned();
        let notes = std::iter::once(Note::Summary { text }).chain(others).collect();
        let summary = ConversationSummary { upto: summary.upto, notes };
        self.take(summary)?;
        // The provider's last count was of a request with the old summary.
        self.set_last_prompt(0);
        Ok(())
    }

    /// Takes the last summary away: its messages are sent again. Says of how many it was; nothing where there is none.
    pub fn undo_summary(&mut self) -> Result<Option<usize>, SessionError> {
        let Some(upto) = self.summaries.last().map(|summary| summary.upto) else { return Ok(None) };
        self.append_record(SessionRecord::SummaryUndone)?;
        match &self.parts.session {
            // What it stands for was not read.
            Some(session) if self.begins > 0 => {
                let loaded = session.store().load(session.id())?;
                self.read(loaded.transcript, loaded.summaries);
            }
            _ => drop(self.summaries.pop()),
        }
        self.context.reset_rejected();
        self.restore_reported();
        // The provider's last count was of a request with the summary that is gone now.
        self.set_last_prompt(0);
        // Otherwise the next request would begin with another one.
        self.not_summed_up = Some(self.transcript.len());
        Ok(Some(upto))
    }

    /// Says once for each climb that the window fills up, while there is still time to choose when.
    pub(super) fn warn_ahead(&mut self, events: &UnboundedSender<TurnEvent>) {
        let at = self.parts.sum_up_at;
        if at <= AHEAD {
            return;
        }
        let full = self.fullness();
        let is_near = full > at - AHEAD;
        if is_near && !self.warned && full <= at {
            let words = format!(
                "the model's window is {:.0}% full: at {:.0}% the beginning is summarized; /compact does it now",
                full * 100.0,
                at * 100.0
            );
            drop(events.send(TurnEvent::Notice(words)));
        }
        self.warned = is_near;
    }
}
