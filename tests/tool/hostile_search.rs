//! Searches and listings where the kernel makes up the files, where there is no end to them, and where opening one does
//! something. Story: a search from / as root took 41 s, said "no matches", and had read /sys/class/zram-control/hot_add,
//! which adds a device.

use crate::support::tool_bench::Bench;
use placet::tools::{ToolLimits, ToolSet, ToolSetSettings};
use serde_json::json;
use std::time::Duration;

/// A bench whose searches may take so long.
fn bench(search_time: Duration) -> Bench {
    Bench::with_limits(ToolLimits { search_time, ..ToolLimits::default() })
}

#[cfg(target_os = "linux")]
#[test]
fn a_search_from_the_root_leaves_the_kernels_files_out_and_ends_in_time() {
    let bench = bench(Duration::from_secs(3));
    let word = format!("no-such-word-{}", std::process::id());
    let body = bench.call("search_contents", json!({"pattern": word, "path": "/"})).done();
    assert!(body.contains("in file systems of the kernel skipped (/proc, /sys, /dev and others)"), "{body}");
    let found = bench.call("find_files", json!({"pattern": "hot_add", "path": "/"})).done();
    assert!(!found.contains("sys/class") && found.contains("file systems of the kernel"), "{found}");
    let listed = bench.call("list_directory", json!({"path": "/", "depth": 2})).done();
    assert!(listed.contains("proc/\n  [a file system of the kernel: name it to list it]"), "{listed}");
    assert!(!listed.contains("cpuinfo"), "{listed}");
}

#[cfg(target_os = "linux")]
#[test]
fn every_tool_set_leaves_them_out_and_says_so() {
    for (dialect, tool, input) in [
        (ToolSet::Agsh, "find_files", json!({"pattern": "**/cpuinfo", "path": "/"})),
        (ToolSet::Agsh, "search_contents", json!({"pattern": "no-such-word-here", "path": "/"})),
        (ToolSet::TextEditor, "str_replace_based_edit_tool", json!({"command": "view", "path": "/"})),
    ] {
        let bench = bench(Duration::from_secs(2)).speaking(dialect, &ToolSetSettings::default());
        let body = bench.call(tool, input).done();
        assert!(body.contains("in file systems of the kernel skipped"), "{tool}: {body}");
        assert!(!body.contains("proc/cpuinfo"), "{tool}: {body}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_named_is_listed_and_its_files_are_still_not_opened_by_a_search() {
    let bench = bench(Duration::from_secs(10));
    let found = bench.call("find_files", json!({"pattern": "status", "path": "/proc/self"})).done();
    assert!(found.starts_with("/proc/") && found.contains("/status\n"), "{found}");
    let body = bench.call("search_contents", json!({"pattern": "Name:", "path": "/proc/self"})).done();
    assert!(body.contains("no matches") && body.contains("in file systems of the kernel"), "{body}");
    // A file that is named is one that somebody wants.
    let body = bench.call("search_contents", json!({"pattern": "Name:", "path": "/proc/self/status"})).done();
    assert!(body.contains("1 matching line"), "{body}");
}

#[test]
fn a_search_without_time_says_what_it_did_not_search() {
    let bench = bench(Duration::ZERO);
    bench.write("a/b.txt", "word\n");
    for (tool, input) in
        [("search_contents", json!({"pattern": "word"})), ("find_files", json!({"pattern": "*.txt"}))]
    {
        let body = bench.call(tool, input).done();
        assert!(
            body.contains("stopped after 0 s (`tools.search_seconds`); not searched: ./"),
            "{tool}: {body}"
        );
    }
    let body = bench.call("search_contents", json!({"pattern": "word", "path": "a/b.txt"})).done();
    assert!(body.contains("stopped after 0 s"), "{body}");
    for (dialect, tool, input) in [
        (ToolSet::Agsh, "search_contents", json!({"pattern": "word"})),
        (ToolSet::Agsh, "find_files", json!({"pattern": "**/*.txt"})),
        (ToolSet::Deepagents, "grep", json!({"pattern": "word"})),
        (ToolSet::Deepagents, "glob", json!({"pattern": "*.txt"})),
        (ToolSet::Agentos, "file_search", json!({"pattern": "word"})),
        (ToolSet::Triggerfish, "search_files", json!({"path": ".", "pattern": "*.txt"})),
        (
            ToolSet::Triggerfish,
            "search_files",
            json!({"path": ".", "pattern": "word", "content_search": true}),
        ),
    ] {
        let bench = Bench::with_limits(ToolLimits { search_time: Duration::ZERO, ..ToolLimits::default() })
            .speaking(dialect, &ToolSetSettings::default());
        bench.write("a/b.txt", "word\n");
        let body = bench.call(tool, input).done();
        assert!(body.contains("stopped after 0 s"), "{dialect:?} {tool}: {body}");
    }
}

#[test]
fn a_search_opens_nothing_but_files() {
    let bench = bench(Duration::from_secs(20));
    bench.write("a.txt", "word\n");
    crate::support::special::fifo(&bench.path("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("socket")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero")).unwrap();
    let body = bench.call("search_contents", json!({"pattern": "word"})).done();
    assert!(body.contains("1 matching line in 1 file"), "{body}");
}

/// Story: a pattern of 100,000 letters took more than 45 s and 2 GB, and blocked every later call of a server.
#[test]
fn a_pattern_without_end_is_refused_in_every_tool_set() {
    let long = "x".repeat(10_001);
    let huge = r"((\w{50}){50}){50}";
    for (dialect, tool, field) in [
        (ToolSet::Native, "search_contents", "pattern"),
        (ToolSet::Native, "find_files", "pattern"),
        (ToolSet::Native, "read_file", "pattern"),
        (ToolSet::Agsh, "search_contents", "pattern"),
        (ToolSet::Triggerfish, "search_files", "pattern"),
        (ToolSet::Deepagents, "grep", "pattern"),
        (ToolSet::Deepagents, "glob", "pattern"),
        (ToolSet::Agentos, "file_search", "pattern"),
    ] {
        let bench = Bench::new().speaking(dialect, &ToolSetSettings::default());
        bench.write("a.txt", "x".repeat(20_000));
        let call = |pattern: &str| {
            let mut input = json!({field: pattern});
            if tool == "read_file" {
                input["path"] = json!("a.txt");
            }
            if dialect == ToolSet::Triggerfish {
                input["path"] = json!(".");
                input["content_search"] = json!(true);
            }
            bench.call(tool, input)
        };
        let body = call(&long).failed();
        assert!(body.contains("bytes; at most 10000 are possible"), "{tool}: {body}");
        if matches!(tool, "search_contents" | "file_search" | "read_file") {
            let body = call(huge).failed();
            assert!(body.contains("`pattern` is too large when it is compiled"), "{tool}: {body}");
        }
    }
    let bench = Bench::new();
    bench.write("a.txt", "x".repeat(20_000));
    let body = bench.call("search_contents", json!({"pattern": "x".repeat(10_000), "literal": true})).done();
    assert!(body.contains("1 matching line"), "{body}");
}
