//! What goes along with a message: files that it mentions, and pictures that are dropped or pasted.

mod files;
mod mentions;
mod pasted_pictures;

pub(super) use files::{AttachError, attach, named_file};
pub(super) use mentions::{mentioned, without_escapes};
pub(super) use pasted_pictures::{dropped, from_clipboard};
