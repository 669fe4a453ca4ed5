//! Servers over HTTP: the streamable transport of the protocol, and the older one with two addresses, which a server is
//! asked for if it knows nothing else.
//!
//! Everything goes to the address of the settings: a redirect to another host is an error, and so is an older server
//! that names another host. Each message, each answer and each stream has a size at which it ends.

mod answer;
mod exchange;
mod failure;
mod headers;
mod link;
mod listener;
mod transport;

pub use failure::HttpFailure;
pub use headers::{HttpHeader, HttpHeaderError};
pub use link::HttpAccess;
pub(super) use link::HttpLink;
pub(super) use transport::HttpTransport;
