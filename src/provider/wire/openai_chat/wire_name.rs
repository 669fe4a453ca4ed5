//! The name of this wire format, in settings and errors.

/// The name in the proofs of this wire format.
pub(in crate::provider::wire) const WIRE: &str = "openai-chat";
