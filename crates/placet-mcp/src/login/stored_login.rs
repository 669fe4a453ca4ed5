//! The stored login of a server, bound to the server's name and address: one file that only its owner can read. The
//! tokens themselves are in the system's keyring if placet can use one, and otherwise in the file.

use super::error::LoginError;
use placet_config::keyring::{self, Keyring};
use placet_text::private;
use placet_text::text::regular_file;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The largest file of a login. Tokens of some servers have several kilobytes.
const LARGEST: u64 = 256 << 10;
/// How long to wait for another placet that renews the same token.
const LOCK: Duration = Duration::from_secs(30);

/// The directory with the logins.
#[derive(Clone, Debug, Default)]
pub struct LoginStore {
    dir: PathBuf,
    keyring: Keyring,
    pub(super) unsaved: UnsavedLogins,
}

/// Where the tokens of a login are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoginPlace {
    Keyring,
    File,
    /// The file, because the keyring of this build could not be used: why.
    FileWithoutKeyring(String),
    /// It could not be stored.
    Process,
}

/// What placet knows of the login at one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLogin {
    /// The address of the settings. Tokens are used with no other.
    pub url: String,
    /// The server refused a request, and no login was made since then.
    pub wanted: Option<WantedLogin>,
    /// Who gave the first tokens. Another one is asked only after `placet mcp logout`.
    pub(super) issuer: Option<String>,
    pub(super) tokens: Option<LoginTokens>,
}

/// What a server said when it refused a request: hostile text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedLogin {
    /// The header `WWW-Authenticate`.
    pub challenge: Option<String>,
    /// The rights that the login lacked.
    pub scope: Option<String>,
}

/// How a login is, for a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginState {
    LoggedIn,
    /// The server asked for a login, or for another one.
    Needed,
    /// Its file cannot be read, or is not one.
    Unusable,
}

/// The tokens, and where they are renewed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LoginTokens {
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    pub(super) revocation_endpoint: Option<String>,
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    /// The secret is sent in the body, not in a header.
    pub(super) has_secret_in_body: bool,
    pub(super) resource: String,
    pub(super) scopes: Vec<String>,
    pub(super) is_private: bool,
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    /// In seconds since 1970.
    pub(super) expires_at: Option<u64>,
    /// What is secret of it is in the keyring, and empty here.
    #[serde(default)]
    pub(super) in_keyring: bool,
}

/// What is secret of a login.
#[derive(Serialize, Deserialize)]
struct LoginSecrets {
    access: String,
    refresh: Option<String>,
    client_secret: Option<String>,
}

/// The logins of this process that are not stored, by the name of their file. Clones share everything.
#[derive(Clone, Debug, Default)]
pub(super) struct UnsavedLogins(Arc<Mutex<BTreeMap<String, UnsavedLogin>>>);

#[derive(Clone, Debug)]
pub(super) struct UnsavedLogin {
    pub(super) server: String,
    pub(super) login: StoredLogin,
    /// What the file said. With other content, another process has made a login since then.
    pub(super) over: Option<StoredLogin>,
    /// The stored token of renewal still counts: without this login nothing is lost.
    pub(super) is_repeatable: bool,
    pub(super) is_reported: bool,
}

impl UnsavedLogin {
    pub(super) fn url(&self) -> &str {
        &self.login.url
    }
}

impl UnsavedLogins {
    pub(super) fn all(&self) -> MutexGuard<'_, BTreeMap<String, UnsavedLogin>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, name: &str) -> Option<UnsavedLogin> {
        self.all().get(name).cloned()
    }

    pub(super) fn remove(&self, name: &str) {
        self.all().remove(name);
    }

    /// True if there was one, which is changed.
    pub(super) fn change(&self, name: &str, change: impl FnOnce(&mut StoredLogin)) -> bool {
        self.all().get_mut(name).map(|unsaved| change(&mut unsaved.login)).is_some()
    }
}

