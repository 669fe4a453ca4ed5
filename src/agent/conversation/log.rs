//! The messages of a conversation and the session that stores them: appending, branches, and the summaries that stand for
//! its beginning.
//!
//! Every step is stored before it holds, and nothing that was said is ever removed from the session: going back leaves a
//! branch, and a summary only changes what is sent. Messages that could not be stored, as on a full disk, stay part of the
//! conversation here and are stored before the next record is. Nothing is tried again by itself: the next turn does it, and
//! until then the person has been warned. Files are no part of this.

use super::read_tracker::ReadTracker;
use crate::agent::config::TurnStart;
use crate::agent::request::evicted::EvictedContent;
use crate::agent::services::SharedServices;
use crate::conversation::{ConversationSummary, Message, Note, Transcript};
use crate::session::{
    LoadedSession, OpenSession, SessionError, SessionRecord, SessionStateKey, SessionStore,
};
use std::borrow::Cow;

#[derive(Default)]
pub(in crate::agent) struct Conversation {
    /// `None`: it is in memory only.
    session: Option<OpenSession>,
    pub(in crate::agent) transcript: Transcript,
    /// What the model has instead of the beginning; the last one holds.
    summaries: Vec<ConversationSummary>,
    /// The messages before this one, and the summaries that ended among them, were not read from the session.
    first_loaded: usize,
    /// How often the conversation went back or over to another branch.
    pub(in crate::agent) branches: u32,
    /// Messages that are part of the conversation and could not be stored yet.
    unsaved_messages: Vec<SessionRecord>,
    pub(in crate::agent) reads: ReadTracker,
}

impl Conversation {
    pub(in crate::agent) fn new(session: Option<OpenSession>) -> Conversation {
        Conversation { session, ..Conversation::default() }
    }

    pub(in crate::agent) fn session(&self) -> Option<&OpenSession> {
        self.session.as_ref()
    }

    pub(in crate::agent) fn store(&self) -> Option<&SessionStore> {
        self.session.as_ref().map(OpenSession::store)
    }

    /// Continues what was loaded from the session, after the messages that complete what a crash left open.
    pub(in crate::agent) fn resume(&mut self, loaded: LoadedSession) -> Result<(), SessionError> {
        if let Some(session) = &mut self.session {
            for message in loaded.repairs {
                session.append(SessionRecord::Message { message })?;
            }
            let branches = session.state(SessionStateKey::Branches)?;
            self.branches = branches.and_then(|count| count.parse().ok()).unwrap_or(0);
        }
        self.first_loaded = loaded.transcript.begins();
        (self.transcript, self.summaries) = (loaded.transcript, loaded.summaries);
        Ok(())
    }

    pub(in crate::agent) fn state(&self, key: SessionStateKey) -> Result<Option<String>, SessionError> {
        self.session.as_ref().map_or(Ok(None), |session| session.state(key))
    }

    pub(in crate::agent) fn set_state(&self, key: SessionStateKey, value: &str) -> Result<(), SessionError> {
        self.session.as_ref().map_or(Ok(()), |session| session.set(key, value))
    }

