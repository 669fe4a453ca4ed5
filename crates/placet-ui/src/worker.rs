//! A thread that works for a screen: tasks go in, results come out, and the thread ends when the screen is left.
//!
//! The thread starts with the first task. A thread that cannot be started and a thread that panics are the same to the
//! screen: [`Worker::poll`] returns one failure, and the screen waits for nothing any more.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread `{0}` could not be started, or it crashed")]
pub struct WorkerFailure(&'static str);

pub struct Worker<T, R> {
    name: &'static str,
    /// What the thread runs, until it is started.
    body: RefCell<Option<Box<dyn FnOnce() + Send>>>,
    tasks: WorkerSender<T>,
    reports: Receiver<WorkerReport<R>>,
    /// Tasks that the thread is done with, as far as is known here.
    finished: usize,
    has_failed: bool,
}

/// A way in for tasks that other threads may use.
pub struct WorkerSender<T> {
    tasks: Sender<T>,
    state: Arc<WorkerState>,
}

#[derive(Default)]
struct WorkerState {
    sent: AtomicUsize,
    is_closed: AtomicBool,
}

enum WorkerReport<R> {
    Result(R),
    /// Nothing is left to do, after so many tasks.
    Idle(usize),
}

/// The thread's end.
pub struct WorkerInbox<T, R> {
    tasks: Receiver<T>,
    reports: Sender<WorkerReport<R>>,
    taken: usize,
    state: Arc<WorkerState>,
}

impl<T: Send + 'static, R: Send + 'static> Worker<T, R> {
    pub fn new(name: &'static str, body: impl FnOnce(WorkerInbox<T, R>) + Send + 'static) -> Worker<T, R> {
        let (tasks, inbox) = channel();
        let (outbox, reports) = channel();
        let state: Arc<WorkerState> = Arc::default();
        let inbox = WorkerInbox { tasks: inbox, reports: outbox, taken: 0, state: Arc::clone(&state) };
        Worker {
            name,
            body: RefCell::new(Some(Box::new(move || body(inbox)))),
            tasks: WorkerSender { tasks, state },
            reports,
            finished: 0,
            has_failed: false,
        }
    }

    /// One result for each task, in order.
    pub fn each(name: &'static str, mut work: impl FnMut(T) -> R + Send + 'static) -> Worker<T, R> {
        Worker::new(name, move |mut inbox| {
            while let Some(task) = inbox.wait() {
                inbox.send(work(task));
            }
        })
    }

    pub fn send(&self, task: T) {
        self.tasks.send(task);
        let body = self.body.borrow_mut().take();
        if let Some(body) = body {
            // A thread that is not started drops its inbox, like a thread that panics: `poll` finds the channel closed.
            drop(std::thread::Builder::new().name(self.name.into()).spawn(body));
        }
    }

    pub fn is_started(&self) -> bool {
        self.body.borrow().is_none()
    }

    /// Does not start the thread.
    pub fn sender(&self) -> WorkerSender<T> {
        WorkerSender { tasks: self.tasks.tasks.clone(), state: Arc::clone(&self.tasks.state) }
    }

    /// The next result. To be called until there is none: what is left to do is known only then.
    pub fn poll(&mut self) -> Option<Result<R, WorkerFailure>> {
        loop {
            match self.reports.try_recv() {
                Ok(WorkerReport::Result(result)) => return Some(Ok(result)),
                Ok(WorkerReport::Idle(taken)) => self.finished = taken,
                Err(TryRecvError::Disconnected) if self.is_busy() => {
                    self.has_failed = true;
                    return Some(Err(WorkerFailure(self.name)));
                }
                Err(_) => return None,
            }
        }
    }

    /// The same, and waits for a result until `deadline` where there is none yet.
    pub fn poll_until(&mut self, deadline: Instant) -> Option<Result<R, WorkerFailure>> {
        loop {
            if let Some(result) = self.poll() {
                return Some(result);
            }
            if !self.is_busy() {
                return None;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.reports.recv_timeout(left) {
                Ok(WorkerReport::Result(result)) => return Some(Ok(result)),
                Ok(WorkerReport::Idle(taken)) => self.finished = taken,
                // `poll` reports a thread that has ended.
                Err(RecvTimeoutError::Disconnected) => {}
                Err(RecvTimeoutError::Timeout) => return None,
            }
        }
    }

    /// True while something that was sent is not done or not polled yet.
    pub fn is_busy(&self) -> bool {
        !self.has_failed && self.finished < self.tasks.state.sent.load(Ordering::Relaxed)
    }
}

impl<T, R> Drop for Worker<T, R> {
    fn drop(&mut self) {
        self.tasks.state.is_closed.store(true, Ordering::Relaxed);
    }
}

impl<T> WorkerSender<T> {
    pub fn send(&self, task: T) {
        self.state.sent.fetch_add(1, Ordering::Relaxed);
        // An error means that the thread has ended, which `poll` finds out.
        drop(self.tasks.send(task));
    }

    /// The screen was left: results are not needed any more.
    pub fn is_closed(&self) -> bool {
        self.state.is_closed.load(Ordering::Relaxed)
    }
}

impl<T, R> WorkerInbox<T, R> {
    /// Waits for a task; `None` when the screen was left.
    pub fn wait(&mut self) -> Option<T> {
        let task = match self.try_next() {
            Some(task) => task,
            None => {
                drop(self.reports.send(WorkerReport::Idle(self.taken)));
                let task = self.tasks.recv().ok()?;
                self.taken += 1;
                task
            }
        };
        (!self.is_closed()).then_some(task)
    }

    /// A task that has been sent meanwhile.
    pub fn try_next(&mut self) -> Option<T> {
        let task = self.tasks.try_recv().ok()?;
        self.taken += 1;
        Some(task)
    }

    /// The screen was left. To be asked now and then during long work.
    pub fn is_closed(&self) -> bool {
        self.state.is_closed.load(Ordering::Relaxed)
    }

    pub fn send(&self, result: R) {
        drop(self.reports.send(WorkerReport::Result(result)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Everything that comes until the worker is not busy any more.
    fn all<T: Send + 'static, R: Send + 'static>(worker: &mut Worker<T, R>) -> Vec<Result<R, WorkerFailure>> {
        let until = Instant::now() + Duration::from_secs(60);
        let mut out = Vec::new();
        while worker.is_busy() {
            out.extend(worker.poll());
            assert!(Instant::now() < until, "the worker does not end");
            std::thread::yield_now();
        }
        out
    }

    #[test]
    fn every_task_has_its_result_and_then_nothing_is_awaited() {
        let mut worker = Worker::each("test", |n: u32| n * 2);
        assert!(!worker.is_busy());
        worker.send(1);
        worker.sender().send(2);
        assert!(worker.is_busy());
        assert_eq!(all(&mut worker), [Ok(2), Ok(4)]);
        worker.send(3);
        assert_eq!(all(&mut worker), [Ok(6)]);
    }

    #[test]
    fn a_wait_ends_with_the_result_or_at_its_deadline() {
        let mut worker = Worker::each("test", |wait: Duration| std::thread::sleep(wait));
        let soon = || Instant::now() + Duration::from_millis(20);
        assert_eq!(worker.poll_until(soon()), None, "nothing was sent");
        worker.send(Duration::ZERO);
        assert_eq!(worker.poll_until(Instant::now() + Duration::from_secs(60)), Some(Ok(())));
        worker.send(Duration::from_secs(2));
        assert_eq!(worker.poll_until(soon()), None, "the result comes later");
        assert!(worker.is_busy());
    }

    #[test]
    fn a_panic_is_one_failure_and_nobody_waits_for_the_rest() {
        let mut worker = Worker::each("test", |n: u32| match n {
            0 => panic!("a panic that the test wants"),
            n => n,
        });
        worker.send(1);
        worker.send(0);
        worker.send(2);
        assert_eq!(all(&mut worker), [Ok(1), Err(WorkerFailure("test"))]);
        worker.send(3);
        assert_eq!((worker.is_busy(), worker.poll()), (false, None));
    }

    #[test]
    fn a_thread_that_cannot_be_started_is_a_failure() {
        // No system takes a name with a null byte.
        let mut worker = Worker::each("a\0b", |n: u32| n);
        let started = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker.send(1)));
        drop(started);
        assert_eq!(all(&mut worker), [Err(WorkerFailure("a\0b"))]);
    }

    #[test]
    fn the_thread_ends_with_its_screen() {
        let (ended, end) = channel::<()>();
        let worker = Worker::<u32, u32>::new("test", move |mut inbox| {
            let _ended = ended;
            while inbox.wait().is_some() {}
        });
        worker.send(1);
        let sender = worker.sender();
        drop(worker);
        assert!(sender.is_closed());
        drop(sender);
        assert!(end.recv_timeout(Duration::from_secs(60)).is_err_and(|e| e.to_string().contains("closed")));
    }
}
