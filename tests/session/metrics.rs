//! Metrics: counted over processes, printed, served on this machine.

use crate::support::binary::Place;
use crate::support::program::has_feature;
use placet::metrics::{MetricStatus, MetricsFile, MetricsSnapshot, payload};
use std::io::{Read, Write};
use std::time::Duration;

fn line<'t>(text: &'t str, begins: &str) -> &'t str {
    text.lines().find(|l| l.starts_with(begins)).unwrap_or_else(|| panic!("{begins}\n{text}"))
}

#[test]
fn calls_of_several_processes_are_counted_by_tool_and_by_how_they_ended() {
    let place = Place::new().file("a.txt", "alpha\n");
    let call = |tool: &str, arguments: &str| place.run(["tool", "call", tool, arguments]);
    for _ in 0..3 {
        call("read_file", r#"{"path":"a.txt"}"#).code(0);
    }
    call("run_command", r#"{"command":"sleep 5","timeout_ms":50}"#).code(1);
    // What was refused never ran.
    call("write_file", r#"{"path":"b","content":""}"#).code(3);
    let text = place.run(["metrics"]).code(0).stdout;
    for wanted in [
        "tool_execution_total{toolId=\"read_file\",status=\"success\"} 3",
        "tool_execution_total{toolId=\"read_file\",status=\"failure\"} 0",
        "tool_execution_total{toolId=\"run_command\",status=\"failure\"} 1",
        "function_call_duration_ms_count{functionId=\"read_file\",status=\"success\"} 3",
        "function_call_duration_ms_bucket{functionId=\"read_file\",status=\"success\",le=\"+Inf\"} 3",
        "function_call_duration_ms_count{functionId=\"run_command\",status=\"error\"} 1",
    ] {
        assert_eq!(line(&text, wanted), wanted);
    }
    assert!(!text.contains("write_file"), "{text}");
    let sum = line(&text, "function_call_duration_ms_sum{functionId=\"run_command\"");
    let sum: f64 = sum.rsplit_once(' ').unwrap().1.parse().unwrap();
    assert!((50.0..20_000.0).contains(&sum), "{sum}");
}

#[test]
fn nothing_is_counted_when_it_is_turned_off() {
    let place = Place::new().file("a.txt", "alpha\n").config("metrics.enabled = false\n");
    place.run(["tool", "call", "read_file", r#"{"path":"a.txt"}"#]).code(0);
    assert!(!place.run(["metrics"]).code(0).stdout.contains("read_file"));
}

#[test]
fn counting_side_by_side_loses_nothing_and_a_broken_file_is_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.json");
    let metrics = MetricsFile::at(path.clone());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let metrics = metrics.clone();
            std::thread::spawn(move || {
                (0..25).for_each(|_| metrics.count("t", MetricStatus::Success, Duration::from_millis(1)));
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    assert_eq!(metrics.figures().unwrap().tools["t"].success.count, 100);
    std::fs::write(&path, "{").unwrap();
    metrics.count("t", MetricStatus::Failure, Duration::from_millis(1));
    assert_eq!(metrics.figures().unwrap().tools["t"].failure.count, 1);
}

fn ask(address: &str, request: &str) -> String {
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_endpoint_answers_a_scraper_and_only_what_it_knows() {
    let place = Place::new().file("a.txt", "alpha\n");
    place.run(["tool", "call", "read_file", r#"{"path":"a.txt"}"#]).code(0);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let metrics = MetricsFile::at(place.state_dir().join("metrics.json"));
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    runtime.spawn(placet::metrics::serve(listener, metrics));
    let page = ask(&address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{page}");
    let body = page.split_once("\r\n\r\n").unwrap().1;
    assert_eq!(body, place.run(["metrics"]).stdout);
    assert!(page.contains(&format!("Content-Length: {}\r\n", body.len())), "{page}");
    assert!(ask(&address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(ask(&address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    let endless = format!("GET /metrics HTTP/1.1\r\n{}", "x: y\r\n".repeat(3000));
    assert_eq!(std::panic::catch_unwind(|| ask(&address, &endless)).unwrap_or_default(), "");
}

#[test]
fn the_body_for_a_collector_has_both_metrics_with_their_points() {
    let mut figures = MetricsSnapshot { since: 100, ..MetricsSnapshot::default() };
    figures.add("read_file", MetricStatus::Success, Duration::from_millis(3));
    let body = payload(&figures, 200);
    let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let count = &metrics[0]["sum"]["dataPoints"][0];
    assert_eq!(
        (metrics[0]["name"].as_str(), count["asInt"].as_str()),
        (Some("tool_execution_total"), Some("1"))
    );
    assert_eq!(count["startTimeUnixNano"], "100000000000");
    assert_eq!(count["timeUnixNano"], "200000000000");
    let point = &metrics[1]["histogram"]["dataPoints"][0];
    let buckets: Vec<&str> =
        point["bucketCounts"].as_array().unwrap().iter().map(|b| b.as_str().unwrap()).collect();
    assert_eq!(buckets.len(), point["explicitBounds"].as_array().unwrap().len() + 1);
    assert_eq!(buckets.iter().position(|b| *b == "1"), Some(2));
    assert_eq!(point["attributes"][1]["value"]["stringValue"], "success");
}

#[test]
fn a_build_without_otlp_says_so() {
    if has_feature(cfg!(feature = "otlp")) {
        return;
    }
    Place::new().run(["metrics", "push"]).code(2).warns("was built without the feature `otlp`");
}

#[test]
fn figures_are_pushed_to_the_collector_that_the_settings_name() {
    if !has_feature(cfg!(feature = "otlp")) {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut text = String::new();
        let mut piece = [0; 4096];
        loop {
            let count = stream.read(&mut piece).unwrap();
            text.push_str(&String::from_utf8_lossy(&piece[..count]));
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length =
                head.lines().find_map(|l| l.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if length.is_some_and(|length: usize| body.len() >= length) {
                break;
            }
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        text
    });
    let place = Place::new().file("a.txt", "alpha\n").config(&format!("metrics.otlp_endpoint = \"{url}\"\n"));
    place.run(["tool", "call", "read_file", r#"{"path":"a.txt"}"#]).code(0);
    place.run(["metrics", "push"]).code(0).says("sent the metrics of 1 tool to");
    let text = heard.join().unwrap();
    assert!(text.starts_with("POST /v1/metrics HTTP/1.1"), "{text}");
    let body: serde_json::Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    let name = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["sum"]["dataPoints"][0]["attributes"]
        [0]["value"];
    assert_eq!(name["stringValue"], "read_file");
    Place::new().run(["metrics", "push"]).code(2).warns("no collector is configured");
}

/// The way to the collector is that of every other connection: through the proxy, with the company's certificates.
#[test]
fn figures_are_pushed_through_the_proxy_and_with_the_certificates_of_the_settings() {
    use crate::support::network::{connect_proxy, tls_server};
    if !has_feature(cfg!(feature = "otlp")) {
        return;
    }
    let server = tls_server("{}".into());
    let (proxy, log) = connect_proxy("placet:pass-1", server);
    let ca = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls/ca.pem");
    let place = |settings: &str| {
        let text = format!("metrics.otlp_endpoint = \"https://model.test\"\n{settings}");
        Place::new().config(&text)
    };
    let push = |place: &Place, password: &str| {
        let proxy = format!("http://placet:{password}@{proxy}");
        place.placet(["metrics", "push"]).env("https_proxy", proxy).go()
    };
    let trusting = place(&format!("network.ca_file = \"{ca}\"\n"));
    push(&trusting, "pass-1").code(0).says("to https://model.test/v1/metrics");
    assert_eq!(log.lock().unwrap().as_slice(), ["CONNECT model.test:443"]);
    push(&trusting, "wrong-1").code(1).warns("refuses the name or the password in https_proxy");
    push(&place(""), "pass-1").code(1).warns("`network.ca_file` names certificates to trust");
}

#[test]
fn a_call_that_cannot_do_its_work_is_a_failure_and_a_tool_with_two_names_is_counted_once() {
    let place = Place::new().file("a.txt", "alpha\n");
    let call = |dialect: &str, tool: &str, arguments: &str| {
        place.run(["tool", "call", tool, arguments, "--dialect", dialect, "--mode", "write"])
    };
    call("agentos", "file_read", r#"{"path":"nope"}"#).code(1);
    call("agentos", "apply_patch", r#"{"path":"a.txt","patch":"@@ -1 +1 @@\n-nosuch\n+x\n"}"#).code(1);
    call("agentos", "tool::file_read", r#"{"path":"a.txt"}"#).code(0);
    call("triggerfish", "exec.ls", "{}").code(0);
    call("triggerfish", "exec_ls", "{}").code(0);
    let text = place.run(["metrics"]).code(0).stdout;
    for wanted in [
        "tool_execution_total{toolId=\"tool::file_read\",status=\"failure\"} 1",
        "tool_execution_total{toolId=\"tool::file_read\",status=\"success\"} 1",
        "tool_execution_total{toolId=\"tool::apply_patch\",status=\"failure\"} 1",
        "tool_execution_total{toolId=\"exec.ls\",status=\"success\"} 2",
    ] {
        assert_eq!(line(&text, wanted), wanted);
    }
}

/// Story: a scraper beside an idle server saw the figures of the call before the last, for as long as nobody called.
#[test]
fn a_call_after_which_nothing_happens_is_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("metrics.json");
    let metrics = MetricsFile::at(path.clone());
    for _ in 0..5 {
        metrics.count("t", MetricStatus::Success, Duration::from_millis(1));
    }
    let counted = || {
        MetricsFile::at(path.clone()).figures().unwrap().tools.get("t").map_or(0, |tool| tool.success.count)
    };
    crate::support::wait::until_eq(&5, counted);
}
