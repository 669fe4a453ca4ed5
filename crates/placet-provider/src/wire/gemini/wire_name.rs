//! The name of this wire format, in settings and errors.

/// The name in the proofs of this wire format.
pub(in crate::wire) const WIRE: &str = "gemini";

/// The name of a call that cannot be read.
pub(in crate::wire) const UNREADABLE: &str = "unreadable_call";
