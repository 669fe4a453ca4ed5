//! What every floor of placet shares: messages and calls, text as bytes, lines and screens, and private files.

pub mod conversation;
pub mod private;
pub mod text;
