//! What a list says of a session without reading it: how many turns it has, the words it ended with, and whether a
//! person ever talked in it.
//!
//! The figures are a state of the session, written with each message. Sessions of earlier versions have none: theirs
//! are worked out from the last entries when they are listed.

use super::record::{SessionRecord, SessionStateKey};
use super::replay::SessionReplay;
use crate::session::SessionError;
use crate::session::database::store::{SessionRow, SessionStore};
use placet_text::conversation::{Message, SessionId};
use placet_text::text::last_words;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

/// Bytes of the last words.
const LAST_BYTES: usize = 300;
/// Entries in which the last words of a session of an earlier version are looked for.
const TAIL: i64 = 8;
/// Sessions of earlier versions that are worked out for one list; the figures of the others are not shown.
const WORKED_OUT: usize = 50;

/// What is known of a session without its entries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionOverview {
    /// The number of messages of the person. 0 when it is unknown.
    pub turns: usize,
    /// The last line of the last message that has text.
    pub last_words: String,
    /// One prompt without a screen (`-p`), which nobody resumed in the shell.
    #[serde(skip)]
    pub is_one_shot: bool,
}

impl SessionStore {
    /// What is known of each of `rows`, in their order.
    pub fn overviews(&self, rows: &[SessionRow]) -> Vec<SessionOverview> {
        let mut worked_out = 0;
        let one = |row: &SessionRow| {
            // The lock is given back before the entries are read, which take it again.
            let known = stored(&self.lock(), &row.id);
            let mut overview = known.unwrap_or_else(|| {
                worked_out += 1;
                if worked_out <= WORKED_OUT { self.worked_out(row) } else { SessionOverview::default() }
            });
            let origin = self.state(&row.id, SessionStateKey::Origin).ok().flatten();
            overview.is_one_shot = origin.is_some_and(|origin| origin == ONE_SHOT);
            overview
        };
        rows.iter().map(one).collect()
    }

    fn worked_out(&self, row: &SessionRow) -> SessionOverview {
        let turns = said(&self.lock(), &row.id);
        let mut out = SessionOverview { turns, ..SessionOverview::default() };
        let from = (row.entries - TAIL).max(0) + 1;
        for entry in self.entries(&row.id, from..i64::MAX, &mut Vec::new()) {
            if let SessionRecord::Message { message } = &entry.record {
                out.hear(message);
            }
        }
        out
    }

    /// The last messages of a session, from about its last `entries` entries. Where a rewind is among them, all of it
    /// is read.
    pub fn last_messages(&self, row: &SessionRow, entries: i64) -> Vec<Message> {
        let from = (row.entries - entries).max(0) + 1;
        let found = self.entries(&row.id, from..i64::MAX, &mut Vec::new());
        if from > 1 && found.iter().any(|entry| entry.record.leaves_a_branch()) {
            let loaded = self.load_for_resume(&row.id);
            return loaded
                .map(|loaded| loaded.transcript.since(loaded.transcript.begins()).to_vec())
                .unwrap_or_default();
        }
        let mut replay = SessionReplay::default();
        found.into_iter().for_each(|entry| replay.take(entry.seq, entry.at, entry.record));
        replay.loaded.transcript.messages().to_vec()
    }
}

/// How a session began that `-p` made; anything else is a conversation.
pub const ONE_SHOT: &str = "print";
pub const CONVERSATION: &str = "shell";

impl SessionOverview {
    fn hear(&mut self, message: &Message) {
        let last_line = |text: String| {
            let mut lines = text.lines().map(str::trim);
            lines.rfind(|line| !line.is_empty() && !line.starts_with("```")).map(String::from)
        };
        let line = match message {
            Message::User { parts } => last_line(placet_text::conversation::text_of(parts)),
            Message::Assistant(answer) => last_words(&answer.text()),
            Message::Results { .. } => return,
        };
        if let Some(line) = line {
            let end = line.floor_char_boundary(LAST_BYTES);
            self.last_words = line.get(..end).unwrap_or_default().to_string();
        }
    }
}

/// Adds a message to the figures of its session. A message that cannot be counted must not be lost.
pub(in crate::session) fn update(
    conn: &Connection,
    id: &SessionId,
    message: &Message,
) -> rusqlite::Result<()> {
    let is_said = matches!(message, Message::User { .. });
    if matches!(message, Message::Results { .. }) {
        return Ok(());
    }
    // The entry of this message is counted by `said` already.
    let mut overview = match stored(conn, id) {
        Some(stored) => SessionOverview { turns: stored.turns + usize::from(is_said), ..stored },
        None => SessionOverview { turns: said(conn, id), ..SessionOverview::default() },
    };
    overview.hear(message);
    let saved = serde_json::to_string(&overview).unwrap_or_default();
    conn.prepare_cached("INSERT OR REPLACE INTO state (session, key, value) VALUES (?1, ?2, ?3)")?
        .execute(params![id.as_str(), SessionStateKey::Overview.key(), saved])?;
    Ok(())
}

