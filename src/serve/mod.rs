//! Faces without a screen: plain text, JSON, and MCP.

pub mod blame;
pub mod changes;
pub mod headless;
mod json_output;
pub mod mcp;
mod text_output;
mod turn_writer;

pub use json_output::{VERSION, schema};
