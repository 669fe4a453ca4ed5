//! The thread of a session. It owns the conversation and does what it is asked to, one task after the other.
//!
//! A thread of its own, because a turn must end properly, with every call answered and saved, also when the program
//! drops the turn or the session, and because the program may have another runtime or none.

use super::Error;
use crate::agent::Agent;
use crate::app::{self, App};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use tokio::runtime::Runtime;

/// Workers of a session's runtime. Two: one can answer while the other reads files.
const WORKERS: usize = 2;

/// What the thread owns.
pub(super) struct SessionState {
    pub(super) runtime: Runtime,
    pub(super) agent: Agent,
    /// The session has the title that the program gave, or the one of its first message.
    pub(super) has_title: bool,
    /// The agent's environment, which ends with it.
    _app: App,
}

type SessionTask = Box<dyn FnOnce(&mut SessionState) + Send>;

/// The handle to the thread. When it is dropped, the thread completes what it has begun, stops background commands and
/// ends.
pub(super) struct SessionWorker {
    tasks: Sender<SessionTask>,
    thread: JoinHandle<Vec<String>>,
}

impl SessionWorker {
    pub(super) fn start(app: App, agent: Agent, has_title: bool) -> Result<SessionWorker, Error> {
        let (tasks, inbox) = channel::<SessionTask>();
        let (started, begins) = channel();
        let work = move || {
            // Made here, so that it is dropped here: dropping it waits, which panics in an async task.
            let runtime = match app::runtime(WORKERS) {
                Ok(runtime) => runtime,
                Err(e) => {
                    drop(started.send(Err(e)));
                    return Vec::new();
                }
            };
            drop(started.send(Ok(())));
            let mut state = SessionState { runtime, agent, has_title, _app: app };
            while let Ok(task) = inbox.recv() {
                task(&mut state);
            }
            let SessionState { runtime, agent, .. } = &state;
            runtime.block_on(agent.env().jobs.stop_all())
        };
        let thread = std::thread::Builder::new().name("placet-session".into()).spawn(work);
        let thread = thread.map_err(Error::start)?;
        begins.recv().map_err(|_| Error::Ended)??;
        Ok(SessionWorker { tasks, thread })
    }

    /// Gives the thread a task.
    pub(super) fn post(&self, task: impl FnOnce(&mut SessionState) + Send + 'static) -> Result<(), Error> {
        self.tasks.send(Box::new(task)).map_err(|_| Error::Ended)
    }

    /// The same, and waits for the result.
    pub(super) fn call<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut SessionState) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let (reply, answer) = channel();
        // The send fails only when the caller is gone and needs no answer.
        self.post(move |state| drop(reply.send(task(state))))?;
        answer.recv().map_err(|_| Error::Ended)
    }

    /// Waits for the end of the thread.
    pub(super) fn join(self) -> Result<Vec<String>, Error> {
        drop(self.tasks);
        self.thread.join().map_err(|_| Error::Ended)
    }
}
