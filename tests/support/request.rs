//! A request to a model, for tests of one of its parts.

use placet::conversation::{Message, ToolSpec};
use placet::provider::{ModelCapabilities, ModelRequest, ModelSpec};
use serde_json::json;

/// `messages` to a model that can do nothing special, with the tool `t`.
pub fn request(messages: Vec<Message>) -> ModelRequest {
    let tool = ToolSpec { name: "t".into(), description: "d".into(), schema: json!({"type": "object"}) };
    ModelRequest {
        model: ModelSpec { name: "m".into(), window: 9000, capabilities: ModelCapabilities::default() },
        system: "Be brief.".into(),
        tools: vec![tool].into(),
        messages,
        max_output: 100,
    }
}

/// One message of the person.
pub fn request_saying(text: &str) -> ModelRequest {
    request(vec![Message::user(text)])
}
