//! Why the audit log cannot be written or read.

use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum AuditError {
    #[error("`{}` cannot be used: {reason}", .path.display())]
    File { path: PathBuf, reason: String },
    #[error("the audit key `{}` can be read by others (mode {mode:o})", .path.display())]
    KeyMode { path: PathBuf, mode: u32 },
    #[error("the audit key `{}` is not 64 hexadecimal digits", .path.display())]
    KeyShape { path: PathBuf },
    /// A new key would make every existing entry look forged.
    #[error("the audit key `{}` is gone, but `{}` has entries made with it", .key.display(), .log.display())]
    KeyGone { key: PathBuf, log: PathBuf },
}

impl AuditError {
    /// The hint for the error.
    pub fn hint(&self) -> String {
        match self {
            AuditError::File { .. } => {
                "make it writable, or turn the log off with `audit.enabled = false` in your own settings"
                    .into()
            }
            AuditError::KeyMode { path, .. } => format!("chmod 600 {}", path.display()),
            AuditError::KeyShape { path } => {
                format!("restore it; or move it, the log and the anchor away: {}", path.display())
            }
            AuditError::KeyGone { log, .. } => {
                format!("restore it; or move the log away to start a new one: {}", log.display())
            }
        }
    }
}
