//! The system's keyring: the Secret Service on Linux, the keychain on a Mac. Only in a build with the feature `keyring`,
//! because few people want it and it needs a D-Bus client; in any other build, the error names a command that does the
//! same. placet reads entries that the person made for keys, and makes entries of its own for logins.

use std::fmt;
use thiserror::Error;

/// The service name of every entry.
const SERVICE: &str = "placet";

/// True in a build that can use a keyring.
pub const IS_BUILT: bool = cfg!(feature = "keyring");

/// What was to be done with an entry, for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyringAction {
    Read,
    Change,
}

impl fmt::Display for KeyringAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyringAction::Read => "read",
            KeyringAction::Change => "changed",
        })
    }
}

/// Why the keyring gave no entry, or took none.
#[derive(Debug, Error)]
pub enum KeyringError {
    #[cfg(not(feature = "keyring"))]
    #[error(
        "placet was built without the feature `keyring`; instead of `keyring` set api_key_command = \"{command}\""
    )]
    NotBuilt { command: String },
    #[cfg(feature = "keyring")]
    #[error("the keyring could not be {0}: no thread can be started: {1}")]
    Thread(KeyringAction, std::io::Error),
    #[cfg(feature = "keyring")]
    #[error("the keyring did not answer within {} s", .0.as_secs_f64())]
    TimedOut(std::time::Duration),
    #[cfg(feature = "keyring")]
    #[error("the keyring could not be {0}")]
    Crashed(KeyringAction),
    #[cfg(feature = "keyring")]
    #[error("the keyring has no entry with service `{SERVICE}` and user name `{0}`")]
    NoEntry(String),
    #[cfg(feature = "keyring")]
    #[error("the keyring could not be {0}: it is locked, or the question for its password was dismissed")]
    Locked(KeyringAction),
    #[cfg(feature = "keyring")]
    #[error("the keyring could not be {0}: {1}")]
    Store(KeyringAction, keyring_core::Error),
}

#[cfg(not(feature = "keyring"))]
pub use without::NoKeyring as Keyring;

#[cfg(not(feature = "keyring"))]
mod without {
    use super::{KeyringError, SERVICE};

    /// No keyring: this build has none.
    #[derive(Clone, Debug, Default)]
    pub struct NoKeyring(());

    impl NoKeyring {
        pub async fn read(&self, entry: &str) -> Result<String, KeyringError> {
            Err(not_built(entry))
        }

        pub async fn write(&self, entry: &str, _secret: &str) -> Result<(), KeyringError> {
            Err(not_built(entry))
        }

        /// False if there is none.
        pub async fn remove(&self, _entry: &str) -> Result<bool, KeyringError> {
            Ok(false)
        }
    }

    fn not_built(entry: &str) -> KeyringError {
        let command = if cfg!(target_os = "macos") {
            format!("security find-generic-password -s {SERVICE} -a {entry} -w")
        } else {
            format!("secret-tool lookup service {SERVICE} username {entry}")
        };
        KeyringError::NotBuilt { command }
    }

    #[cfg(test)]
    mod tests {
        #[tokio::test]
        async fn a_build_without_it_names_the_command_that_does_the_same() {
            let told = super::NoKeyring::default().read("anthropic").await.unwrap_err().to_string();
            assert!(told.contains("built without the feature `keyring`"), "{told}");
            assert!(told.contains("placet") && told.contains("anthropic"), "{told}");
        }
    }
}

#[cfg(feature = "keyring")]
pub use with::Keyring;

#[cfg(feature = "keyring")]
mod with {
    use super::{KeyringAction, KeyringError, SERVICE};
    use keyring_core::{CredentialStore, Entry, Error};
    use std::fmt;
    use std::sync::Arc;
    use std::time::Duration;

    /// A locked keyring asks the person for its password, who may have to look for it.
    const DEADLINE: Duration = Duration::from_secs(60);

    type OpenStore = Arc<dyn Fn() -> Result<Arc<CredentialStore>, Error> + Send + Sync>;

    /// The keyring of the system. Nothing is opened before the first entry is used.
    #[derive(Clone)]
    pub struct Keyring {
        open: OpenStore,
        deadline: Duration,
    }

