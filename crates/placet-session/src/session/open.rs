//! A session that is open in this process: only this process may append to it.

use super::scratchpad::Scratchpads;
use super::{SessionError, blob, costs};
use crate::session::conversation::overview;
use crate::session::conversation::record::{SessionRecord, SessionStateKey};
use crate::session::database::schema;
use crate::session::database::store::{SessionStore, now};
use placet_text::conversation::{Message, Note, SessionId, text_of};
use placet_text::text::regular_file;
use rusqlite::{Transaction, params};
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Holds a lock as long as it exists; the lock ends with the process, however the process ends.
pub struct OpenSession {
    store: SessionStore,
    id: SessionId,
    next: i64,
    lock: File,
    lock_path: PathBuf,
}

impl SessionStore {
    /// Starts a session and opens it here.
    pub fn create(&self, cwd: &Path, title: &str) -> Result<OpenSession, SessionError> {
        let millis = now();
        let random = crate::session::database::store::random_bits();
        let id = SessionId::from_parts(u64::try_from(millis).unwrap_or(0), random);
        self.lock().execute(
            "INSERT INTO session (id, title, cwd, created, updated) VALUES (?1, ?2, ?3, ?4, ?4)",
            params![id.as_str(), title, cwd.to_string_lossy(), millis],
        )?;
        OpenSession::new(self.clone(), id)
    }

    /// Opens an existing session here, or fails with the process in which it is open.
    pub fn resume(&self, id: &SessionId) -> Result<OpenSession, SessionError> {
        OpenSession::new(self.clone(), id.clone())
    }
}

