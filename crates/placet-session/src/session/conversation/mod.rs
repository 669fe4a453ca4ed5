//! The entries of a session, and what they make: the conversation, its branches, and what is shown before it is read.

pub(super) mod branches;
pub(super) mod closing_lines;
pub(super) mod earlier_format;
pub(super) mod entries;
pub(super) mod overview;
pub(super) mod record;
pub(super) mod replay;
pub(super) mod resume_point;
pub(super) mod waiting;