    /// Stores `record` after what could not be stored before it: all of it, or nothing.
    pub(in crate::agent) fn append(&mut self, record: SessionRecord) -> Result<(), SessionError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        // Only messages follow from one another; the others are reported and given up where they come from.
        let message = matches!(record, SessionRecord::Message { .. }).then(|| record.clone());
        let stored = if self.unsaved_messages.is_empty() {
            session.append(record)
        } else {
            session.append_all(self.unsaved_messages.iter().cloned().chain([record]).collect())
        };
        match stored {
            Ok(()) => self.unsaved_messages.clear(),
            Err(_) => self.unsaved_messages.extend(message),
        }
        stored
    }

    /// Goes back to before the message `index`: what came from there on stays in the session as a branch.
    pub(in crate::agent) fn rewind(&mut self, index: usize) -> Result<(), SessionError> {
        let messages = index.min(self.transcript.len());
        self.append(SessionRecord::Rewound { messages })?;
        self.count_branch()?;
        // The summaries that hold there were not read.
        if messages < self.first_loaded {
            return self.reload().map(drop);
        }
        self.transcript.truncate(messages);
        self.summaries.retain(|summary| summary.upto <= messages);
        Ok(())
    }

    /// Goes to the end of the branch whose last message is the entry `tip`. Returns what the person should know.
    pub(in crate::agent) fn go_to(&mut self, tip: i64) -> Result<Vec<String>, SessionError> {
        self.append(SessionRecord::Switched { entry: tip })?;
        self.count_branch()?;
        self.reload()
    }

    /// A turn of another branch may have the same number: its changes are another transaction.
    fn count_branch(&mut self) -> Result<(), SessionError> {
        self.branches += 1;
        self.set_state(SessionStateKey::Branches, &self.branches.to_string())
    }

    /// Reads all of it from the session. Returns what the person should know.
    fn reload(&mut self) -> Result<Vec<String>, SessionError> {
        let Some(session) = &mut self.session else { return Ok(Vec::new()) };
        let loaded = session.store().load(session.id())?;
        if !loaded.repairs.is_empty() {
            let repairs = loaded.repairs.into_iter().map(|message| SessionRecord::Message { message });
            session.append_all(repairs.collect())?;
        }
        self.first_loaded = 0;
        (self.transcript, self.summaries) = (loaded.transcript, loaded.summaries);
        Ok(loaded.dropped)
    }

    /// The conversation as the model has it.
    pub(in crate::agent) fn sent(&self) -> Cow<'_, [Message]> {
        self.transcript.over(self.last_summary())
    }

    pub(in crate::agent) fn last_summary(&self) -> Option<&ConversationSummary> {
        self.summaries.last()
    }

    /// How many messages the last summary replaces.
    pub(in crate::agent) fn summarized(&self) -> usize {
        self.last_summary().map_or(0, |summary| summary.upto)
    }

    /// The messages after the last summary.
    pub(in crate::agent) fn unsummarized(&self) -> &[Message] {
        self.transcript.since(self.summarized())
    }

    /// What the model has in place of the beginning, and of how many messages.
    pub(in crate::agent) fn summary(&self) -> Option<(&str, usize)> {
        let summary = self.last_summary()?;
        let text = summary.notes.iter().find_map(|note| match note {
            Note::Summary { text } => Some(text),
            _ => None,
        })?;
        Some((text, summary.upto))
    }

    /// The last summary with another text; nothing where there is none.
    pub(in crate::agent) fn summary_with(&self, text: String) -> Option<ConversationSummary> {
        let summary = self.last_summary()?;
        let others = summary.notes.iter().filter(|note| !matches!(note, Note::Summary { .. })).cloned();
        let notes = std::iter::once(Note::Summary { text }).chain(others).collect();
        Some(ConversationSummary { upto: summary.upto, notes })
    }

    /// Stored first; then it holds.
    pub(in crate::agent) fn add_summary(
        &mut self,
        summary: ConversationSummary,
        services: &SharedServices,
    ) -> Result<(), SessionError> {
        self.append(SessionRecord::SummedUp { summary: summary.clone() })?;
        let from = self.summarized();
        let gone = self.unsummarized();
        let gone = gone.get(..summary.upto.saturating_sub(from)).unwrap_or(gone);
        let evicted = EvictedContent::between(gone, &[]);
        if from == summary.upto {
            // The same beginning in other words.
            self.summaries.pop();
        }
        self.summaries.push(summary);
        self.evict(evicted, services);
        self.save_ledger(services);
        Ok(())
    }

    /// Takes the last summary away: its messages are sent again. Says of how many it was; nothing where there is none.
    pub(in crate::agent) fn undo_summary(&mut self) -> Result<Option<usize>, SessionError> {
        let Some(upto) = self.last_summary().map(|summary| summary.upto) else { return Ok(None) };
        self.append(SessionRecord::SummaryUndone)?;
        if self.first_loaded > 0 {
            // The messages that it replaces were not read.
            self.reload()?;
        } else {
            self.summaries.pop();
        }
        Ok(Some(upto))
    }

    /// What the model no longer has before it, it has not seen.
    pub(in crate::agent) fn evict(&mut self, evicted: EvictedContent, services: &SharedServices) {
        self.reads.evict(evicted, &self.transcript, services);
    }

    /// What is shown now is shown in the turn that begins next, or in the last one where that goes on. A turn begins with
    /// what the person says.
    pub(in crate::agent) fn begin_reads(&self, start: Option<&TurnStart>, services: &SharedServices) {
        let said = self.transcript.user_message_count();
        let turn = if matches!(start, Some(TurnStart::Retry)) { said.max(1) } else { said + 1 };
        services.ledger().begin_turn(u32::try_from(turn).unwrap_or(u32::MAX));
    }

    pub(in crate::agent) fn save_ledger(&self, services: &SharedServices) {
        if self.session.is_none() {
            return;
        }
        let snapshot = services.ledger().snapshot();
        let saved = serde_json::to_string(&snapshot).map_err(SessionError::from);
        if let Err(e) = saved.and_then(|saved| self.set_state(SessionStateKey::Ledger, &saved)) {
            tracing::warn!("the list of files that the model has seen was not saved: {e}");
        }
    }
}
