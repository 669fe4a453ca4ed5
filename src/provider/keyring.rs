//! A key from the system's keyring: the Secret Service on Linux, the keychain on a Mac. Only in a build with the
//! feature `keyring`, because few people want it and it needs a D-Bus client; in any other build, the message names a
//! command that does the same. Reads one entry and writes none.

use super::ApiKey;
use thiserror::Error;

/// The service name of every entry; the user name comes from the settings.
const SERVICE: &str = "placet";

/// Why the keyring gave no key.
#[derive(Debug, Error)]
pub(super) enum KeyringError {
    #[cfg(not(feature = "keyring"))]
    #[error(
        "placet was built without the feature `keyring`; instead of `keyring` set api_key_command = \"{command}\""
    )]
    NotBuilt { command: String },
    #[cfg(feature = "keyring")]
    #[error("the keyring could not be read: no thread can be started: {0}")]
    Thread(std::io::Error),
    #[cfg(feature = "keyring")]
    #[error("the keyring did not answer within {} s", .0.as_secs_f64())]
    TimedOut(std::time::Duration),
    #[cfg(feature = "keyring")]
    #[error("the keyring could not be read")]
    Crashed,
    #[cfg(feature = "keyring")]
    #[error("the keyring has no entry with service `{SERVICE}` and user name `{0}`")]
    NoEntry(String),
    #[cfg(feature = "keyring")]
    #[error("the keyring could not be read: {0}")]
    Store(keyring_core::Error),
}

#[cfg(not(feature = "keyring"))]
pub(super) async fn read(entry: &str) -> Result<ApiKey, KeyringError> {
    let command = if cfg!(target_os = "macos") {
        format!("security find-generic-password -s {SERVICE} -a {entry} -w")
    } else {
        format!("secret-tool lookup service {SERVICE} username {entry}")
    };
    Err(KeyringError::NotBuilt { command })
}

#[cfg(feature = "keyring")]
pub(super) use with::read;

#[cfg(feature = "keyring")]
mod with {
    use super::{ApiKey, KeyringError, SERVICE};
    use keyring_core::{CredentialStore, Error};
    use std::sync::Arc;
    use std::time::Duration;

    /// A locked keyring asks the person for its password, who may have to look for it.
    const DEADLINE: Duration = Duration::from_secs(60);

    pub(in super::super) async fn read(entry: &str) -> Result<ApiKey, KeyringError> {
        read_from(system, entry, DEADLINE).await
    }

    /// Runs on a thread of its own, which is abandoned when it takes too long: a call over D-Bus cannot be cancelled.
    async fn read_from(
        store: impl FnOnce() -> Result<Arc<CredentialStore>, Error> + Send + 'static,
        entry: &str,
        deadline: Duration,
    ) -> Result<ApiKey, KeyringError> {
        let (tell, told) = tokio::sync::oneshot::channel();
        let name = entry.to_string();
        let work = move || {
            let found = store().and_then(|store| store.build(SERVICE, &name, None)?.get_password());
            // The receiver is gone when the turn was stopped.
            drop(tell.send(found));
        };
        let thread = std::thread::Builder::new().name("keyring".into()).spawn(work);
        thread.map_err(KeyringError::Thread)?;
        match tokio::time::timeout(deadline, told).await {
            Err(_) => Err(KeyringError::TimedOut(deadline)),
            Ok(Err(_)) => Err(KeyringError::Crashed),
            Ok(Ok(Ok(password))) => Ok(ApiKey::new(&password)),
            Ok(Ok(Err(Error::NoEntry))) => Err(KeyringError::NoEntry(entry.into())),
            Ok(Ok(Err(e))) => Err(KeyringError::Store(e)),
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
        async fn an_entry_is_the_key_and_a_missing_one_is_told_with_its_names() {
            let store = keyring_core::mock::Store::new().unwrap();
            let filled: Arc<CredentialStore> = store;
            filled.build(SERVICE, "anthropic", None).unwrap().set_password("sk-from-the-ring\n").unwrap();
            let ring = Arc::clone(&filled);
            let found = read_from(move || Ok(ring), "anthropic", SOON).await;
            assert_eq!(found.unwrap(), ApiKey::new("sk-from-the-ring"));
            let missing = read_from(move || Ok(filled), "nobody", SOON).await;
            let words = "the keyring has no entry with service `placet` and user name `nobody`";
            assert_eq!(missing.unwrap_err().to_string(), words);
        }

        #[tokio::test]
        async fn a_keyring_that_is_not_there_or_hangs_ends_the_request() {
            let gone = read_from(|| Err(Error::NoDefaultStore), "a", SOON).await.unwrap_err().to_string();
            assert!(gone.starts_with("the keyring could not be read: "), "{gone}");
            let (_held, waiting) = std::sync::mpsc::channel::<()>();
            let stuck = move || {
                let _ = waiting.recv();
                Err(Error::NoDefaultStore)
            };
            let slow = read_from(stuck, "a", Duration::from_millis(20)).await;
            assert_eq!(slow.unwrap_err().to_string(), "the keyring did not answer within 0.02 s");
        }
    }
}

#[cfg(all(test, not(feature = "keyring")))]
mod tests {
    #[tokio::test]
    async fn a_build_without_it_names_the_command_that_does_the_same() {
        let told = super::read("anthropic").await.unwrap_err().to_string();
        assert!(told.contains("built without the feature `keyring`"), "{told}");
        assert!(told.contains("placet") && told.contains("anthropic"), "{told}");
    }
}
