//! Sessions as rows: those of this directory first, `-p` runs folded, and what each row says in aligned columns. The list
//! of the shell, the picker and `placet session list` have the same rows.

use super::titles::{age, now, short_id};
use crate::session::{SessionError, SessionOverview, SessionRow, SessionStore};
use crate::text::{visible, width};
use std::collections::HashMap;
use std::path::Path;

/// Columns of a title at most.
const TITLE: usize = 36;

/// A session, and what a list says of it.
#[derive(Clone, Debug)]
pub struct SessionListRow {
    pub row: SessionRow,
    pub overview: SessionOverview,
    /// Changes that wait for the person.
    pub pending: usize,
    pub is_here: bool,
}

/// The sessions that a list shows at first, and the others.
#[derive(Clone, Debug, Default)]
pub struct SessionListing {
    /// Of this directory, without `-p` runs.
    pub here: Vec<SessionListRow>,
    /// Of other directories, without `-p` runs.
    pub elsewhere: Vec<SessionListRow>,
    /// `-p` runs that left nothing pending, those of this directory first.
    pub one_shots: Vec<SessionListRow>,
}

impl SessionListing {
    /// At most the `most` last used sessions.
    pub fn of(
        store: &SessionStore,
        most: usize,
        cwd: &Path,
        pending: &HashMap<String, usize>,
    ) -> Result<SessionListing, SessionError> {
        let rows = store.list(most)?;
        let overviews = store.overviews(&rows);
        let mut out = SessionListing::default();
        let mut runs_elsewhere = Vec::new();
        for (row, overview) in rows.into_iter().zip(overviews) {
            let pending = pending.get(row.id.as_str()).copied().unwrap_or(0);
            let is_here = row.cwd == cwd;
            // A run that left something to decide is no less than a conversation, and so is one with a pin.
            let is_folded = overview.is_one_shot && pending == 0 && !row.pinned;
            let one = SessionListRow { row, overview, pending, is_here };
            match (is_folded, is_here) {
                (false, true) => out.here.push(one),
                (false, false) => out.elsewhere.push(one),
                (true, true) => out.one_shots.push(one),
                (true, false) => runs_elsewhere.push(one),
            }
        }
        out.one_shots.append(&mut runs_elsewhere);
        Ok(out)
    }

    /// All that are not folded, in the order in which `/resume` numbers them.
    pub fn conversations(&self) -> impl Iterator<Item = &SessionListRow> {
        self.here.iter().chain(&self.elsewhere)
    }

    pub fn all(&self) -> impl Iterator<Item = &SessionListRow> {
        self.conversations().chain(&self.one_shots)
    }
}

impl SessionListRow {
    pub fn title(&self) -> String {
        let pin = if self.row.pinned { "pinned: " } else { "" };
        visible::guard_line(&format!("{pin}{}", self.row.title)).into_owned()
    }

    /// The columns behind the title: age, turns, pending changes, and the last words.
    pub fn columns(&self, now: i64) -> String {
        let turns = match self.overview.turns {
            0 => String::new(),
            1 => "1 turn".into(),
            turns => format!("{turns} turns"),
        };
        let pending = if self.pending > 0 { format!("±{}", self.pending) } else { String::new() };
        let run = if self.overview.is_one_shot { "-p: " } else { "" };
        let last = visible::prose_line(&self.overview.last_words);
        let age = age(self.row.updated, now);
        format!("{age:>7}  {turns:>8}  {pending:<4} {run}{last}").trim_end().to_string()
    }
}

/// Columns that the titles of a table need, which may have several parts.
pub fn title_columns(rows: &[&SessionListRow], room: usize) -> usize {
    let most = TITLE.min(room / 3).max(12);
    rows.iter().map(|row| width::of(&row.title())).max().unwrap_or(0).min(most)
}

/// Lines of a table with titles of `wide` columns, cut at `room` columns; numbers before them where there is a first one.
pub fn session_table(
    rows: &[&SessionListRow],
    first_number: Option<usize>,
    (wide, room): (usize, usize),
) -> Vec<String> {
    let now = now();
    let titles: Vec<String> = rows.iter().map(|row| row.title()).collect();
    let line = |(at, (row, title)): (usize, (&&SessionListRow, &String))| {
        let lead = match first_number {
            Some(first) => format!("{:>3}  {}", first + at, short_id(&row.row.id)),
            None => row.row.id.to_string(),
        };
        let title = width::cut(title, wide);
        let pad = " ".repeat(wide - width::of(&title));
        width::cut(&format!("{lead}  {title}{pad}  {}", row.columns(now)), room).trim_end().to_string()
    };
    rows.iter().zip(&titles).enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{ONE_SHOT, SessionStateKey};

    #[test]
    fn sessions_of_this_directory_come_first_and_runs_are_folded_unless_they_left_changes() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let make = |cwd: &str, title: &str, is_run: bool| {
            let open = store.create(Path::new(cwd), title).unwrap();
            if is_run {
                open.set(SessionStateKey::Origin, ONE_SHOT).unwrap();
            }
            open.id().to_string()
        };
        make("/a", "here", false);
        make("/b", "there", false);
        make("/a", "run here", true);
        let kept = make("/a", "run with changes", true);
        let pending = HashMap::from([(kept, 3)]);
        let listing = SessionListing::of(&store, 99, Path::new("/a"), &pending).unwrap();
        let titles = |rows: &[SessionListRow]| rows.iter().map(|r| r.row.title.clone()).collect::<Vec<_>>();
        assert_eq!(listing.here.len(), 2);
        assert_eq!(titles(&listing.elsewhere), ["there"]);
        assert_eq!(titles(&listing.one_shots), ["run here"]);
        let rows: Vec<&SessionListRow> = listing.here.iter().collect();
        let table = session_table(&rows, Some(1), (title_columns(&rows, 60), 60));
        assert!(table.iter().all(|line| width::of(line) <= 60), "{table:?}");
        assert!(table.iter().any(|line| line.contains("±3")), "{table:?}");
    }
}
