//! What the pane is given of the session to show, and what a key asks of the loop around it.

use crate::config::WrapSetting;
use crate::conversation::TokenUsage;
use crate::permission::{Mode, Taint};
use crate::provider::catalog::Money;
use crate::tools::TodoItem;

/// What a key asks of the loop around the pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnPaneAction {
    Stop,
    CycleMode,
    Suspend,
}

/// What the pane shows of the session.
#[derive(Clone, Debug, Default)]
pub struct TurnPaneStatus {
    pub model: String,
    pub window: u64,
    pub usage: TokenUsage,
    pub prompt_tokens: u64,
    pub fold: usize,
    /// Who breaks lines of prose.
    pub wrap: WrapSetting,
    pub motion: bool,
    /// Thinking and output are shown at length.
    pub expanded: bool,
    /// What the person said "always" to and has not taken back.
    pub grants: usize,
    /// How high the conversation is classified; shown above PUBLIC.
    pub taint: Taint,
    /// What the session cost, where that is known.
    pub cost: Option<Money>,
    /// The model's list of steps.
    pub todos: Vec<TodoItem>,
    /// There is no turn: only questions are shown, and nothing is typed but their answers.
    pub questions_only: bool,
    /// How a person gets from read mode to ask mode; `None` where the settings do not permit ask mode.
    pub to_ask_mode: Option<&'static str>,
}

/// What the end of a turn says in which read mode refused something. `key` is [`TurnPaneStatus::to_ask_mode`].
pub(super) fn read_mode_hint(key: &str) -> String {
    format!("read mode changed no files. {key}, where you approve changes")
}

/// The theme's label for a mode.
pub fn mode_label(mode: Mode) -> &'static str {
    match mode {
        Mode::None => "mode.none",
        Mode::Read => "mode.read",
        Mode::Ask => "mode.ask",
        Mode::Write => "mode.write",
        Mode::Unrestricted => "mode.unrestricted",
    }
}
