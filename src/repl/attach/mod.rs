//! What goes along with a message: files and resources that it mentions, skills that it names, and pictures that are
//! dropped or pasted.

mod files;
mod mentions;
mod pasted_pictures;
mod resources;
mod skills;

pub(super) use files::{AttachError, attach, named_file};
pub(super) use mentions::{mentioned, without_escapes};
pub(super) use pasted_pictures::{dropped, from_clipboard};
pub(super) use resources::{attach_all, missing};
pub(crate) use skills::{may_name_skills, named_skills};
