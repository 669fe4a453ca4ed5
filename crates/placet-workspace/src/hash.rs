//! The name of a content.

/// A content's name: its blake3 hash.
pub type Hash = blake3::Hash;
