//! The Responses API of OpenAI, and of the servers that speak it. Nothing is kept on the server (`store: false`): the
//! whole history goes along each time, with the model's reasoning as the encrypted items it gave.
//!
//! Written from the public reference (platform.openai.com: Responses, Streaming events, Reasoning models).

mod decode;
mod encode;

use super::super::{Decoder, Dialect, ProviderError, Quirks, Request};
use super::fault;
use serde_json::Value;

/// What stands in the proofs of this wire format.
const WIRE: &str = "openai-responses";

/// The dialect, with the quirks of one server.
#[derive(Clone, Debug, Default)]
pub struct OpenAiResponses {
    pub quirks: Quirks,
}

impl Dialect for OpenAiResponses {
    fn wire(&self) -> &'static str {
        WIRE
    }

    fn path(&self, _request: &Request) -> String {
        "/responses".into()
    }

    fn encode(&self, request: &Request) -> Value {
        encode::body(request, &self.quirks)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ItemDecoder::default())
    }

    fn models_path(&self) -> &'static str {
        "/models"
    }

    fn error(&self, status: u16, body: &str) -> ProviderError {
        fault::of_response(status, body)
    }
}
