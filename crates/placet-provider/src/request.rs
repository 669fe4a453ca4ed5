//! What a provider is asked.

use placet_text::conversation::{Message, ToolSpec};
use serde::Deserialize;
use std::sync::Arc;

/// One request, complete: the system prompt and the tools come first and do not change within a session.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub model: ModelSpec,
    pub system: Arc<str>,
    pub tools: Arc<[ToolSpec]>,
    pub messages: Vec<Message>,
    /// The most tokens the answer may have.
    pub max_output: u64,
}

/// A model as far as a request depends on it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    pub name: String,
    /// Tokens the model can have before it, answer included.
    pub window: u64,
    pub capabilities: ModelCapabilities,
}

/// What may be sent. Pictures of other types are converted to PNG before the request is encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCapabilities {
    pub vision: bool,
    /// Media types sent as they are.
    pub image_types: Vec<String>,
    /// The largest picture, in bytes before base64.
    pub max_image_bytes: usize,
    /// The longest side, in pixels.
    pub max_image_side: u32,
    /// The same where a request holds more than [`MANY_IMAGES`](ModelCapabilities::MANY_IMAGES).
    pub max_side_of_many: u32,
    pub animated_gif: bool,
    pub pdf: bool,
    /// The largest PDF, in bytes before base64.
    pub max_pdf_bytes: usize,
    /// The model is known to reason before it answers, and may be asked for its reasoning.
    pub thinking: bool,
    pub tools: ToolForm,
    /// The server refuses a call in the history without the proof of the model that made the call.
    pub signed_calls: bool,
}

/// How a model is offered tools, and makes calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolForm {
    /// As the wire format has it.
    #[default]
    Native,
    /// The answer is one JSON object, by a schema that the server holds the model to: words or a call.
    Json,
    /// In the system prompt; a call is the end of the answer.
    Text,
}

impl ToolForm {
    /// The name in settings; `None` for what a server is asked about.
    pub fn parse(name: &str) -> Option<ToolForm> {
        match name {
            "native" => Some(ToolForm::Native),
            "json" => Some(ToolForm::Json),
            "text" => Some(ToolForm::Text),
            _ => None,
        }
    }
}

impl ModelCapabilities {
    /// Beyond this number pictures must be smaller (Anthropic's documentation of vision; others take small ones too).
    pub const MANY_IMAGES: usize = 20;
}

impl Default for ModelCapabilities {
    /// What every common vision model takes.
    fn default() -> ModelCapabilities {
        ModelCapabilities {
            vision: true,
            image_types: ["image/png", "image/jpeg", "image/gif", "image/webp"].map(String::from).to_vec(),
            // 5 MB in base64, the most that Anthropic takes of one picture.
            max_image_bytes: 3_750_000,
            max_image_side: 8000,
            max_side_of_many: 2000,
            animated_gif: false,
            pdf: false,
            // 29.3 MB in base64: the rest of a request must fit below Anthropic's 32 MB too.
            max_pdf_bytes: 22_000_000,
            thinking: false,
            tools: ToolForm::Native,
            signed_calls: false,
        }
    }
}
