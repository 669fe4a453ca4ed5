//! What the cases share.

pub mod binary;
#[cfg(target_os = "linux")]
pub mod broken_calls;
pub mod checks;
pub mod den;
pub mod fixture;
pub mod forged_notes;
pub mod guide_page;
pub mod guide_run;
pub mod held_stage;
pub mod history_rules;
pub mod job_calls;
pub mod live;
pub mod mcp_client;
pub mod mock_server;
pub mod network;
pub mod output;
pub mod outsider;
pub mod permit;
pub mod program;
pub mod pty;
pub mod request;
pub mod require;
pub mod schema;
pub mod sessions;
pub mod special;
pub mod talk;
pub mod terminal_answers;
pub mod tool_bench;
pub mod txn;
pub mod wait;

/// Every `nth` case of a long table, and all of them where long sweeps are asked for.
pub fn some_of<T>(cases: &[T], nth: usize) -> impl Iterator<Item = &T> {
    cases.iter().step_by(if is_full() { 1 } else { nth })
}

/// True where long sweeps are asked for, as by `.ci/nightly`.
pub fn is_full() -> bool {
    std::env::var_os("PLACET_FULL").is_some()
}
