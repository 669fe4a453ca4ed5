//! The file that all processes add to. A process that counts often adds several runs at once: to write the file for each
//! call would take a fifth of the time of a short call.

use super::{MetricStatus, MetricsSnapshot};
use placet_text::text::regular_file;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The largest file of metrics that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// How long a run may wait until it is added to the file, for other runs to be added with it. The end of a turn and of the
/// process add it at once.
const WAIT: Duration = Duration::from_secs(1);

/// Where metrics are stored. Clones share what they have not added yet.
#[derive(Clone, Debug)]
pub struct MetricsFile(Arc<SharedMetrics>);

#[derive(Debug)]
struct SharedMetrics {
    path: PathBuf,
    waiting: Mutex<WaitingRuns>,
}

/// Runs that are not in the file yet.
#[derive(Debug, Default)]
struct WaitingRuns {
    runs: Vec<(String, MetricStatus, Duration)>,
    added_at: Option<Instant>,
}

impl Drop for SharedMetrics {
    fn drop(&mut self) {
        self.add_waiting();
    }
}

impl MetricsFile {
    pub fn at(path: PathBuf) -> MetricsFile {
        MetricsFile(Arc::new(SharedMetrics { path, waiting: Mutex::default() }))
    }

    /// Counts one run. A failure is only logged: metrics must not make a call fail.
    pub fn count(&self, tool: &str, status: MetricStatus, took: Duration) {
        let mut waiting = self.0.waiting();
        waiting.runs.push((tool.to_string(), status, took));
        let is_due = waiting.added_at.is_none_or(|at| at.elapsed() >= WAIT);
        let is_first = waiting.runs.len() == 1;
        drop(waiting);
        if is_due {
            self.flush();
        } else if is_first {
            self.flush_later();
        }
    }

    /// Adds what waits although no other call follows: a server of tools may be idle for hours.
    fn flush_later(&self) {
        let shared = Arc::downgrade(&self.0);
        let later = std::thread::Builder::new().name("metrics".into()).spawn(move || {
            std::thread::sleep(WAIT);
            if let Some(shared) = shared.upgrade() {
                shared.add_waiting();
            }
        });
        if let Err(e) = later {
            tracing::warn!("metrics wait for the next call: {e}");
        }
    }

    /// Adds to the file what waits.
    pub fn flush(&self) {
        self.0.add_waiting();
    }

    /// The counts until now.
    pub fn figures(&self) -> io::Result<MetricsSnapshot> {
        self.flush();
        self.0.read()
    }
}

impl SharedMetrics {
    fn waiting(&self) -> MutexGuard<'_, WaitingRuns> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add_waiting(&self) {
        let mut waiting = self.waiting();
        let runs = std::mem::take(&mut waiting.runs);
        if runs.is_empty() {
            return;
        }
        waiting.added_at = Some(Instant::now());
        drop(waiting);
        if let Err(e) = self.add(&runs) {
            tracing::warn!("metrics were not counted: {}: {e}", self.path.display());
        }
    }

    fn read(&self) -> io::Result<MetricsSnapshot> {
        match regular_file::read(&self.path, LARGEST) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(MetricsSnapshot::default()),
            Err(e) => Err(e),
        }
    }

    fn add(&self, runs: &[(String, MetricStatus, Duration)]) -> io::Result<()> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let lock = self.path.with_extension("lock");
        regular_file::check(&lock)?;
        let lock = options.open(lock)?;
        // Released when the file is closed.
        flock(&lock, FlockOperation::LockExclusive)?;
        let mut figures = self.read().unwrap_or_default();
        if figures.since == 0 {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            figures.since = i64::try_from(now.as_secs()).unwrap_or_default();
        }
        for (tool, status, took) in runs {
            figures.add(tool, *status, *took);
        }
        let new = self.path.with_extension("new");
        placet_text::private::write_quick(&new, &serde_json::to_vec(&figures)?)?;
        fs::rename(&new, &self.path)
    }
}
