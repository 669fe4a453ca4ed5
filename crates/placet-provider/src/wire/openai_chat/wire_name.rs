//! The name of this wire format, in settings and errors.

/// The name in the proofs of this wire format.
pub(in crate::wire) const WIRE: &str = "openai-chat";
