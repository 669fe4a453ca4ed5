//! Applies a change: journaled before it begins, compared under git's own locks, and undone at each step that refuses.
//!
//! The order: objects, locks and prepared refs, comparison under the locks, the new index in scratch; then, once the
//! caller has written the work tree's files: index, files of git, refs, stash. Undo, redo and recovery go the same way. At the
//! end, git notes in the index what the files are.

mod again;
mod checkout_files;
mod git_program;
mod index_writer;
mod journal;
mod lock;
mod lost;
mod noted_files;
mod objects;
mod place;
mod recover;
mod ref_plan;
mod run;
mod stash_writer;
mod transaction;

pub use again::{has_more, undo_question};
pub(crate) use git_program::of_person;
pub use git_program::{person_identity, signs_commits};
pub use journal::{ApplyJournal, MovePhase};
pub use noted_files::note_files;
pub use place::{ApplyPlace, ApplyWatch, PersonIdentity, Unwatched};
pub use recover::recover;
pub use run::{PreparedApply, RecoveryGoal, prepare, prepare_undo};
