//! The loop around a turn without a screen: events of the turn and lines of the person, in the order in which they
//! come.

use super::linear::LinearTurn;
use super::run::{TurnPaneResult, TurnPaneSettings};
use super::status::TurnPaneAction;
use super::waits::{background_answer, is_idle, typed, until};
use crate::input::AsyncKeyReader;
use crate::input::line_input::{LineInput, TypedLine};
use crate::lines::margin_mark;
use crate::terminal::{reclaim, term};
use placet_agent::{TurnEnding, TurnEvent};
use placet_permission::{Mode, ModeCell};
use placet_tools::{JobRegistry, ToolError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Reports a turn until it ends, line by line. `stop` is cancelled when the person stops it.
pub async fn run_linear(
    settings: TurnPaneSettings,
    mut events: UnboundedReceiver<TurnEvent>,
    stop: CancellationToken,
) -> TurnPaneResult {
    let TurnPaneSettings { theme, facts, mode, modes, draft, queue, drafts, pastes, notifier, jobs, .. } =
        settings;
    reclaim::before_question();
    let mut linear = LinearTurn::new(theme, facts, queue, draft, pastes, Instant::now());
    let mut line = LineInput::default();
    let mut keys = AsyncKeyReader::new().ok();
    let mut quiet_since = Instant::now();
    let mut controls = LinearControls { mode, modes, stop, jobs, asked: None };
    let ending = loop {
        tokio::select! {
            biased;
            input = typed(&mut keys) => match input {
                Some((input, at)) => {
                    quiet_since = Instant::now();
                    let before = line.take_due_line(at);
                    let (echo, typed) = line.take(&input, at);
                    term::write_all(echo.as_bytes());
                    for typed in before.into_iter().chain(typed) {
                        controls.act(&mut linear, typed, at);
                    }
                }
                // Without a terminal there is no person.
                None => {
                    keys = None;
                    linear.terminal_closed();
                    controls.stop.cancel();
                }
            },
            () = until(line.due()) => {
                if is_idle(&keys) {
                    let now = Instant::now();
                    if let Some(typed) = line.take_due_line(now) {
                        controls.act(&mut linear, typed, now);
                    }
                } else {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            refusal = background_answer(&mut controls.asked) => {
                say(&refusal.map(|why| margin_mark::marked(&why)).into_iter().collect::<Vec<_>>());
            }
            event = events.recv() => {
                let Some(event) = event else { break TurnEnding::Interrupted };
                notifier.on_event(&event, quiet_since, Instant::now());
                let ended = if let TurnEvent::Ended(ending) = &event { Some(ending.clone()) } else { None };
                let said = linear.event(event, Instant::now());
                // placet's lines begin at the margin, also while the person types a line.
                if !said.is_empty() && !line.text().is_empty() {
                    term::write_all(b"\n");
                }
                say(&said);
                if let Some(ending) = ended {
                    break ending;
                }
            }
        }
        if let Some(drafts) = &drafts {
            drafts.keep(linear.draft());
        }
    };
    drop(keys);
    let (draft, cleared) = (linear.draft().typed, linear.take_recall());
    TurnPaneResult { ending, draft, cleared, expanded: linear.is_expanded() }
}

fn say(lines: &[String]) {
    let text: String = lines.iter().map(|line| margin_mark::clear_margin_of(line) + "\n").collect();
    term::write_all(text.as_bytes());
}

/// What lines of the person act on.
struct LinearControls {
    mode: ModeCell,
    modes: Vec<Mode>,
    stop: CancellationToken,
    jobs: JobRegistry,
    /// The request to send a command to the background.
    asked: Option<oneshot::Receiver<ToolError>>,
}

impl LinearControls {
    /// Does the action of a line.
    fn act(&mut self, linear: &mut LinearTurn, typed: TypedLine, at: Instant) {
        // The typed line is on the screen without its end.
        if matches!(
            typed,
            TypedLine::Line(_) | TypedLine::AtOnce(_) | TypedLine::Pasted(_) | TypedLine::Suspend(_)
        ) {
            term::write_all(b"\n");
        }
        let (said, action) = linear.typed(typed, at);
        say(&said);
        match action {
            Some(TurnPaneAction::Stop) => self.stop.cancel(),
            Some(TurnPaneAction::CycleMode) => {
                self.mode.store(self.mode.load().next(&self.modes));
                say(&[margin_mark::marked(&format!("mode: {}", self.mode.load().name()))]);
            }
            Some(TurnPaneAction::Suspend) => {
                reclaim::suspend();
                reclaim::before_question();
            }
            Some(TurnPaneAction::ToBackground) => {
                self.asked = self.jobs.send_to_background();
                if self.asked.is_none() {
                    say(&[margin_mark::marked("no command runs that could go to the background")]);
                }
            }
            // Here a check's output is printed as lines.
            Some(TurnPaneAction::ShowCheck(_)) | None => {}
        }
    }
}
