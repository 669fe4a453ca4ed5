//! The database as a whole: listing, finding, reading and deleting sessions.

use super::recovery;
use super::schema;
use crate::session::conversation::record::{LoadedSession, SessionStateKey};
use crate::session::conversation::replay::SessionReplay;
use crate::session::{SessionError, blob};
use placet_text::conversation::{CallInterruption, Message, SessionId};
use placet_text::text::regular_file;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::{BTreeSet, HashMap};
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockResult};
use std::time::{SystemTime, UNIX_EPOCH};

/// A cheap handle; clones share one connection.
#[derive(Clone)]
pub struct SessionStore {
    conn: Arc<Mutex<Connection>>,
    dir: PathBuf,
}

/// A line of the session list.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SessionRow {
    pub id: SessionId,
    pub title: String,
    pub cwd: PathBuf,
    /// Milliseconds since 1970.
    pub created: i64,
    pub updated: i64,
    pub entries: i64,
    /// What it takes on the disk, pictures included.
    pub bytes: i64,
    pub pinned: bool,
}

/// Whether a session is to be pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionPin {
    On,
    Off,
}

impl SessionStore {
    /// Opens the store in `dir`, and creates both if needed. A damaged database is moved aside unchanged, its readable
    /// part is copied to a new database, and the returned sentences report that.
    pub fn open(dir: &Path) -> Result<(SessionStore, Vec<String>), SessionError> {
        let fail = |source| SessionError::Directory { path: dir.into(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(fail)?;
        let path = dir.join("placet.db");
        for ending in ["", "-wal", "-shm"] {
            regular_file::check(&dir.join(format!("placet.db{ending}"))).map_err(fail)?;
        }
        // An empty file is a new database to SQLite; where sessions were open before, it is a loss.
        let emptied = std::fs::metadata(&path).is_ok_and(|m| m.len() == 0) && dir.join("open").exists();
        // SQLite gives its log the mode of the database; the database has it before SQLite opens it.
        let own = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .mode(placet_text::private::FILE)
            .open(&path);
        own.map_err(fail)?;
        for ending in ["", "-wal", "-shm"] {
            placet_text::private::tighten(&dir.join(format!("placet.db{ending}"))).map_err(fail)?;
        }
        let (conn, mut notes) = match schema::open(&path) {
            Err(e) if e.is_corruption() => recovery::recover_database(&path)?,
            other => (other?, Vec::new()),
        };
        if emptied {
            notes.push("the session database was empty: earlier sessions are lost".into());
        }
        placet_text::private::tighten(&path).map_err(fail)?;
        Ok((SessionStore { conn: Arc::new(Mutex::new(conn)), dir: dir.into() }, notes))
    }

    /// Folds the log into the database file: before a copy is taken.
    pub fn checkpoint(&self) -> Result<(), SessionError> {
        Ok(self.lock().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Sessions: the pinned ones, then the others, each the most recently used first. No entry is read for it.
    pub fn list(&self, limit: usize) -> Result<Vec<SessionRow>, SessionError> {
        let conn = self.lock();
        let mut query = conn.prepare(
            "SELECT id, title, cwd, created, updated, entries, bytes, pinned FROM session
             ORDER BY pinned DESC, updated DESC, id DESC LIMIT ?1",
        )?;
        let rows = query.query_map([i64::try_from(limit).unwrap_or(i64::MAX)], row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The session whose name starts with `prefix`, if it is one. Names are in lower case, and people type either.
    pub fn find(&self, prefix: &str) -> Result<SessionRow, SessionError> {
        let conn = self.lock();
        // Two would prove that the prefix is ambiguous; four help to choose.
        let mut query = conn.prepare(
            "SELECT id, title, cwd, created, updated, entries, bytes, pinned
             FROM session WHERE substr(lower(id), 1, length(?1)) = lower(?1) ORDER BY updated DESC LIMIT 4",
        )?;
        let mut rows: Vec<SessionRow> = query.query_map([prefix], row)?.collect::<Result<_, _>>()?;
        match (rows.len(), prefix.is_empty()) {
            (0, _) | (_, true) => Err(SessionError::Missing(prefix.into())),
            (1, _) => Ok(rows.remove(0)),
            _ => {
                let candidates = rows.iter().map(|r| r.id.to_string()).collect::<Vec<_>>().join(", ");
                Err(SessionError::Ambiguous { prefix: prefix.into(), candidates })
            }
        }
    }

    /// The session last used in `cwd`.
    pub fn latest(&self, cwd: &Path) -> Result<Option<SessionId>, SessionError> {
        let found = self
            .lock()
            .query_row(
                "SELECT id FROM session WHERE cwd = ?1 ORDER BY updated DESC, id DESC LIMIT 1",
                [cwd.to_string_lossy()],
                |row| row.get::<_, String>(0),
            )
            .optional()?;
        Ok(found.map(SessionId))
    }

    /// The sessions of `cwd`, the last used first.
    pub fn of_directory(&self, cwd: &Path) -> Result<Vec<SessionRow>, SessionError> {
        let conn = self.lock();
        let mut query = conn.prepare(
            "SELECT id, title, cwd, created, updated, entries, bytes, pinned FROM session
             WHERE cwd = ?1 ORDER BY updated DESC, id DESC",
        )?;
        let rows = query.query_map([cwd.to_string_lossy()], row)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Reads a session. Entries that cannot be read are left out and named; a call that was never answered (a
    /// crash) is answered as interrupted.
    pub fn load(&self, id: &SessionId) -> Result<LoadedSession, SessionError> {
        let mut loaded = self.replay(id)?.loaded;
        self.complete(id, &mut loaded)?;
        self.fill_pictures(&mut loaded);
        Ok(loaded)
    }

    /// Reads the part of a session that is needed to resume it. If the session was summed up, the earlier part is read
    /// only when somebody looks at it. Pictures come without their bytes: [`SessionStore::picture`] returns them.
    pub fn load_for_resume(&self, id: &SessionId) -> Result<LoadedSession, SessionError> {
        let mut loaded = match self.replay_from_place(id) {
            Some(replay) => replay.loaded,
            None => self.replay(id)?.loaded,
        };
        self.complete(id, &mut loaded)?;
        Ok(loaded)
    }

    /// Closes what a crash left open.
    fn complete(&self, id: &SessionId, loaded: &mut LoadedSession) -> Result<(), SessionError> {
        let partial =
            self.state(id, SessionStateKey::Partial)?.and_then(|partial| serde_json::from_str(&partial).ok());
        if let Some(message) = partial.map(Message::Assistant)
            && loaded.transcript.push(message.clone()).is_ok()
        {
            loaded.repairs.push(message);
            loaded
                .dropped
                .push("the last answer was incomplete; it is stored as far as it was received".into());
        }
        if let Some(closing) = loaded.transcript.close_open_calls(CallInterruption::PlacetStopped) {
            loaded.repairs.push(closing);
            loaded
                .dropped
                .push("calls that were running when placet stopped are marked as interrupted".into());
        }
        Ok(())
    }

    /// Goes through the entries in their order, to where they lead.
    pub(in crate::session) fn replay(&self, id: &SessionId) -> Result<SessionReplay, SessionError> {
        let mut replay = SessionReplay::default();
        let entries = self.entries(id, 1..i64::MAX, &mut replay.loaded.dropped);
        entries.into_iter().for_each(|entry| replay.take(entry.seq, entry.at, entry.record));
        Ok(replay)
    }

    /// The bytes of a picture.
    pub fn picture(&self, hash: &str) -> Result<Arc<[u8]>, SessionError> {
        blob::get(&self.dir, hash)
    }

    /// The bytes of every picture, each read once however often it is shown.
    fn fill_pictures(&self, loaded: &mut LoadedSession) {
        let mut read: HashMap<String, Arc<[u8]>> = HashMap::new();
        for image in loaded.transcript.pictures_mut() {
            if let Some(bytes) = read.get(&image.hash) {
                image.bytes = Arc::clone(bytes);
                continue;
            }
            match blob::get(&self.dir, &image.hash) {
                Ok(bytes) => {
                    image.bytes = Arc::clone(&bytes);
                    read.insert(image.hash.clone(), bytes);
                }
                Err(e) => loaded.withheld.push((image.hash.clone(), e.to_string())),
            }
        }
    }

    /// Gives a session another title.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<(), SessionError> {
        self.lock().execute("UPDATE session SET title = ?2 WHERE id = ?1", params![id.as_str(), title])?;
        Ok(())
    }

    /// The directory `from` was moved to `to`: its sessions follow it.
    pub fn follow_directory(&self, from: &Path, to: &Path) -> Result<(), SessionError> {
        let set = "UPDATE session SET cwd = ?2 WHERE cwd = ?1";
        self.lock().execute(set, params![from.to_string_lossy(), to.to_string_lossy()])?;
        Ok(())
    }

    /// The directory of a session that follows its view.
    pub fn set_directory(&self, id: &SessionId, to: &Path) -> Result<(), SessionError> {
        let set = "UPDATE session SET cwd = ?2 WHERE id = ?1";
        self.lock().execute(set, params![id.as_str(), to.to_string_lossy()])?;
        Ok(())
    }

    /// Pins a session, or takes the pin away: it is listed first and never removed by itself.
    pub fn pin(&self, id: &SessionId, pin: SessionPin) -> Result<(), SessionError> {
        let set = "UPDATE session SET pinned = ?2 WHERE id = ?1";
        self.lock().execute(set, params![id.as_str(), pin == SessionPin::On])?;
        Ok(())
    }

    /// Removes a session for good, with everything that only it has.
    pub fn delete(&self, id: &SessionId) -> Result<(), SessionError> {
        // Holding its lock proves that no shell is writing to it.
        let held = self.resume(id)?;
        let mut conn = self.lock();
        let pictures = pictures_in(&conn, Some(id))?;
        let tx = conn.transaction()?;
        for sql in [
            "DELETE FROM entry WHERE session = ?1",
            "DELETE FROM state WHERE session = ?1",
            "DELETE FROM scratchpad WHERE session = ?1",
            "DELETE FROM said WHERE session = ?1",
            "DELETE FROM session WHERE id = ?1",
        ] {
            tx.execute(sql, [id.as_str()])?;
        }
        tx.commit()?;
        // Sessions share pictures with the same bytes: only pictures that no other session names are
        // removed.
        let used = if pictures.is_empty() { BTreeSet::new() } else { pictures_in(&conn, None)? };
        for hash in pictures.difference(&used) {
            blob::remove(&self.dir, hash);
        }
        drop(conn);
        held.forget();
        Ok(())
    }

    pub(in crate::session) fn state(
        &self,
        id: &SessionId,
        state: SessionStateKey,
    ) -> Result<Option<String>, SessionError> {
        let found = self.lock().query_row(
            "SELECT value FROM state WHERE session = ?1 AND key = ?2",
            params![id.as_str(), state.key()],
            |row| row.get(0),
        );
        Ok(found.optional()?)
    }

    /// The connection, if no other thread uses it now.
    pub(in crate::session) fn connection(&self) -> TryLockResult<MutexGuard<'_, Connection>> {
        self.conn.try_lock()
    }

    pub(in crate::session) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The hashes of the pictures that a session names, or that any does: one pass, however many there are.
fn pictures_in(conn: &Connection, id: Option<&SessionId>) -> Result<BTreeSet<String>, SessionError> {
    let mut query = conn.prepare(
        "SELECT body FROM entry WHERE (?1 IS NULL OR session = ?1) AND instr(body, '\"hash\":\"')
         UNION ALL
         SELECT body FROM scratchpad WHERE (?1 IS NULL OR session = ?1) AND instr(body, '\"hash\":\"')",
    )?;
    let mut out = BTreeSet::new();
    let mut rows = query.query([id.map(SessionId::as_str)])?;
    while let Some(row) = rows.next()? {
        let body: String = row.get(0)?;
        // A blake3 hash has 64 hexadecimal digits.
        let hashes = body.split("\"hash\":\"").skip(1).filter_map(|rest| rest.get(..64));
        let hashes = hashes.filter(|hash| hash.bytes().all(|b| b.is_ascii_hexdigit()));
        out.extend(hashes.map(String::from));
    }
    Ok(out)
}

pub(in crate::session) fn row(row: &rusqlite::Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: SessionId(row.get(0)?),
        title: row.get(1)?,
        cwd: PathBuf::from(row.get::<_, String>(2)?),
        created: row.get(3)?,
        updated: row.get(4)?,
        entries: row.get(5)?,
        bytes: row.get(6)?,
        pinned: row.get(7)?,
    })
}

/// Milliseconds since 1970.
pub(in crate::session) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(in crate::session) fn random_bits() -> u32 {
    use std::hash::{BuildHasher, Hasher};
    // The standard library seeds each of these from the system's random source.
    (std::collections::hash_map::RandomState::new().build_hasher().finish() & u64::from(u32::MAX)) as u32
}
