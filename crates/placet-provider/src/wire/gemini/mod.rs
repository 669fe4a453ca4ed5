//! The Gemini API of Google: `streamGenerateContent`. A part may have the model's proof of the reasoning behind it; the
//! proof goes back on the same part.
//!
//! Written from the public reference (ai.google.dev: generateContent, Function calling, Thought signatures).

mod decode;
mod encode;
mod wire_name;

use wire_name::{UNREADABLE, WIRE};

use super::super::{AnswerDecoder, ModelRequest, ProviderError, ServerQuirks, WireFormat};
use super::error_body;
use serde_json::Value;

/// The dialect, with the quirks of one server.
#[derive(Clone, Debug, Default)]
pub struct GeminiFormat {
    pub quirks: ServerQuirks,
}

impl WireFormat for GeminiFormat {
    fn wire(&self) -> &'static str {
        WIRE
    }

    fn path(&self, request: &ModelRequest) -> String {
        let name = request.model.name.strip_prefix("models/").unwrap_or(&request.model.name);
        let call = if self.quirks.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        format!("/models/{}:{call}", escaped(name))
    }

    fn encode(&self, request: &ModelRequest) -> Value {
        encode::body(request, &self.quirks)
    }

    fn decoder(&self) -> Box<dyn AnswerDecoder> {
        Box::new(decode::GeminiDecoder::default())
    }

    fn models_path(&self) -> &'static str {
        // 1000 is the most of one page; without it the server lists 50 models.
        "/models?pageSize=1000"
    }

    fn error(&self, status: u16, body: &str) -> ProviderError {
        error_body::of_response(status, body)
    }
}

/// A name as a part of a path: special characters are escaped.
fn escaped(name: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    name.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
