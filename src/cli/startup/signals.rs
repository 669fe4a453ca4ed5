//! Signals: placet stops and saves the turn that runs, restores the terminal, and ends as the signal asks.

use crate::ui::{editor, term};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The turn that runs now, if one does.
#[derive(Clone, Default)]
pub(in crate::cli) struct CurrentTurn(Arc<Mutex<Option<CancellationToken>>>);

impl CurrentTurn {
    pub(in crate::cli) fn set(&self, stop: Option<CancellationToken>) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = stop;
    }

    /// Stops the turn; true when there was one.
    fn stop(&self) -> bool {
        let current = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        current.as_ref().map(CancellationToken::cancel).is_some()
    }

    /// The same; true when nobody had stopped it before.
    fn stop_first(&self) -> bool {
        let current = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_first = current.as_ref().is_some_and(|stop| !stop.is_cancelled());
        current.as_ref().inspect(|stop| stop.cancel());
        is_first
    }
}

/// How long a turn may take to end and be saved after a signal.
const SAVE_WITHIN: Duration = Duration::from_millis(1500);

/// A watch that ends when this is dropped. The signals do nothing then, until somebody else watches for them.
#[derive(Debug)]
pub(in crate::cli) struct SignalWatch(tokio::task::JoinHandle<()>);

impl Drop for SignalWatch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Watches for SIGTERM and SIGHUP, and for SIGINT where the terminal does not turn Ctrl-C into a key.
pub(in crate::cli) fn watch(runtime: &tokio::runtime::Runtime, current: CurrentTurn) {
    drop(spawn_watch(runtime, current));
}

/// The same until the result is dropped. `None` where the signals cannot be watched.
pub(in crate::cli) fn watch_for_now(
    runtime: &tokio::runtime::Runtime,
    current: CurrentTurn,
) -> Option<SignalWatch> {
    spawn_watch(runtime, current).map(SignalWatch)
}

fn spawn_watch(
    runtime: &tokio::runtime::Runtime,
    current: CurrentTurn,
) -> Option<tokio::task::JoinHandle<()>> {
    let _guard = runtime.enter();
    let (Ok(mut term), Ok(mut hup), Ok(mut int)) =
        (signal(SignalKind::terminate()), signal(SignalKind::hangup()), signal(SignalKind::interrupt()))
    else {
        return None;
    };
    Some(runtime.spawn(async move {
        loop {
            let code = tokio::select! {
                _ = term.recv() => 143,
                _ = hup.recv() => 129,
                _ = int.recv() => {
                    if editor::has_terminal() {
                        continue;
                    }
                    // The first one stops the turn, which then ends by itself; a second one does not wait.
                    if current.stop_first() {
                        continue;
                    }
                    130
                }
            };
            if current.stop() {
                tokio::time::sleep(SAVE_WITHIN).await;
            }
            end(code);
        }
    }))
}

/// Restores the terminal and ends the process, from any thread: the main thread may be waiting for a key that will never
/// come.
#[expect(clippy::disallowed_methods, reason = "the terminal is given back first, and nothing else is held")]
pub(in crate::cli) fn end(code: i32) -> ! {
    term::leave();
    std::process::exit(code)
}
