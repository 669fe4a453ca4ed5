//! What happened and could not be written down: a full disk ends a turn, and must not leave a hole in the session.
//!
//! Messages that could not be saved stay part of the conversation here, and are written before the next thing is. Nothing
//! is tried again by itself: the next turn does it, and until then the person has been warned.

use crate::agent::Agent;
use crate::session::{SessionError, SessionRecord};

impl Agent {
    /// Writes `record` down, after what could not be written before it: all of it, or nothing.
    pub(in crate::agent) fn append_record(&mut self, record: SessionRecord) -> Result<(), SessionError> {
        let Some(session) = &mut self.parts.session else { return Ok(()) };
        if self.unwritten.is_empty() {
            let message = matches!(record, SessionRecord::Message { .. }).then(|| record.clone());
            return session.append(record).inspect_err(|_| self.unwritten.extend(message));
        }
        let mut all = self.unwritten.clone();
        all.push(record.clone());
        match session.append_all(all) {
            Ok(()) => self.unwritten.clear(),
            Err(e) => {
                // Only messages follow from one another; the others are reported and given up where they come
                // from.
                self.unwritten.extend(matches!(record, SessionRecord::Message { .. }).then_some(record));
                return Err(e);
            }
        }
        Ok(())
    }
}
