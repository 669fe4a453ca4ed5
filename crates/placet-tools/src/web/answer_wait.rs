//! How the tools of the web wait: an answer has a limit of time, and the person can stop the call.

use crate::output::{failed, interrupted};
use crate::{RunContext, ToolError, ToolOutput};
use std::time::Duration;

/// The result of `work`, or that it failed or was stopped.
pub(super) async fn until_stopped(
    ctx: &RunContext,
    title: &str,
    work: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> ToolOutput {
    tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => interrupted(title),
        done = work => done.unwrap_or_else(|error| failed(title, &error)),
    }
}

/// The answer of a server within `patience`. Otherwise the error begins with `late`, such as `the page did not arrive`.
pub(super) async fn in_time<T>(
    patience: Duration,
    (late, other): (&str, &str),
    asking: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    tokio::time::timeout(patience, asking).await.unwrap_or_else(|_| {
        let message = format!("{late} within {} s", patience.as_secs());
        Err(ToolError::hint(message, format!("try again later, or {other}")))
    })
}
