//! What the session gives the pane to show, and what a key asks of the loop around the pane.

use placet_checks::OutputToShow;
use placet_config::{AppliedSetting, MotionSetting, UiSettings, WrapSetting};
use placet_permission::{Mode, Taint};
use placet_provider::catalog::Money;
use placet_text::conversation::TokenUsage;
use placet_tools::TodoItem;

/// What a key asks of the loop around the pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnPaneAction {
    Stop,
    /// Sends the running command to the background.
    ToBackground,
    CycleMode,
    Suspend,
    /// Shows the output of this check on a screen of its own.
    ShowCheck(OutputToShow),
}

/// How a turn looks, by the settings.
#[derive(Clone, Copy, Debug, Default)]
pub struct TurnDisplay {
    /// Rows that stay of a long output.
    pub fold: usize,
    /// Who breaks lines of prose.
    pub wrap: WrapSetting,
    /// What stays of changes that were applied.
    pub applied: AppliedSetting,
    pub motion: bool,
}

impl TurnDisplay {
    pub fn of(settings: &UiSettings) -> TurnDisplay {
        TurnDisplay {
            fold: settings.fold_lines,
            wrap: settings.wrap,
            applied: settings.applied,
            motion: settings.motion != MotionSetting::None,
        }
    }
}

/// What the pane shows of the session.
#[derive(Clone, Debug, Default)]
pub struct TurnPaneStatus {
    pub model: String,
    pub window: u64,
    pub usage: TokenUsage,
    pub prompt_tokens: u64,
    pub display: TurnDisplay,
    /// Thinking and output are shown at length.
    pub expanded: bool,
    /// The person's "always" answers that are not revoked.
    pub grants: usize,
    /// How high the conversation is classified; shown above PUBLIC.
    pub taint: Taint,
    /// What the session cost, where that is known.
    pub cost: Option<Money>,
    /// The model's list of steps.
    pub todos: Vec<TodoItem>,
    /// No turn is running: only questions are shown, and only their answers are typed.
    pub questions_only: bool,
    /// The question about the changes is asked again: the answer of the turn is above it.
    pub is_asked_again: bool,
    /// How a person gets from read mode to ask mode; `None` where the settings do not permit ask mode.
    pub to_ask_mode: Option<&'static str>,
}

/// The hint at the end of a turn in which read mode refused something. `key` is [`TurnPaneStatus::to_ask_mode`].
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
