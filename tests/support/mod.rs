//! What the cases share.

pub mod fixture;
pub mod history_rules;
pub mod mock_server;
pub mod pty;
pub mod require;
pub mod tool_bench;
