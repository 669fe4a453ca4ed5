//! Faces without a screen: plain text, JSON, and MCP.

pub mod blame;
pub mod changes;
pub mod headless;
mod json;
pub mod mcp;
mod text;

pub use json::{VERSION, schema};
