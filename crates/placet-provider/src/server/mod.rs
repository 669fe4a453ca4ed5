//! What is known of a server: presets, quirks, its models, and what it says of itself.

pub(super) mod model_list;
pub(super) mod preset;
pub mod probe;
pub(super) mod quirks;
pub(super) mod server_facts;
