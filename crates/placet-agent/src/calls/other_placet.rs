//! A call that waits for another placet says so: with nothing on the screen, a person would think that it hangs.

use crate::event::TurnEvents;
use placet_workspace::{ApplyPhase, View};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, interval_at};

/// How long nothing is said: most applies are over by then. A person notices no shorter wait.
const LATER: Duration = Duration::from_secs(1);

/// Runs `work`, a call in `view`; names the process for whose apply it waits, once.
pub(super) async fn named<T>(view: Option<View>, events: &TurnEvents, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let Some(view) = view else { return work.await };
    let mut due = interval_at(Instant::now() + LATER, LATER);
    let mut is_named = false;
    loop {
        tokio::select! {
            biased;
            out = &mut work => return out,
            _ = due.tick(), if !is_named => {
                if let (ApplyPhase::Waiting, process, _) = view.apply_progress().now() {
                    events.notice(ApplyPhase::waiting_words(process));
                    is_named = true;
                }
            }
        }
    }
}
