//! `/review`: shows the pending changes, on the whole screen or line by line, and applies the decisions.

mod apply;
mod blame;
mod command;
mod decided;
mod plain;

pub use apply::{
    AppliedReview, ReviewApply, ReviewDecided, accepted_changes, apply_review, memory_of, retract_undone,
    review_of, send_back_review,
};
pub(super) use blame::turn_numbers;
pub use blame::{TurnNumbers, blamed};
pub(in crate::repl) use command::{
    end_review, report_part, report_was_sent, review_from_question, unsent_report,
};
pub(super) use command::{report_is_unsent, review};
pub use decided::{reviewed_at, reviewed_decision, unsent_review};

/// Where the agent learns of a review later.
pub const SENT_LATER: &str = "your rejections and comments will be sent with your next message";
