//! A store in an SQLite database: it outlives sessions, and several of them may use it at once.

use super::memory::expected;
use super::{FileStore, StoreError, StoreFileMeta, StorePrecondition, check_path, version_of};
use rusqlite::{Connection, OptionalExtension, params};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long another process may lock the database before a call gives up.
const WAIT: Duration = Duration::from_secs(5);

/// One named store of a database.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Mutex<Connection>,
    name: String,
}

impl SqliteStore {
    /// Opens or makes the database at `path`, readable by its owner only.
    pub fn open(path: &Path, name: &str) -> Result<SqliteStore, StoreError> {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(|e| StoreError::io(dir, e))?;
        }
        let connection = Connection::open(path)?;
        drop(std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)));
        connection.busy_timeout(WAIT)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.execute_batch(
            "CREATE TABLE IF NOT EXISTS file (
                 store TEXT NOT NULL, path TEXT NOT NULL, content BLOB NOT NULL,
                 created TEXT NOT NULL, modified TEXT NOT NULL, version TEXT NOT NULL,
                 PRIMARY KEY (store, path)) WITHOUT ROWID",
        )?;
        Ok(SqliteStore { connection: Mutex::new(connection), name: name.into() })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn time(text: &str) -> jiff::Timestamp {
    text.parse().unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

impl FileStore for SqliteStore {
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError> {
        let connection = self.connection();
        // Not `LIKE`: `%` and `_` in a path would be patterns there.
        let mut query = connection.prepare(
            "SELECT path, length(content), created, modified, version FROM file
             WHERE store = ?1 AND substr(path, 1, length(?2)) = ?2 ORDER BY path",
        )?;
        let rows = query.query_map(params![self.name, prefix], |row| {
            let (size, created, modified): (i64, String, String) = (row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(StoreFileMeta {
                path: row.get(0)?,
                size: u64::try_from(size).unwrap_or(0),
                created: time(&created),
                modified: time(&modified),
                version: row.get(4)?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        let connection = self.connection();
        let found = connection.query_row(
            "SELECT content FROM file WHERE store = ?1 AND path = ?2",
            params![self.name, path],
            |row| row.get(0),
        );
        found.optional()?.ok_or_else(|| StoreError::Missing(path.into()))
    }

    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError> {
        check_path(path)?;
        let mut connection = self.connection();
        // Locked before the version is read, so that no other process writes between the check and the
        // write.
        let change = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        expected(path, there(&change, &self.name, path)?.as_deref(), expect)?;
        let (version, now) = (version_of(bytes), jiff::Timestamp::now().to_string());
        change.execute(
            "INSERT INTO file (store, path, content, created, modified, version) VALUES (?1, ?2, ?3, ?4, ?4, ?5)
             ON CONFLICT DO UPDATE SET content = ?3, modified = ?4, version = ?5",
            params![self.name, path, bytes, now, version],
        )?;
        change.commit()?;
        Ok(version)
    }

    fn remove(&self, path: &str, expect: &StorePrecondition) -> Result<(), StoreError> {
        let mut connection = self.connection();
        let change = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        if let Some(version) = there(&change, &self.name, path)? {
            expected(path, Some(&version), expect)?;
            change.execute("DELETE FROM file WHERE store = ?1 AND path = ?2", params![self.name, path])?;
        }
        Ok(change.commit()?)
    }
}

fn there(connection: &Connection, store: &str, path: &str) -> Result<Option<String>, StoreError> {
    let query = "SELECT version FROM file WHERE store = ?1 AND path = ?2";
    Ok(connection.query_row(query, params![store, path], |row| row.get(0)).optional()?)
}
