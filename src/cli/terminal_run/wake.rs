//! What wakes the relay besides bytes: signals, and the cancellation of the run.

use crate::process::close_on_exec;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::{SigId, flag, low_level};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Signals as flags, and one descriptor that is readable after each of them.
pub(super) struct RelaySignals {
    awake: UnixStream,
    resized: Arc<AtomicBool>,
    /// The person's terminal is gone.
    hung_up: Arc<AtomicBool>,
    ended: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl RelaySignals {
    pub(super) fn watch() -> io::Result<RelaySignals> {
        let (awake, wake) = UnixStream::pair()?;
        awake.set_nonblocking(true)?;
        let mut signals = RelaySignals {
            awake,
            resized: Arc::default(),
            hung_up: Arc::default(),
            ended: Arc::default(),
            registered: Vec::new(),
        };
        for (signal, mark) in [
            (SIGWINCH, &signals.resized),
            // The window may have changed while placet was stopped.
            (SIGCONT, &signals.resized),
            (SIGHUP, &signals.hung_up),
            (SIGTERM, &signals.ended),
            (SIGINT, &signals.ended),
            (SIGQUIT, &signals.ended),
        ] {
            // In this order: the flag is set before the byte arrives.
            signals.registered.push(flag::register(signal, Arc::clone(mark))?);
            signals.registered.push(low_level::pipe::register(signal, wake.try_clone()?)?);
        }
        Ok(signals)
    }

    /// Takes the bytes away; the flags say what happened.
    pub(super) fn quiet(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.awake.read(&mut bytes), Ok(read) if read > 0) {}
    }

    /// True once after each change of the window's size.
    pub(super) fn take_resized(&self) -> bool {
        self.resized.swap(false, Ordering::SeqCst)
    }

    pub(super) fn is_hung_up(&self) -> bool {
        self.hung_up.load(Ordering::SeqCst)
    }

    pub(super) fn is_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

impl AsFd for RelaySignals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.awake.as_fd()
    }
}

impl Drop for RelaySignals {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            low_level::unregister(id);
        }
    }
}

/// A descriptor that hangs up when the run is cancelled.
pub(super) struct CancelSignal {
    pipe: OwnedFd,
    task: JoinHandle<()>,
}

impl CancelSignal {
    pub(super) fn watch(stop: &CancellationToken, runtime: &Runtime) -> io::Result<CancelSignal> {
        let (pipe, held) = close_on_exec::pipe()?;
        let stop = stop.clone();
        let task = runtime.spawn(async move {
            stop.cancelled().await;
            drop(held);
        });
        Ok(CancelSignal { pipe, task })
    }
}

impl AsFd for CancelSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl Drop for CancelSignal {
    fn drop(&mut self) {
        self.task.abort();
    }
}
