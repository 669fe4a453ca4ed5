//! Sessions that the settings do not retain: found, and removed once a day.
//!
//! A session with pending changes stays, whatever the settings are: its changes exist nowhere else.

use super::App;
use crate::session::{RetentionPolicy, SessionError, SessionRow, SessionStore};
use crate::text::human_size;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

impl App {
    fn retention(&self) -> RetentionPolicy {
        let settings = &self.config.settings().storage;
        let set = |number: u64| Some(number).filter(|n| *n > 0);
        RetentionPolicy {
            age: set(settings.sessions_keep_days)
                .map(|days| DAY.saturating_mul(u32::try_from(days).unwrap_or(u32::MAX))),
            bytes: set(settings.sessions_keep_bytes),
        }
    }

    /// The sessions that would go.
    pub fn prunable(&self, store: &SessionStore) -> Result<Vec<SessionRow>, SessionError> {
        store.prunable(self.retention(), &|name| self.is_pending(name))
    }

    /// Removes them.
    pub fn prune(&self, store: &SessionStore) -> Result<Vec<SessionRow>, SessionError> {
        store.prune(self.retention(), &|name| self.is_pending(name))
    }

    /// The same once a day, where the settings ask for it. The sentence reports what was removed.
    pub fn prune_daily(&self, store: &SessionStore) -> Option<String> {
        if self.retention() == RetentionPolicy::default() {
            return None;
        }
        let mark = store.dir().join("sessions.pruned");
        let age = std::fs::metadata(&mark).and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
        if age.is_some_and(|age| age < DAY) {
            return None;
        }
        // Marked before the work, so that an error is reported once a day and not at every start.
        drop(crate::private::write_quick(&mark, b""));
        let gone = match self.prune(store) {
            Ok(gone) if gone.is_empty() => return None,
            Ok(gone) => gone,
            Err(e) => return Some(format!("old sessions could not be removed: {e}")),
        };
        let bytes = gone.iter().map(|row| row.bytes.unsigned_abs()).sum();
        let s = if gone.len() == 1 { "" } else { "s" };
        let (n, bytes) = (gone.len(), human_size::of(bytes));
        Some(format!(
            "removed {n} session{s} ({bytes}) because of `sessions.keep_days` and `sessions.keep_bytes`"
        ))
    }
}
