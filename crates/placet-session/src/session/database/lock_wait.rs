//! Waits until the session database can be written. SQLite itself would wait without a word, and nothing could stop it.

use super::schema::PATIENCE;
use super::store::SessionStore;
use crate::session::error::DATABASE_LOCKED;
use rusqlite::ErrorCode;
use std::sync::TryLockError;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// After this time a person should know what placet waits for.
const NOTICED: Duration = Duration::from_millis(500);
/// How often to look.
const AGAIN: Duration = Duration::from_millis(20);
/// How long to wait, if nobody stops it.
const LONGEST: Duration = Duration::from_secs(60);

/// How a wait for the database ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseWait {
    Free,
    Stopped,
    TimedOut,
}

impl SessionStore {
    /// True if no other program has the database locked for writing. Other errors are left to the write itself.
    pub fn can_write(&self) -> bool {
        let conn = match self.connection() {
            Ok(conn) => conn,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another thread may be waiting for the other program.
            Err(TryLockError::WouldBlock) => return false,
        };
        drop(conn.busy_timeout(Duration::ZERO));
        let is_locked = match conn.execute_batch("BEGIN IMMEDIATE") {
            Ok(()) => {
                drop(conn.execute_batch("ROLLBACK"));
                false
            }
            Err(error) => error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy),
        };
        // As long as it is locked, nothing else waits, either: that would be the wait that nobody can stop.
        if !is_locked {
            drop(conn.busy_timeout(PATIENCE));
        }
        !is_locked
    }

    /// Waits until the database can be written. `say` gets the reason when the wait is long enough to be noticed.
    pub async fn until_writable(&self, stop: &CancellationToken, say: impl FnOnce(&str)) -> DatabaseWait {
        self.wait((NOTICED, LONGEST), stop, say).await
    }

    async fn wait(
        &self,
        (noticed, longest): (Duration, Duration),
        stop: &CancellationToken,
        say: impl FnOnce(&str),
    ) -> DatabaseWait {
        let (began, mut say) = (Instant::now(), Some(say));
        while !self.can_write() {
            tokio::select! {
                biased;
                () = stop.cancelled() => return DatabaseWait::Stopped,
                () = sleep(AGAIN) => {}
            }
            if began.elapsed() >= longest {
                return DatabaseWait::TimedOut;
            }
            if began.elapsed() >= noticed
                && let Some(say) = say.take()
            {
                say(&format!("{DATABASE_LOCKED}: waiting for it; Ctrl-C stops the wait"));
            }
        }
        DatabaseWait::Free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use std::path::Path;
    use std::sync::Mutex;

    #[tokio::test]
    async fn a_lock_of_another_program_is_named_and_the_wait_ends_with_it_or_with_ctrl_c() {
        let dir = tempfile::tempdir().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let other = Connection::open(dir.path().join("placet.db")).unwrap();
        let said = Mutex::new(Vec::new());
        let say = |words: &str| said.lock().unwrap().push(words.to_string());
        let stop = CancellationToken::new();
        let soon = (Duration::from_millis(30), Duration::from_secs(60));
        assert_eq!(store.wait(soon, &stop, say).await, DatabaseWait::Free);
        assert_eq!(*said.lock().unwrap(), [""; 0]);
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let ends = async {
            sleep(Duration::from_millis(200)).await;
            other.execute_batch("COMMIT").unwrap();
        };
        let waited = tokio::join!(store.wait(soon, &stop, say), ends).0;
        assert_eq!(waited, DatabaseWait::Free);
        let told = "another program has locked the session database: waiting for it; Ctrl-C stops the wait";
        assert_eq!(*said.lock().unwrap(), [told]);
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let short = (Duration::ZERO, Duration::from_millis(50));
        assert_eq!(store.wait(short, &stop, |_| ()).await, DatabaseWait::TimedOut);
        // Nothing else waits, either.
        let error = store.remember("x", Path::new("/")).unwrap_err().to_string();
        assert_eq!(error, "another program has locked the session database");
        stop.cancel();
        assert_eq!(store.until_writable(&stop, |_| ()).await, DatabaseWait::Stopped);
        other.execute_batch("COMMIT").unwrap();
        assert!(store.can_write());
        store.remember("x", Path::new("/")).unwrap();
    }
}
