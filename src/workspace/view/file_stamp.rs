//! What tells a file's version without reading it.

/// What tells that a file was not touched.
pub(super) type FileStamp = (u64, u64, i64, i64, i64, i64);
