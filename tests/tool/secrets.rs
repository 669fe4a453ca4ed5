//! Canaries: what looks like a secret reaches neither the model nor any file of ours.

use crate::support::binary::Place;
use crate::support::tool_bench::Bench;
use serde_json::json;
use std::path::Path;

/// Put together here, so that no scanner takes this file for a leak.
fn canary(prefix: &str) -> String {
    format!("{prefix}{}", "Zq7Rw2Xk9Lm4Np6Ts8Vb1Yc3Df5Gh0Jj".repeat(2).get(..36).unwrap())
}

fn files_below(dir: &Path, out: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files_below(&path, out),
            path => out.push(path),
        }
    }
}

/// No file below the home holds `canary`, not even packed.
fn nowhere(place: &Place, canary: &str) {
    let mut files = Vec::new();
    files_below(&place.home, &mut files);
    assert!(!files.is_empty());
    for file in files {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        assert!(!found, "{canary} is in {}", file.display());
    }
}

#[test]
fn a_token_in_a_file_an_output_an_error_or_a_paste_leaves_for_nobody() {
    let token = canary("ghp_");
    let place = Place::new().file("conf.txt", format!("a\ntoken: {token}\nb\n"));
    for prompt in [
        "show conf.txt".to_string(),
        "search token".into(),
        "run cat conf.txt".into(),
        "run cat conf.txt; exit 3".into(),
        format!("explain {token} to me"),
    ] {
        let out = place.run(["-p", &prompt, "--output-format", "stream-json"]);
        assert!(!out.stdout.contains(&token), "{prompt}: {}", out.stdout);
        assert!(!out.stderr.contains(&token), "{prompt}: {}", out.stderr);
    }
    let out = place.run(["tool", "call", "read_file", r#"{"path":"conf.txt"}"#]).code(0);
    assert!(out.stdout.contains("2│token: [redacted: GitHub token]\n"), "{}", out.stdout);
    nowhere(&place, &token);
}

#[test]
fn files_that_the_person_names_and_everything_when_it_is_switched_off_are_shown() {
    let token = canary("ghp_");
    let place =
        Place::new().file("test.env", format!("T={token}\n")).file("live.env", format!("T={token}\n"));
    let read = |file: &str, set: &[&str]| {
        let input = json!({"path": file}).to_string();
        let mut args: Vec<&str> = set.iter().flat_map(|s| ["--set", s]).collect();
        args.extend(["tool", "call", "read_file", &input]);
        place.run(args).code(0).stdout
    };
    assert!(!read("test.env", &[]).contains(&token));
    assert!(read("test.env", &["secrets.shown=[\"test.env\"]"]).contains(&token));
    assert!(!read("live.env", &["secrets.shown=[\"test.env\"]"]).contains(&token));
    assert!(read("live.env", &["secrets.redact=false"]).contains(&token));
}

#[test]
fn an_edit_beside_a_redacted_value_keeps_it_and_a_write_that_would_lose_it_is_refused() {
    let bench = Bench::new();
    let token = canary("ghp_");
    bench.write(".env", format!("A=1\nTOKEN={token}\nB=2\n"));
    bench.call("read_file", json!({"path": ".env"})).done();
    bench.call("edit_file", json!({"path": ".env", "old_string": "B=2", "new_string": "B=3"})).done();
    assert_eq!(bench.text(".env"), format!("A=1\nTOKEN={token}\nB=3\n"));
    let lost = "A=1\nTOKEN=[redacted: GitHub token]\nB=4\n";
    for (tool, input) in [
        ("write_file", json!({"path": ".env", "content": lost})),
        ("edit_file", json!({"path": ".env", "old_string": "B=3", "new_string": lost})),
        ("operations", json!({"operations": [{"op": "write", "path": ".env", "content": lost}]})),
    ] {
        let body = bench.call(tool, input).failed();
        assert!(body.contains("replaces a value that is hidden from you"), "{tool}: {body}");
    }
    assert_eq!(bench.text(".env"), format!("A=1\nTOKEN={token}\nB=3\n"));
}
