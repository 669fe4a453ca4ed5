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
pub mod close_on_exec;
mod command;
mod command_input;
mod command_output;
mod confine;
mod descendants;
mod foreground;
mod job_reports;
mod listening;
mod output_log;
mod panic_info;
pub mod pass_descriptors;
mod piped;
mod protocol;
mod ready;
mod reserve;
mod resource_check;
mod start_failure;
mod supervise;
mod supervisor_child;
mod supervisor_order;
mod terminal_command;
pub mod text_frame;

pub use background::BackgroundSupervisor;
pub use capture::OutputCapture;
pub use child_pid::{ChildPid, InvalidChildPid, is_running};
#[cfg(target_os = "linux")]
pub use child_pid::{JobChange, ReapResult, WaitMode};
pub use command::{CommandExit, FinishedCommand, ProcessError, ShellCommand};
pub use command_input::CommandInput;
pub use command_output::{CommandOutputError, command_output};
pub use confine::{
    ConfineError, ConfineFn, ConfineRequest, ConfinedProcess, PreparedConfine, SandboxReport, SandboxStart,
};
#[cfg(target_os = "linux")]
pub use descendants::parent_of;
pub use descendants::{programs_of, roots_below};
pub use foreground::ForegroundCommand;
pub use listening::listening_ports;
pub use output_log::{LOG, OutputLog};
pub use panic_info::{is_of_the_runtime, panic_reason};
pub use piped::PipedCommand;
pub use protocol::{CONTINUE, CONTINUED, PUBLISH, RUN, STOPPED};
pub use ready::ReadySupervisor;
pub use reserve::SupervisorReserve;
pub use resource_check::{ResourceError, check_room};
pub use start_failure::StartFailure;
pub use supervise::supervise;
pub use terminal_command::{TerminalErrors, TerminalEvent, TerminalSupervisor};
