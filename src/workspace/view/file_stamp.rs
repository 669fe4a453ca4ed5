//! The version of a file, without reading it.

/// The values by which an unchanged file is recognized.
pub(super) type FileStamp = (u64, u64, i64, i64, i64, i64);
