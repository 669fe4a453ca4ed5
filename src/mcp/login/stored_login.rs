//! The stored login of a server: one file that only its owner can read, bound to the server's name and address.

use crate::private;
use crate::text::regular_file;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The largest file of a login. Tokens of some servers have several kilobytes.
const LARGEST: u64 = 256 << 10;
/// How long to wait for another placet that renews the same token.
const LOCK: Duration = Duration::from_secs(30);

/// The directory with the logins.
#[derive(Clone, Debug)]
pub struct LoginStore {
    dir: PathBuf,
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
        LoginStore { dir }
    }

    fn file(&self, server: &str, url: &str) -> PathBuf {
        let hash = blake3::hash(url.as_bytes()).to_hex();
        self.dir.join(format!("{server}-login-{}.json", hash.get(..16).unwrap_or_default()))
    }

    /// The login of a server. A file that others can read, or of another address, is an error.
    pub fn load(&self, server: &str, url: &str) -> io::Result<Option<StoredLogin>> {
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

    pub(super) fn store(&self, server: &str, login: &StoredLogin) -> io::Result<()> {
        private::make_dir(&self.dir)?;
        let text = serde_json::to_string(login).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
        private::write(&self.file(server, &login.url), text.as_bytes())
    }

    pub(super) fn remove(&self, server: &str, url: &str) -> io::Result<()> {
        match std::fs::remove_file(self.file(server, url)) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// Removes the logins at all addresses that this server had. The number of them.
    pub fn remove_all(&self, server: &str) -> io::Result<usize> {
        let entries = match std::fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(0),
            Err(e) => return Err(e),
        };
        let mut removed = 0;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let hash = name.to_str().and_then(|name| name.strip_prefix(&format!("{server}-login-")));
            // Another server may have a name that begins in this way.
            let is_login = |rest: &str| rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
            if hash.and_then(|rest| rest.strip_suffix(".json")).is_some_and(is_login) {
                std::fs::remove_file(entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Remembers that the server refused a request.
    pub(super) fn note_wanted(&self, server: &str, url: &str, wanted: WantedLogin) -> io::Result<()> {
        let before = self.load(server, url)?.unwrap_or_default();
        let login = StoredLogin { url: url.into(), wanted: Some(wanted), ..before };
        self.store(server, &login)
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
mod tests {
    use super::*;

    fn login(url: &str) -> StoredLogin {
        let tokens = LoginTokens {
            issuer: "https://auth.example".into(),
            token_endpoint: "https://auth.example/token".into(),
            revocation_endpoint: None,
            client_id: "id".into(),
            client_secret: Some("canary-secret".into()),
            has_secret_in_body: false,
            resource: url.into(),
            scopes: vec![],
            is_private: false,
            access: "canary-access".into(),
            refresh: Some("canary-refresh".into()),
            expires_at: None,
        };
        StoredLogin { url: url.into(), wanted: None, issuer: None, tokens: Some(tokens) }
    }

    #[test]
    fn a_login_is_its_owners_and_that_of_one_address() {
        let dir = tempfile::tempdir().unwrap();
        let store = LoginStore::new(dir.path().join("mcp"));
        let (url, other) = ("https://mcp.example/a", "https://mcp.example/b");
        assert_eq!(store.load("s", url).unwrap(), None);
        store.store("s", &login(url)).unwrap();
        let path = store.file("s", url);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(store.load("s", url).unwrap(), Some(login(url)));
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
    }

    #[test]
    fn a_refusal_leaves_the_tokens_and_asks_for_a_login() {
        let dir = tempfile::tempdir().unwrap();
        let store = LoginStore::new(dir.path().into());
        let url = "https://mcp.example/";
        store.store("s", &login(url)).unwrap();
        assert_eq!(login(url).state(), LoginState::LoggedIn);
        let wanted = WantedLogin { challenge: None, scope: Some("write".into()) };
        store.note_wanted("s", url, wanted).unwrap();
        let after = store.load("s", url).unwrap().unwrap();
        assert_eq!((after.state(), &after.tokens), (LoginState::Needed, &login(url).tokens));
        store.store("s-login-x", &login(url)).unwrap();
        assert_eq!(store.remove_all("s").unwrap(), 1);
        assert!(store.load("s-login-x", url).unwrap().is_some());
        store.remove("s", url).unwrap();
        assert_eq!(store.load("s", url).unwrap(), None);
    }
}
