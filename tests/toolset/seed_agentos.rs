//! The rules of AgentOS' document, each by a test that quotes it.

use crate::support::tool_bench::Bench;
use placet::tools::ToolSet;
use serde_json::{Value, json};

fn parsed(body: String) -> Value {
    serde_json::from_str(&body).unwrap_or_else(|e| panic!("{e}: {body}"))
}

#[test]
fn file_read_gives_content_path_and_size_and_truncates_at_max_bytes() {
    let bench = Bench::of(ToolSet::Agentos);
    let path = bench.write("src/index.ts", "const é = 1;\n");
    let whole = parsed(bench.call("file_read", json!({"path": "src/index.ts"})).done());
    assert_eq!(whole, json!({"content": "const é = 1;\n", "path": path, "size": 14}));
    let part = parsed(bench.call("file_read", json!({"path": "src/index.ts", "maxBytes": 7})).done());
    assert_eq!(part, json!({"content": "const ", "path": path, "size": 14}), "no half character");
}

#[test]
fn file_write_creates_parent_directories_and_gives_written_path_and_size() {
    let bench = Bench::of(ToolSet::Agentos);
    let answer =
        parsed(bench.call("file_write", json!({"path": "output/data.json", "content": "{\"é\":1}"})).done());
    assert_eq!(answer, json!({"written": true, "path": bench.path("output/data.json"), "size": 8}));
    assert_eq!(bench.text("output/data.json"), "{\"é\":1}");
}

#[test]
fn file_list_gives_name_type_size_and_modified_of_each_entry() {
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("src/index.ts", "12345");
    bench.write("src/utils/a.ts", "");
    let answer = parsed(bench.call("file_list", json!({"path": "src"})).done());
    assert_eq!(answer["path"], json!(bench.path("src")));
    let entries = answer["entries"].as_array().unwrap();
    let names: Vec<(&str, &str)> =
        entries.iter().map(|e| (e["name"].as_str().unwrap(), e["type"].as_str().unwrap())).collect();
    assert_eq!(names, [("index.ts", "file"), ("utils", "directory")]);
    assert_eq!(entries[0]["size"], json!(5));
    let modified = entries[0]["modified"].as_str().unwrap();
    assert!(modified.parse::<jiff::Timestamp>().is_ok(), "{modified}");
    let root = parsed(bench.call("file_list", json!({})).done());
    assert_eq!(root["path"], json!(bench.root), "defaults to workspace root");
}

#[test]
fn file_list_recursive_is_done_for_real() {
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("a/b/c.txt", "");
    let answer = parsed(bench.call("file_list", json!({"recursive": true})).done());
    let names: Vec<&str> =
        answer["entries"].as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "a/b", "a/b/c.txt"]);
}

#[test]
fn path_containment_resolves_symbolic_links_and_blocks_traversal_also_for_new_files() {
    let bench = Bench::of(ToolSet::Agentos);
    std::fs::create_dir(bench.outside("far")).unwrap();
    std::os::unix::fs::symlink(bench.outside("far"), bench.path("link")).unwrap();
    bench.write("..fine", "ok");
    for path in ["../../../etc/passwd", "/etc/passwd", "link/new.txt", "link"] {
        for (tool, input) in [
            ("file_read", json!({"path": path})),
            ("file_write", json!({"path": path, "content": "x"})),
            ("file_list", json!({"path": path})),
        ] {
            let body = bench.call(tool, input).failed();
            assert_eq!(body, format!("Path traversal denied: {path} resolves outside workspace"));
        }
    }
    assert_eq!(std::fs::read_dir(bench.outside("far")).unwrap().count(), 0);
    assert_eq!(parsed(bench.call("file_read", json!({"path": "..fine"})).done())["content"], json!("ok"));
}

#[test]
fn all_file_tools_throw_descriptive_errors() {
    let bench = Bench::of(ToolSet::Agentos);
    let body = bench.call("file_read", json!({"path": "missing.txt"})).failed();
    let full = bench.path("missing.txt");
    assert_eq!(body, format!("ENOENT: no such file or directory, open '{}'", full.display()));
}

#[test]
fn apply_patch_applies_a_unified_diff_and_gives_patched_and_path() {
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("src/config.ts", "const x = 1;\nexport { x };\n");
    let patch = "@@ -1,3 +1,3 @@\n-const x = 1;\n+const x = 2;\n export { x };\n";
    let answer = parsed(bench.call("apply_patch", json!({"path": "src/config.ts", "patch": patch})).done());
    assert_eq!(answer, json!({"patched": true, "path": bench.path("src/config.ts")}));
    assert_eq!(
        bench.text("src/config.ts"),
        "const x = 2;\nexport { x };\n",
        "counts that are wrong do no harm"
    );
    let wrong = "@@ -1 +1 @@\n-no such line\n+x\n";
    bench.call("apply_patch", json!({"path": "src/config.ts", "patch": wrong})).failed();
    assert_eq!(bench.text("src/config.ts"), "const x = 2;\nexport { x };\n");
}

#[test]
fn context_lines_with_no_prefix_are_preserved() {
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("a.ts", "one\n\nthree\n");
    let patch = "@@ -1,3 +1,3 @@\n one\n\n-three\n+3\n";
    bench.call("apply_patch", json!({"path": "a.ts", "patch": patch})).done();
    assert_eq!(bench.text("a.ts"), "one\n\n3\n");
}

#[test]
fn search_file_contents_using_regex_patterns() {
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("src/a.ts", "let x1 = 1;\nlet y = 2;\n");
    let answer = parsed(bench.call("file_search", json!({"pattern": "x\\d", "path": "src"})).done());
    assert_eq!(
        answer,
        json!({"matches": [{"path": "src/a.ts", "line": 1, "text": "let x1 = 1;"}], "total": 1, "files": 1})
    );
}

#[test]
fn shell_exec_runs_grep_without_a_shell() {
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("src/a.txt", "it's $HOME\n");
    let argv = json!({"argv": ["grep", "-rn", "it's $HOME", "src/"], "cwd": "."});
    let answer = parsed(bench.call("shell_exec", argv).done());
    assert_eq!(answer, json!({"stdout": "src/a.txt:1:it's $HOME\n", "stderr": "", "exitCode": 0}));
    let body = bench.call("shell_exec", json!({"argv": ["curl", "x"]})).failed();
    assert!(body.starts_with("Command not allowed: curl. Allowed: awk, "), "{body}");
    assert_eq!(bench.call("shell_exec", json!({"argv": []})).failed(), "argv must be a non-empty array");
}

#[test]
fn watch_files_for_changes_using_filesystem_monitoring() {
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("d/old.txt", "x");
    let dir = bench.path("d");
    // Writes until the watch, which begins some time after the call, has seen it.
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writer = {
        let (dir, stop) = (dir.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut n = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) && n < 2000 {
                std::fs::write(dir.join("new.txt"), n.to_string()).unwrap();
                n += 1;
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        })
    };
    let answer = parsed(bench.call("file_watch", json!({"path": "d", "timeoutMs": 15_000})).done());
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    writer.join().unwrap();
    assert_eq!(answer["timedOut"], json!(false));
    let paths: Vec<&Value> = answer["events"].as_array().unwrap().iter().map(|e| &e["path"]).collect();
    assert_eq!(paths, [&json!(dir.join("new.txt"))], "one entry for many writes: {answer}");
    let quiet = parsed(bench.call("file_watch", json!({"path": "d", "timeoutMs": 200})).done());
    assert_eq!(quiet["timedOut"], json!(true));
}
