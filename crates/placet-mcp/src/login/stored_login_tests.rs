//! Where a login is: in its file, and in a keyring of the test's own.

use super::*;

fn login(url: &str) -> StoredLogin {
    let tokens = LoginTokens::requested(
        ("https://auth.example".into(), url.into()),
        ("https://auth.example/token".into(), None),
        ("id".into(), Some("canary-secret".into()), false),
        false,
    );
    let tokens =
        LoginTokens { access: "canary-access".into(), refresh: Some("canary-refresh".into()), ..tokens };
    StoredLogin { url: url.into(), wanted: None, issuer: None, tokens: Some(tokens) }
}

/// A store whose tokens are in the file, in every build.
fn store_in(dir: &Path) -> LoginStore {
    #[cfg(feature = "keyring")]
    let keyring = Keyring::of(|| Err(keyring_core::Error::NoDefaultStore), Duration::from_secs(20));
    #[cfg(not(feature = "keyring"))]
    let keyring = Keyring::default();
    LoginStore { dir: dir.into(), keyring, ..LoginStore::default() }
}

#[tokio::test]
async fn a_login_is_its_owners_and_that_of_one_address() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_in(&dir.path().join("mcp"));
    let (url, other) = ("https://mcp.example/a", "https://mcp.example/b");
    assert_eq!(store.load("s", url).unwrap(), None);
    let place = store.store("s", &login(url)).await.unwrap();
    assert!(matches!(place, LoginPlace::File | LoginPlace::FileWithoutKeyring(_)), "{place:?}");
    let path = store.file("s", url);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(store.with_tokens("s", url).await.unwrap(), Some(login(url)));
    assert_eq!(store.load("s", other).unwrap(), None);
    assert_eq!(store.load("t", url).unwrap(), None);
    // A file that somebody put in the place of another address's.
    std::fs::copy(&path, store.file("s", other)).unwrap();
    let wrong = store.load("s", other).unwrap_err().to_string();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let readable = store.load("s", url).unwrap_err().to_string();
    std::fs::write(&path, "{\"url\": \"canary").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let broken = store.load("s", url).unwrap_err().to_string();
    for error in [wrong, readable, broken, format!("{:?}", login(url))] {
        assert!(!error.contains("canary"), "{error}");
    }
    // It is in the way of the next login until it is removed.
    store.remove("s", url).await.unwrap();
    assert!(!path.exists());
}

#[tokio::test]
async fn a_refusal_leaves_the_tokens_and_asks_for_a_login() {
    let dir = tempfile::tempdir().unwrap();
    let store = store_in(dir.path());
    let url = "https://mcp.example/";
    store.store("s", &login(url)).await.unwrap();
    assert_eq!(login(url).state(), LoginState::LoggedIn);
    let wanted = WantedLogin { challenge: None, scope: Some("write".into()) };
    store.note_wanted("s", url, wanted).unwrap();
    let after = store.load("s", url).unwrap().unwrap();
    assert_eq!((after.state(), &after.tokens), (LoginState::Needed, &login(url).tokens));
    store.store("s-login-x", &login(url)).await.unwrap();
    assert_eq!(store.remove_all("s").await.unwrap(), 1);
    assert!(store.load("s-login-x", url).unwrap().is_some());
    store.remove("s", url).await.unwrap();
    assert_eq!(store.load("s", url).unwrap(), None);
}

#[tokio::test]
async fn a_login_that_cannot_be_stored_is_used_until_another_process_stores_one() {
    let dir = tempfile::tempdir().unwrap();
    let (store, url) = (store_in(dir.path()), "https://mcp.example/");
    store.store("s", &login(url)).await.unwrap();
    let with = |access: &str| {
        let tokens = LoginTokens { access: access.into(), refresh: None, ..login(url).tokens.unwrap() };
        StoredLogin { tokens: Some(tokens), ..login(url) }
    };
    let access = async |store: &LoginStore| {
        let stored = store.with_tokens("s", url).await.unwrap().unwrap();
        stored.tokens.unwrap().access
    };
    // In the place of the new file is a directory.
    let new = private::unfinished(&store.file("s", url));
    std::fs::create_dir(&new).unwrap();
    assert!(store.store("s", &with("canary-new")).await.is_err());
    store.keep("s", with("canary-new"), login(url).tokens.as_ref());
    assert_eq!(access(&store).await, "canary-new");
    assert_eq!(access(&store_in(dir.path())).await, "canary-access", "the file is as it was");
    store.note_wanted("s", url, WantedLogin::default()).unwrap();
    assert_eq!(store.load("s", url).unwrap().unwrap().state(), LoginState::Needed);
    let said = store.retry().await;
    assert!(said[0].starts_with("cannot store the login: ") && said.len() == 1, "{said:?}");
    assert!(said[0].ends_with(": the new login at s is used until placet ends"), "{said:?}");
    assert!(store.retry().await.is_empty(), "it is reported once");
    std::fs::remove_dir(&new).unwrap();
    assert_eq!(store.retry().await, ["the login at s is stored now"]);
    assert_eq!(access(&store_in(dir.path())).await, "canary-new");
    // What another process stores is newer.
    store.keep("s", with("canary-kept"), None);
    assert_eq!(access(&store).await, "canary-kept");
    store_in(dir.path()).store("s", &with("canary-other")).await.unwrap();
    assert_eq!(access(&store).await, "canary-other");
    assert!(store.retry().await.is_empty());
}

