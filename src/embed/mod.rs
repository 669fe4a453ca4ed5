//! The public API: what a program needs that embeds placet. `src/lib.rs` exports it from the root of the crate.
//!
//! Every type here is a promise: where the inner type cannot be promised, `embed` has its own. Nothing here decides by
//! itself: a message goes through the same agent, policy and apply question as in the shell, and nothing is printed.

#![deny(missing_docs)]

mod apply;
mod builder;
mod changes;
mod error;
mod event;
mod file_state;
mod loss;
mod question;
mod session;
mod supervisor;
mod turn;
mod undo;
mod worker;

pub use apply::{Applied, ChangeChoice, Discarded};
pub use builder::{CommandRunner, SessionBuilder};
pub use changes::{ChangeHunk, PendingChange, PendingChanges, PendingClass};
pub use error::Error;
pub use event::{ChangesOutcome, EndReason, Event, TurnOutcome};
pub use file_state::FileState;
pub use loss::Loss;
pub use question::{
    ApplyQuestion, ContinueCause, ContinueQuestion, ModelQuestion, PermissionQuestion, ProtectedQuestion,
    Question,
};
pub use session::Session;
pub use supervisor::supervisor_main;
pub use turn::{RunningTurn, TurnCanceller};
pub use undo::Undone;

pub use crate::conversation::CallOutcome;
pub use crate::permission::Mode;
pub use crate::workspace::ChangeKind;
