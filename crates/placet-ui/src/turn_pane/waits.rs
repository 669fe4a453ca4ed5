//! What both loops around a turn wait for: keys, and the moment at which one of them counts.

use crate::input::AsyncKeyReader;
use crate::input::decode::TerminalInput;
use placet_tools::ToolError;
use std::time::Instant;
use tokio::sync::oneshot;

/// The next input; never ready where there is no reader.
pub(super) async fn typed(keys: &mut Option<AsyncKeyReader>) -> Option<(TerminalInput, Instant)> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

/// Until a key has been alone for long enough.
pub(super) async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due.into()).await,
        None => std::future::pending().await,
    }
}

/// The answer to the request to send a command to the background: why the command stays, or nothing where it was sent.
pub(super) async fn background_answer(asked: &mut Option<oneshot::Receiver<ToolError>>) -> Option<String> {
    let answer = match asked {
        Some(asked) => asked.await,
        None => std::future::pending().await,
    };
    *asked = None;
    answer.ok().map(|error| error.message)
}

pub(super) fn is_idle(keys: &Option<AsyncKeyReader>) -> bool {
    keys.as_ref().is_none_or(AsyncKeyReader::is_idle)
}