impl LoginTokens {
    /// Tokens that no server gave yet.
    pub(super) fn requested(
        (issuer, resource): (String, String),
        (token_endpoint, revocation_endpoint): (String, Option<String>),
        (client_id, client_secret, has_secret_in_body): (String, Option<String>, bool),
        is_private: bool,
    ) -> LoginTokens {
        LoginTokens {
            issuer,
            token_endpoint,
            revocation_endpoint,
            client_id,
            client_secret,
            has_secret_in_body,
            resource,
            scopes: Vec::new(),
            is_private,
            access: String::new(),
            refresh: None,
            expires_at: None,
            in_keyring: false,
        }
    }

    /// The same without what is secret, and that.
    fn split(self) -> (LoginTokens, LoginSecrets) {
        let LoginTokens { access, refresh, client_secret, .. } = self.clone();
        let rest = LoginTokens {
            access: String::new(),
            refresh: None,
            client_secret: None,
            in_keyring: true,
            ..self
        };
        (rest, LoginSecrets { access, refresh, client_secret })
    }
}

impl fmt::Debug for LoginTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tokens of {} [hidden]", self.issuer)
    }
}

pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl StoredLogin {
    pub fn state(&self) -> LoginState {
        if self.wanted.is_none() && self.tokens.is_some() { LoginState::LoggedIn } else { LoginState::Needed }
    }
}

impl LoginStore {
    pub fn new(dir: PathBuf) -> LoginStore {
        LoginStore { dir, ..LoginStore::default() }
    }

    /// What the file and the entry of the keyring are called.
    pub(super) fn name(server: &str, url: &str) -> String {
        let hash = blake3::hash(url.as_bytes()).to_hex();
        format!("{server}-login-{}", hash.get(..16).unwrap_or_default())
    }

    fn file(&self, server: &str, url: &str) -> PathBuf {
        self.dir.join(format!("{}.json", LoginStore::name(server, url)))
    }

    /// The login of a server with its tokens. A locked keyring asks the person for its password.
    pub(super) async fn with_tokens(
        &self,
        server: &str,
        url: &str,
    ) -> Result<Option<StoredLogin>, LoginError> {
        if let Some(kept) = self.kept(server, url) {
            return Ok(Some(kept));
        }
        let Some(mut stored) = self.load_file(server, url).map_err(LoginError::Store)? else {
            return Ok(None);
        };
        if let Some(tokens) = stored.tokens.take_if(|tokens| tokens.in_keyring) {
            let text = self.keyring.read(&LoginStore::name(server, url)).await?;
            let broken = || io::Error::new(ErrorKind::InvalidData, "the entry of the keyring is not a login");
            let secrets: LoginSecrets =
                serde_json::from_str(&text).map_err(|_| LoginError::Store(broken()))?;
            let LoginSecrets { access, refresh, client_secret } = secrets;
            stored.tokens = Some(LoginTokens { access, refresh, client_secret, in_keyring: false, ..tokens });
        }
        Ok(Some(stored))
    }

    /// Stores a login, and its tokens in the keyring if that is possible.
    pub(super) async fn store(&self, server: &str, login: &StoredLogin) -> Result<LoginPlace, LoginError> {
        let name = LoginStore::name(server, &login.url);
        let Some(tokens) = login.tokens.clone() else {
            self.forget(&name).await;
            self.write(server, login).map_err(LoginError::Save)?;
            self.unsaved.remove(&name);
            return Ok(LoginPlace::File);
        };
        let (rest, secrets) = tokens.split();
        let broken = |_| LoginError::Save(io::Error::from(ErrorKind::InvalidData));
        let text = serde_json::to_string(&secrets).map_err(broken)?;
        let (place, stored) = match self.keyring.write(&name, &text).await {
            Ok(()) => (LoginPlace::Keyring, StoredLogin { tokens: Some(rest), ..login.clone() }),
            Err(error) => {
                tracing::debug!("the login is stored in a file: {error}");
                // An older entry would be a secret that nobody uses.
                self.forget(&name).await;
                let place = match keyring::IS_BUILT {
                    true => LoginPlace::FileWithoutKeyring(error.to_string()),
                    false => LoginPlace::File,
                };
                (place, login.clone())
            }
        };
        self.write(server, &stored).map_err(LoginError::Save)?;
        self.unsaved.remove(&name);
        Ok(place)
    }

    /// Removes an entry of the keyring, if there is one.
    async fn forget(&self, name: &str) {
        if let Err(error) = self.keyring.remove(name).await {
            tracing::debug!("no entry of the keyring was removed: {error}");
        }
    }

