//! The text exposition format of Prometheus, version 0.0.4.

use super::{BOUNDS, DurationHistogram, MetricsSnapshot};
use std::fmt::Write as _;

pub fn prometheus(figures: &MetricsSnapshot) -> String {
    let mut out = String::from(
        "# HELP tool_execution_total Calls of a tool that ran, by how they ended.\n# TYPE tool_execution_total counter\n",
    );
    for (name, tool) in &figures.tools {
        for (status, count) in [("success", tool.success.count), ("failure", tool.failure.count)] {
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "tool_execution_total{{toolId=\"{}\",status=\"{status}\"}} {count}",
                escaped(name)
            );
        }
    }
    out.push_str(
        "# HELP function_call_duration_ms How long a call ran, in milliseconds.\n# TYPE function_call_duration_ms histogram\n",
    );
    for (name, tool) in &figures.tools {
        for (status, durations) in [("success", &tool.success), ("error", &tool.failure)] {
            if durations.count > 0 {
                histogram(&mut out, &escaped(name), status, durations);
            }
        }
    }
    out
}

fn histogram(out: &mut String, name: &str, status: &str, durations: &DurationHistogram) {
    let labels = format!("functionId=\"{name}\",status=\"{status}\"");
    let mut below = 0;
    let bounds = BOUNDS.iter().map(|bound| format!("{bound}")).chain(["+Inf".to_string()]);
    for (bound, count) in bounds.zip(durations.each()) {
        below += count;
        let _ = writeln!(out, "function_call_duration_ms_bucket{{{labels},le=\"{bound}\"}} {below}");
    }
    let _ = writeln!(out, "function_call_duration_ms_sum{{{labels}}} {:.3}", durations.sum_ms);
    let _ = writeln!(out, "function_call_duration_ms_count{{{labels}}} {}", durations.count);
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::super::MetricStatus;
    use super::*;
    use std::time::Duration;

    #[test]
    fn buckets_add_up_and_a_bound_belongs_to_its_bucket() {
        let mut figures = MetricsSnapshot::default();
        for ms in [1, 2, 3, 200_000] {
            figures.add("a\"b", MetricStatus::Success, Duration::from_millis(ms));
        }
        figures.add("a\"b", MetricStatus::Failure, Duration::from_micros(1500));
        let text = prometheus(&figures);
        for line in [
            "tool_execution_total{toolId=\"a\\\"b\",status=\"success\"} 4",
            "tool_execution_total{toolId=\"a\\\"b\",status=\"failure\"} 1",
            "function_call_duration_ms_bucket{functionId=\"a\\\"b\",status=\"success\",le=\"1\"} 1",
            "function_call_duration_ms_bucket{functionId=\"a\\\"b\",status=\"success\",le=\"2\"} 2",
            "function_call_duration_ms_bucket{functionId=\"a\\\"b\",status=\"success\",le=\"120000\"} 3",
            "function_call_duration_ms_bucket{functionId=\"a\\\"b\",status=\"success\",le=\"+Inf\"} 4",
            "function_call_duration_ms_sum{functionId=\"a\\\"b\",status=\"success\"} 200006.000",
            "function_call_duration_ms_sum{functionId=\"a\\\"b\",status=\"error\"} 1.500",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }
}
