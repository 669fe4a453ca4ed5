//! What starts and reads a command: in front, in the background, with pipes or a terminal.

pub(super) mod background;
pub(super) mod capture;
pub(super) mod command;
pub(super) mod command_clock;
pub(super) mod command_input;
pub(super) mod command_output;
pub(super) mod foreground;
pub(super) mod output_log;
pub(super) mod piped;
pub(super) mod terminal_command;
