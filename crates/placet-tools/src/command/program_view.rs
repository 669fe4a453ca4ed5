//! The view of a program of the person's own, as others may look at it while the program runs.

use crate::ToolError;
use placet_sandbox::{SandboxNetwork, SandboxSpec};
use placet_workspace::CommandView;
use std::path::Path;
use tempfile::TempDir;

/// The socket at which the network can be asked and changed, in a directory of its own.
const CONTROL: &str = "control";

/// The view of a program that is about to start.
#[derive(Clone, Copy)]
pub struct ProgramView<'a> {
    pub layer: &'a CommandView,
    /// For [`NetworkControl::connect`](placet_sandbox::NetworkControl::connect); absent where the program has no network
    /// by name.
    pub network_control: Option<&'a Path>,
}

/// Gives the program's network, if it has one, a socket at which it can be asked and changed. Its directory exists as
/// long as the result.
pub(super) fn control_socket(spec: &mut SandboxSpec) -> Result<Option<TempDir>, ToolError> {
    let SandboxNetwork::Hosts(_) = spec.network else { return Ok(None) };
    let dir = tempfile::Builder::new().prefix("placet-run-").tempdir().map_err(|e| {
        let place = std::env::temp_dir();
        ToolError::hint(
            format!("cannot write to `{}`: {e}", place.display()),
            "free space there, or set TMPDIR to another directory",
        )
    })?;
    spec.names.control = Some(dir.path().join(CONTROL));
    Ok(Some(dir))
}
