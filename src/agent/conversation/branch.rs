//! Going back in a conversation, and over to what was left by going back.
//!
//! Both are entries of the session: nothing that was said is ever removed. Files are no part of this.

use crate::agent::Agent;
use crate::agent::agent::lock;
use crate::conversation::{ConversationSummary, Transcript};
use crate::session::{SessionError, SessionRecord, SessionStateKey};

impl Agent {
    /// Goes back to before the message `index`: what came from there on is forgotten here, and stays in the session as a
    /// branch. The model must read again what it had seen.
    pub fn rewind(&mut self, index: usize) -> Result<(), SessionError> {
        let messages = index.min(self.transcript.len());
        self.append_record(SessionRecord::Rewound { messages })?;
        self.count_branch()?;
        match &self.parts.session {
            // The summaries that hold there were not read.
            Some(session) if messages < self.begins => {
                let loaded = session.store().load(session.id())?;
                self.read(loaded.transcript, loaded.summaries);
            }
            _ => {
                self.transcript.truncate(messages);
                self.summaries.retain(|summary| summary.upto <= messages);
            }
        }
        self.reset_branch_state();
        Ok(())
    }

    /// Goes to the end of the branch whose last message is the entry `tip`. Returns what the person should know.
    pub fn go_to(&mut self, tip: i64) -> Result<Vec<String>, SessionError> {
        self.append_record(SessionRecord::Switched { entry: tip })?;
        self.count_branch()?;
        let Some(session) = &mut self.parts.session else { return Ok(Vec::new()) };
        let loaded = session.store().load(session.id())?;
        session.append_all(
            loaded.repairs.into_iter().map(|message| SessionRecord::Message { message }).collect(),
        )?;
        self.read(loaded.transcript, loaded.summaries);
        self.reset_branch_state();
        Ok(loaded.dropped)
    }

    /// The whole of it, from the session.
    pub(in crate::agent) fn read(&mut self, transcript: Transcript, summaries: Vec<ConversationSummary>) {
        self.begins = 0;
        self.transcript = transcript;
        self.summaries = summaries;
    }

    /// A turn of another branch may stand at the same place: its changes are another transaction.
    fn count_branch(&mut self) -> Result<(), SessionError> {
        self.branches += 1;
        match &self.parts.session {
            Some(session) => session.set(SessionStateKey::Branches, &self.branches.to_string()),
            None => Ok(()),
        }
    }

    fn reset_branch_state(&mut self) {
        self.not_summed_up = None;
        self.context.reset_rejected();
        lock(&self.parts.env.ledger).drop_all();
        self.save_ledger();
        self.restore_reported();
    }
}
