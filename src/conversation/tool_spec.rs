//! How a tool describes itself to the model.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// `[A-Za-z0-9_-]{1,64}`, which every provider accepts.
    pub name: String,
    pub description: String,
    /// A JSON Schema whose root is an object.
    pub schema: Value,
}
