//! One request to a server: its address, its retries and deadlines, how large an answer may be, and what answers instead of it.

pub(super) mod endpoint;
pub(super) mod exceeded_limit;
pub(super) mod fallback;
pub(super) mod http_provider;
pub(super) mod limit;
pub(super) mod response;
pub(super) mod retry;
pub(super) mod timeout;
