//! The complete description of a sandbox, as a value that is sent to the helper as JSON.

use super::path_serde;
use super::terminal_spec::TerminalSpec;
use serde::{Deserialize, Serialize};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
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

/// Short, because a socket in it may have a path of 107 bytes at most.
pub(crate) const TMP: &str = "/tmp";

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
    /// Shown in place of files of the host, read-only. A file that is not there for the command stays so.
    #[serde(default)]
    pub copies: Vec<FileCopy>,
    /// Bound through from the host, for reads and writes: passthrough directories, and character devices below `/dev`.
    /// Missing ones are skipped.
    #[serde(with = "path_serde::list")]
    pub writable: Vec<PathBuf>,
    /// Visible as on the host, read-only, also below a directory that is empty in every view. Missing ones are skipped.
    #[serde(default, with = "path_serde::list")]
    pub readable: Vec<PathBuf>,
    #[serde(with = "path_serde")]
    pub cwd: PathBuf,
    pub network: SandboxNetwork,
    /// How the names of [`SandboxNetwork::Hosts`] are answered.
    #[serde(default)]
    pub names: NameService,
    /// The supervisor of a background command whose `localhost` this command shares; neither has access to hosts. If
    /// the background command has ended, this command gets a `localhost` of its own.
    #[serde(default)]
    pub beside: Option<u32>,
    pub limits: ResourceLimits,
    /// The directory for temporary files: writable, passed to the command as `PLACET_SCRATCH`, and what `/tmp` and `TMPDIR`
    /// are where [`SandboxSpec::session_tmp`] says so. Elsewhere `TMPDIR` names the directory itself.
    #[serde(with = "path_serde::maybe")]
    pub scratch: Option<PathBuf>,
    /// Environment variables that are passed although they look like keys. `*` matches any text.
    pub keep_env: Vec<String>,
    /// The file of [`recorded_probe`](super::recorded_probe), which is removed if this sandbox cannot be set up.
    #[serde(default, with = "path_serde::maybe")]
    pub probe_record: Option<PathBuf>,
    /// Where git in the view gets signatures. Absent: commits are not signed.
    #[serde(default)]
    pub signer: Option<SignerSpec>,
    /// The command gets a terminal of its own inside the view. Only [`SandboxBackend::Overlay`] has one.
    #[serde(default)]
    pub terminal: Option<TerminalSpec>,
}

/// A file that a command sees with another content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCopy {
    #[serde(with = "path_serde")]
    pub path: PathBuf,
    pub text: String,
}

/// A program that git in the view runs in place of `gpg`. It passes the object to a socket, which
/// [`SandboxSpec::readable`] shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerSpec {
    pub program: String,
    #[serde(with = "path_serde")]
    pub socket: PathBuf,
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

/// How the names of a network by name are answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameService {
    /// A socket that does not exist yet, in a directory that only this user can use: a
    /// [`NetworkControl`](super::NetworkControl) connects there while the command runs. The directory is masked inside.
    #[serde(default, with = "path_serde::maybe")]
    pub control: Option<PathBuf>,
    /// Hosts, as `name` or `name:port`, that may have an address of a private network. They need an entry in the list of
    /// hosts like all others.
    #[serde(default)]
    pub private_hosts: Vec<String>,
    /// Where the command asks for names; absent: at 127.0.0.1. The supervisor sets it.
    #[serde(default)]
    pub server: Option<Ipv4Addr>,
}

/// The network access of a command. It always has a `localhost` of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxNetwork {
    #[default]
    Off,
    /// By name, only to these: `host` (ports 443 and 80), `*.host`, `host:port`, as [`HostRule`](super::HostRule)
    /// reads them. Private addresses are refused unless [`NameService::private_hosts`] names the host; `localhost:port`
    /// is a port of the host. An empty list allows nothing and records which names were asked for.
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

impl SandboxNetwork {
    /// True if no host can be reached.
    pub fn has_no_hosts(&self) -> bool {
        match self {
            SandboxNetwork::Off => true,
            SandboxNetwork::Hosts(hosts) => hosts.is_empty(),
            SandboxNetwork::Open => false,
        }
    }
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
    /// The directory that is `/tmp` of this command and of the others of its session. `None` where something else is
    /// shown below `/tmp`: the places of mounts would be in the hands of earlier commands, who could rename them or make
    /// them links; `/tmp` is then new and empty for each command.
    pub(crate) fn session_tmp(&self) -> Option<&Path> {
        let tmp = Path::new(TMP);
        let overlays = self.overlays.iter().map(|overlay| &overlay.target);
        let mut shown =
            overlays.chain(&self.writable).chain(&self.readable).chain(&self.scratch).chain([&self.cwd]);
        let is_free = !shown.any(|path| path.starts_with(tmp))
            && std::fs::symlink_metadata(tmp).is_ok_and(|known| known.is_dir());
        self.scratch.as_deref().filter(|_| is_free && self.backend == SandboxBackend::Overlay)
    }

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
    fn the_session_has_a_tmp_of_its_own_unless_something_else_is_shown_there() {
        let path = |text: &str| vec![PathBuf::from(text)];
        let spec = || SandboxSpec {
            scratch: Some("/home/me/.cache/placet/scratch/s".into()),
            cwd: "/home/me/work".into(),
            ..SandboxSpec::default()
        };
        let overlay = |target: &str| OverlaySpec {
            target: target.into(),
            lowers: Vec::new(),
            upper: "/u".into(),
            work: "/w".into(),
        };
        assert_eq!(spec().session_tmp(), spec().scratch.as_deref());
        let homes = SandboxSpec { overlays: vec![overlay("/home/me"), overlay("/tmpfs")], ..spec() };
        assert_eq!(homes.session_tmp(), spec().scratch.as_deref());
        for shown in [
            SandboxSpec { overlays: vec![overlay("/home/me"), overlay("/tmp/work")], ..spec() },
            SandboxSpec { writable: path("/tmp/build"), ..spec() },
            SandboxSpec { readable: path("/tmp/bin"), ..spec() },
            SandboxSpec { cwd: "/tmp".into(), ..spec() },
            SandboxSpec { scratch: Some("/tmp/s".into()), ..spec() },
            SandboxSpec { scratch: None, ..spec() },
            SandboxSpec { backend: SandboxBackend::Landlock, ..spec() },
        ] {
            assert_eq!(shown.session_tmp(), None, "{shown:?}");
        }
    }

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
