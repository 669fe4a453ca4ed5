//! Sessions, stores and logs.

mod audit;
mod directory;
mod metrics;
#[cfg(feature = "object-storage")]
mod object_storage;
mod pending_kept;
mod resume;
mod session;
mod session_elsewhere;
mod session_files;
mod session_full;
mod session_lock;
mod session_place;
mod session_tree;
mod storage;
