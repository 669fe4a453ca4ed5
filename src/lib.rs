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
// The map, from the ground up. A module uses only modules on lower floors; `tests/architecture.rs` checks it.
//
// | floor | modules |
// |---|---|
// | 8 programs | `cli`, `embed` |
// | 7 composition | `app` |
// | 6 shell | `repl` |
// | 5 front ends | `ui`, `serve` |
// | 4 agent | `agent` |
// | 3 tools | `tools` |
// | 2 resources | `provider`, `workspace`, `session`, `sandbox`, `media`, `storage`, `audit`, `hooks`, `mcp`, `metrics`, `guidance`, `checks` |
// | 1 rules and plumbing | `permission`, `config`, `process`, `http` |
// | 0 basic types | `conversation`, `text`, `private` |

#[doc(hidden)]
pub mod agent;
#[doc(hidden)]
pub mod app;
#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod checks;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod conversation;
#[doc(hidden)]
pub mod guidance;
#[doc(hidden)]
pub mod hooks;
#[doc(hidden)]
pub mod http;
#[doc(hidden)]
pub mod keyring;
#[doc(hidden)]
pub mod mcp;
#[doc(hidden)]
pub mod media;
#[doc(hidden)]
pub mod metrics;
#[doc(hidden)]
pub mod permission;
#[doc(hidden)]
pub mod private;
#[doc(hidden)]
pub mod process;
#[doc(hidden)]
pub mod provider;
#[doc(hidden)]
pub mod repl;
#[doc(hidden)]
pub mod sandbox;
#[doc(hidden)]
pub mod serve;
#[doc(hidden)]
pub mod session;
#[doc(hidden)]
pub mod storage;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod tools;
#[doc(hidden)]
pub mod ui;
#[doc(hidden)]
pub mod workspace;
