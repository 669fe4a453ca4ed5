//! A command in a view of its own: what it writes goes into a layer, what it must not see is not there.
//!
//! [`SandboxSpec`] says what the view is to be; [`process::Command`](crate::process::ShellCommand) carries it, unread, to the
//! supervisor (`placet __run`), and [`confine`] turns it into namespaces, mounts and filters around `sh -c`. `probe`
//! tells by trying which backend this machine has.
//!
//! It holds no policy: what is masked, what is writable and which hosts may be reached is the caller's word. It does
//! not read the layers either: that is the workspace's trade.

mod environment;
#[cfg(target_os = "linux")]
mod overlay_error;
mod path_serde;
mod probe;
#[cfg(target_os = "linux")]
mod proxy;
#[cfg(target_os = "macos")]
mod seatbelt;
mod spec;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::{confine, mounted_below};

#[cfg(not(target_os = "linux"))]
mod other_platforms;
#[cfg(not(target_os = "linux"))]
pub use other_platforms::{confine, mounted_below};

pub use environment::withheld_secrets;
pub use probe::{SandboxProbe, probe};
pub use spec::{OverlaySpec, ResourceLimits, SandboxBackend, SandboxNetwork, SandboxSpec, SandboxSpecError};
