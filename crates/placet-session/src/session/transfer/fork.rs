//! A new session that begins with the content of another one.
//!
//! It is a copy: from then on the two sessions are independent. The cost of the first session stays with it, and also
//! its pending changes.

use crate::session::conversation::record::{SessionRecord, SessionStateKey};
use crate::session::database::store::{SessionRow, SessionStore};
use crate::session::{OpenSession, SessionError};
use placet_text::conversation::SessionId;
use rusqlite::params;
use std::path::Path;

impl SessionStore {
    /// Begins a session with the first `messages` of `from`, its summaries, its scratchpads and its classification.
    pub fn fork(&self, from: &SessionRow, messages: usize, cwd: &Path) -> Result<SessionId, SessionError> {
        let loaded = self.load(&from.id)?;
        let all = loaded.transcript.messages();
        let whole = messages >= all.len();
        let taken =
            all.iter().take(messages).map(|message| SessionRecord::Message { message: message.clone() });
        let summaries = loaded.summaries.iter().filter(|summary| summary.upto <= messages);
        let mut records: Vec<SessionRecord> = taken.collect();
        records.extend(summaries.map(|summary| SessionRecord::SummedUp { summary: summary.clone() }));
        records.extend(
            loaded.withheld.into_iter().map(|(hash, reason)| SessionRecord::Withheld { hash, reason }),
        );
        let mut session = self.begin_with(cwd, &from.title, records)?;
        if let Some(level) = self.state(&from.id, SessionStateKey::Taint)? {
            session.set(SessionStateKey::Taint, &level)?;
        }
        // What the model saw in turns that it does not have any more, it must read again.
        if let Some(seen) = self.state(&from.id, SessionStateKey::Ledger)?.filter(|_| whole) {
            session.set(SessionStateKey::Ledger, &seen)?;
        }
        session.take_pads_of(&from.id)?;
        Ok(session.id().clone())
    }

    /// A session that holds `records` from its beginning on, or none at all.
    pub(in crate::session) fn begin_with(
        &self,
        cwd: &Path,
        title: &str,
        records: Vec<SessionRecord>,
    ) -> Result<OpenSession, SessionError> {
        let mut session = self.create(cwd, title)?;
        if let Err(e) = session.append_all(records) {
            let id = session.id().clone();
            // Closed first, because `delete` takes the lock of the session itself.
            drop(session);
            self.delete(&id)?;
            return Err(e);
        }
        Ok(session)
    }
}

impl OpenSession {
    fn take_pads_of(&mut self, other: &SessionId) -> Result<(), SessionError> {
        let conn = self.store().lock();
        for copy in [
            "INSERT OR REPLACE INTO scratchpad (session, name, body)
             SELECT ?1, name, body FROM scratchpad WHERE session = ?2",
            // The size of each large one is stored next to it.
            "INSERT OR REPLACE INTO state (session, key, value)
             SELECT ?1, key, value FROM state WHERE session = ?2 AND key LIKE 'pad:%'",
        ] {
            conn.execute(copy, params![self.id().as_str(), other.as_str()])?;
        }
        Ok(())
    }
}
