//! What a message is made of: its parts, and the text and the turn of a command that a person wrote.

pub(super) mod custom_prompt;
pub(super) mod custom_turn;
pub(super) mod message_parts;
