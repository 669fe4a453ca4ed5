//! The messages of a conversation and the session that stores them: appending, branches, and the summaries that replace
//! its beginning.
//!
//! Every step is stored before it takes effect, and no message is ever removed from the session: a rewind leaves a
//! branch, and a summary only changes the requests. Messages that could not be stored, as on a full disk, remain part
//! of the conversation in memory and are stored before the next record. There is no automatic retry: the next turn
//! stores them, and the person was warned. Files are not part of this.
//! until then the person has been warned. Files are no part of this.

use super::read_tracker::{ReadTracker, message_number};
use crate::config::TurnStart;
use crate::request::evicted::EvictedContent;
use crate::services::SharedServices;
use placet_session::session::{
    LoadedSession, OpenSession, SessionError, SessionRecord, SessionStateKey, SessionStore,
};
use placet_text::conversation::{ConversationSummary, Message, Note, Transcript};
use std::borrow::Cow;

#[derive(Default)]
pub(crate) struct Conversation {
    /// `None`: the conversation is in memory only.
    session: Option<OpenSession>,
    pub(crate) transcript: Transcript,
    /// The texts that replace the beginning for the model; the last one applies.
    summaries: Vec<ConversationSummary>,
    /// The messages before this one, and the summaries that ended among them, were not read from the session.
    first_loaded: usize,
    /// How often the conversation was rewound or switched to another branch.
    pub(crate) branches: u32,
    /// Messages that are part of the conversation and could not be stored yet.
    unsaved_messages: Vec<SessionRecord>,
    pub(crate) reads: ReadTracker,
}

impl Conversation {
    pub(crate) fn new(session: Option<OpenSession>) -> Conversation {
        Conversation { session, ..Conversation::default() }
    }

    pub(crate) fn session(&self) -> Option<&OpenSession> {
        self.session.as_ref()
    }

    pub(crate) fn store(&self) -> Option<&SessionStore> {
        self.session.as_ref().map(OpenSession::store)
    }

    /// Continues a loaded session, after the messages that complete what a crash left open.
    pub(crate) fn resume(&mut self, loaded: LoadedSession) -> Result<(), SessionError> {
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

    pub(crate) fn state(&self, key: SessionStateKey) -> Result<Option<String>, SessionError> {
        self.session.as_ref().map_or(Ok(None), |session| session.state(key))
    }

    pub(crate) fn set_state(&self, key: SessionStateKey, value: &str) -> Result<(), SessionError> {
        self.session.as_ref().map_or(Ok(()), |session| session.set(key, value))
    }

    /// Stores `record` after the records that could not be stored before: all of them, or none.
    pub(crate) fn append(&mut self, record: SessionRecord) -> Result<(), SessionError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        // Only messages depend on each other; callers report and drop other records that fail.
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

    /// Rewinds to the state before the message `index`: the later messages remain in the session as a branch.
    pub(crate) fn rewind(&mut self, index: usize) -> Result<(), SessionError> {
        let messages = index.min(self.transcript.len());
        self.append(SessionRecord::Rewound { messages })?;
        self.count_branch()?;
        // The summaries that apply there were not read.
        if messages < self.first_loaded {
            return self.reload().map(drop);
        }
        self.transcript.truncate(messages);
        self.summaries.retain(|summary| summary.upto <= messages);
        Ok(())
    }

    /// Goes to the end of the branch whose last message is the entry `tip`. Returns what the person should know.
    pub(crate) fn go_to(&mut self, tip: i64) -> Result<Vec<String>, SessionError> {
        self.append(SessionRecord::Switched { entry: tip })?;
        self.count_branch()?;
        self.reload()
    }

    /// A turn of another branch may have the same number, but its changes are another transaction.
    fn count_branch(&mut self) -> Result<(), SessionError> {
        self.branches += 1;
        self.set_state(SessionStateKey::Branches, &self.branches.to_string())
    }

    /// Reads everything from the session. Returns what the person should know.
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

    /// The conversation as the model gets it.
    pub(crate) fn sent(&self) -> Cow<'_, [Message]> {
        self.transcript.over(self.last_summary())
    }

    pub(crate) fn last_summary(&self) -> Option<&ConversationSummary> {
        self.summaries.last()
    }

    /// How many messages the last summary replaces.
    pub(crate) fn summarized(&self) -> usize {
        self.last_summary().map_or(0, |summary| summary.upto)
    }

    /// The messages after the last summary.
    pub(crate) fn unsummarized(&self) -> &[Message] {
        self.transcript.since(self.summarized())
    }

    /// The text that replaces the beginning for the model, and the number of replaced messages.
    pub(crate) fn summary(&self) -> Option<(&str, usize)> {
        let summary = self.last_summary()?;
        let text = summary.notes.iter().find_map(|note| match note {
            Note::Summary { text } => Some(text),
            _ => None,
        })?;
        Some((text, summary.upto))
    }

    /// The last summary with another text; `None` without a summary.
    pub(crate) fn summary_with(&self, text: String) -> Option<ConversationSummary> {
        let summary = self.last_summary()?;
        let others = summary.notes.iter().filter(|note| !matches!(note, Note::Summary { .. })).cloned();
        let notes = std::iter::once(Note::Summary { text }).chain(others).collect();
        Some(ConversationSummary { upto: summary.upto, notes })
    }

    /// The summary is stored first and takes effect afterwards.
    pub(crate) fn add_summary(
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
            // A new summary of the same beginning.
            self.summaries.pop();
        }
        self.summaries.push(summary);
        self.evict(evicted, services);
        self.save_ledger(services);
        Ok(())
    }

    /// Removes the last summary: its messages are sent again. Returns their number, or `None` without a summary.
    pub(crate) fn undo_summary(&mut self) -> Result<Option<usize>, SessionError> {
        let Some(upto) = self.last_summary().map(|summary| summary.upto) else { return Ok(None) };
        self.append(SessionRecord::SummaryUndone)?;
        if self.first_loaded > 0 {
            // The messages that the summary replaced were not read.
            self.reload()?;
        } else {
            self.summaries.pop();
        }
        Ok(Some(upto))
    }

    /// Content that left the model's context counts as not seen.
    pub(crate) fn evict(&mut self, evicted: EvictedContent, services: &SharedServices) {
        self.reads.evict(evicted, &self.transcript, services);
    }

    /// From now on, reads are recorded for the turn that begins next, or for the last turn if it continues. A turn
    /// begins with a message of the person.
    pub(crate) fn begin_reads(&self, start: Option<&TurnStart>, services: &SharedServices) {
        let said = self.transcript.user_message_count();
        let turn = if matches!(start, Some(TurnStart::Retry)) { said.max(1) } else { said + 1 };
        services.ledger().begin_turn(u32::try_from(turn).unwrap_or(u32::MAX));
        services.ledger().begin_message(message_number(self.transcript.len()));
    }

    /// The calls of the answer that was added last begin: what they read is recorded for it.
    pub(crate) fn begin_calls(&self, services: &SharedServices) {
        services.ledger().begin_message(message_number(self.transcript.len().saturating_sub(1)));
    }

    pub(crate) fn save_ledger(&self, services: &SharedServices) {
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
