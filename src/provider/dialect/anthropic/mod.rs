//! The Messages API of Anthropic, and of the servers that speak it.
//!
//! Written from the public reference (docs.anthropic.com: Messages, Streaming messages, Tool use, Prompt caching,
//! Extended thinking), API version 2023-06-01.

mod decode;
mod encode;

use super::super::{Decoder, Dialect, ProviderError, Quirks, Request};
use super::fault;
use serde_json::Value;

/// The dialect, with what its server wants differently.
#[derive(Clone, Debug, Default)]
pub struct Anthropic {
    pub quirks: Quirks,
}

impl Dialect for Anthropic {
    fn wire(&self) -> &'static str {
        encode::WIRE
    }

    fn path(&self, _request: &Request) -> String {
        "/v1/messages".into()
    }

    fn encode(&self, request: &Request) -> Value {
        encode::body(request, &self.quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::MessageDecoder::default())
    }

    fn models_path(&self) -> &'static str {
        "/v1/models?limit=1000"
    }

    fn error(&self, status: u16, body: &str) -> ProviderError {
        fault::of_response(status, body)
    }
}
