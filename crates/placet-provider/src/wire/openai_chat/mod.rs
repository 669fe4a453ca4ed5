//! The Chat Completions API of OpenAI, and of the many servers that speak it: Ollama, llama.cpp, vLLM, LM Studio,
//! OpenRouter, LiteLLM. What differs between them is data, [`ServerQuirks`]; what they get wrong in a stream, the decoder
//! forgives for all of them alike.
//!
//! Written from the public reference (platform.openai.com: Chat completions, Streaming events) and the documented
//! behaviour of the servers named.

mod decode;
mod encode;
mod wire_name;

use wire_name::WIRE;

use super::super::{AnswerDecoder, ModelRequest, ProviderError, ServerQuirks, WireFormat};
use super::error_body;
use serde_json::Value;

/// The dialect, with the quirks of one server.
#[derive(Clone, Debug, Default)]
pub struct OpenAiChatFormat {
    pub quirks: ServerQuirks,
}

impl WireFormat for OpenAiChatFormat {
    fn wire(&self) -> &'static str {
        WIRE
    }

    fn path(&self, _request: &ModelRequest) -> String {
        "/chat/completions".into()
    }

    fn encode(&self, request: &ModelRequest) -> Value {
        encode::body(request, &self.quirks)
    }

    fn decoder(&self) -> Box<dyn AnswerDecoder> {
        Box::new(decode::ChatDecoder::new(&self.quirks))
    }

    fn models_path(&self) -> &'static str {
        "/models"
    }

    fn error(&self, status: u16, body: &str) -> ProviderError {
        error_body::of_response(status, body)
    }
}
