//! `/review`: shows the pending changes, on the whole screen or line by line, and applies the decisions.

mod apply;
mod blame;
mod command;
mod plain;

pub use apply::{
    AppliedReview, ReviewApply, apply_review, memory_of, retract_undone, review_of, send_back_review,
    taken_by, unsent_review,
};
pub(super) use blame::turn_numbers;
pub use blame::{TurnNumbers, blamed};
pub(super) use command::{report_is_unsent, review};
pub(in crate::repl) use command::{report_part, report_was_sent, review_from_question, unsent_report};
