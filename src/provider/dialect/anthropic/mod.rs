//! The Messages API of Anthropic, and of the servers that speak it.
//!
//! Written from the public reference (docs.anthropic.com: Messages, Streaming messages, Tool use, Prompt caching,
//! Extended thinking), API version 2023-06-01.

mod decode;
mod encode;

use super::super::{Decoder, Dialect, ProviderError, Request};
use super::fault;
use serde_json::Value;

/// The dialect; it has no settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anthropic;

impl Dialect for Anthropic {
    fn wire(&self) -> &'static str {
        encode::WIRE
    }

    fn path(&self, _request: &Request) -> String {
        "/v1/messages".into()
    }

    fn encode(&self, request: &Request) -> Value {
        encode::body(request)
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
