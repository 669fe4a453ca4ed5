//! A name that came from a repository: bytes, never printed as they are.

use crate::error::{GitError, Result};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// The name of a ref, a path, a subject or a message, as bytes. `Debug` and the journal escape what is not plain ASCII.
/// A clone shares the bytes: three states of a repository have nearly the same 200,000 refs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct GitName(Arc<[u8]>);

impl GitName {
    #[must_use]
    pub fn new(bytes: &[u8]) -> GitName {
        GitName(bytes.into())
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        OsStr::from_bytes(&self.0)
    }

    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(self.as_os_str())
    }

    #[must_use]
    pub fn starts_with(&self, prefix: &str) -> bool {
        self.0.starts_with(prefix.as_bytes())
    }

    /// With `%` and two digits for each byte that is not a plain character.
    #[must_use]
    pub fn escaped(&self) -> String {
        let mut text = String::with_capacity(self.0.len());
        for byte in &*self.0 {
            if (b' '..=b'~').contains(byte) && *byte != b'%' {
                text.push(char::from(*byte));
            } else {
                let _ = write!(text, "%{byte:02x}");
            }
        }
        text
    }
}

impl From<&str> for GitName {
    fn from(text: &str) -> GitName {
        GitName::new(text.as_bytes())
    }
}

impl From<&Path> for GitName {
    fn from(path: &Path) -> GitName {
        GitName::new(path.as_os_str().as_bytes())
    }
}

impl fmt::Debug for GitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.escaped())
    }
}

impl From<GitName> for String {
    fn from(name: GitName) -> String {
        name.escaped()
    }
}

impl TryFrom<String> for GitName {
    type Error = GitError;

    fn try_from(text: String) -> Result<GitName> {
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            if byte != b'%' {
                bytes.push(byte);
                continue;
            }
            let mut digit =
                || rest.next().and_then(|c| char::from(c).to_digit(16)).and_then(|d| u8::try_from(d).ok());
            match (digit(), digit()) {
                (Some(high), Some(low)) => bytes.push(high << 4 | low),
                _ => return Err(GitError::Unsupported(format!("`{text}` is not an escaped name"))),
            }
        }
        Ok(GitName(bytes.into()))
    }
}
