//! The name of this wire format, in settings and errors.

/// The name in the proofs of this wire format.
pub(in crate::provider::wire) const WIRE: &str = "gemini";

/// What stands for a call that came in no form that could be read.
pub(in crate::provider::wire) const UNREADABLE: &str = "unreadable_call";
