//! Commands in the view: what they see, what they cannot reach, and how they end.

mod hostile_search_bounds;
mod hostile_secrets;
mod hostile_system_calls;
mod masks;
mod network_programs;
mod process;
mod rename_directory;
mod sandbox;
mod sandbox_escape;
mod sandbox_escape_network;
mod tool_chain;
