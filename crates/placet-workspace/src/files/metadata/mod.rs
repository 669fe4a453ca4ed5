//! What the system says of a file besides its bytes, read and set: mode, times, attributes, access lists.

pub(super) mod access_list;
pub(crate) mod attributes;
pub(crate) mod file_stamp;
pub(crate) mod path_state;
pub(crate) mod shared_state;
pub(crate) mod stat_fields;
pub(super) mod writable;
pub(super) mod xattr;
