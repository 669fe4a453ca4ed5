//! A damaged database: the original is moved aside unchanged, and its readable rows are copied to a new database.

use super::schema;
use crate::session::SessionError;
use crate::session::conversation::record::SessionStateKey;
use rusqlite::{Connection, OpenFlags, params_from_iter, types::Value};
use std::path::{Path, PathBuf};

/// Table and columns, in the order in which they are worth saving.
const TABLES: [(&str, &str, usize); 5] = [
    ("session", "id, title, cwd, created, updated", 5),
    ("entry", "session, seq, at, body, format", 5),
    ("scratchpad", "session, name, body", 3),
    ("state", "session, key, value", 3),
    ("history", "id, at, cwd, line", 4),
];

/// Moves the damaged file (and its log) aside and returns a new database with all rows that could be read.
pub(in crate::session) fn recover_database(path: &Path) -> Result<(Connection, Vec<String>), SessionError> {
    let aside = free_name(path);
    let fail = |source| SessionError::Directory { path: path.into(), source };
    std::fs::rename(path, &aside).map_err(fail)?;
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(path, suffix);
        if log.exists() {
            std::fs::rename(&log, with_suffix(&aside, suffix)).map_err(fail)?;
        }
    }
    let fresh = schema::open(path)?;
    let mut notes =
        vec![format!("the session database was damaged; the original is stored as `{}`", aside.display())];
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    // `immutable`: reading must not even replay the log into the original.
    let uri = format!("file:{}?immutable=1", aside.display());
    match Connection::open_with_flags(uri, flags) {
        Ok(damaged) => {
            for (table, columns, width) in TABLES {
                let (columns, width) = match table {
                    // A database of an earlier version does not name the format of its entries.
                    "entry" if damaged.prepare("SELECT format FROM entry").is_err() => {
                        ("session, seq, at, body", 4)
                    }
                    _ => (columns, width),
                };
                let (saved, error) = copy(&damaged, &fresh, table, columns, width);
                let lost = error.map_or(String::new(), |e| format!(", then: {e}"));
                notes.push(format!("{table}: copied {saved} rows{lost}"));
            }
            recount(&damaged, &fresh)?;
            // A saved place would hide entries that are lost before it.
            fresh.execute("DELETE FROM state WHERE key = ?1", [SessionStateKey::Place.key()])?;
        }
        Err(e) => notes.push(format!("nothing could be read from it: {e}")),
    }
    reindex(&fresh)?;
    Ok((fresh, notes))
}

fn copy(
    from: &Connection,
    to: &Connection,
    table: &str,
    columns: &str,
    width: usize,
) -> (usize, Option<rusqlite::Error>) {
    let mut saved = 0;
    let marks = vec!["?"; width].join(", ");
    let mut run = || -> rusqlite::Result<()> {
        let mut read = from.prepare(&format!("SELECT {columns} FROM {table}"))?;
        let mut write = to.prepare(&format!("INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})"))?;
        let mut rows = read.query([])?;
        while let Some(row) = rows.next()? {
            let values: Vec<Value> = (0..width).map(|at| row.get(at)).collect::<Result<_, _>>()?;
            write.execute(params_from_iter(values))?;
            saved += 1;
        }
        Ok(())
    };
    let error = run().err();
    (saved, error)
}

/// Counts again what a list of sessions shows, and copies the pins from a database that has them.
fn recount(from: &Connection, to: &Connection) -> Result<(), SessionError> {
    to.execute(
        "UPDATE session SET (entries, bytes) =
         (SELECT count(*), coalesce(sum(length(CAST(body AS BLOB))), 0) FROM entry WHERE entry.session = session.id)",
        [],
    )?;
    let Ok(mut read) = from.prepare("SELECT id FROM session WHERE pinned") else { return Ok(()) };
    let Ok(rows) = read.query_map([], |row| row.get::<_, String>(0)) else { return Ok(()) };
    for id in rows.flatten() {
        to.execute("UPDATE session SET pinned = 1 WHERE id = ?1", [id])?;
    }
    Ok(())
}

/// The index is made again from the entries: raw text is good enough to find a session again.
fn reindex(conn: &Connection) -> Result<(), SessionError> {
    conn.execute("INSERT INTO said (text, session, seq) SELECT body, session, seq FROM entry", [])?;
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn free_name(path: &Path) -> PathBuf {
    let numbered = (1..).map(|n: u32| with_suffix(path, &format!(".damaged-{n}")));
    numbered.into_iter().find(|p| !p.exists()).unwrap_or_else(|| with_suffix(path, ".damaged"))
}
