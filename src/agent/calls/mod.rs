//! What happens to a tool call: approved, run, reported.

pub(super) mod interceptor;
pub(super) mod output_stream;
pub(super) mod pipeline;
pub(super) mod single_call;
