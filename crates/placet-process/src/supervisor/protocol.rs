//! The protocol between placet and the supervisor of a command: arguments, and bytes on the supervisor's standard
//! input.

use std::time::Duration;

/// The hidden argument by which placet becomes a supervisor.
pub const RUN: &str = "__run";

/// The only argument of a supervisor whose order comes over the line.
pub(crate) const WAIT: &str = "--wait";

/// The first argument after [`RUN`] of a process that publishes a port of a command, and is no supervisor.
pub const PUBLISH: &str = "--publish";

/// The description of the sandbox follows as an argument, and not in a file.
pub(crate) const DESCRIBED: &str = "--described";

/// Announces to a supervisor that its command's input comes over the line first.
pub(crate) const PIPED: &str = "--piped";

/// Announces to a supervisor that its command has a terminal: the command ends with the process that started the
/// supervisor.
pub(crate) const TERMINAL: &str = "--terminal";

/// Sent to a supervisor: the command outlives placet.
pub(crate) const STAY: u8 = b'k';

/// Sent to a supervisor, and by the supervisor to process 1 of the sandbox: a stopped command continues.
pub const CONTINUE: u8 = b'c';

/// The line that comes together with the terminal of a command.
pub(crate) const TERMINAL_PASSED: &str = "terminal";

/// The lines that report what happened to the command of a terminal. Process 1 of the sandbox writes them.
pub const STOPPED: &str = "stopped";
pub const CONTINUED: &str = "continued";

/// The line that reports that the command of a terminal has ended, and that something it started has not.
pub(crate) const ENDING: &str = "ending";

/// How long output is still read after the supervisor has ended.
pub(crate) const DRAIN: Duration = Duration::from_millis(300);

/// How long a supervisor has to end everything before it is killed itself.
pub(crate) const GRACE: Duration = Duration::from_secs(4);
