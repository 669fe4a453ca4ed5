//! The review: a change set on the whole screen, decided line by line with the keyboard.
//!
//! [`Review`] is a pure machine: actions in, state out, no I/O and no clock. Around it [`FullScreenPane`] turns keys into
//! actions, highlights beside the drawing, and runs the person's editor.

mod action;
mod around;
mod cells;
mod comment;
mod decide;
mod doc;
mod draw;
mod edit;
mod file;
mod from_patch;
mod go;
mod history;
mod input;
mod inside;
mod load;
mod memory;
mod moved;
mod paint;
mod paint_line;
mod pane;
mod renames;
mod report;
mod rows;
mod seen;
mod spoken;
mod state;
mod tree;

pub use action::{ReviewAction, TABLE};
pub use around::BlameFn;
pub use cells::StyledCell;
pub use comment::{CommentTarget, DiffSide, ReviewComment};
pub use doc::{LineTerminator, SideText};
pub use draw::DrawContext;
pub use file::{
    AppliedPart, CombinedDecision, PartBoundary, PendingPart, PicturePair, ReviewBody, ReviewDecision,
    ReviewFile, ReviewHunk, ReviewLines, WholeChange,
};
pub use from_patch::{accepted, binary_file, of_patch};
pub use inside::InlineDiffCache;
pub use load::pending;
pub use memory::SavedReview;
pub use paint::{NoAnnotations, ReviewAnnotations};
pub use pane::{ReviewContext, ReviewOutcome, ReviewPane};
pub use report::{markdown, report, summary, value};
pub use spoken::ReviewItem;
pub use state::{Review, ReviewEffect, ReviewSubject};

#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod review_tests;
