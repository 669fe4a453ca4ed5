//! The sandbox on Linux.
//!
//! | step | file | who |
//! |---|---|---|
//! | a child in its own namespaces, with mapped ids | `namespaces` | the supervisor, perhaps before the command is known |
//! | the description of the view, and the command | `child_order` | the supervisor |
//! | the view: overlays, a read-only rest, fresh directories | `mount_view`, `mounts`, `scratch_tmpfs` | the child |
//! | the view: a fresh `/dev`, masks | `devices`, `masks` | the child |
//! | with a list of hosts: an address, and sockets for the supervisor | `network_setup` | the child |
//! | limits, no capabilities, Landlock, seccomp | `harden`, `landlock`, `seccomp`, `seccomp_program` | the child |
//! | a terminal of the view, and its job control | `terminal` | the child, process 1 of its namespace |
//! | renames of directories of lower layers | `rename` | a thread of the child |
//! | `sh -c`, and the reaping of every process that it leaves | `init` | the child, process 1 of its namespace |

mod child_order;
mod devices;
mod harden;
mod init;
mod join_netns;
mod landlock;
mod masks;
mod mount_view;
mod mounts;
mod namespaces;
mod network_setup;
mod raw;
mod rename;
mod scratch_tmpfs;
mod seccomp;
mod seccomp_program;
mod setup_error;
mod terminal;

pub(super) use join_netns::join as join_network;
pub use mount_view::mounted_below;
pub(super) use namespaces::{confine, prepare};
pub use raw::ignore_background_writes;
pub(super) use raw::landlock_abi;
