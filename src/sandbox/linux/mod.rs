//! The sandbox on Linux.
//!
//! | step | file | who |
//! |---|---|---|
//! | a child in namespaces of its own, its ids mapped | `start` | the supervisor |
//! | the view: overlays, a read-only rest, a fresh `/tmp`, `/run`, `/dev`, `/proc`, masks | `view`, `ground`, `device`, `mask` | the child |
//! | limits, no capabilities, Landlock, seccomp | `harden`, `landlock`, `seccomp` | the child |
//! | `sh -c`, and the reaping of all that it leaves | `init` | the child, process 1 of its namespace |

mod beside;
mod device;
mod ground;
mod harden;
mod init;
mod landlock;
mod mask;
mod mount;
mod raw;
mod seccomp;
mod start;
mod view;

pub(super) use raw::landlock_abi;
pub use start::confine;
pub use view::mounted_below;
