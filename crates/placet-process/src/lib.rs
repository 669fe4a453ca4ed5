//! Runs commands and leaves no process behind.
//!
//! A command runs below a supervisor: placet itself, re-executed as `placet __run`. The supervisor is the reaper of
//! every process that the command starts, however deeply it forks and whatever session it uses, and it lives exactly as
//! long as a socket to its parent is open. When the command ends, when the call is cancelled, and when placet dies for
//! whatever reason, every descendant is ended. A background command has the same kind of supervisor; only a background
//! command can outlive placet.

mod child_pid;
pub mod close_on_exec;
mod commands;
mod descendants;
mod listening;
mod panic_info;
pub mod pass_descriptors;
mod resource_check;
mod supervisor;
pub mod text_frame;

pub use child_pid::{ChildPid, InvalidChildPid, is_running};
#[cfg(target_os = "linux")]
pub use child_pid::{JobChange, ReapResult, WaitMode};
pub use commands::background::BackgroundSupervisor;
pub use commands::capture::OutputCapture;
pub use commands::command::{CommandExit, FinishedCommand, ProcessError, ShellCommand};
pub use commands::command_clock::{ClockPause, CommandClock};
pub use commands::command_input::CommandInput;
pub use commands::command_output::{CommandOutputError, command_output};
pub use commands::foreground::ForegroundCommand;
pub use commands::output_log::{LOG, OutputLog};
pub use commands::piped::PipedCommand;
pub use commands::terminal_command::{TerminalErrors, TerminalEvent, TerminalSupervisor};
#[cfg(target_os = "linux")]
pub use descendants::parent_of;
pub use descendants::{programs_of, roots_below};
pub use listening::listening_ports;
pub use panic_info::{is_of_the_runtime, panic_reason};
pub use resource_check::{ResourceError, check_room};
pub use supervisor::confine::{
    ConfineError, ConfineFn, ConfineRequest, ConfinedProcess, PreparedConfine, SandboxReport, SandboxStart,
};
pub use supervisor::protocol::{CONTINUE, CONTINUED, PUBLISH, RUN, STOPPED};
pub use supervisor::ready::ReadySupervisor;
pub use supervisor::reserve::SupervisorReserve;
pub use supervisor::start_failure::StartFailure;
pub use supervisor::supervise::supervise;