    impl fmt::Debug for Keyring {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("keyring")
        }
    }

    impl Default for Keyring {
        fn default() -> Keyring {
            Keyring { open: Arc::new(system), deadline: DEADLINE }
        }
    }

    impl Keyring {
        /// With another store than the system's, and another deadline.
        pub fn of(
            open: impl Fn() -> Result<Arc<CredentialStore>, Error> + Send + Sync + 'static,
            deadline: Duration,
        ) -> Keyring {
            Keyring { open: Arc::new(open), deadline }
        }

        pub async fn read(&self, entry: &str) -> Result<String, KeyringError> {
            self.with(KeyringAction::Read, entry, |entry| entry.get_password()).await
        }

        pub async fn write(&self, entry: &str, secret: &str) -> Result<(), KeyringError> {
            let secret = secret.to_string();
            self.with(KeyringAction::Change, entry, move |entry| entry.set_password(&secret)).await
        }

        /// False if there is none.
        pub async fn remove(&self, entry: &str) -> Result<bool, KeyringError> {
            match self.with(KeyringAction::Change, entry, |entry| entry.delete_credential()).await {
                Err(KeyringError::NoEntry(_)) => Ok(false),
                done => done.map(|()| true),
            }
        }

        /// Runs on a thread of its own, which is abandoned when it takes too long: a call over D-Bus cannot be cancelled.
        async fn with<T: Send + 'static>(
            &self,
            action: KeyringAction,
            name: &str,
            work: impl FnOnce(Entry) -> Result<T, Error> + Send + 'static,
        ) -> Result<T, KeyringError> {
            let (tell, told) = tokio::sync::oneshot::channel();
            let (open, entry) = (Arc::clone(&self.open), name.to_string());
            let work = move || {
                let done = open().and_then(|store| work(store.build(SERVICE, &entry, None)?));
                // The receiver is gone when the turn was stopped.
                drop(tell.send(done));
            };
            let thread = std::thread::Builder::new().name("keyring".into()).spawn(work);
            thread.map_err(|error| KeyringError::Thread(action, error))?;
            match tokio::time::timeout(self.deadline, told).await {
                Err(_) => Err(KeyringError::TimedOut(self.deadline)),
                Ok(Err(_)) => Err(KeyringError::Crashed(action)),
                Ok(Ok(Ok(done))) => Ok(done),
                Ok(Ok(Err(Error::NoEntry))) => Err(KeyringError::NoEntry(name.into())),
                Ok(Ok(Err(Error::NoStorageAccess(_)))) => Err(KeyringError::Locked(action)),
                Ok(Ok(Err(e))) => Err(KeyringError::Store(action, e)),
            }
        }
    }

    #[cfg(target_os = "macos")]
    fn system() -> Result<Arc<CredentialStore>, Error> {
        Ok(apple_native_keyring_store::keychain::Store::new()?)
    }

    #[cfg(not(target_os = "macos"))]
    fn system() -> Result<Arc<CredentialStore>, Error> {
        Ok(zbus_secret_service_keyring_store::Store::new()?)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const SOON: Duration = Duration::from_secs(20);

        #[tokio::test]
        async fn an_entry_is_written_read_and_removed_and_a_missing_one_is_told_with_its_names() {
            let store: Arc<CredentialStore> = keyring_core::mock::Store::new().unwrap();
            let ring = Keyring::of(move || Ok(Arc::clone(&store)), SOON);
            ring.write("anthropic", "sk-from-the-ring").await.unwrap();
            assert_eq!(ring.read("anthropic").await.unwrap(), "sk-from-the-ring");
            assert!(ring.remove("anthropic").await.unwrap());
            assert!(!ring.remove("anthropic").await.unwrap());
            let words = "the keyring has no entry with service `placet` and user name `nobody`";
            assert_eq!(ring.read("nobody").await.unwrap_err().to_string(), words);
        }

        #[tokio::test]
        async fn a_keyring_that_is_not_there_or_hangs_ends_the_request() {
            let gone = Keyring::of(|| Err(Error::NoDefaultStore), SOON);
            let words = gone.read("a").await.unwrap_err().to_string();
            assert!(words.starts_with("the keyring could not be read: "), "{words}");
            let locked = Keyring::of(|| Err(Error::NoStorageAccess("dismissed".into())), SOON);
            let words = locked.read("a").await.unwrap_err().to_string();
            let why = "it is locked, or the question for its password was dismissed";
            assert_eq!(words, format!("the keyring could not be read: {why}"));
            let words = gone.write("a", "b").await.unwrap_err().to_string();
            assert!(words.starts_with("the keyring could not be changed: "), "{words}");
            let (held, waiting) = std::sync::mpsc::channel::<()>();
            let waiting = std::sync::Mutex::new(waiting);
            let stuck = move || {
                let _ = waiting.lock().unwrap().recv();
                Err(Error::NoDefaultStore)
            };
            let slow = Keyring::of(stuck, Duration::from_millis(20)).read("a").await;
            assert_eq!(slow.unwrap_err().to_string(), "the keyring did not answer within 0.02 s");
            drop(held);
        }
    }
}
