//! The name of this wire format, in settings and errors.

/// What stands in the proofs of this wire format.
pub(in crate::provider::wire) const WIRE: &str = "openai-responses";
