//! What the cases share.

pub mod binary;
#[cfg(target_os = "linux")]
pub mod broken_calls;
pub mod den;
pub mod fixture;
pub mod guide_run;
pub mod history_rules;
pub mod live;
pub mod mock_server;
pub mod network;
pub mod output;
pub mod program;
pub mod pty;
pub mod request;
pub mod require;
pub mod schema;
pub mod special;
pub mod talk;
pub mod tool_bench;
pub mod txn;

/// How long something may take that happens at once on a machine with nothing else to do. Where it does not happen at
/// once, it takes minutes or never comes: a test with this limit fails for that, and not for a busy machine.
pub const SOON: std::time::Duration = std::time::Duration::from_secs(20);
