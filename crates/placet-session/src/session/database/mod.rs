//! The database: its tables, its lock, what is found, removed and repaired in it.

pub(super) mod lock_wait;
pub(super) mod recovery;
pub(super) mod retention;
pub(super) mod schema;
pub(super) mod search;
pub(super) mod store;
