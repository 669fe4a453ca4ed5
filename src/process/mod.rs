//! Runs commands and leaves no process behind.
//!
//! A command runs below a supervisor: placet itself, re-executed as `placet __run`. The supervisor is the reaper of
//! every process that the command starts, however deeply it forks and whatever session it uses, and it lives exactly as
//! long as a socket to its parent is open. When the command ends, when the call is cancelled, and when placet dies for
//! whatever reason, every descendant is ended. A background command has the same kind of supervisor; only a background
//! command can outlive placet.

mod background;
mod capture;
mod child_pid;
mod command;
mod command_input;
mod confine;
mod descendants;
mod output_log;
mod panic_info;
mod protocol;
mod resource_check;
mod start_failure;
mod supervise;

pub use background::BackgroundSupervisor;
pub use capture::OutputCapture;
pub(crate) use child_pid::ReapResult;
pub use child_pid::{ChildPid, InvalidChildPid, is_running};
pub use command::{CommandExit, FinishedCommand, ProcessError, ShellCommand};
pub use command_input::CommandInput;
pub use confine::{ConfineError, ConfineFn, ConfineRequest, ConfinedProcess};
#[cfg(target_os = "linux")]
pub(crate) use descendants::parent_of;
pub use output_log::LOG;
pub use panic_info::{is_of_the_runtime, panic_reason};
pub use protocol::RUN;
pub use resource_check::{ResourceError, check_room};
pub use start_failure::StartFailure;
pub use supervise::supervise;
