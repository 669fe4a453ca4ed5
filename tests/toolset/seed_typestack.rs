//! The rules of TypeStack Magic's document, each by a test that quotes it.

use crate::support::tool_bench::Bench;
use placet::tools::{ToolSet, ToolSetSettings, TypestackBases};
use serde_json::{Value, json};

fn bench() -> Bench {
    let bases = TypestackBases { app: ".".into(), web: None, core: Some("core".into()) };
    let settings = ToolSetSettings { bases, ..ToolSetSettings::default() };
    Bench::new().speaking(ToolSet::Typestack, &settings)
}

fn run(bench: &Bench, operations: Value) -> Value {
    let got = bench.call("agent_prompt", json!({"aOperations": operations}));
    serde_json::from_str(&got.body()).unwrap()
}

fn on(path: &str, mode: &str, rest: Value) -> Value {
    let mut operation = json!({"sTool": "fs", "sBase": "app", "sPath": path, "sMode": mode});
    operation.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    operation
}

#[test]
fn when_the_prompt_starts_with_a_brace_the_agent_decodes_the_json_and_looks_for_a_operations() {
    let bench = bench();
    let batch = json!({"aOperations": [on("data/test.txt", "overwrite", json!({"sContent": "Hi"}))]});
    let question = format!("  {batch}");
    let body = bench.call("agent_prompt", json!({"sQuestion": question})).done();
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer["aOperations"], batch["aOperations"]);
    assert_eq!(bench.text("data/test.txt"), "Hi");
    bench.call("agent_prompt", json!({"sQuestion": "{not json"})).failed();
    let echo = bench.call("agent_prompt", json!({"sQuestion": "Hello"})).done();
    assert!(echo.contains("\"sMode\":\"echo\""), "{echo}");
}

#[test]
fn overwrite_ignore_old_content_and_write_s_content() {
    let bench = bench();
    bench.write("data/test.txt", "a very long old content\r\n");
    let content = "Hello from TypeStack Magic after update";
    let answer = run(&bench, json!([on("data/test.txt", "overwrite", json!({"sContent": content}))]));
    assert_eq!(bench.text("data/test.txt"), content);
    assert_eq!(answer["aOpResults"][0]["iNewLength"], json!(content.len()));
}

#[test]
fn append_keep_old_content_and_append_s_content() {
    let bench = bench();
    bench.write("a.log", "old");
    let answer = run(&bench, json!([on("a.log", "append", json!({"sContent": "né\n"}))]));
    assert_eq!(bench.text("a.log"), "oldné\n");
    assert_eq!(answer["aOpResults"][0]["iNewLength"], json!(7), "bytes");
}

#[test]
fn if_the_file_does_not_exist_it_is_treated_as_empty_and_created() {
    let bench = bench();
    run(&bench, json!([on("data/agent/agent-selftest.log", "append", json!({"sContent": "[SELFTEST]\\n"}))]));
    assert_eq!(bench.text("data/agent/agent-selftest.log"), "[SELFTEST]\\n", "JSON escapes are JSON's");
}

#[test]
fn replace_str_replace_s_search_s_replace_old_content_and_write_back() {
    let bench = bench();
    bench.write("data/test.txt", "Hoi Open AI :) and Hoi Open AI :) aaa");
    let replace = |search: &str, with: &str| {
        let one = on("data/test.txt", "replace", json!({"sSearch": search, "sReplace": with}));
        run(&bench, json!([one]))["aOpResults"][0].clone()
    };
    assert_eq!(replace("Hoi Open AI :)", "Hello")["iNewLength"], json!(19));
    assert_eq!(bench.text("data/test.txt"), "Hello and Hello aaa");
    replace("aa", "a");
    assert_eq!(bench.text("data/test.txt"), "Hello and Hello aa", "left to right, without looking again");
    for search in ["no such text", ""] {
        assert_eq!(replace(search, "x")["bSuccess"], json!(true));
        assert_eq!(bench.text("data/test.txt"), "Hello and Hello aa");
    }
}

