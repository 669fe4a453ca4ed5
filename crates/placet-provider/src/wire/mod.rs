//! The wire formats, each a pair of pure functions. Their common parts are below them: the history in a shape that
//! every provider accepts, and the reading of events and error bodies. Nothing here does I/O or reads a clock.

mod answer_builder;
mod anthropic;
mod cache_key;
pub(super) mod error_body;
mod event;
mod gemini;
mod history;
mod image;
mod openai_chat;
mod openai_responses;

pub use anthropic::AnthropicFormat;
pub use gemini::GeminiFormat;
pub use openai_chat::OpenAiChatFormat;
pub use openai_responses::OpenAiResponsesFormat;
