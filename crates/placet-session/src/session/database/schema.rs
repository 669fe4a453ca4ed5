//! The tables, and how an older database becomes a newer one.

use crate::session::SessionError;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// The format this program writes. Older ones are migrated step by step; newer ones are refused.
pub(in crate::session) const VERSION: i64 = 5;

/// `migrations[n]` leads from format n to n + 1.
const MIGRATIONS: [&str; 5] = ["
    CREATE TABLE session (
        id TEXT PRIMARY KEY, title TEXT NOT NULL, cwd TEXT NOT NULL,
        created INTEGER NOT NULL, updated INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX session_by_age ON session (updated);
    CREATE TABLE entry (
        session TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE state (
        session TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE scratchpad (
        session TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE history (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, cwd TEXT NOT NULL, line TEXT NOT NULL) STRICT;
    CREATE VIRTUAL TABLE said USING fts5(text, session UNINDEXED, seq UNINDEXED, tokenize = 'trigram');
", "
    CREATE TABLE spent (
        at INTEGER NOT NULL, session TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
        input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
        reasoning INTEGER NOT NULL, picos INTEGER
    ) STRICT;
    CREATE INDEX spent_by_time ON spent (at);
    CREATE INDEX spent_by_session ON spent (session);
    INSERT INTO spent SELECT at, session, '', coalesce(body ->> '$.model', ''),
        coalesce(body ->> '$.usage.input', 0), coalesce(body ->> '$.usage.output', 0),
        coalesce(body ->> '$.usage.cache_read', 0), coalesce(body ->> '$.usage.cache_write', 0), 0, NULL
        FROM entry WHERE body LIKE '{\"kind\":\"cost\"%' AND json_valid(body);
", "
    ALTER TABLE session ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE session ADD COLUMN entries INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE session ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    DROP INDEX session_by_age;
    CREATE INDEX session_by_use ON session (pinned DESC, updated DESC, id DESC);
    UPDATE session SET (entries, bytes) =
        (SELECT count(*), coalesce(sum(length(CAST(body AS BLOB))), 0) FROM entry WHERE entry.session = session.id);
", "
    CREATE INDEX IF NOT EXISTS scratchpad_by_name ON scratchpad (session, name);
", "
    -- The format that an entry was written in: in those before the fifth, placet's notes are texts.
    ALTER TABLE entry ADD COLUMN format INTEGER NOT NULL DEFAULT 4;
    -- It holds a summary of the earlier format; it is found again with the next one.
    DELETE FROM state WHERE key = 'place';
"];

/// How long a statement waits for another program that has the database locked.
pub(in crate::session) const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the database and brings it to [`VERSION`]. Several processes may do so at once.
pub(in crate::session) fn open(path: &Path) -> Result<Connection, SessionError> {
    let conn = Connection::open(path)?;
    conn.busy_timeout(PATIENCE)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    // With a write-ahead log this loses nothing when the process dies, and at most the last writes when the
    // machine does.
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    let found = version(&conn)?;
    if found > VERSION {
        return Err(SessionError::Newer { path: path.into(), found, known: VERSION });
    }
    if found < VERSION {
        migrate(&conn)?;
    }
    Ok(conn)
}

fn migrate(conn: &Connection) -> Result<(), SessionError> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    // Another process may have been first while this one waited for the lock.
    let steps =
        version(conn).map(|from| MIGRATIONS.iter().enumerate().skip(usize::try_from(from).unwrap_or(0)));
    let done = steps.and_then(|steps| {
        for (from, sql) in steps {
            conn.execute_batch(sql)?;
            conn.pragma_update(None, "user_version", i64::try_from(from + 1).unwrap_or(VERSION))?;
        }
        Ok(conn.execute_batch("COMMIT")?)
    });
    if done.is_err() {
        // The error of the step matters more than one of the rollback.
        drop(conn.execute_batch("ROLLBACK"));
    }
    done
}

fn version(conn: &Connection) -> Result<i64, SessionError> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}
