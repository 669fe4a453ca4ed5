//! What is kept beside a conversation: sessions, stores, the audit log, metrics, hooks and guidance.

pub mod audit;
pub mod guidance;
pub mod hooks;
pub mod metrics;
pub mod session;
pub mod storage;
