//! HTTP as the providers need it: one lazily built client, server-sent events as a pure parser, and error causes that
//! name the real failure. The module knows no provider and has no state except the connections.

mod body_pump;
mod client;
mod error_cause;
mod error_kind;
mod page_client;
mod proxy;
mod public_address;
mod retry_after;
mod sleep_detector;
mod sse;

pub use client::{
    HttpClient, HttpClientSettings, HttpError, HttpErrorKind, HttpResponse, ProxySource, host_of,
    install_tls, is_local, readable_host,
};
pub use page_client::{PageClient, PageRefusal, WebRequest};
pub use proxy::environment_proxy;
pub use public_address::is_public_address;
pub use retry_after::retry_after;
pub use sleep_detector::{SleepDetector, WallClock};
pub use sse::{SseEvent, SseEventTooLong, SseParser};
