//! Systems without namespaces. On macOS Seatbelt confines writes; elsewhere a command that asks for a sandbox is refused.

use super::Spec;
use super::spec::Backend;
use crate::process::{Confined, Confinement};
use std::io;
use std::path::{Path, PathBuf};

/// Starts a command under Seatbelt, or fails: nothing is run free that was to be confined.
pub fn confine(asked: Confinement) -> io::Result<Confined> {
    let spec = Spec::from_words(&asked.words).map_err(io::Error::other)?;
    match spec.backend {
        #[cfg(target_os = "macos")]
        Backend::Seatbelt => super::seatbelt::start(&spec, asked),
        _ => Err(io::Error::other("no sandbox on this system, and placet runs no command without one")),
    }
}

/// No overlays here, so nothing is in their way.
pub fn mounted_below(_: &Path) -> Vec<PathBuf> {
    Vec::new()
}
