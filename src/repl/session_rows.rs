//! Sessions as rows: those of this directory first, `-p` runs folded, and what each row says in aligned columns. The list
//! of the shell, the picker and `placet session list` have the same rows.

use super::titles::{age, now, short_id};
use crate::session::{SessionError, SessionOverview, SessionRow, SessionStore};
use crate::text::{visible, width};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;

/// Columns of a title at least.
const LEAST_TITLE: usize = 12;
/// Columns before the last words: the age, the turns and the pending changes.
const FIGURES: usize = 24;

/// A list of fewer columns has titles, ages and pending changes only: the rest would leave no room for the title.
const NARROW: usize = 50;
/// Columns of an age and of pending changes, with the blanks before them.
const NARROW_FIGURES: usize = 15;

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
            let is_folded = is_folded(&row, &overview, pending);
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

/// True for a `-p` run that a list leaves out at first. A run that left something to decide is no less than a
/// conversation, and so is one with a pin.
fn is_folded(row: &SessionRow, overview: &SessionOverview, pending: usize) -> bool {
    overview.is_one_shot && pending == 0 && !row.pinned
}

/// The last used session of `cwd` that a list shows without asking for more. `pending` reads all views: it is called
/// only where it decides.
pub(super) fn last_shown(
    store: &SessionStore,
    cwd: &Path,
    pending: impl Fn() -> HashMap<String, usize>,
) -> Result<Option<SessionRow>, SessionError> {
    let counts = OnceCell::new();
    let is_shown = |row: &SessionRow| {
        let pending = || counts.get_or_init(&pending).get(row.id.as_str()).copied().unwrap_or(0);
        let overviews = store.overviews(std::slice::from_ref(row));
        let is_shown = |of: &SessionOverview| !is_folded(row, of, 0) || !is_folded(row, of, pending());
        overviews.iter().any(is_shown)
    };
    Ok(store.of_directory(cwd)?.into_iter().find(is_shown))
}

impl SessionListRow {
    pub fn title(&self) -> String {
        let pin = if self.row.pinned { "pinned: " } else { "" };
        visible::guard_line(&format!("{pin}{}", self.row.title)).into_owned()
    }

    fn pending_words(&self) -> String {
        if self.pending > 0 { format!("±{}", self.pending) } else { String::new() }
    }

    /// The columns behind the title in a picker with `room` for a row.
    pub(super) fn picker_columns(&self, now: i64, room: usize) -> String {
        match room < NARROW {
            true => {
                let age = age(self.row.updated, now);
                format!("{age:>7}  {}", self.pending_words()).trim_end().to_string()
            }
            false => self.columns(now),
        }
    }

    /// The columns behind the title: age, turns, pending changes, and the last words.
    pub fn columns(&self, now: i64) -> String {
        let pending = self.pending_words();
        let turns = match self.overview.turns {
            0 => String::new(),
            1 => "1 turn".into(),
            turns => format!("{turns} turns"),
        };
        let run = if self.overview.is_one_shot { "-p: " } else { "" };
        let last = visible::prose_line(&self.overview.last_words);
        let age = age(self.row.updated, now);
        format!("{age:>7}  {turns:>8}  {pending:<4} {run}{last}").trim_end().to_string()
    }
}

/// The columns that the picker gives the titles, of `room` for a row.
pub(super) fn picker_title_columns(rows: &[&SessionListRow], room: usize) -> usize {
    match room < NARROW {
        true => room.saturating_sub(NARROW_FIGURES).max(LEAST_TITLE),
        false => title_columns(rows, room),
    }
}

/// Columns that the titles of a list get, of `room` for the titles and what is behind them. Titles and last words share
/// what is left beside the figures: the titles get what the last words do not need, and at least two thirds.
pub fn title_columns(rows: &[&SessionListRow], room: usize) -> usize {
    let now = now();
    let widest = |of: &dyn Fn(&SessionListRow) -> String| rows.iter().map(|row| width::of(&of(row))).max();
    let wanted = widest(&SessionListRow::title).unwrap_or(0);
    let last = widest(&|row| row.columns(now)).unwrap_or(0).saturating_sub(FIGURES);
    let shared = room.saturating_sub(FIGURES + GAP);
    wanted.min(shared.saturating_sub(last).max(shared * 2 / 3).max(LEAST_TITLE))
}

/// Columns between the ID, the title and what is behind it.
const GAP: usize = 2;

/// Columns that [`session_table`] has for titles and what is behind them.
pub fn table_room(first_number: Option<usize>, rows: &[&SessionListRow], columns: usize) -> usize {
    let lead = rows.iter().map(|row| match first_number {
        Some(_) => NUMBER + width::of(short_id(&row.row.id)),
        None => width::of(row.row.id.as_str()),
    });
    columns.saturating_sub(lead.max().unwrap_or(0) + GAP)
}

/// Columns of a number and the blanks behind it.
const NUMBER: usize = 5;

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
    use crate::conversation::Message;
    use crate::session::{ONE_SHOT, SessionRecord, SessionStateKey};

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
        let wide = title_columns(&rows, table_room(Some(1), &rows, 60));
        let table = session_table(&rows, Some(1), (wide, 60));
        assert!(table.iter().all(|line| width::of(line) <= 60), "{table:?}");
        assert!(table.iter().any(|line| line.contains("±3")), "{table:?}");
    }

    /// Story: a title was cut at 20 columns next to an empty half of the screen.
    #[test]
    fn a_title_is_as_wide_as_there_is_room() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let title = "a title that has a little more than sixty columns, to be exact";
        let mut open = store.create(Path::new("/a"), title).unwrap();
        let say = |text: &str| SessionRecord::Message { message: Message::user(text) };
        let row = |store: &SessionStore| {
            SessionListing::of(store, 9, Path::new("/a"), &HashMap::new()).unwrap().here.remove(0)
        };
        open.append(say("short")).unwrap();
        let all = width::of(title);
        assert_eq!(title_columns(&[&row(&store)], 120), all);
        assert_eq!(title_columns(&[&row(&store)], FIGURES + GAP + all + 5), all);
        // Where both do not fit, both are cut.
        open.append(say(&"long ".repeat(40))).unwrap();
        assert_eq!(title_columns(&[&row(&store)], FIGURES + GAP + 60), 40);
        assert_eq!(title_columns(&[&row(&store)], 20), LEAST_TITLE);
    }
}
