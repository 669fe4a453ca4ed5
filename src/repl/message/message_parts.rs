//! What a message begins with, before the person's own text.

use crate::conversation::Part;
use crate::repl::commands::review::{end_review, report_part, unsent_report};
use crate::repl::context::CommandContext;

/// Whether a message brings the agent the report of a review.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::repl) enum HasReport {
    Yes,
    No,
}

/// What a message begins with: the report of a review, and what the agent is to know.
pub(in crate::repl) fn parts_before(context: &CommandContext<'_>) -> (Vec<Part>, HasReport) {
    end_review(context);
    let report = unsent_report(context);
    let has_report = if report.is_some() { HasReport::Yes } else { HasReport::No };
    let mut parts: Vec<Part> = report.into_iter().map(report_part).collect();
    parts.extend(context.conversation.notes.iter().cloned().map(Part::Note));
    (parts, has_report)
}
