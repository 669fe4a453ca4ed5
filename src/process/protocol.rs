//! The protocol between placet and the supervisor of a command: arguments, and bytes on the supervisor's standard
//! input.

use std::time::Duration;

/// The hidden argument by which placet becomes a supervisor.
pub const RUN: &str = "__run";

/// Announces to a supervisor that its command's input comes over the line first.
pub(super) const PIPED: &str = "--piped";

/// Sent to a supervisor: the command outlives placet.
pub(super) const STAY: u8 = b'k';

/// How long output is still read after the supervisor has ended.
pub(super) const DRAIN: Duration = Duration::from_millis(300);
