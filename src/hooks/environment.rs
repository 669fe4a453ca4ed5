//! What a hook's program is given besides its input.

use std::path::PathBuf;

/// How the person's programs are run.
#[derive(Clone, Debug, Default)]
pub struct HookEnvironment {
    /// placet itself: see [`crate::process::supervise`].
    pub supervisor: PathBuf,
    /// Names of environment variables that they do not see: the keys.
    pub withheld: Vec<String>,
}
