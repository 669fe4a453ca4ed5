//! How git is run: a call is a value, and a runner decides where it runs.
//!
//! Calls that read the agent's repository go through a [`GitRunner`] that placet implements with its sandbox without
//! network. Calls in the person's repository go through [`PlainRunner`].

mod call;
mod plain;

pub use call::{ENVIRONMENT, GitCall, GitInput, GitOutput, GitOutputPlace};
pub use plain::PlainRunner;
pub(crate) use plain::{on_thread, signal_group};

use crate::error::{GitError, Result};

/// Runs calls of git.
pub trait GitRunner: Sync {
    /// Runs calls that do not depend on each other, in any order or at the same time, and returns a result for each, in
    /// the order of `calls`.
    ///
    /// A status other than 0 is not an error. A call over its limits is one, and no process of it is left.
    /// An implementation with a sandbox may keep the sandbox between calls of `run` until it is dropped.
    fn run(&self, calls: &[GitCall]) -> Vec<Result<GitOutput>>;
}

/// Runs one call, of which a status other than 0 is an error.
pub(crate) fn run_one(runner: &dyn GitRunner, call: GitCall) -> Result<GitOutput> {
    let mut results = runner.run(std::slice::from_ref(&call));
    results.pop().unwrap_or(Err(GitError::Unexpected { command: "run" }))?.checked(&call)
}

/// Runs all calls, of which a status other than 0 is an error.
pub(crate) fn run_all(runner: &dyn GitRunner, calls: &[GitCall]) -> Result<Vec<GitOutput>> {
    let results = runner.run(calls);
    if results.len() != calls.len() {
        return Err(GitError::Unexpected { command: "run" });
    }
    calls.iter().zip(results).map(|(call, result)| result?.checked(call)).collect()
}
