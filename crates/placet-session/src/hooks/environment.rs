//! The environment of a hook's program, in addition to its input.

use std::path::PathBuf;

/// How the person's programs are run.
#[derive(Clone, Debug, Default)]
pub struct HookEnvironment {
    /// placet itself: see [`placet_process::supervise`].
    pub supervisor: PathBuf,
    /// Names of environment variables that the programs do not see: the API keys.
    pub withheld: Vec<String>,
}
