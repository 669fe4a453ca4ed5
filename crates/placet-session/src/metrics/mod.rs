//! Metrics of every tool: how often it ran, how it ended, how long it took. All processes on this machine share them.
//!
//! Within a second after a call, and at the end of a turn, the process reads the shared file, adds to it and
//! writes it whole, under a lock. Metrics are not a record: a file that cannot be read is started again, a file that
//! cannot be written stops nothing, and a process that is killed loses the last second.

mod endpoint;
mod file;
mod otlp;
mod prometheus;

pub use endpoint::serve;
pub use file::MetricsFile;
pub use otlp::payload;
pub use prometheus::prometheus;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Upper bounds of the buckets, in milliseconds; the last bucket has none.
pub const BOUNDS: [f64; 16] = [
    1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10_000.0, 30_000.0,
    60_000.0, 120_000.0,
];

/// How a run ended, as the metrics distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricStatus {
    Success,
    Failure,
}

/// The metrics of all tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricsSnapshot {
    /// When the counting began, in seconds since 1970.
    pub since: i64,
    pub tools: BTreeMap<String, ToolMetrics>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolMetrics {
    pub success: DurationHistogram,
    pub failure: DurationHistogram,
}

/// A histogram. Each bucket has its own count; the counts are added up when they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DurationHistogram {
    pub count: u64,
    pub sum_ms: f64,
    /// One more than the bounds; shorter if the last buckets are empty.
    pub buckets: Vec<u64>,
}

impl MetricsSnapshot {
    pub fn add(&mut self, tool: &str, status: MetricStatus, took: Duration) {
        let tool = self.tools.entry(tool.into()).or_default();
        match status {
            MetricStatus::Success => tool.success.add(took),
            MetricStatus::Failure => tool.failure.add(took),
        }
    }
}

impl DurationHistogram {
    fn add(&mut self, took: Duration) {
        let ms = took.as_secs_f64() * 1000.0;
        let at = BOUNDS.iter().position(|bound| ms <= *bound).unwrap_or(BOUNDS.len());
        if self.buckets.len() <= at {
            self.buckets.resize(at + 1, 0);
        }
        if let Some(bucket) = self.buckets.get_mut(at) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum_ms += ms;
    }

    /// The count of each bucket, the open one last.
    pub fn each(&self) -> impl Iterator<Item = u64> + '_ {
        (0..=BOUNDS.len()).map(|at| self.buckets.get(at).copied().unwrap_or_default())
    }
}
