//! The pane while a turn runs, and the same without a screen.

mod applied_lines;
mod linear;
mod linear_run;
mod pane;
mod past_turns;
mod question;
mod run;
mod status;
mod waits;

pub use applied_lines::{AppliedSpace, applied_lines};
pub use linear_run::run_linear;
pub use pane::{TurnPane, TurnPaneFrame};
pub use past_turns::{PastConversation, PastTurns, PastTurnsScreen, last_turn, past_turns};
pub use run::{TurnPaneResult, TurnPaneSettings, run};
pub use status::{TurnDisplay, TurnPaneAction, TurnPaneStatus, mode_label};
