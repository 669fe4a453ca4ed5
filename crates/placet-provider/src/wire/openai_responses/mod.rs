//! The Responses API of OpenAI, and of the servers that implement it. Nothing is stored on the server (`store: false`):
//! each request has the whole history, with the model's reasoning as the encrypted items that the server gave.
//!
//! Written from the public reference (platform.openai.com: Responses, Streaming events, Reasoning models).

mod decode;
mod encode;
mod wire_name;

use wire_name::WIRE;

use super::super::{AnswerDecoder, ModelRequest, ProviderError, ServerQuirks, WireFormat};
use super::error_body;
use serde_json::Value;

/// The wire format, with the quirks of one server.
#[derive(Clone, Debug, Default)]
pub struct OpenAiResponsesFormat {
    pub quirks: ServerQuirks,
}

impl WireFormat for OpenAiResponsesFormat {
    fn wire(&self) -> &'static str {
        WIRE
    }

    fn path(&self, _request: &ModelRequest) -> String {
        "/responses".into()
    }

    fn encode(&self, request: &ModelRequest) -> Value {
        encode::body(request, &self.quirks)
    }

    fn decoder(&self) -> Box<dyn AnswerDecoder> {
        Box::new(decode::ResponsesDecoder::default())
    }

    fn models_path(&self) -> &'static str {
        "/models"
    }

    fn error(&self, status: u16, body: &str) -> ProviderError {
        error_body::of_response(status, body)
    }
}
