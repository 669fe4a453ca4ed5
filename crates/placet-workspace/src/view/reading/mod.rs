//! What is pending, read and compared.

pub(super) mod change_reader;
pub(super) mod compare;
pub(super) mod effect_counts;
pub(super) mod effect_kind;
pub(super) mod renamed;
pub(super) mod repositories;
pub(super) mod snapshot;
pub(super) mod state_at;
