//! Waiting under watch: every wait of an attempt ends at once when cancelled, says that it is silent, and gives up
//! when the silence has lasted too long. Time is the clock that stands still while the machine sleeps, so a sleep is no
//! silence; that there was one is noticed, because the connection is dead after it.

use super::StreamEvent;
use super::flow::Emit;
use crate::conversation::Answer;
use crate::http::{Awake, Wall};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Why a wait ended without its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    Cancelled,
    /// Nothing for the whole limit.
    Silent(Duration),
    /// The machine slept.
    Slept(Duration),
}

pub(super) struct Watch<'w> {
    cancel: &'w CancellationToken,
    emit: &'w Emit,
    step: Duration,
    limit: Duration,
    since: Instant,
    told: u32,
    awake: Awake,
}

impl<'w> Watch<'w> {
    pub(super) fn new(
        cancel: &'w CancellationToken,
        emit: &'w Emit,
        step: Duration,
        limit: Duration,
        wall: Wall,
    ) -> Watch<'w> {
        let step = step.max(Duration::from_millis(1));
        Watch { cancel, emit, step, limit, since: Instant::now(), told: 0, awake: Awake::new(wall) }
    }

    /// Something of the answer has come: silence begins anew.
    pub(super) fn progress(&mut self) {
        self.since = Instant::now();
        self.told = 0;
    }

    /// From here on silence may last so long, counted anew.
    pub(super) fn up_to(&mut self, limit: Duration) {
        self.limit = limit;
        self.progress();
    }

    /// From here on silence may last no longer than this.
    pub(super) fn at_most(&mut self, limit: Duration) {
        self.limit = self.limit.min(limit);
    }

    pub(super) async fn wait<T>(&mut self, future: impl Future<Output = T>) -> Result<T, Halt> {
        let mut future = std::pin::pin!(future);
        loop {
            let next = self.step.saturating_mul(self.told + 1).min(self.limit);
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(Halt::Cancelled),
                done = &mut future => return Ok(done),
                () = tokio::time::sleep_until(self.since + next) => {}
            }
            if let Some(slept) = self.awake.slept() {
                return Err(Halt::Slept(slept));
            }
            if next == self.limit {
                return Err(Halt::Silent(self.limit));
            }
            self.told += 1;
            self.emit.send(StreamEvent::Silent { since: next }).await;
        }
    }

    /// Hands an event to the reader, unless the answer was cancelled.
    pub(super) async fn tell(&self, event: StreamEvent) -> Result<(), Halt> {
        if self.cancel.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        self.emit.send(event).await;
        Ok(())
    }

    pub(super) async fn finish(&self, answer: Answer) {
        self.emit.send(StreamEvent::Finished(answer)).await;
    }
}
