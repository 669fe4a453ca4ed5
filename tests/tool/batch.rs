//! Batches that a person writes out: no model, the same gate; and never by accident from a pipe.

use crate::support::binary::Place;
use serde_json::{Value, json};

fn batch(path: &str) -> String {
    json!({"aOperations": [{"sTool": "fs", "sBase": "app", "sPath": path, "sMode": "overwrite", "sContent": "Hi"}]})
        .to_string()
}

#[test]
fn a_prompt_that_is_a_batch_runs_without_a_model_in_every_dialect() {
    for dialect in ["native", "typestack", "codex"] {
        let place = Place::new();
        let out = place.run(["--dialect", dialect, "--mode", "write", "-p", &batch("data/t.txt")]).code(0);
        let answer: Value = serde_json::from_str(out.stdout.trim()).unwrap();
        assert_eq!(answer["aOpResults"][0]["iNewLength"], json!(2), "{dialect}");
        assert_eq!(place.read("data/t.txt"), "Hi");
        assert!(!out.stderr.contains("no provider"), "nobody is asked: {}", out.stderr);
    }
}

#[test]
fn what_comes_through_a_pipe_is_a_batch_only_when_that_was_said() {
    let place = Place::new();
    for args in [vec!["--mode", "write", "-p"], vec!["--mode", "write"]] {
        let out = place.placet(&args).stdin(batch("x.txt")).go();
        assert!(!place.tree.join("x.txt").exists(), "{}", out.stdout);
        let out = place.placet([args.as_slice(), &["--batch"]].concat()).stdin(batch("x.txt")).go().code(0);
        assert!(out.stdout.contains("\"bSuccess\":true"), "{}", out.stdout);
        assert_eq!(place.read("x.txt"), "Hi");
        std::fs::remove_file(place.tree.join("x.txt")).unwrap();
    }
}

/// Story: half of a batch went to the model as a prompt.
#[test]
fn what_was_announced_as_a_batch_is_one_or_an_error() {
    let place = Place::new();
    for args in [vec!["--batch"], vec!["--batch", "-p"]] {
        let out = place.placet(&args).stdin("{\n").go().code(2);
        out.warns("error: standard input is not a batch").warns("aOperations");
    }
    place.run(["--batch", "-p", "show a.txt"]).code(2).warns("error: the prompt is not a batch");
    let lines = format!("{}\n{{\n", batch("x.txt").replace('\n', ""));
    place.placet(["--batch", "--mode", "write"]).stdin(lines).go().code(2).warns("not a batch");
    assert_eq!(place.read("x.txt"), "Hi", "the line before it was one");
}

#[test]
fn a_batch_goes_through_the_same_gate() {
    let place = Place::new().file("secret.txt", "s");
    let out = place.run(["--mode", "read", "-p", &batch("a.txt")]).code(3);
    assert!(out.stdout.contains("read mode"), "{}", out.stdout);
    let out = place.run(["--mode", "ask", "-p", &batch("a.txt")]).code(3);
    assert!(out.stdout.contains("\"bSuccess\":true"), "{}", out.stdout);
    assert!(!place.tree.join("a.txt").exists(), "it is pending");
    place.run(["apply"]).code(0);
    assert_eq!(place.read("a.txt"), "Hi");
    let denied = ["--mode", "write", "--deny", "write(secret.txt)", "-p", &batch("secret.txt")];
    let out = place.run(denied).code(3);
    assert!(out.stdout.contains("denies it"), "{}", out.stdout);
    assert_eq!(place.read("secret.txt"), "s");
    place.run(["undo"]).code(0);
    assert!(!place.tree.join("a.txt").exists(), "one transaction");
}

#[test]
fn the_test_words_are_words_elsewhere() {
    let place = Place::new();
    let out = place.run(["--dialect", "typestack", "-p", "PING"]).code(0);
    assert!(out.stdout.contains("AgentPrompt test route OK."), "{}", out.stdout);
    let out = place.run(["-p", "PING"]);
    assert!(!out.stdout.contains("AgentPrompt"), "{}", out.stdout);
}

/// One operation below a file of the same batch ended the whole batch with a plain error and exit code 0.
#[test]
fn a_batch_answers_in_json_and_its_exit_code_says_when_nothing_could_be_done() {
    let on = |path: &str| json!({"sBase": "app", "sPath": path, "sMode": "overwrite", "sContent": "x"});
    let place = Place::new();
    let batch = json!({"aOperations": [on("f"), on("f/x"), on("g")]}).to_string();
    let out = place.run(["--mode", "write", "-p", &batch]).code(0);
    let answer: Value = serde_json::from_str(out.stdout.trim()).unwrap();
    assert_eq!(answer["aOpResults"][1]["bSuccess"], json!(false));
    assert_eq!((place.read("f"), place.read("g")), ("x".into(), "x".into()));
    place.run(["--dialect", "typestack", "--mode", "write", "-p", "{\"aOperations\": 1}"]).code(1);
    // Nothing could be done: one operation, or all of them.
    let read = |path: &str| json!({"sBase": "app", "sPath": path, "sMode": "read"});
    for operations in [json!([on("f/x")]), json!([read("missing")]), json!([on("f/x"), read("missing"), 1])] {
        let batch = json!({"aOperations": operations});
        let prompt = place.run(["--mode", "write", "-p", &batch.to_string()]).code(1);
        let call = place.call("agent_prompt", &batch, &["--dialect", "typestack", "--mode", "write"]).code(1);
        for text in [prompt.stdout.trim(), call.stderr.trim()] {
            let answer: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
            assert_eq!(answer["aOpResults"].as_array().unwrap().len(), operations.as_array().unwrap().len());
        }
    }
}
