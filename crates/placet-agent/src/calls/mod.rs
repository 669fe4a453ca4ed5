//! The steps of a tool call: approve, run, report.

pub(super) mod approval;
pub(super) mod context;
pub(super) mod execution;
pub(super) mod interceptor;
pub(super) mod origin;
mod other_placet;
pub(super) mod output_stream;
pub(super) mod pipeline;
pub(super) mod rejection;
pub(super) mod server_requests;
pub(super) mod server_start;
pub(super) mod single_call;
