//! What the probe found out about this machine.

use super::spec::SandboxBackend;
use std::path::PathBuf;

/// The result of the probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxProbe {
    pub backend: SandboxBackend,
    /// The present protection, or why there is no more, for a person: one sentence, no full stop.
    pub sentence: String,
    /// The first of the candidate directories in which layers can be stored.
    pub layers: Option<PathBuf>,
    /// The Landlock ABI version of the kernel.
    pub landlock_abi: Option<u32>,
    /// What is weaker here than it could be, a sentence each.
    pub remarks: Vec<String>,
}
