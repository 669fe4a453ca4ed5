//! Which sessions are removed, by age and by total size, and their removal.
//!
//! A pinned session is never removed, nor an open session, nor a session that another part of placet needs.

use super::store::{SessionRow, SessionStore, now};
use crate::session::SessionError;
use std::time::Duration;

/// How much is stored. Without a limit everything is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionPolicy {
    pub age: Option<Duration>,
    pub bytes: Option<u64>,
}

impl SessionStore {
    /// The sessions over the limits of `keep`, the oldest first. `needed` names sessions that must stay.
    pub fn prunable(
        &self,
        keep: RetentionPolicy,
        needed: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<SessionRow>, SessionError> {
        let mut rows = self.list(usize::MAX)?;
        rows.sort_by_key(|row| row.updated);
        let oldest =
            keep.age.map(|age| now().saturating_sub(i64::try_from(age.as_millis()).unwrap_or(i64::MAX)));
        let mut total: u64 = rows.iter().map(|row| row.bytes.unsigned_abs()).sum();
        let mut out = Vec::new();
        for row in rows {
            let is_old = oldest.is_some_and(|oldest| row.updated < oldest);
            let is_too_much = keep.bytes.is_some_and(|most| total > most);
            if (is_old || is_too_much) && !row.pinned && !needed(row.id.as_str()) {
                total = total.saturating_sub(row.bytes.unsigned_abs());
                out.push(row);
            }
        }
        Ok(out)
    }

    /// Removes these sessions, except sessions that are open now; returns the removed ones.
    pub fn prune(
        &self,
        keep: RetentionPolicy,
        needed: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<SessionRow>, SessionError> {
        let mut gone = Vec::new();
        for row in self.prunable(keep, needed)? {
            match self.delete(&row.id) {
                Ok(()) => gone.push(row),
                Err(SessionError::Elsewhere { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(gone)
    }
}
