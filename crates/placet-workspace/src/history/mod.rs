//! What was applied, by whom, and what was there before: the journal, its contents, undo and blame.

mod approved_by;
pub(super) mod blame;
pub(super) mod damage;
pub(super) mod file_rename;
pub(super) mod journal;
mod label;
pub(super) mod log_marks;
pub(super) mod objects;
pub(super) mod origin;
pub(super) mod program_run;
pub(super) mod repair;