#[cfg(feature = "keyring")]
mod with_a_keyring {
    use super::*;
    use keyring_core::CredentialStore;
    use std::sync::{Arc, Mutex};

    /// A keyring that can be taken away.
    fn ring() -> (Keyring, Arc<Mutex<bool>>) {
        let is_there = Arc::new(Mutex::new(true));
        let (entries, open): (Arc<CredentialStore>, _) =
            (keyring_core::mock::Store::new().unwrap(), Arc::clone(&is_there));
        let open = move || match *open.lock().unwrap() {
            true => Ok(Arc::clone(&entries)),
            false => Err(keyring_core::Error::NoDefaultStore),
        };
        (Keyring::of(open, Duration::from_secs(20)), is_there)
    }

    fn file(store: &LoginStore, url: &str) -> String {
        std::fs::read_to_string(store.file("s", url)).unwrap()
    }

    #[tokio::test]
    async fn the_tokens_are_in_the_keyring_and_a_logout_removes_both() {
        let dir = tempfile::tempdir().unwrap();
        let (keyring, _) = ring();
        let store = LoginStore { dir: dir.path().into(), keyring: keyring.clone(), ..LoginStore::default() };
        let url = "https://mcp.example/";
        assert_eq!(store.store("s", &login(url)).await.unwrap(), LoginPlace::Keyring);
        assert!(!file(&store, url).contains("canary"), "{}", file(&store, url));
        // A list reads the file only.
        assert_eq!(store.load("s", url).unwrap().unwrap().state(), LoginState::LoggedIn);
        assert_eq!(store.with_tokens("s", url).await.unwrap(), Some(login(url)));
        // A refused request leaves them there.
        store.note_wanted("s", url, WantedLogin::default()).unwrap();
        let noted = StoredLogin { wanted: Some(WantedLogin::default()), ..login(url) };
        assert_eq!(store.with_tokens("s", url).await.unwrap(), Some(noted));
        store.remove("s", url).await.unwrap();
        let name = LoginStore::name("s", url);
        assert!(!keyring.remove(&name).await.unwrap() && store.load("s", url).unwrap().is_none());
        // A login that ended, and a server that is removed, leave no entry either.
        for ends in [false, true] {
            store.store("s", &login(url)).await.unwrap();
            match ends {
                true => drop(store.store("s", &StoredLogin { tokens: None, ..login(url) }).await.unwrap()),
                false => assert_eq!(store.remove_all("s").await.unwrap(), 1),
            }
            assert!(!keyring.remove(&name).await.unwrap(), "{ends}");
        }
    }

    #[tokio::test]
    async fn without_the_keyring_the_file_has_the_tokens_and_those_in_it_are_reported_as_out_of_reach() {
        let dir = tempfile::tempdir().unwrap();
        let (keyring, is_there) = ring();
        let store = LoginStore { dir: dir.path().into(), keyring: keyring.clone(), ..LoginStore::default() };
        let url = "https://mcp.example/";
        store.store("s", &login(url)).await.unwrap();
        *is_there.lock().unwrap() = false;
        let error = store.with_tokens("s", url).await.unwrap_err().to_string();
        assert!(error.starts_with("cannot use the stored login: the keyring could not be read: "), "{error}");
        let error = store.remove("s", url).await.unwrap_err().to_string();
        assert!(error.contains("the keyring could not be changed: "), "{error}");
        assert!(store.load("s", url).unwrap().is_some(), "the login is forgotten, and its entry is not");
        // The next login is stored in the file.
        let place = store.store("s", &login(url)).await.unwrap();
        let LoginPlace::FileWithoutKeyring(why) = place else { panic!("{place:?}") };
        assert!(why.starts_with("the keyring could not be changed: "), "{why}");
        assert_eq!(store.with_tokens("s", url).await.unwrap(), Some(login(url)));
        assert!(file(&store, url).contains("canary-access"));
    }
}
