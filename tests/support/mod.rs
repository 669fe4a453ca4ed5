//! What the cases share.

pub mod require;
pub mod tool_bench;
