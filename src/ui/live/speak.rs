//! The loop around a turn without a screen: events of the turn and lines of the person, in the order in which they come.

use super::linear::Linear;
use super::typed::{Lines, Typed};
use super::{Action, Ended, LiveSettings};
use crate::agent::{Ending, Event};
use crate::ui::term::{self, Typing};
use std::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

/// Tells a turn until it ends, line by line. `stop` is cancelled when the person stops it.
pub async fn speak(
    settings: LiveSettings,
    mut events: UnboundedReceiver<Event>,
    stop: CancellationToken,
) -> Ended {
    let LiveSettings { theme, facts, mode, modes, draft, queue, drafts, pastes, notifier, .. } = settings;
    let mut linear = Linear::new(theme, facts, queue, draft, pastes, Instant::now());
    let typing = Typing::begin();
    let mut lines = Lines::new().ok();
    let mut quiet_since = Instant::now();
    let ending = loop {
        tokio::select! {
            biased;
            typed = typed(&mut lines) => match typed {
                Some(typed) => {
                    quiet_since = Instant::now();
                    if matches!(typed, Typed::Suspend(_)) {
                        // The terminal showed the key and stayed on its line.
                        term::write_all(b"\n");
                    }
                    let (said, action) = linear.typed(typed, quiet_since);
                    say(&said);
                    match action {
                        Some(Action::Stop) => stop.cancel(),
                        Some(Action::CycleMode) => {
                            mode.store(mode.load().next(&modes));
                            say(&[format!("mode: {}", mode.load().name())]);
                        }
                        Some(Action::Suspend) => term::suspend(),
                        None => {}
                    }
                }
                // The terminal is gone: so is the person.
                None => {
                    lines = None;
                    stop.cancel();
                }
            },
            event = events.recv() => {
                let Some(event) = event else { break Ending::Interrupted };
                notifier.hear(&event, quiet_since, Instant::now());
                let ended = if let Event::Ended(ending) = &event { Some(ending.clone()) } else { None };
                let asks = matches!(event, Event::Question(_) | Event::LoopQuestion(_) | Event::Choice(_) | Event::Enquiry(_));
                if asks && let Some(typing) = &typing {
                    typing.surrender();
                }
                say(&linear.event(event, Instant::now()));
                if let Some(ending) = ended {
                    break ending;
                }
            }
        }
        if let Some(drafts) = &drafts {
            drafts.keep(linear.draft());
        }
    };
    drop(lines);
    drop(typing);
    let (draft, cleared) = (linear.draft().typed, linear.take_recall());
    Ended { ending, draft, cleared, expanded: linear.is_expanded() }
}

fn say(lines: &[String]) {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    term::write_all(text.as_bytes());
}

async fn typed(lines: &mut Option<Lines>) -> Option<Typed> {
    match lines {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}
