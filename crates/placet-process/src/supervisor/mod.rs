//! The supervisor of a command: how it is started, what it is told, what it does, and how one waits for a command.

pub(super) mod confine;
pub(super) mod job_reports;
pub(super) mod protocol;
pub(super) mod ready;
pub(super) mod reserve;
pub(super) mod start_failure;
pub(super) mod supervise;
pub(super) mod supervisor_child;
pub(super) mod supervisor_order;
