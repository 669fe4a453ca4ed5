//! What was applied, by whom, and what was there before: the journal, its contents, undo and blame.

pub(super) mod blame;
pub(super) mod damage;
pub(super) mod journal;
pub(super) mod objects;
pub(super) mod origin;
pub(super) mod repair;