impl SessionStore {
    /// Works the figures out again from the conversation as it is now: after a rewind or a switch, those of the branch that
    /// was left do not count.
    pub(in crate::session) fn update_overview(&self, id: &SessionId) -> Result<(), SessionError> {
        let replay = self.replay(id)?;
        let mut overview = SessionOverview::default();
        for message in replay.loaded.transcript.messages() {
            overview.turns += usize::from(matches!(message, Message::User { .. }));
            overview.hear(message);
        }
        let saved = serde_json::to_string(&overview)?;
        self.lock()
            .prepare_cached("INSERT OR REPLACE INTO state (session, key, value) VALUES (?1, ?2, ?3)")?
            .execute(params![id.as_str(), SessionStateKey::Overview.key(), saved])?;
        Ok(())
    }
}

fn stored(conn: &Connection, id: &SessionId) -> Option<SessionOverview> {
    let mut query = conn.prepare_cached("SELECT value FROM state WHERE session = ?1 AND key = ?2").ok()?;
    let found =
        query.query_row(params![id.as_str(), SessionStateKey::Overview.key()], |row| row.get::<_, String>(0));
    serde_json::from_str(&found.optional().ok()??).ok()
}

/// Counts the messages of the person in the entries.
fn said(conn: &Connection, id: &SessionId) -> usize {
    let sql = "SELECT count(*) FROM entry
               WHERE session = ?1 AND body LIKE '{\"kind\":\"message\",\"message\":{\"role\":\"user\"%'";
    let count = conn
        .prepare_cached(sql)
        .and_then(|mut query| query.query_row([id.as_str()], |row| row.get::<_, i64>(0)));
    usize::try_from(count.unwrap_or(0)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::conversation::{AssistantBlock, AssistantMessage};
    use std::path::Path;

    fn answer(text: &str) -> SessionRecord {
        let blocks = vec![AssistantBlock::Text { text: text.into() }];
        let message = Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() });
        SessionRecord::Message { message }
    }

    fn said(text: &str) -> SessionRecord {
        SessionRecord::Message { message: Message::user(text) }
    }

    /// Story: after a rewind the list said `2 turns` and the last words of the branch that was left.
    #[test]
    fn a_session_is_described_by_the_branch_in_which_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let mut open = store.create(Path::new("/"), "t").unwrap();
        let records = [said("one"), answer("first answer"), said("two"), answer("second answer")];
        records.into_iter().for_each(|record| open.append(record).unwrap());
        let overview = || {
            let overview = store.overviews(&store.list(9).unwrap()).remove(0);
            (overview.turns, overview.last_words)
        };
        assert_eq!(overview(), (2, "second answer".into()));
        let tip = store.replay(open.id()).unwrap().path[3];
        open.append(SessionRecord::Rewound { messages: 2 }).unwrap();
        assert_eq!(overview(), (1, "first answer".into()));
        open.append(said("three")).unwrap();
        assert_eq!(overview(), (2, "three".into()));
        open.append(SessionRecord::Switched { entry: tip }).unwrap();
        assert_eq!(overview(), (2, "second answer".into()));
        open.append(SessionRecord::Rewound { messages: 0 }).unwrap();
        assert_eq!(overview(), (0, String::new()));
    }

    #[test]
    fn a_session_is_described_without_its_entries_and_an_earlier_one_from_them() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let mut open = store.create(Path::new("/"), "t").unwrap();
        let table = "**First** line:\n\n| year | tax |\n|---|---|\n| 20 | 24.2 |\n";
        let records = [said("one"), answer(table), said("two")];
        records.into_iter().for_each(|record| open.append(record).unwrap());
        let overview = |store: &SessionStore| store.overviews(&store.list(9).unwrap()).remove(0);
        let first = SessionOverview { turns: 2, last_words: "two".into(), is_one_shot: false };
        assert_eq!(overview(&store), first);
        store.lock().execute("DELETE FROM state WHERE key = 'overview'", []).unwrap();
        assert_eq!(overview(&store), first);
        // Story: the list showed a row of the table.
        open.append(answer(table)).unwrap();
        assert_eq!(overview(&store), SessionOverview { last_words: "First line:".into(), ..first });
        open.set(SessionStateKey::Origin, ONE_SHOT).unwrap();
        assert!(overview(&store).is_one_shot);
        let row = store.list(1).unwrap().remove(0);
        assert_eq!(store.last_messages(&row, 2).len(), 2);
    }
}
