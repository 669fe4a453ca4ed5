//! Names of views.

use std::time::{SystemTime, UNIX_EPOCH};

/// A name for a view that belongs to no session.
pub(in crate::app) fn fresh_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("solo-{}-{}", now.as_millis(), std::process::id())
}
