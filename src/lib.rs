//! placet: an interactive agent shell in which every change waits for your assent.
//!
//! This crate is the program `placet` and, for programs that embed it, a library. The items on this page are the public
//! API: they are documented, and they change only with the version. Everything else in the crate is internal.
//!
//! A [`Session`] is a conversation in a directory. A message starts a turn, whose [`Event`]s tell what happens and ask what
//! needs a decision. Tools and commands work in a copy-on-write view: what they change is pending until it is applied, and
//! what was applied can be undone.
//!
//! ```no_run
//! use placet::{ChangeChoice, CommandRunner, Event, Mode, Question, Session};
//!
//! # fn main() -> Result<(), placet::Error> {
//! let mut session = Session::builder("/home/me/project")
//!     .provider("offline")
//!     .mode(Mode::Ask)
//!     .commands(CommandRunner::Nobody)
//!     .start()?;
//! let mut turn = session.send("create notes.txt with \"first\\n\"")?;
//! while let Some(event) = turn.recv_blocking() {
//!     match event {
//!         Event::Text(text) => print!("{text}"),
//!         Event::Question(Question::Apply(question)) => question.keep()?,
//!         _ => {}
//!     }
//! }
//! drop(turn);
//! let pending = session.pending()?;
//! for change in pending.changes() {
//!     println!("{} {}", change.kind.word(), change.path.display());
//! }
//! session.apply(&pending, &ChangeChoice::all())?;
//! session.undo()?;
//! # Ok(())
//! # }
//! ```
//!
//! `examples/embed.rs` is a whole program, and the page "Embed placet in a program" of the guide explains it.

// The public API. It is on the top floor, next to the program.
mod embed;

pub use embed::{
    Applied, ApplyQuestion, CallOutcome, ChangeChoice, ChangeHunk, ChangeKind, ChangesOutcome, CommandRunner,
    ContinueCause, ContinueQuestion, Discarded, EndReason, Error, Event, FileState, Loss, Mode,
    ModelQuestion, PendingChange, PendingChanges, PendingClass, PermissionQuestion, ProtectedQuestion,
    Question, RunningTurn, Session, SessionBuilder, TurnCanceller, TurnOutcome, Undone, supervisor_main,
};

// The modules below are public for the program, the tests, the benchmarks and the fuzz targets of placet itself. They
// carry no promise.
//
// A module uses only what comes after it: `cli` and `embed`, `app`, `repl`, `serve`, and then the crates;
// `tests/architecture.rs` checks it. `docs/architecture.md` has the whole map.

#[doc(hidden)]
pub use placet_agent as agent;
#[doc(hidden)]
pub use placet_checks as checks;
#[doc(hidden)]
pub use placet_config as config;
#[doc(hidden)]
pub use placet_config::keyring;
#[doc(hidden)]
pub use placet_http as http;
#[doc(hidden)]
pub use placet_mcp as mcp;
#[doc(hidden)]
pub use placet_media as media;
#[doc(hidden)]
pub use placet_permission as permission;
#[doc(hidden)]
pub use placet_process as process;
#[doc(hidden)]
pub use placet_provider as provider;
#[doc(hidden)]
pub use placet_sandbox as sandbox;
#[doc(hidden)]
pub use placet_session::{audit, guidance, hooks, metrics, session, storage};
#[doc(hidden)]
pub use placet_text::{conversation, private, text};
#[doc(hidden)]
pub use placet_tools as tools;
#[doc(hidden)]
pub use placet_ui as ui;
#[doc(hidden)]
pub use placet_workspace as workspace;
#[doc(hidden)]
pub mod app;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod repl;
#[doc(hidden)]
pub mod serve;
