//! The file format of `--record`: JSON lines. The first names the format and its version, then each request is one
//! line, followed by one line for every event and one for the error where there was one.
//!
//! Of a request, the model's name and the messages are stored, and of the messages only those that are new since the
//! last request: a long conversation is not written over and over. The system prompt and the tools are not stored: they
//! contain the date and facts about the machine, and a recording made elsewhere must still fit.

use crate::{ProviderError, StreamEvent};
use placet_text::conversation::Message;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version this program writes, and the only one it reads.
pub(crate) const VERSION: u32 = 1;

/// The beginning of the file, whatever follows.
pub(crate) const MAGIC: &str = "{\"placet_recording\":";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordingHeader {
    #[serde(rename = "placet_recording")]
    pub(crate) version: u32,
    pub(crate) provider: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RecordingLine {
    Request {
        model: String,
        /// How many messages at the beginning are the same as in the request before.
        keep: usize,
        messages: Vec<Value>,
    },
    Event(StreamEvent),
    Error(ProviderError),
}

/// A message as it is stored and compared: as a model reads it, pictures by their hash.
pub(crate) fn canonical(message: &Message) -> Value {
    serde_json::to_value(message.in_words()).unwrap_or(Value::Null)
}