impl OpenSession {
    pub(super) fn new(store: SessionStore, id: SessionId) -> Result<OpenSession, SessionError> {
        // The lock comes first: without it another process may add entries after the number was read.
        let (lock, lock_path) = hold(&store, &id)?;
        let next = store.lock().query_row(
            "SELECT coalesce(max(seq), 0) + 1 FROM entry WHERE session = ?1",
            [id.as_str()],
            |row| row.get(0),
        )?;
        Ok(OpenSession { store, id, next, lock, lock_path })
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    pub fn store(&self) -> &SessionStore {
        &self.store
    }

    /// Adds one entry. When it returns, the entry survives the end of this process.
    pub fn append(&mut self, record: SessionRecord) -> Result<(), SessionError> {
        self.append_all(vec![record])
    }

    /// Adds several entries, all or none.
    pub fn append_all(&mut self, mut records: Vec<SessionRecord>) -> Result<(), SessionError> {
        for record in &mut records {
            let SessionRecord::Message { message } = record else { continue };
            // A picture whose bytes are gone must not be stored as empty where the bytes may come back.
            for image in message.pictures_mut().filter(|image| !image.bytes.is_empty()) {
                // Before the entry: no entry may name bytes that are not there.
                blob::put(self.store.dir(), &image.hash, &image.bytes)?;
            }
        }
        let mut conn = self.store.lock();
        let tx = conn.transaction()?;
        let mut next = self.next;
        for record in &mut records {
            add(&tx, &self.id, next, record)?;
            next += 1;
        }
        tx.prepare_cached("INSERT OR REPLACE INTO state (session, key, value) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id.as_str(), SessionStateKey::Entries.key(), (next - 1).to_string()])?;
        tx.commit()?;
        // `find_place` below takes the lock itself.
        drop(conn);
        // Only after the commit: a failed transaction has used no number.
        self.next = next;
        if records.iter().any(SessionRecord::leaves_a_branch)
            && let Err(e) = self.store.update_overview(&self.id)
        {
            // The conversation is stored; a list says what the left branch had.
            tracing::warn!("what a list says of a session was not saved: {e}");
        }
        if records.iter().any(|record| matches!(record, SessionRecord::SummedUp { .. }))
            && let Err(e) = self.store.find_place(&self.id)
        {
            // Without the position, a resume reads the whole session, which only takes longer.
            tracing::warn!("the position of a session was not saved: {e}");
        }
        Ok(())
    }

    pub fn set(&self, state: SessionStateKey, value: &str) -> Result<(), SessionError> {
        self.store
            .lock()
            .prepare_cached("INSERT OR REPLACE INTO state (session, key, value) VALUES (?1, ?2, ?3)")?
            .execute(params![self.id.as_str(), state.key(), value])?;
        Ok(())
    }

    pub fn state(&self, state: SessionStateKey) -> Result<Option<String>, SessionError> {
        self.store.state(&self.id, state)
    }

    /// The session's scratchpads; each change is saved before it counts.
    pub fn scratchpads(&self) -> Result<Arc<Scratchpads>, SessionError> {
        self.store.scratchpads(&self.id)
    }

    /// Releases the lock and removes its file: for a session that no longer exists.
    pub(super) fn forget(self) {
        drop(fs::remove_file(&self.lock_path));
    }
}

impl Drop for OpenSession {
    /// Closing the file is not enough: a process that was being started at this moment may hold a copy of it for a
    /// little longer, and with it the lock.
    fn drop(&mut self) {
        drop(self.lock.unlock());
    }
}

/// One entry with everything that is stored next to it.
fn add(
    tx: &Transaction<'_>,
    id: &SessionId,
    seq: i64,
    record: &mut SessionRecord,
) -> Result<(), SessionError> {
    let body = serde_json::to_string(record)?;
    let at = now();
    let pictures = match record {
        SessionRecord::Message { message } => message.pictures_mut().map(|image| image.bytes.len()).sum(),
        _ => 0,
    };
    let bytes = i64::try_from(body.len() + pictures).unwrap_or(i64::MAX);
    tx.prepare_cached("INSERT INTO entry (session, seq, at, body, format) VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![id.as_str(), seq, at, body, schema::VERSION])?;
    tx.prepare_cached(
        "UPDATE session SET updated = ?2, entries = entries + 1, bytes = bytes + ?3 WHERE id = ?1",
    )?
    .execute(params![id.as_str(), at, bytes])?;
    let text = match record {
        SessionRecord::Message { message } => searchable(message),
        SessionRecord::SummedUp { summary } => {
            let texts = summary.notes.iter().filter_map(|note| match note {
                Note::Summary { text } => Some(text.as_str()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    };
    if !text.is_empty() {
        tx.prepare_cached("INSERT INTO said (text, session, seq) VALUES (?1, ?2, ?3)")?.execute(params![
            text,
            id.as_str(),
            seq
        ])?;
    }
    match record {
        SessionRecord::Cost { provider, model, usage, picos } => {
            costs::add(tx, id.as_str(), (provider, model), usage, *picos)?;
        }
        // The whole message replaces its stored beginning.
        SessionRecord::Message { message } => {
            overview::update(tx, id, message)?;
            tx.prepare_cached("DELETE FROM state WHERE session = ?1 AND key = ?2")?
                .execute(params![id.as_str(), SessionStateKey::Partial.key()])?;
        }
        _ => {}
    }
    Ok(())
}

fn hold(store: &SessionStore, id: &SessionId) -> Result<(File, PathBuf), SessionError> {
    let dir = store.dir().join("open");
    let path = dir.join(id.as_str());
    let fail = |source| SessionError::Directory { path: path.clone(), source };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(fail)?;
    regular_file::check(&path).map_err(fail)?;
    // Not truncated before this process has the lock: the file names the process that has it.
    let mut options = fs::OpenOptions::new();
    let mut lock =
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(fail)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Without it the message names no process; the lock is what counts.
            drop(lock.read_to_string(&mut holder));
            let title = store.find(id.as_str()).map(|row| row.title).unwrap_or_default();
            return Err(SessionError::Elsewhere { id: id.to_string(), title, holder });
        }
        Err(TryLockError::Error(source)) => return Err(fail(source)),
    }
    lock.set_len(0).and_then(|()| lock.rewind()).map_err(fail)?;
    write!(lock, "{}", std::process::id()).map_err(fail)?;
    Ok((lock, path))
}

/// The most of one message that is indexed; saving a message must not take seconds because of a pasted log.
const INDEXED: usize = 1 << 20;

/// The text of a message that search covers: what the person and the model wrote, and what calls returned.
fn searchable(message: &Message) -> String {
    let mut text = match message {
        Message::User { parts } => {
            // Only texts: placet's own notes to the model are left out, because neither the person nor the model wrote
            // them.
            text_of(parts)
        }
        Message::Assistant(answer) => {
            let calls = answer.calls().map(|c| format!("\n{} {}", c.name, c.input.to_replay()));
            answer.text() + &calls.collect::<String>()
        }
        Message::Results { results } => results.iter().map(|r| r.body()).collect::<Vec<_>>().join("\n"),
    };
    text.truncate(text.floor_char_boundary(INDEXED));
    text
}
