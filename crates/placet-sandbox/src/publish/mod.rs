//! A port of a command, published at 127.0.0.1 of this machine.
//!
//! placet makes the listener, outside, and passes it to a process of its own ([`publisher`]). At the first connection
//! that process enters the network of the command; the listener stays outside. From then on each accepted connection
//! gets one to `localhost` inside, and nothing else connects the two networks: no program inside can open a connection
//! to the outside by it. The process ends with the [`PublishedPort`] and, at the latest, with placet.

mod port_mapping;
mod published_port;
#[cfg(target_os = "linux")]
mod publisher;

pub use port_mapping::{PortMapping, PortMappingError};
pub use published_port::{BoundPort, PublishError, PublishedPort};
#[cfg(target_os = "linux")]
pub(super) use publisher::publish;
