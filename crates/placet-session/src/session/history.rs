//! What the person typed, over all sessions: the source of Up, Ctrl-R and hints.

use super::SessionError;
use crate::session::database::store::{SessionStore, now};
use rusqlite::params;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryLine {
    pub line: String,
    pub cwd: String,
}

/// Lines stored; the oldest go first, a hundred at a time.
const KEPT: i64 = 20_000;

impl SessionStore {
    /// The newest `limit` lines, oldest first.
    pub fn history(&self, limit: usize) -> Result<Vec<HistoryLine>, SessionError> {
        let conn = self.lock();
        let mut query = conn.prepare("SELECT line, cwd FROM history ORDER BY id DESC LIMIT ?1")?;
        let rows = query.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
            Ok(HistoryLine { line: row.get(0)?, cwd: row.get(1)? })
        })?;
        let mut lines: Vec<HistoryLine> = rows.collect::<Result<_, _>>()?;
        lines.reverse();
        Ok(lines)
    }

    /// Adds a line; one equal to the newest is not added again.
    pub fn remember(&self, line: &str, cwd: &Path) -> Result<(), SessionError> {
        let conn = self.lock();
        conn.execute(
            "INSERT INTO history (at, cwd, line) SELECT ?1, ?2, ?3
             WHERE ?3 IS NOT (SELECT line FROM history ORDER BY id DESC LIMIT 1)",
            params![now(), cwd.to_string_lossy(), line],
        )?;
        let id = conn.last_insert_rowid();
        if id % 100 == 0 {
            conn.execute("DELETE FROM history WHERE id <= ?1", [id - KEPT])?;
        }
        Ok(())
    }
}
