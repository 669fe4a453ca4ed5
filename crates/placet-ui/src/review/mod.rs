//! The review: a change set on the whole screen, decided line by line with the keyboard.
//!
//! [`Review`] is a pure machine: actions in, state out, no I/O and no clock. Around it [`ReviewPane`] turns keys into
//! actions, highlights in the background, and runs the person's editor.

mod action;
mod checks;
mod content;
mod line_ui;
mod message;
mod pane;
mod picture;
mod report;
mod saved_review;
mod state;
mod workers;

pub use action::{ReviewAction, TABLE};
pub use checks::ReviewChecks;
pub use content::comment::{CommentTarget, ReviewComment};
pub use content::commit_files::{commit_files, ref_file};
pub use content::conflict::{DecidedConflict, MergeOutlook, SideConflict, SideContents};
pub use content::file::{
    AppliedPart, CombinedDecision, LineConflict, PartBoundary, PendingPart, PicturePair, ReviewBody,
    ReviewDecision, ReviewFile, ReviewHunk, ReviewLines, WholeChange,
};
pub use content::from_patch::{accepted, add_binary_file, of_patch, refused_file, whole_file};
pub use content::index_patch::{IndexDirection, file_patch, sections};
pub use content::inline_diff::InlineDiffCache;
pub use content::load::pending;
pub use content::side_text::{DiffSide, LineTerminator, SideText};
pub use content::unit::ReviewItem;
pub use message::message;
pub use pane::{ReviewContext, ReviewOutcome, ReviewPane};
pub use picture::cells::StyledCell;
pub use picture::difference::{Differences, UnchangedText};
pub use picture::paint::{DrawContext, NoAnnotations, ReviewAnnotations};
pub use report::{ReviewEnd, markdown, report, summary, value, without_undone};
pub use saved_review::SavedReview;
pub use state::shown_checks::ShownChecks;
pub use state::{Review, ReviewEffect, ReviewOpenedFrom, ReviewSubject};
pub use workers::BlameFn;

#[cfg(test)]
mod difference_tests;
#[cfg(test)]
mod fidelity_tests;
#[cfg(test)]
mod review_tests;
