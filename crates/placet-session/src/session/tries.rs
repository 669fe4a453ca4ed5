//! Tries: sessions of a directory that have a name, so that several attempts at one task exist at once.
//!
//! A session has its own pending changes in any case. The name is what a person and the command line call it by; it is
//! unique in its directory, and it is a value of the session: a try is resumed, listed, exported and deleted like any
//! other session.

use super::{OpenSession, SessionError};
use crate::session::conversation::record::SessionStateKey;
use crate::session::database::store::{SessionRow, SessionStore, row};
use placet_text::conversation::SessionId;
use rusqlite::{OptionalExtension, TransactionBehavior, params};
use std::fmt;
use std::path::Path;
use thiserror::Error;

/// The name of a try: letters, digits, `-`, `_` and `.`, and a letter or a digit first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct TryName(String);

/// Why a text is not the name of a try.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TryNameError {
    #[error("the name of a try is empty")]
    Empty,
    #[error("the name of a try has at most {MOST_LETTERS} letters")]
    TooLong,
    #[error("the name of a try has letters, digits, `-`, `_` and `.`, and begins with a letter or a digit")]
    Letters,
    #[error("`{0}` is a word of the command")]
    Reserved(String),
}

/// ASCII letters of a name: it is in the prompt.
const MOST_LETTERS: usize = 32;
/// What follows `placet try` and `/try`.
const RESERVED: [&str; 7] = ["list", "switch", "rename", "drop", "prune", "leave", "help"];

impl TryName {
    /// # Errors
    ///
    /// The text is empty, too long, a word of the command, or has other letters.
    pub fn parse(text: &str) -> Result<TryName, TryNameError> {
        if text.is_empty() {
            return Err(TryNameError::Empty);
        }
        if text.len() > MOST_LETTERS {
            return Err(TryNameError::TooLong);
        }
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if !text.chars().all(is_allowed) || !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(TryNameError::Letters);
        }
        if RESERVED.contains(&text) {
            return Err(TryNameError::Reserved(text.into()));
        }
        Ok(TryName(text.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A try of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TryRow {
    pub name: TryName,
    pub session: SessionRow,
}

impl SessionStore {
    /// The tries of `cwd`, the last used first.
    pub fn tries(&self, cwd: &Path) -> Result<Vec<TryRow>, SessionError> {
        let conn = self.lock();
        let mut query = conn.prepare(
            "SELECT id, title, cwd, created, updated, entries, bytes, pinned, value
             FROM state JOIN session ON session.id = state.session
             WHERE key = ?1 AND cwd = ?2 ORDER BY updated DESC, id DESC",
        )?;
        let key = SessionStateKey::TryName.key();
        let rows = query.query_map(params![key, cwd.to_string_lossy()], |found| {
            Ok((found.get::<_, String>(8)?, row(found)?))
        })?;
        let mut out = Vec::new();
        for found in rows {
            let (name, session) = found?;
            // Only a damaged database has another.
            out.extend(TryName::parse(&name).ok().map(|name| TryRow { name, session }));
        }
        Ok(out)
    }

    /// The session of the try `name` of `cwd`.
    pub fn find_try(&self, cwd: &Path, name: &TryName) -> Result<Option<SessionRow>, SessionError> {
        let found = self.tries(cwd)?.into_iter().find(|one| one.name == *name);
        Ok(found.map(|one| one.session))
    }

    /// Starts a session with this name and opens it here.
    ///
    /// # Errors
    ///
    /// [`SessionError::TryExists`] where another session of `cwd` has the name: two processes that ask for one name at the
    /// same time do not get two.
    pub fn create_try(&self, cwd: &Path, name: &TryName) -> Result<OpenSession, SessionError> {
        let session = self.create(cwd, &format!("try {name}"))?;
        match self.name_try(session.id(), cwd, name) {
            Ok(()) => Ok(session),
            Err(e) => {
                let id = session.id().clone();
                // Closed first, because `delete` takes the lock of the session itself.
                drop(session);
                self.delete(&id)?;
                Err(e)
            }
        }
    }

    /// Gives a session of `cwd` the name of a try, in place of the one that it had.
    pub fn name_try(&self, id: &SessionId, cwd: &Path, name: &TryName) -> Result<(), SessionError> {
        let key = SessionStateKey::TryName.key();
        let mut conn = self.lock();
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let taken: Option<String> = tx
            .query_row(
                "SELECT id FROM state JOIN session ON session.id = state.session
                 WHERE key = ?1 AND value = ?2 AND cwd = ?3 AND id <> ?4",
                params![key, name.as_str(), cwd.to_string_lossy(), id.as_str()],
                |found| found.get(0),
            )
            .optional()?;
        if let Some(id) = taken {
            return Err(SessionError::TryExists { name: name.to_string(), id });
        }
        tx.execute(
            "INSERT OR REPLACE INTO state (session, key, value) VALUES (?1, ?2, ?3)",
            params![id.as_str(), key, name.as_str()],
        )?;
        Ok(tx.commit()?)
    }

    /// Takes the name from a session, which stays.
    pub fn unname_try(&self, id: &SessionId) -> Result<(), SessionError> {
        let key = SessionStateKey::TryName.key();
        self.lock()
            .execute("DELETE FROM state WHERE session = ?1 AND key = ?2", params![id.as_str(), key])?;
        Ok(())
    }
}

impl OpenSession {
    /// The name of the try that this session is.
    pub fn try_name(&self) -> Result<Option<TryName>, SessionError> {
        let name = self.state(SessionStateKey::TryName)?;
        Ok(name.and_then(|name| TryName::parse(&name).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_word_that_a_shell_leaves_alone() {
        for good in ["a", "parser", "2nd-try", "v1.2_b", &"x".repeat(32)] {
            assert_eq!(TryName::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "-x", ".x", "_x", "a b", "a/b", "..", "ä", "a\u{202e}b", "a\n", &"x".repeat(33)] {
            assert!(TryName::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(TryName::parse("drop"), Err(TryNameError::Reserved("drop".into())));
    }

    #[test]
    fn a_name_is_taken_once_in_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let (here, there) = (Path::new("/here"), Path::new("/there"));
        let name = |text| TryName::parse(text).unwrap();
        let first = store.create_try(here, &name("a")).unwrap();
        assert!(matches!(
            store.create_try(here, &name("a")),
            Err(SessionError::TryExists { id, .. }) if id == first.id().as_str()
        ));
        // The session that could not have the name is gone.
        assert_eq!(store.list(10).unwrap().len(), 1);
        let elsewhere = store.create_try(there, &name("a")).unwrap();
        assert_ne!(elsewhere.id(), first.id());
        store.name_try(first.id(), here, &name("b")).unwrap();
        assert_eq!(first.try_name().unwrap(), Some(name("b")));
        assert_eq!(store.find_try(here, &name("a")).unwrap(), None);
        let names: Vec<_> = store.tries(here).unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(names, [name("b")]);
        store.unname_try(first.id()).unwrap();
        assert_eq!((first.try_name().unwrap(), store.tries(here).unwrap().len()), (None, 0));
        assert!(store.find(first.id().as_str()).is_ok());
    }

    #[test]
    fn a_copy_of_a_try_has_no_name() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let here = Path::new("/here");
        let id = store.create_try(here, &TryName::parse("a").unwrap()).unwrap().id().clone();
        let copy = store.fork(&store.find(id.as_str()).unwrap(), usize::MAX, here).unwrap();
        assert_ne!(copy, id);
        assert_eq!(store.tries(here).unwrap().len(), 1);
    }
}
