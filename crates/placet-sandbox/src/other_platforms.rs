//! Systems without namespaces. On macOS Seatbelt confines writes; elsewhere a command that needs a sandbox is refused.

use super::SandboxSpec;
use super::spec::SandboxBackend;
use placet_process::{ConfineError, ConfineRequest, ConfinedProcess, PreparedConfine};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Starts a command under Seatbelt, or fails: a command that needs a sandbox never runs without one.
pub(super) fn confine(asked: ConfineRequest) -> Result<ConfinedProcess, ConfineError> {
    let spec = SandboxSpec::from_words(&asked.words).map_err(io::Error::other)?;
    match spec.backend {
        #[cfg(target_os = "macos")]
        SandboxBackend::Seatbelt => Ok(super::seatbelt::start(&spec, asked)?),
        _ => {
            Err(io::Error::other("no sandbox on this system, and placet runs no command without one").into())
        }
    }
}

/// Nothing can be done here before the command is known.
pub(super) fn prepare() -> Option<PreparedConfine> {
    None
}

/// No command has a network of its own here.
pub(super) fn publish(_: &[OsString]) -> ExitCode {
    ExitCode::FAILURE
}

/// There are no overlays here, so no mount is in their way.
pub fn mounted_below(_: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// No program runs in a terminal of a view here.
pub fn ignore_background_writes() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
