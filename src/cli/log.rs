//! The log: a file of placet's own, never the terminal. Without `-v` and PLACET_LOG only what went wrong is written.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// A larger log is begun anew; the older one is kept beside it.
const MOST: u64 = 10 * 1024 * 1024;

/// Starts logging when something asks for it. A log that cannot be written is done without.
pub(super) fn start(path: &Path, verbose: u8) {
    let wanted = std::env::var("PLACET_LOG").ok().filter(|v| !v.is_empty());
    let filter = match (&wanted, verbose) {
        (Some(filter), _) => filter.clone(),
        (None, 0) => return,
        (None, 1) => "placet=debug".into(),
        (None, _) => "debug".into(),
    };
    let Some(dir) = path.parent() else { return };
    if DirBuilder::new().recursive(true).mode(0o700).create(dir).is_err() {
        return;
    }
    if std::fs::metadata(path).is_ok_and(|m| m.len() > MOST) {
        drop(std::fs::rename(path, path.with_extension("log.old")));
    }
    let Ok(file) = OpenOptions::new().append(true).create(true).mode(0o600).open(path) else { return };
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("placet=debug"));
    drop(
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_ansi(false)
            .with_writer(Mutex::new(file))
            .try_init(),
    );
}
