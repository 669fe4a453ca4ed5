//! The conversation itself: begun, found, branched, rewound, shown, written to a file.

pub(super) mod branches;
pub(super) mod export;
pub(super) mod rewind;
pub(super) mod rewind_picker;
pub(super) mod rewind_turn;
pub(super) mod session_list;
pub(in crate::repl) mod sessions;
pub(super) mod transcript;
pub(super) mod window;
