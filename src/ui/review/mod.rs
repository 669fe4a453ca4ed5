//! The review: a change set on the whole screen, decided line by line with the keyboard.
//!
//! [`Review`] is a pure machine: actions in, state out, no I/O and no clock. Around it [`Pane`] turns keys into
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

pub use action::{Action, TABLE};
pub use around::Blamer;
pub use cells::Cell;
pub use comment::{Comment, Side, Target};
pub use doc::{Doc, End};
pub use draw::Scene;
pub use file::{Body, File, Hunk, Land, Leave, Lines, Mark, Pictures, Seam, Standing, Whole};
pub use from_patch::{accepted, binary_file, of_patch};
pub use inside::Inside;
pub use load::pending;
pub use memory::Memory;
pub use paint::{Beside, Nothing};
pub use pane::{Desk, Outcome, ReviewPane};
pub use report::{markdown, report, summary, value};
pub use spoken::Stop;
pub use state::{Effect, Review, Subject};

#[cfg(test)]
mod exact_tests;
#[cfg(test)]
mod review_tests;
