//! The tools of servers that speak MCP: which of them a model is offered, how a call runs, and what a server changes.
//!
//! A server runs in the view, as a command in the background does: its changes are pending. It is started when it is
//! first needed, and ended when it has changed files, because placet reads what a process did only when it has ended.

mod calls;
mod deferred;
mod home_writes;
mod offered;
mod person_tools;
mod pool;
mod rendered;
mod requests;
mod running;
mod server_tool;
mod start;
mod status;

pub use calls::read_server_tools;
pub use offered::{ServerTools, UnreadServer};
pub(super) use person_tools::person_tools;
pub use person_tools::{PROMPT_TOOL, RESOURCE_TOOL, START_TOOL};
pub use pool::ServerPool;
pub use status::{ServerState, ServerStatus};
