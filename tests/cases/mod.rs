//! One file per area; each test's name is a sentence.
mod cli;
mod headless;
mod mcp;
mod process;
mod session;

mod provider_decode;
mod provider_encode;
mod provider_live;

mod provider_offline;
mod provider_replay;
mod shell;
mod tool_edit;
mod tool_read;
