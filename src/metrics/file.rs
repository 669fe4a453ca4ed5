//! The file that all processes add to.

use super::{MetricStatus, MetricsSnapshot};
use crate::text::regular_file;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The largest file of figures that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Where figures are kept.
#[derive(Clone, Debug)]
pub struct MetricsFile {
    path: PathBuf,
}

impl MetricsFile {
    pub fn at(path: PathBuf) -> MetricsFile {
        MetricsFile { path }
    }

    /// Counts one run. A failure is logged and nothing more: figures are not worth a call.
    pub fn count(&self, tool: &str, status: MetricStatus, took: Duration) {
        if let Err(e) = self.add(tool, status, took) {
            tracing::warn!("metrics were not counted: {}: {e}", self.path.display());
        }
    }

    /// What has been counted so far.
    pub fn figures(&self) -> io::Result<MetricsSnapshot> {
        match regular_file::read(&self.path, LARGEST) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(MetricsSnapshot::default()),
            Err(e) => Err(e),
        }
    }

    fn add(&self, tool: &str, status: MetricStatus, took: Duration) -> io::Result<()> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let lock = self.path.with_extension("lock");
        regular_file::check(&lock)?;
        let lock = options.open(lock)?;
        // Given up when it is closed.
        flock(&lock, FlockOperation::LockExclusive)?;
        let mut figures = self.figures().unwrap_or_default();
        if figures.since == 0 {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            figures.since = i64::try_from(now.as_secs()).unwrap_or_default();
        }
        figures.add(tool, status, took);
        let new = self.path.with_extension("new");
        crate::private::write_quick(&new, &serde_json::to_vec(&figures)?)?;
        fs::rename(&new, &self.path)
    }
}
