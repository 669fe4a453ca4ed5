//! The counters: how often a tool ran, how it ended, and how long it took.

use crate::calls::context::CallContext;
use placet_session::metrics::MetricStatus;
use placet_text::conversation::CallOutcome;
use placet_tools::ToolOutput;
use std::time::Instant;

pub(crate) fn count(ctx: &CallContext, status: MetricStatus, started: Instant) {
    if let Some(metrics) = &ctx.services.origin.interceptors.metrics {
        // A tool with two names is counted once.
        metrics.count(&ctx.services.registry.full_name(&ctx.call.name), status, started.elapsed());
    }
}

pub(super) fn count_result(ctx: &CallContext, output: &ToolOutput, started: Instant) {
    let is_done = output.outcome == CallOutcome::Done;
    count(ctx, if is_done { MetricStatus::Success } else { MetricStatus::Failure }, started);
}
