//! The review: a change set on the whole screen, decided line by line with the keyboard.
//!
//! [`Review`] is a pure machine: actions in, state out, no I/O and no clock. Around it [`ReviewPane`] turns keys into
//! actions, highlights in the background, and runs the person's editor.

mod action;
mod areas;
mod at_question;
mod binary_section;
mod cells;
mod checks;
mod comment;
mod commit_files;
mod conflict;
mod decide;
mod difference;
mod draw;
mod edit;
mod file;
mod finder;
mod folded_files;
mod folds;
mod footer;
mod from_patch;
mod history;
mod index_patch;
mod inline_diff;
mod input;
mod line_ui;
mod load;
mod message;
mod moved_lines;
mod navigation;
mod overlay;
mod paint;
mod paint_line;
mod pane;
mod query;
mod report;
mod rows;
mod saved_review;
mod scroll;
mod seen_rows;
mod shown_checks;
mod side_text;
mod state;
mod tree;
mod typing;
mod undo;
mod unit;
mod unseen;
mod window;
mod workers;

pub use action::{ReviewAction, TABLE};
pub use cells::StyledCell;
pub use checks::ReviewChecks;
pub use comment::{CommentTarget, ReviewComment};
pub use commit_files::commit_files;
pub use conflict::{DecidedConflict, MergeOutlook, SideConflict, SideContents};
pub use difference::{Differences, UnchangedText};
pub use file::{
    AppliedPart, CombinedDecision, LineConflict, PartBoundary, PendingPart, PicturePair, ReviewBody,
    ReviewDecision, ReviewFile, ReviewHunk, ReviewLines, WholeChange,
};
pub use from_patch::{accepted, add_binary_file, of_patch, refused_file, whole_file};
pub use index_patch::{IndexDirection, file_patch, sections};
pub use inline_diff::InlineDiffCache;
pub use load::pending;
pub use message::message;
pub use paint::{DrawContext, NoAnnotations, ReviewAnnotations};
pub use pane::{ReviewContext, ReviewOutcome, ReviewPane};
pub use report::{ReviewEnd, markdown, report, summary, value, without_undone};
pub use saved_review::SavedReview;
pub use shown_checks::ShownChecks;
pub use side_text::{DiffSide, LineTerminator, SideText};
pub use state::{Review, ReviewEffect, ReviewOpenedFrom, ReviewSubject};
pub use unit::ReviewItem;
pub use workers::BlameFn;

#[cfg(test)]
mod difference_tests;
#[cfg(test)]
mod fidelity_tests;
#[cfg(test)]
mod review_tests;