#[test]
fn read_is_read_only_and_returns_s_content_in_the_result() {
    let bench = bench();
    let path = bench.write("data/test.txt", "content\n");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    let answer = run(&bench, json!([on("data/test.txt", "read", json!({}))]));
    let result = &answer["aOpResults"][0];
    assert_eq!(result["sMode"], json!("read"));
    assert_eq!(result["sBase"], json!("app"));
    assert_eq!(result["sPath"], json!("data/test.txt"));
    assert_eq!(result["sFullPath"], json!(path.to_str().unwrap()));
    assert_eq!(result["sContent"], json!("content\n"));
    let debug = result["aDebug"].as_array().unwrap();
    assert!(debug.contains(&json!("Read: 8 bytes")), "{debug:?}");
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
}

#[test]
fn the_agent_resolves_the_web_base_via_public_html_or_private_html_under_the_application_root() {
    for name in ["public_html", "private_html"] {
        let bench = bench();
        std::fs::create_dir(bench.path(name)).unwrap();
        let one = json!({"sBase": "web", "sPath": "data/agent/agent-web-selftest.txt", "sMode": "overwrite", "sContent": "web"});
        run(&bench, json!([one]));
        assert_eq!(bench.text(&format!("{name}/data/agent/agent-web-selftest.txt")), "web");
    }
    let bench = bench();
    let one = json!({"sBase": "web", "sPath": "x", "sMode": "overwrite", "sContent": "web"});
    assert_eq!(run(&bench, json!([one]))["aOpResults"][0]["bSuccess"], json!(false));
}

#[test]
fn the_response_contains_four_entries_one_for_each_operation_each_with_its_own_b_success_and_debug() {
    let bench = bench();
    std::fs::create_dir(bench.path("public_html")).unwrap();
    let operations = json!([
        on("data/agent/a.log", "append", json!({"sContent": "started\n"})),
        on("data/agent/app.txt", "overwrite", json!({"sContent": "App base OK"})),
        json!({"sBase": "web", "sPath": "data/agent/web.txt", "sMode": "overwrite", "sContent": "Web base OK"}),
        on("data/agent/a.log", "append", json!({"sContent": "finished\n"})),
    ]);
    let answer = run(&bench, operations.clone());
    assert_eq!(answer["aOperations"], operations);
    let results = answer["aOpResults"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for result in results {
        assert_eq!(result["bSuccess"], json!(true));
        assert!(!result["aDebug"].as_array().unwrap().is_empty());
    }
    assert_eq!(bench.text("data/agent/a.log"), "started\nfinished\n", "later ones see earlier ones");
}

#[test]
fn an_operation_that_fails_has_its_own_flag_and_does_not_stop_the_rest() {
    let bench = bench();
    bench.write("core/lib.php", "core");
    let answer = run(
        &bench,
        json!([
            on("none.txt", "read", json!({})),
            json!({"sBase": "core", "sPath": "lib.php", "sMode": "overwrite", "sContent": "x"}),
            json!({"sBase": "nowhere", "sPath": "a", "sMode": "read"}),
            on("../out.txt", "overwrite", json!({"sContent": "x"})),
            on("a.txt", "fold", json!({})),
            "no object",
            json!({"sBase": "core", "sPath": "lib.php", "sMode": "read"}),
            on("ok.txt", "overwrite", json!({"sContent": "ok"})),
        ]),
    );
    let flags: Vec<bool> =
        answer["aOpResults"].as_array().unwrap().iter().map(|r| r["bSuccess"].as_bool().unwrap()).collect();
    assert_eq!(flags, [false, false, false, false, false, false, true, true]);
    assert_eq!((bench.text("core/lib.php"), bench.text("ok.txt")), ("core".into(), "ok".into()));
    assert!(!bench.outside("out.txt").exists());
}

#[test]
fn test_and_ping_never_touch_the_filesystem_and_file_test_writes_one_file() {
    let bench = bench();
    for word in ["TEST", " PING \n"] {
        let body = bench.call("agent_prompt", json!({"sQuestion": word})).done();
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer["bSuccess"], json!(true));
        assert_eq!(answer["sQuestion"], json!(word.trim()));
    }
    assert!(bench.names().is_empty());
    let body = bench.call("agent_prompt", json!({"sQuestion": "FILE-TEST"})).done();
    let answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer["aOpResults"].as_array().unwrap().len(), 1);
    assert!(bench.text("data/agent/fs-test.txt").starts_with("FILE-TEST 20"));
}
