//! The Messages API of Anthropic, and of the servers that speak it.
//!
//! Written from the public reference (docs.anthropic.com: Messages, Streaming messages, Tool use, Prompt caching,
//! Extended thinking), API version 2023-06-01.

mod decode;
mod encode;

use super::super::{AnswerDecoder, ModelRequest, ProviderError, ServerQuirks, WireFormat};
use super::error_body;
use serde_json::Value;

/// The dialect, with what its server wants differently.
#[derive(Clone, Debug, Default)]
pub struct AnthropicFormat {
    pub quirks: ServerQuirks,
}

impl WireFormat for AnthropicFormat {
    fn wire(&self) -> &'static str {
        encode::WIRE
    }

    fn path(&self, _request: &ModelRequest) -> String {
        "/v1/messages".into()
    }

    fn encode(&self, request: &ModelRequest) -> Value {
        encode::body(request, &self.quirks)
    }

    fn decoder(&self) -> Box<dyn AnswerDecoder> {
        Box::new(decode::AnthropicDecoder::default())
    }

    fn models_path(&self) -> &'static str {
        // 1000 is the most of one page; without it the server lists 20 models.
        "/v1/models?limit=1000"
    }

    fn error(&self, status: u16, body: &str) -> ProviderError {
        error_body::of_response(status, body)
    }
}
