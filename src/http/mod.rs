//! HTTP as the providers need it: one lazily built client, server-sent events as a pure parser, and error causes
//! that name what really happened. Knows no provider and keeps no state besides the connections.

mod sse;

pub use sse::{LineTooLong, SseEvent, SseParser};
