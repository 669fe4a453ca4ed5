//! Waiting under a watchdog: every wait of an attempt ends at once when cancelled, reports silence, and gives up when
//! the silence has lasted too long. The clock stops while the machine sleeps, and a sleep does not count as silence. A
//! sleep is noticed, because the connection is dead after it.

use crate::StreamEvent;
use crate::answer::event_stream::EventEmitter;
use placet_http::{SleepDetector, WallClock};
use placet_text::conversation::AssistantMessage;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a wait ended without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitInterruption {
    Cancelled,
    /// Nothing for the whole limit.
    Silent(Duration),
    /// The machine slept.
    Slept(Duration),
    /// The answer as a whole took longer than it may.
    Late(Duration),
}

pub(crate) struct AttemptWatchdog<'w> {
    cancel: &'w CancellationToken,
    emit: &'w EventEmitter,
    step: Duration,
    limit: Duration,
    since: Instant,
    told: u32,
    awake: SleepDetector,
    /// When the answer must be whole, and how long that is after its request.
    end: Instant,
    time: Duration,
}

/// How long an attempt may be silent, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttemptTimeouts {
    /// Silence is reported each time this much of it has passed.
    pub(crate) step: Duration,
    pub(crate) silence: Duration,
    /// From the request to the end of the answer, however much arrives.
    pub(crate) whole: Duration,
}

impl<'w> AttemptWatchdog<'w> {
    pub(crate) fn new(
        cancel: &'w CancellationToken,
        emit: &'w EventEmitter,
        patience: AttemptTimeouts,
        wall: WallClock,
    ) -> AttemptWatchdog<'w> {
        let AttemptTimeouts { step, silence, whole } = patience;
        // With a step of zero the loop below would report silence without end.
        let step = step.max(Duration::from_millis(1));
        let since = Instant::now();
        let awake = SleepDetector::new(wall);
        // A time that no clock can represent becomes a year: nobody waits that long either.
        let time = whole.min(Duration::from_secs(365 * 24 * 3600));
        AttemptWatchdog { cancel, emit, step, limit: silence, since, told: 0, awake, end: since + time, time }
    }

    /// Something of the answer has come: silence starts again.
    pub(crate) fn progress(&mut self) {
        self.since = Instant::now();
        self.told = 0;
    }

    /// From here on silence may last so long, counted again.
    pub(crate) fn up_to(&mut self, limit: Duration) {
        self.limit = limit;
        self.progress();
    }

    /// From here on silence may last no longer than this.
    pub(crate) fn at_most(&mut self, limit: Duration) {
        self.limit = self.limit.min(limit);
    }

    pub(crate) async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Result<T, WaitInterruption> {
        let mut future = std::pin::pin!(future);
        loop {
            // Looked at here as well: of a server that never pauses, something is always ready before any timer.
            if Instant::now() >= self.end {
                return Err(WaitInterruption::Late(self.time));
            }
            let next = self.step.saturating_mul(self.told + 1).min(self.limit);
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(WaitInterruption::Cancelled),
                done = &mut future => return Ok(done),
                () = tokio::time::sleep_until(self.end.min(self.since + next)) => {}
            }
            if let Some(slept) = self.awake.slept() {
                return Err(WaitInterruption::Slept(slept));
            }
            if Instant::now() < self.since + next {
                continue;
            }
            if next == self.limit {
                return Err(WaitInterruption::Silent(self.limit));
            }
            self.told += 1;
            self.emit.send(StreamEvent::Silent { since: next }).await;
        }
    }

    /// Hands an event to the reader, unless the answer was cancelled.
    pub(crate) async fn send_event(&self, event: StreamEvent) -> Result<(), WaitInterruption> {
        if self.cancel.is_cancelled() {
            return Err(WaitInterruption::Cancelled);
        }
        self.emit.send(event).await;
        Ok(())
    }

    pub(crate) async fn finish(&self, answer: AssistantMessage) {
        self.emit.send(StreamEvent::Finished(answer)).await;
    }
}
