//! What a sandbox is to be: the whole of it, as a value that travels to the helper as JSON.

use super::path_serde;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use thiserror::Error;

/// Where the walls come from. The caller takes it from [`Probe`](super::SandboxProbe); the helper never weakens it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxBackend {
    /// Namespaces and overlays: effects land in layers.
    #[default]
    Overlay,
    /// No namespaces here: writes outside `writable` and the overlays' targets fail, writes inside are real.
    Landlock,
    /// macOS' own sandbox, with what Landlock promises.
    Seatbelt,
    /// Nothing. A command under it is refused, never run free.
    None,
}

/// One command's view. Paths are absolute and canonical: a symbolic link in one of them is not followed for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxSpec {
    pub backend: SandboxBackend,
    /// Mounted in order: the home first, then the workspace's roots, which may lie below it.
    pub overlays: Vec<OverlaySpec>,
    /// Files and directories that are there and show nothing. Missing ones are skipped. The place behind a symbolic
    /// link is masked as well, unless that would blind the command itself (its directory, `/usr` and the like).
    #[serde(with = "path_serde::list")]
    pub masked: Vec<PathBuf>,
    /// Bound through from the host, to be read and written: passthrough directories and scratch. Missing ones are
    /// skipped.
    #[serde(with = "path_serde::list")]
    pub writable: Vec<PathBuf>,
    #[serde(with = "path_serde")]
    pub cwd: PathBuf,
    pub network: SandboxNetwork,
    /// The supervisor of a background command whose `localhost` this one shares, where neither has a way out. When that
    /// command is gone, it has one of its own.
    #[serde(default)]
    pub beside: Option<u32>,
    pub limits: ResourceLimits,
    /// Told to the command as `TMPDIR` and `PLACET_SCRATCH`; writable whether or not it is in `writable`.
    #[serde(with = "path_serde::maybe")]
    pub scratch: Option<PathBuf>,
    /// Environment variables that stay although they look like keys. `*` stands for anything.
    pub keep_env: Vec<String>,
}

/// A copy-on-write directory. `upper` and `work` are empty directories of one file system, outside of every `lowers`,
/// and belong to this command alone: the kernel refuses them a second time. Nothing of the layer is synced to the disk.
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

/// How far a command may reach over the network. `localhost` of its own is always there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxNetwork {
    #[default]
    Off,
    /// Through a proxy, to these alone: `host`, `*.host`, `host:port`. Private addresses are refused even then.
    Hosts(Vec<String>),
    /// The host's own network, its `localhost` included.
    Open,
}

/// Upper bounds; `None` is none.
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
    /// Makes what the kernel leaves in `work` removable: directories without any rights. Call it when the command is
    /// over and before the layer is thrown away.
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
    /// As [`process::Command::sandbox`](crate::process::ShellCommand) carries it.
    pub fn to_words(&self) -> Vec<u8> {
        // Only a map with odd keys or a failing writer could fail here, and there is neither.
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
