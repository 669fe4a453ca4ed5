//! The wire formats, each a pair of pure functions. What they share is below them: the history in a shape every
//! provider accepts, and the reading of error bodies. Nothing here does I/O or reads a clock.

mod anthropic;
mod assembly;
mod fault;
mod history;
mod openai_chat;
mod picture;

pub use anthropic::Anthropic;
pub use openai_chat::{OpenAiChat, OutputLimit, Quirks, SystemRole};
