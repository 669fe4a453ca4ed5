//! A command in its own view: its writes go into a layer, and what it must not see does not exist.
//!
//! [`SandboxSpec`] describes the view; [`process::Command`](placet_process::ShellCommand) passes it, unread, to the
//! supervisor (`placet __run`), and [`START`] turns it into namespaces, mounts and filters around `sh -c`. `probe`
//! tests which backend this machine has.
//!
//! It contains no policy: the caller decides what is masked, what is writable and which hosts are allowed. It does not
//! read the layers either: the workspace does.

mod environment;
mod network;
#[cfg(target_os = "linux")]
mod overlay_error;
mod path_serde;
mod probe;
#[cfg(target_os = "linux")]
mod probe_record;
mod probe_result;
mod publish;
#[cfg(target_os = "macos")]
mod seatbelt;
mod spec;
mod terminal_spec;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::ignore_background_writes;
#[cfg(target_os = "linux")]
pub use linux::mounted_below;

#[cfg(not(target_os = "linux"))]
mod other_platforms;
#[cfg(not(target_os = "linux"))]
pub use other_platforms::ignore_background_writes;
#[cfg(not(target_os = "linux"))]
pub use other_platforms::mounted_below;

#[cfg(target_os = "linux")]
use linux::{confine, prepare};
#[cfg(not(target_os = "linux"))]
use other_platforms::{confine, prepare, publish};
#[cfg(target_os = "linux")]
use publish::publish;

/// For [`process::supervise`](placet_process::supervise).
pub const START: placet_process::SandboxStart = placet_process::SandboxStart { confine, prepare, publish };

pub use environment::{SIGN_SOCKET, withheld_secrets};
pub use network::{
    HostRule, HostRuleError, MOST_SHARED_NAMES, NetworkControl, NetworkEvent, NetworkEventKind,
    NetworkRecord, names_private_host,
};
pub use probe::{probe, probe_again, recorded_probe};
pub use probe_result::SandboxProbe;
pub use publish::{BoundPort, PortMapping, PortMappingError, PublishError, PublishedPort};
pub use spec::{
    FileCopy, NameService, OverlaySpec, ResourceLimits, SandboxBackend, SandboxNetwork, SandboxSpec,
    SandboxSpecError, SignerSpec,
};
pub use terminal_spec::{TerminalModes, TerminalSize, TerminalSpec};
