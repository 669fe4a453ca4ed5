//! Work that runs in the background while a question waits for its result. Dropping it stops the work.

use std::sync::mpsc::{Receiver, channel};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

pub(super) struct BackgroundTask<T> {
    result: Receiver<T>,
    task: JoinHandle<()>,
}

impl<T: Send + 'static> BackgroundTask<T> {
    pub(super) fn start(
        runtime: &Handle,
        work: impl Future<Output = T> + Send + 'static,
    ) -> BackgroundTask<T> {
        let (sender, result) = channel();
        let task = runtime.spawn(async move {
            // Nobody waits any more where this fails.
            drop(sender.send(work.await));
        });
        BackgroundTask { result, task }
    }

    pub(super) fn poll(&self) -> Option<T> {
        self.result.try_recv().ok()
    }
}

impl<T> Drop for BackgroundTask<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