    /// The login of a server; its tokens are missing if they are in the keyring.
    pub fn load(&self, server: &str, url: &str) -> io::Result<Option<StoredLogin>> {
        match self.kept(server, url) {
            Some(kept) => Ok(Some(kept)),
            None => self.load_file(server, url),
        }
    }

    /// What the file of a login says. A file that others can read, or of another address, is an error.
    pub(super) fn load_file(&self, server: &str, url: &str) -> io::Result<Option<StoredLogin>> {
        let path = self.file(server, url);
        let text = match regular_file::read_to_string(&path, LARGEST) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(e),
        };
        let mode = std::fs::metadata(&path)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let why = format!("`{}` can be read by others (mode {mode:o})", path.display());
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        // The parser's own message could quote a token.
        let broken =
            || io::Error::new(ErrorKind::InvalidData, format!("`{}` is not a login", path.display()));
        let stored: StoredLogin = serde_json::from_str(&text).map_err(|_| broken())?;
        if stored.url == url { Ok(Some(stored)) } else { Err(broken()) }
    }

    fn write(&self, server: &str, login: &StoredLogin) -> io::Result<()> {
        private::make_dir(&self.dir)?;
        let text = serde_json::to_string(login).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
        private::write(&self.file(server, &login.url), text.as_bytes())
    }

    /// Removes the file and the entry of the keyring. A file that is not a login is removed as well.
    pub(super) async fn remove(&self, server: &str, url: &str) -> Result<(), LoginError> {
        let is_in_keyring = |stored: StoredLogin| stored.tokens.is_some_and(|tokens| tokens.in_keyring);
        let name = LoginStore::name(server, url);
        self.unsaved.remove(&name);
        match self.load_file(server, url).ok().flatten().is_some_and(is_in_keyring) {
            true => drop(self.keyring.remove(&name).await?),
            false => self.forget(&name).await,
        }
        match std::fs::remove_file(self.file(server, url)) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(LoginError::Store(e)),
            _ => Ok(()),
        }
    }

    /// Removes the logins at all addresses that this server had, with their entries of the keyring. The number of them.
    pub async fn remove_all(&self, server: &str) -> Result<usize, LoginError> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(0),
            Err(e) => return Err(LoginError::Store(e)),
        };
        let mut removed = 0;
        for entry in entries {
            let entry = entry.map_err(LoginError::Store)?;
            let file = entry.file_name();
            let Some(name) = file.to_str().and_then(|name| name.strip_suffix(".json")) else { continue };
            let hash = name.strip_prefix(&format!("{server}-login-"));
            // Another server may have a name that begins in this way.
            let is_login = |rest: &str| rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
            if hash.is_some_and(is_login) {
                self.forget(name).await;
                std::fs::remove_file(entry.path()).map_err(LoginError::Store)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Remembers that the server refused a request.
    pub(super) fn note_wanted(&self, server: &str, url: &str, wanted: WantedLogin) -> io::Result<()> {
        if self.unsaved.change(&LoginStore::name(server, url), |kept| kept.wanted = Some(wanted.clone())) {
            return Ok(());
        }
        let before = self.load_file(server, url)?.unwrap_or_default();
        let login = StoredLogin { url: url.into(), wanted: Some(wanted), ..before };
        self.write(server, &login)
    }

    /// Waits until no other process renews this login. A server gives each token of renewal only once.
    pub(super) async fn lock(&self, server: &str, url: &str) -> io::Result<LoginLock> {
        private::make_dir(&self.dir)?;
        let path = self.file(server, url).with_extension("lock");
        let file = open_lock(&path)?;
        let deadline = Instant::now() + LOCK;
        loop {
            match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(LoginLock { _file: file }),
                Err(rustix::io::Errno::WOULDBLOCK) if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(e) => return Err(e.into()),
            }
        }
    }
}

/// Dropping it unlocks the login.
pub(super) struct LoginLock {
    _file: File,
}

fn open_lock(path: &Path) -> io::Result<File> {
    regular_file::check(path)?;
    std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(private::FILE).open(path)
}

#[cfg(test)]
#[path = "stored_login_tests.rs"]
mod tests;
