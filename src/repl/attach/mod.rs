//! What goes along with a message: files and resources that it mentions, skills that it names, and pictures that are
//! dropped or pasted.

mod files;
mod mentions;
mod pasted_pictures;
mod resources;
mod skills;

pub(crate) use files::{AttachError, attached_parts};
pub(super) use files::{attach, named_file};
pub(crate) use mentions::mentioned;
pub(super) use mentions::without_escapes;
pub(super) use pasted_pictures::{dropped, from_clipboard};
pub(crate) use resources::MentionedResource;
pub(super) use resources::{attach_all, unsendable};
pub(crate) use skills::{may_name_skills, named_skills};
