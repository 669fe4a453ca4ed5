//! The audit log: what was decided, what ran, and who consented, in a chain that shows every later change of it.
//!
//! Each entry carries an HMAC-SHA256 over itself and the entry before it; the key lies in another directory than the
//! log. An anchor next to the key holds how many entries there are and the last one's code, so that entries
//! cut off at the end are missed too. Anyone who can read the key can forge the log: it proves what other
//! programs did to it, not what the person did.

mod chain;
mod entry;
mod error;
mod log;
mod verify;

pub use entry::{AuditEntry, AuditEvent, AuditKind, digest};
pub use error::AuditError;
pub use log::{AuditLog, AuditPaths};
pub use verify::{AuditBreak, AuditReport, entries, verify};
