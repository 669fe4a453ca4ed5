//! Layers on the disk: what lies in them, how a path looks through them, how they are repaired and removed.

pub(super) mod base;
pub(super) mod cleanup;
pub(super) mod directory_identity;
pub(super) mod entries_below;
pub(super) mod layer;
pub(super) mod may_exist;
pub(super) mod open_stack;
pub(super) mod pending_count;
pub(super) mod rebuild;
pub(super) mod relocate;
pub(super) mod removal;
pub(super) mod roots;
pub(super) mod stack;
