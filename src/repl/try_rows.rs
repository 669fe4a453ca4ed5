//! Tries as rows: what `/try` and `placet try list` say of each.

use super::titles::{age, now};
use crate::session::{SessionError, SessionStore, TryName, TryRow};
use crate::text::{count, human_size, visible, width};
use crate::workspace::{ChangeCount, OutdatedChanges, View};
use std::path::Path;

/// A try, and what a list says of it.
#[derive(Clone, Debug)]
pub struct TryListRow {
    pub name: TryName,
    pub session: String,
    /// Files that are pending in it.
    pub pending: usize,
    pub outdated: OutdatedChanges,
    /// Bytes on the disk: pending changes and stored discards.
    pub bytes: u64,
    /// Milliseconds since 1970.
    pub updated: i64,
    pub last_words: String,
    /// Why the pending changes cannot be read.
    pub damage: Option<String>,
}

/// The tries of `cwd`, the last used first. `view` gives the view of a session.
pub fn tries_of(
    store: &SessionStore,
    cwd: &Path,
    view: impl Fn(&str) -> Option<View>,
) -> Result<Vec<TryListRow>, SessionError> {
    let tries = store.tries(cwd)?;
    let sessions: Vec<_> = tries.iter().map(|one| one.session.clone()).collect();
    let mut rows = Vec::new();
    for (TryRow { name, session }, overview) in tries.into_iter().zip(store.overviews(&sessions)) {
        let view = view(session.id.as_str());
        let counted = |view: &View| view.pending_count().map(ChangeCount::total);
        let (pending, damage) = match view.as_ref().map(counted) {
            Some(Ok(pending)) => (pending, None),
            Some(Err(e)) => (0, Some(e.to_string())),
            None => (0, None),
        };
        let outdated = view.as_ref().and_then(|view| view.outdated().ok()).unwrap_or_default();
        let bytes = view.as_ref().and_then(|view| view.disk_bytes().ok()).unwrap_or(0);
        let (session, updated) = (session.id.to_string(), session.updated);
        let last_words = overview.last_words;
        rows.push(TryListRow { name, session, pending, outdated, bytes, updated, last_words, damage });
    }
    Ok(rows)
}

/// One line for each, at most `room` columns wide; `current` has a mark.
pub fn try_table(rows: &[TryListRow], current: Option<&TryName>, room: usize) -> Vec<String> {
    let now = now();
    let wide = rows.iter().map(|row| row.name.as_str().len()).max().unwrap_or(0);
    let states: Vec<String> = rows.iter().map(state).collect();
    let state_wide = states.iter().map(|state| width::of(state)).max().unwrap_or(0);
    let line = |(row, state): (&TryListRow, &String)| {
        let mark = if current == Some(&row.name) { '*' } else { ' ' };
        let pad = " ".repeat(state_wide - width::of(state));
        let (age, size) = (age(row.updated, now), human_size::of(row.bytes));
        let last = visible::prose_line(&row.last_words);
        let line = format!("{mark} {:<wide$}  {state}{pad}  {age:>7}  {size:>8}  {last}", row.name.as_str());
        width::cut(&line, room).trim_end().to_string()
    };
    rows.iter().zip(&states).map(line).collect()
}

fn state(row: &TryListRow) -> String {
    if let Some(damage) = &row.damage {
        return format!("cannot be read: {}", visible::guard_line(damage));
    }
    let pending = match row.pending {
        0 => "nothing pending".to_string(),
        files => format!("{} pending", count::of(files, "file")),
    };
    let more = if row.outdated.is_partial { " or more" } else { "" };
    match row.outdated.files {
        0 => pending,
        files => format!("{pending}, {files}{more} changed since"),
    }
}
