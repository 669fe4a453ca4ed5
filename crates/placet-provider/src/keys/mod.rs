//! API keys: where they come from, and a value that is never printed.

pub(super) mod api_key;
pub(super) mod api_key_source;
