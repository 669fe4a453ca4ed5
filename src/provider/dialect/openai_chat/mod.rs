//! The Chat Completions API of OpenAI, and of the many servers that speak it: Ollama, llama.cpp, vLLM, LM Studio,
//! OpenRouter, LiteLLM. What differs between them is data, [`Quirks`]; what they get wrong in a stream, the decoder
//! forgives for all of them alike.
//!
//! Written from the public reference (platform.openai.com: Chat completions, Streaming events) and the documented
//! behaviour of the servers named.

mod decode;
mod encode;

use super::super::{Decoder, Dialect, ProviderError, Request};
use super::fault;
use serde_json::Value;

/// What a server wants said differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    pub output_limit: OutputLimit,
    pub system_role: SystemRole,
}

/// How the most tokens of an answer are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputLimit {
    MaxCompletionTokens,
    MaxTokens,
    /// Not at all: the server knows better, and refuses a limit beyond its window.
    Unsaid,
}

/// What the system prompt's message is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemRole {
    System,
    Developer,
}

impl Default for Quirks {
    /// What every compatible server takes.
    fn default() -> Quirks {
        Quirks { output_limit: OutputLimit::Unsaid, system_role: SystemRole::System }
    }
}

/// The dialect, with the quirks of one server.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiChat {
    pub quirks: Quirks,
}

impl Dialect for OpenAiChat {
    fn path(&self, _request: &Request) -> String {
        "/chat/completions".into()
    }

    fn encode(&self, request: &Request) -> Value {
        encode::body(request, self.quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ChunkDecoder::default())
    }

    fn error(&self, status: u16, body: &str) -> ProviderError {
        fault::of_response(status, body)
    }
}
