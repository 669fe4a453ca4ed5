//! The complete description of a sandbox, as a value that is sent to the helper as JSON.

use super::path_serde;
use super::terminal_spec::TerminalSpec;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use thiserror::Error;

/// The mechanism of the sandbox. The caller takes it from [`Probe`](super::SandboxProbe); the helper never weakens it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxBackend {
    /// Namespaces and overlays: writes go into layers.
    #[default]
    Overlay,
    /// No namespaces here: writes outside `writable` and the overlays' targets fail, writes inside are immediate.
    Landlock,
    /// macOS' own sandbox, with the same guarantees as Landlock.
    Seatbelt,
    /// Nothing. A command with this backend is refused and never runs unconfined.
    None,
}

/// One command's view. Paths are absolute and canonical: a symbolic link in a path is not followed for the view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSpec {
    pub backend: SandboxBackend,
    /// Mounted in order: the home first, then the workspace's roots, which may be below it.
    pub overlays: Vec<OverlaySpec>,
    /// Files and directories that exist and show nothing. Missing ones are skipped. The target of a symbolic link is
    /// masked as well, unless the command could not run without it (its directory, `/usr` and the like).
    #[serde(with = "path_serde::list")]
    pub masked: Vec<PathBuf>,
    /// Bound through from the host, for reads and writes: passthrough directories and scratch. Missing ones are
    /// skipped.
    #[serde(with = "path_serde::list")]
    pub writable: Vec<PathBuf>,
    /// Visible as on the host, read-only, also below a directory that is empty in every view. Missing ones are skipped.
    #[serde(default, with = "path_serde::list")]
    pub readable: Vec<PathBuf>,
    #[serde(with = "path_serde")]
    pub cwd: PathBuf,
    pub network: SandboxNetwork,
    /// A socket that does not exist yet, in a directory that only this user can use: with
    /// [`SandboxNetwork::Hosts`] (also with an empty list) a [`NetworkControl`](super::NetworkControl) connects there
    /// while the command runs. The directory is masked inside.
    #[serde(default, with = "path_serde::maybe")]
    pub network_control: Option<PathBuf>,
    /// The supervisor of a background command whose `localhost` this command shares; neither has access to hosts. If
    /// the background command has ended, this command gets a `localhost` of its own.
    #[serde(default)]
    pub beside: Option<u32>,
    pub limits: ResourceLimits,
    /// Passed to the command as `TMPDIR` and `PLACET_SCRATCH`; writable whether or not it is in `writable`.
    #[serde(with = "path_serde::maybe")]
    pub scratch: Option<PathBuf>,
    /// Environment variables that are passed although they look like keys. `*` matches any text.
    pub keep_env: Vec<String>,
    /// The file of [`recorded_probe`](super::recorded_probe), which is removed if this sandbox cannot be set up.
    #[serde(default, with = "path_serde::maybe")]
    pub probe_record: Option<PathBuf>,
    /// The command gets a terminal of its own inside the view. Only [`SandboxBackend::Overlay`] has one.
    #[serde(default)]
    pub terminal: Option<TerminalSpec>,
}

/// A copy-on-write directory. `upper` and `work` are empty directories of one file system, outside of every `lowers`,
/// for this command only: the kernel refuses a second use. Nothing of the layer is synced to the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlaySpec {
    #[serde(with = "path_serde")]
    pub target: PathBuf,
    /// Top first; the last is usually `target` itself.
    #[serde(with = "path_serde::list")]
    pub lowers: Vec<PathBuf>,
    #[serde(with = "path_serde")]
    pub upper: PathBuf,
    #[serde(with = "path_serde")]
    pub work: PathBuf,
}

/// The network access of a command. It always has a `localhost` of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxNetwork {
    #[default]
    Off,
    /// By name, only to these: `host` (ports 443 and 80), `*.host`, `host:port`, as [`HostRule`](super::HostRule)
    /// reads them. Private addresses are refused even then; `localhost:port` is a port of the host.
    Hosts(Vec<String>),
    /// The host's own network, its `localhost` included.
    Open,
}

/// Upper limits; `None` means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Bytes of private memory of each process.
    pub memory: Option<u64>,
    /// Processes and threads at a time.
    pub processes: Option<u64>,
    pub open_files: Option<u64>,
    /// Seconds of processor time of each process.
    pub cpu_seconds: Option<u64>,
    /// Bytes of the largest file.
    pub file_size: Option<u64>,
}

impl OverlaySpec {
    /// Makes what the kernel leaves in `work` removable: directories without any rights. Call it after the command has
    /// ended and before the layer is removed.
    pub fn release(&self) {
        for left in ["work", "work/incompat", "work/incompat/volatile"] {
            let open = std::os::unix::fs::PermissionsExt::from_mode(0o700);
            let _ = std::fs::set_permissions(self.work.join(left), open);
        }
    }
}

#[derive(Debug, Error)]
pub enum SandboxSpecError {
    #[error("cannot read the description of the sandbox: {0}")]
    Unreadable(String),
}

impl SandboxSpec {
    /// In the form that [`process::Command::sandbox`](placet_process::ShellCommand) takes.
    pub fn to_words(&self) -> Vec<u8> {
        // Only a map with keys that are not text or a failing writer could fail here, and neither exists.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn from_words(words: &[u8]) -> Result<SandboxSpec, SandboxSpecError> {
        serde_json::from_slice(words).map_err(|e| SandboxSpecError::Unreadable(e.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_spec_survives_its_journey_with_any_path() {
        let odd = PathBuf::from(std::ffi::OsString::from_vec(b"/a \xff\n:,\\".to_vec()));
        let spec = SandboxSpec {
            overlays: vec![OverlaySpec {
                target: odd.clone(),
                lowers: vec![odd.clone(), "/b".into()],
                upper: "/u".into(),
                work: "/w".into(),
            }],
            masked: vec![odd.clone()],
            scratch: Some(odd.clone()),
            network: SandboxNetwork::Hosts(vec!["*.crates.io:443".into()]),
            limits: ResourceLimits { memory: Some(1), ..ResourceLimits::default() },
            ..SandboxSpec::default()
        };
        assert_eq!(SandboxSpec::from_words(&spec.to_words()).unwrap(), spec);
        assert!(SandboxSpec::from_words(b"{}").is_err());
    }
}
