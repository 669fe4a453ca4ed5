//! What the person typed and placet did not send yet: the queue, the drafts and the pastes in both.

use crate::agent::MessageQueue;
use crate::session::{DraftFile, InputDraft, SessionStore};
use crate::ui::paste::PasteStore;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone)]
pub(crate) struct UnsentInput {
    /// What the person sent off while a turn ran.
    pub(crate) queue: MessageQueue,
    /// Keeps what is typed and queued, should this process end.
    pub(crate) drafts: Option<Arc<DraftFile>>,
    /// Long pastes of this session.
    pub(crate) pastes: PasteStore,
}

impl UnsentInput {
    /// Opens the place where drafts are stored; also returned is what shells that ended left there. Without a state
    /// directory nothing is stored.
    pub(crate) fn open(store: Option<&SessionStore>, cwd: &Path) -> (UnsentInput, InputDraft) {
        let (drafts, left) = match store.map(|store| DraftFile::open(store.dir(), cwd)) {
            Some(Ok((drafts, left))) => (Some(Arc::new(drafts)), left),
            Some(Err(e)) => {
                tracing::warn!("drafts are not saved: {e}");
                (None, InputDraft::default())
            }
            None => (None, InputDraft::default()),
        };
        let (queue, pastes) = (MessageQueue::default(), PasteStore::default());
        (UnsentInput { queue, drafts, pastes }, left)
    }

    /// A line was taken to be sent, or was cleared: what is left is `typed` and the queue.
    pub(crate) fn keep_rest(&self, typed: &str) {
        if let Some(drafts) = &self.drafts {
            drafts.sent();
        }
        self.keep(typed);
    }

    /// Stores what is typed and queued as it is now. To be called in the same step as a line is taken from the queue without
    /// being sent: the text would otherwise come back twice, or after it was cleared.
    pub(crate) fn keep(&self, typed: &str) {
        let Some(drafts) = &self.drafts else { return };
        let whole = |line: &str| self.pastes.expanded(line).into_owned();
        let queued = self.queue.lines().into_iter().map(|line| whole(&line.text)).collect();
        drafts.keep(InputDraft { queued, typed: whole(typed) });
    }

    /// Everything that was not sent, in its order, as one draft. The queue is empty then.
    pub(crate) fn take(&self, line: Option<String>, draft: String) -> String {
        let queued = line.into_iter().chain(self.queue.drain()).collect();
        let unsent = InputDraft { queued, typed: draft }.joined();
        self.keep(&unsent);
        unsent
    }
}
