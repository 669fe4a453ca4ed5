//! Files as placet opens, reads, writes and walks them.

pub(super) mod content;
pub(super) mod home;
pub(super) mod metadata;
pub(super) mod opening;
pub(super) mod walking;
pub(super) mod writing;
