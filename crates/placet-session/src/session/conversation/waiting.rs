//! A long conversation that is read while the person types: what the screen needs of it is known without its messages.

use super::earlier_format::FIRST_WITH_NOTES;
use super::record::SessionStateKey;
use crate::session::SessionError;
use crate::session::database::store::{SessionRow, SessionStore};
use placet_text::conversation::Message;
use rusqlite::params;

/// Entries from which on reading them all takes longer than a person should wait for a prompt.
const MANY: i64 = 1000;
/// The last entries that are read at once: more than two screens of turns.
const LAST: i64 = 200;

/// What is known of a conversation before its messages are read.
pub struct SessionOutline {
    pub messages: usize,
    /// How many of them the person wrote.
    pub said: usize,
    pub last: Vec<Message>,
}

impl SessionStore {
    /// The outline of a long session. `None` where all of it must be read to know where it ends: it is short, it was
    /// summarized or rewound, a crash left something open, or an earlier version wrote parts of it.
    pub fn outline(&self, row: &SessionRow) -> Result<Option<SessionOutline>, SessionError> {
        if row.entries < MANY || self.state(&row.id, SessionStateKey::Partial)?.is_some() {
            return Ok(None);
        }
        // A body begins with its tags: the rest of it is not read.
        let counted = self.lock().query_row(
            "SELECT count(*),
                    coalesce(sum(substr(head, 1, 17) = '{\"kind\":\"message\"'), 0),
                    coalesce(sum(head = '{\"kind\":\"message\",\"message\":{\"role\":\"user\"'), 0),
                    coalesce(sum(format >= ?2 AND substr(head, 1, 14) IN ('{\"kind\":\"messa', '{\"kind\":\"cost\"')), 0)
             FROM (SELECT format, substr(body, 1, 42) AS head FROM entry WHERE session = ?1)",
            params![row.id.as_str(), FIRST_WITH_NOTES],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )?;
        let (entries, messages, said, plain): (i64, i64, i64, i64) = counted;
        let last = self.last_messages(row, LAST);
        // A call that was never answered is completed by the whole load.
        let is_open = match last.last() {
            Some(Message::Assistant(answer)) => answer.calls().next().is_some(),
            last => last.is_none(),
        };
        if entries != row.entries || plain != entries || is_open {
            return Ok(None);
        }
        let count = |number: i64| usize::try_from(number).unwrap_or(0);
        Ok(Some(SessionOutline { messages: count(messages), said: count(said), last }))
    }
}
