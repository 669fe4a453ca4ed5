//! The same metrics as OTLP over HTTP with JSON: the body that a collector accepts at `/v1/metrics`.
//!
//! Written by hand after opentelemetry-proto 1.x; 64-bit integers are strings there, as proto3's JSON mapping requires.

use super::{BOUNDS, DurationHistogram, MetricsSnapshot};
use serde_json::{Value, json};

/// The body for metrics taken at `now`, in seconds since 1970.
pub fn payload(figures: &MetricsSnapshot, now: i64) -> Value {
    let at = |seconds: i64| format!("{seconds}000000000");
    let (start, time) = (at(figures.since), at(now));
    let attribute = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let (mut counts, mut durations) = (Vec::new(), Vec::new());
    for (name, tool) in &figures.tools {
        for (status, word, of) in [("success", "success", &tool.success), ("failure", "error", &tool.failure)]
        {
            counts.push(json!({
                "attributes": [attribute("toolId", name), attribute("status", status)],
                "startTimeUnixNano": start, "timeUnixNano": time, "asInt": of.count.to_string(),
            }));
            if of.count > 0 {
                let attributes = [attribute("functionId", name), attribute("status", word)];
                durations.push(histogram(of, &json!(attributes), &start, &time));
            }
        }
    }
    // 2: cumulative.
    let sum = json!({"aggregationTemporality": 2, "isMonotonic": true, "dataPoints": counts});
    let histogram = json!({"aggregationTemporality": 2, "dataPoints": durations});
    json!({"resourceMetrics": [{
        "resource": {"attributes": [attribute("service.name", "placet"), attribute("service.version", env!("CARGO_PKG_VERSION"))]},
        "scopeMetrics": [{
            "scope": {"name": "placet"},
            "metrics": [
                {"name": "tool_execution_total", "unit": "1", "sum": sum},
                {"name": "function_call_duration_ms", "unit": "ms", "histogram": histogram},
            ],
        }],
    }]})
}

fn histogram(durations: &DurationHistogram, attributes: &Value, start: &str, time: &str) -> Value {
    let buckets: Vec<String> = durations.each().map(|count| count.to_string()).collect();
    json!({
        "attributes": attributes, "startTimeUnixNano": start, "timeUnixNano": time,
        "count": durations.count.to_string(), "sum": durations.sum_ms,
        "bucketCounts": buckets, "explicitBounds": BOUNDS,
    })
}
