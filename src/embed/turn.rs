//! One turn: its events as they come, and the way to cancel it.

use super::Error;
use super::event::{Event, TurnOutcome, TurnTexts};
use super::worker::{SessionState, SessionWorker};
use crate::agent::{TurnDecision, TurnEnding, TurnEvent, TurnStart, never_reviewed};
use crate::conversation::Part;
use std::fmt;
use std::marker::PhantomData;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// A turn that runs. Read its events until [`Event::Ended`].
///
/// The turn runs by itself, also while nobody reads; events wait in memory without a limit. Dropping this cancels the
/// turn, as [`RunningTurn::cancel`] does.
pub struct RunningTurn<'s> {
    events: UnboundedReceiver<Event>,
    stop: CancellationToken,
    /// One turn at a time, and nothing is applied or undone during a turn.
    session: PhantomData<&'s mut SessionWorker>,
}

/// Cancels a turn from elsewhere: another task, a thread, a signal handler of yours. Clones cancel the same turn.
#[derive(Clone, Debug)]
pub struct TurnCanceller(CancellationToken);

impl RunningTurn<'_> {
    pub(super) fn begin(worker: &SessionWorker, message: String) -> Result<RunningTurn<'_>, Error> {
        let (out, events) = unbounded_channel();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        worker.post(move |state| run(state, message, &out, &stopped))?;
        Ok(RunningTurn { events, stop, session: PhantomData })
    }

    /// The next event. The last one is [`Event::Ended`]; after it comes `None`. `None` without it means that the
    /// session ended because of an error in placet.
    ///
    /// Works in every async runtime. If the future is dropped, no event is lost.
    pub async fn recv(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// The same for a thread that may wait.
    ///
    /// # Panics
    ///
    /// In an async task of tokio, where nothing may wait like this.
    pub fn recv_blocking(&mut self) -> Option<Event> {
        self.events.blocking_recv()
    }

    /// Reads all events and returns the last. Every question is dropped: what needs a person is refused, and changes
    /// stay pending. `None` if the session ended because of an error in placet.
    ///
    /// # Panics
    ///
    /// In an async task of tokio, as [`RunningTurn::recv_blocking`] does.
    pub fn finish_blocking(mut self) -> Option<TurnOutcome> {
        loop {
            if let Event::Ended(outcome) = self.recv_blocking()? {
                return Some(outcome);
            }
        }
    }

    /// Stops the turn. Its end still comes as an event, with [`EndReason::Cancelled`](crate::EndReason::Cancelled) if
    /// the turn had not ended already.
    ///
    /// A cancelled turn leaves nothing half done:
    ///
    /// - The request to the provider is broken off, and no call of the unfinished answer runs.
    /// - A command that runs is ended, with all of its processes, and its changes are discarded.
    /// - What finished calls changed stays pending (in ask mode) or applied (in write mode). The apply question is not
    ///   asked; questions that are open are answered with no.
    /// - An apply that has begun is completed.
    /// - The conversation is saved, and each call has a result that says what became of it. The next message
    ///   resumes it.
    pub fn cancel(&self) {
        self.stop.cancel();
    }

    /// A handle that cancels this turn.
    pub fn canceller(&self) -> TurnCanceller {
        TurnCanceller(self.stop.clone())
    }
}

impl fmt::Debug for RunningTurn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningTurn").field("cancelled", &self.stop.is_cancelled()).finish_non_exhaustive()
    }
}

impl Drop for RunningTurn<'_> {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl TurnCanceller {
    /// Stops the turn as [`RunningTurn::cancel`] does. Does nothing once the turn has ended.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

/// Runs on the session's thread until the turn and its apply question are over.
fn run(state: &mut SessionState, message: String, out: &UnboundedSender<Event>, stop: &CancellationToken) {
    set_title(state, &message);
    let SessionState { runtime, agent, .. } = state;
    let workspace = agent.env().workspace.clone();
    runtime.block_on(async {
        let (events, mut inbox) = unbounded_channel();
        let working = async {
            let start = TurnStart::Say(vec![Part::text(message)]);
            let ending = agent.run(start, events.clone(), stop.clone()).await;
            let decision = match ending {
                TurnEnding::Interrupted => TurnDecision::Nothing,
                _ => agent.ask_to_apply(&events, stop, never_reviewed).await,
            };
            drop(events.send(TurnEvent::Ended(ending)));
            decision
        };
        let hearing = async {
            let mut texts = TurnTexts::default();
            while let Some(event) = inbox.recv().await {
                texts.count(&event);
                match event {
                    TurnEvent::Ended(ending) => return Some((texts, ending)),
                    // The receiver may be gone: the turn is cancelled then, and ends by itself.
                    event => Event::of(event, &workspace, stop).map_or((), |event| drop(out.send(event))),
                }
            }
            None
        };
        let (decision, heard) = tokio::join!(working, hearing);
        if let Some((texts, ending)) = heard {
            drop(out.send(Event::Ended(texts.outcome(&ending, decision))));
        }
    });
}

/// A session that the program gave no title has that of its first message.
fn set_title(state: &mut SessionState, message: &str) {
    if std::mem::replace(&mut state.has_title, true) {
        return;
    }
    if let Some(session) = state.agent.session() {
        // The title is for lists of sessions: without it the session is as good.
        drop(session.store().rename(session.id(), &crate::repl::title_of(message)));
    }
}
