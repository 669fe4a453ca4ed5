//! What can go wrong with the record of a session.

use std::path::PathBuf;
use thiserror::Error;

/// What placet waits for where another program has the database locked.
pub const DATABASE_LOCKED: &str = "another program has locked the session database";

#[derive(Debug, Error)]
pub enum SessionError {
    #[error("cannot use `{path}`: {source}")]
    Directory { path: PathBuf, source: std::io::Error },
    #[error("{}", database_words(.0))]
    Database(#[from] rusqlite::Error),
    #[error("no session with the ID prefix `{0}`")]
    Missing(String),
    #[error("ambiguous session ID `{prefix}`: {candidates}")]
    Ambiguous { prefix: String, candidates: String },
    #[error("this directory has a try `{name}` already (session {id})")]
    TryExists { name: String, id: String },
    #[error("the session {id} ({title}) is open in another placet (process {holder})")]
    Elsewhere { id: String, title: String, holder: String },
    #[error(
        "the session database `{path}` was written by a newer placet (format {found}, this one knows {known})"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("a message could not be saved: {0}")]
    Encode(#[from] serde_json::Error),
    #[error("the stored bytes {hash} cannot be read: {source}")]
    Blob { hash: String, source: std::io::Error },
}

fn database_words(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy) => DATABASE_LOCKED.into(),
        _ => format!("the session database failed: {error}"),
    }
}

impl SessionError {
    /// True when the database file itself is damaged.
    pub(super) fn is_corruption(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        match self {
            SessionError::Database(rusqlite::Error::SqliteFailure(e, _)) => {
                matches!(e.code, DatabaseCorrupt | NotADatabase)
            }
            _ => false,
        }
    }
}
