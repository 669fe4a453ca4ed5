//! The network of a sandbox with a list of hosts: by name, and through listeners inside whose connections are made
//! outside.
//!
//! The network namespace has a loopback interface and nothing else. A DNS stub answers an allowed name with a local
//! address of its own (198.18.0.0/15) and every other name with "no such name". A listener on that address and the
//! allowed port belongs to that name: its connections go there, whatever the program says. The supervisor outside
//! resolves the name, to public addresses only, and connects to exactly the address that it checked, or asks the proxy
//! of the host's environment. Nothing is decrypted.
//!
//! | step | file | where |
//! |---|---|---|
//! | which sockets are needed | `socket_plan` | before the fork |
//! | address and sockets | `../linux/network_setup.rs` | inside, before capabilities are dropped |
//! | names and their addresses | `name_table`, `stub`, `dns_message` | the supervisor's network thread |
//! | connections | `relay`, `upstream`, `proxy_tunnel`, `address` | the same |
//! | events, live changes | `record`, `asker`, `control_server` | the same; `control` is the client |

#[cfg(target_os = "linux")]
#[cfg(target_os = "linux")]
mod asker;
mod control;
#[cfg(target_os = "linux")]
mod control_server;
#[cfg(target_os = "linux")]
mod dns_message;
mod host_rule;
#[cfg(target_os = "linux")]
mod name_table;
#[cfg(target_os = "linux")]
mod proxy_tunnel;
mod record;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod socket_plan;
#[cfg(target_os = "linux")]
mod state;
#[cfg(target_os = "linux")]
mod stub;
#[cfg(target_os = "linux")]
mod upstream;
#[cfg(target_os = "linux")]
mod upstream_error;

pub use control::NetworkControl;
pub use host_rule::{HostRule, HostRuleError, MOST_SHARED_NAMES, names_private_host};
pub use record::{NetworkEvent, NetworkEventKind, NetworkRecord};
#[cfg(target_os = "linux")]
pub(super) use relay::join;
#[cfg(target_os = "linux")]
pub(super) use serve::serve;
#[cfg(target_os = "linux")]
pub(super) use socket_plan::{LaterRules, OWN_ADDRESS, PREFIX, SocketPlan};

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
