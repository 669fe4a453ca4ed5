//! What the cases share.
