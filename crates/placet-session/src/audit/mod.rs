//! The audit log: decisions, calls and consent, in a chain that shows every later change of it.
//!
//! Each entry contains an HMAC-SHA256 over itself and the entry before it; the key is in another directory than the
//! log. An anchor next to the key contains the number of entries and the last entry's code, so that entries that were
//! cut off at the end are also noticed. Anyone who can read the key can forge the log: it proves what other programs
//! did to it, not what the person did.

mod chain;
mod entry;
mod error;
mod log;
mod verify;

pub use entry::{AuditEntry, AuditEvent, AuditKind, digest};
pub use error::AuditError;
pub use log::{AuditLog, AuditPaths};
pub use verify::{AuditBreak, AuditReport, entries, verify};
