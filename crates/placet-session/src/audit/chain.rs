//! The key and the codes: HMAC-SHA256 (RFC 2104).

use super::AuditError;
use hmac::{Hmac, KeyInit, Mac as _};
use placet_text::text::regular_file;
use sha2::Sha256;
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// The value of `prev` of the first entry.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The key of a log: never printed.
pub(super) struct AuditKey(Hmac<Sha256>);

/// An entry's code, shown as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AuditMac([u8; 32]);

impl fmt::Display for AuditMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out
}

impl AuditKey {
    pub(super) fn seal(&self, bytes: &[u8]) -> AuditMac {
        let mut mac = self.0.clone();
        mac.update(bytes);
        AuditMac(mac.finalize().into_bytes().into())
    }

    /// `None` when there is no key file.
    pub(super) fn read(path: &Path) -> Result<Option<AuditKey>, AuditError> {
        let bad = |e: std::io::Error| AuditError::File { path: path.into(), reason: e.to_string() };
        let text = match regular_file::read_to_string(path, regular_file::SETTINGS) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(bad(e)),
        };
        let mode = fs::metadata(path).map_err(bad)?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(AuditError::KeyMode { path: path.into(), mode });
        }
        let text = text.trim();
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(AuditError::KeyShape { path: path.into() });
        }
        let key = Hmac::new_from_slice(text.as_bytes());
        key.map(|key| Some(AuditKey(key))).map_err(|_| AuditError::KeyShape { path: path.into() })
    }

    /// Creates a key that only its owner can read. If two programs do so at once, both get the same key.
    pub(super) fn create(path: &Path) -> Result<AuditKey, AuditError> {
        let make = || -> std::io::Result<()> {
            let dir = path.parent().unwrap_or(Path::new("."));
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            let mut random = [0; 32];
            fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            file.write_all(format!("{}\n", hex(&random)).as_bytes())?;
            file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
            file.as_file().sync_all()?;
            match file.persist_noclobber(path) {
                Err(e) if e.error.kind() != ErrorKind::AlreadyExists => Err(e.error),
                _ => Ok(()),
            }
        };
        let bad = |reason: String| AuditError::File { path: path.into(), reason };
        make().map_err(|e| bad(e.to_string()))?;
        AuditKey::read(path)?.ok_or_else(|| bad("it is gone again".into()))
    }
}
