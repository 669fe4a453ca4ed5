//! One file per area; each test's name is a sentence.

mod image_read;
mod process;
mod provider_decode;
mod provider_encode;
mod provider_live;
mod provider_offline;
mod provider_replay;
mod reference;
mod session;
mod shell;
mod tool_command;
mod tool_edit;
mod tool_gate;
mod tool_read;
mod tool_scratchpad;
mod tool_search;
mod tool_write;
mod workspace_paths;
mod workspace_races;
