//! Commands in the foreground, and the person's request to send one to the background.
//!
//! The person presses a key in the pane, which knows only the list of jobs; the call that runs the command waits for the
//! request. A request that cannot be met is answered with a sentence.

use crate::ToolError;
use placet_text::conversation::CallId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Notify, oneshot};

/// The commands that run in the foreground now. A cheap handle.
#[derive(Clone, Debug, Default)]
pub(super) struct ForegroundList(Arc<Mutex<Vec<Arc<ForegroundEntry>>>>);

#[derive(Debug)]
struct ForegroundEntry {
    call: CallId,
    since: Instant,
    /// Why it must stay in the foreground, where that is known from the beginning.
    refusal: Option<ToolError>,
    asked: Notify,
    answer: Mutex<Option<oneshot::Sender<ToolError>>>,
}

/// A command that runs in the foreground, as the pane sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForegroundCall {
    pub call: CallId,
    pub since: Instant,
    /// False if a request to send it to the background is refused in any case.
    pub can_move: bool,
}

/// The place of a command in the list, until the guard is dropped.
#[derive(Debug)]
pub(crate) struct ForegroundPlace {
    list: ForegroundList,
    entry: Arc<ForegroundEntry>,
}

impl ForegroundList {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<ForegroundEntry>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self, call: CallId, refusal: Option<ToolError>) -> ForegroundPlace {
        let (asked, answer) = (Notify::new(), Mutex::default());
        let entry = Arc::new(ForegroundEntry { call, since: Instant::now(), refusal, asked, answer });
        self.lock().push(Arc::clone(&entry));
        ForegroundPlace { list: self.clone(), entry }
    }

    /// The oldest command.
    pub(super) fn oldest(&self) -> Option<ForegroundCall> {
        let list = self.lock();
        let entry = list.first()?;
        let (call, since) = (entry.call.clone(), entry.since);
        Some(ForegroundCall { call, since, can_move: entry.refusal.is_none() })
    }

    /// Asks for the oldest command. `None` if no command runs. The receiver gets an error if the command stays.
    pub(super) fn ask(&self) -> Option<oneshot::Receiver<ToolError>> {
        let entry = self.lock().first().cloned()?;
        let (answer, receiver) = oneshot::channel();
        if let Some(refusal) = &entry.refusal {
            drop(answer.send(refusal.clone()));
            return Some(receiver);
        }
        *entry.answer() = Some(answer);
        entry.asked.notify_one();
        Some(receiver)
    }
}

impl ForegroundEntry {
    fn answer(&self) -> MutexGuard<'_, Option<oneshot::Sender<ToolError>>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ForegroundPlace {
    /// Notified when the person wants the command in the background.
    pub(crate) fn asked(&self) -> &Notify {
        &self.entry.asked
    }

    /// Tells the person that the command stays in the foreground.
    pub(crate) fn refuse(&self, error: ToolError) {
        if let Some(answer) = self.entry.answer().take() {
            drop(answer.send(error));
        }
    }
}

impl Drop for ForegroundPlace {
    fn drop(&mut self) {
        self.list.lock().retain(|entry| !Arc::ptr_eq(entry, &self.entry));
    }
}
