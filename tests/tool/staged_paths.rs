//! The paths of a call of several steps are what the call has made of them: a file becomes a directory and back.

use crate::support::binary::Place;
use crate::support::is_full;
use crate::support::require::require;
use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use placet::tools::ToolSet;
use placet::workspace::{ApplyOutcome, ChangeSelection, LayerKind, SelectedPart, TransactionLabel};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

type Files = BTreeMap<String, String>;

/// Names that are in each other's way.
const NAMES: [&str; 6] = ["f", "f/x", "f/x/y", "f/z", "g", "g/h"];

/// The files below a directory, with what they contain.
fn files(root: &Path) -> Files {
    let mut found = Files::new();
    let mut todo = vec![root.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true if entry.ends_with(".git") => {}
                true => todo.push(entry),
                false => {
                    let name = entry.strip_prefix(root).unwrap().to_str().unwrap().to_string();
                    found.insert(name, std::fs::read_to_string(entry).unwrap());
                }
            }
        }
    }
    found
}

fn write(root: &Path, all: &Files) {
    for (name, content) in all {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), content).unwrap();
    }
}

/// A tree of some of the names, of which none is in the way of another.
fn tree() -> impl Strategy<Value = Files> {
    prop::collection::vec((prop::sample::select(NAMES.to_vec()), "[a-c]\n"), 0..5).prop_map(|all| {
        let mut files = Files::new();
        for (name, content) in all {
            if is_free(&files, name) {
                files.insert(name.into(), content);
            }
        }
        files
    })
}

fn is_free(files: &Files, name: &str) -> bool {
    files.keys().all(|other| {
        other == name || !other.starts_with(&format!("{name}/")) && !name.starts_with(&format!("{other}/"))
    })
}

#[derive(Clone, Debug)]
enum Step {
    Write(&'static str, String),
    Delete(&'static str),
    Move(&'static str, &'static str),
    Copy(&'static str, &'static str),
}

fn step() -> impl Strategy<Value = Step> {
    let name = || prop::sample::select(NAMES.to_vec());
    prop_oneof![
        3 => (name(), "[d-f]\n").prop_map(|(name, content)| Step::Write(name, content)),
        2 => name().prop_map(Step::Delete),
        2 => (name(), name()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (name(), name()).prop_map(|(from, to)| Step::Copy(from, to)),
    ]
}

impl Step {
    fn operation(&self) -> Value {
        match self {
            Step::Write(path, content) => json!({"op": "write", "path": path, "content": content}),
            Step::Delete(path) => json!({"op": "delete", "path": path}),
            Step::Move(path, to) => json!({"op": "move", "path": path, "to": to}),
            Step::Copy(path, to) => json!({"op": "copy", "path": path, "to": to}),
        }
    }

    /// Does the same by hand; false if it cannot be done.
    fn by_hand(&self, files: &mut Files) -> bool {
        let mut after = files.clone();
        let put = |files: &mut Files, name: &str, content: String, over: bool| {
            let fits = is_free(files, name) && (over || !files.contains_key(name));
            if fits {
                files.insert(name.into(), content);
            }
            fits
        };
        let done = match self {
            Step::Write(name, content) => put(&mut after, name, content.clone(), true),
            Step::Delete(name) => after.remove(*name).is_some(),
            Step::Move(from, to) => {
                after.remove(*from).is_some_and(|content| put(&mut after, to, content, false) && from != to)
            }
            Step::Copy(from, to) => {
                after.get(*from).cloned().is_some_and(|content| put(&mut after, to, content, false))
            }
        };
        if done {
            *files = after;
        }
        done
    }
}

/// Applies everything that is pending.
fn apply(bench: &Bench) {
    let view = bench.env.workspace.view().unwrap();
    let set = view.changes(LayerKind::Pending).unwrap();
    let all: ChangeSelection = set.paths().into_iter().map(|path| (path, SelectedPart::Whole)).collect();
    match view.apply(&all, TransactionLabel::default()) {
        Ok(ApplyOutcome::Landed(_) | ApplyOutcome::Nothing) => {}
        other => panic!("{other:?}"),
    }
}

fn runner(cases: u32) -> TestRunner {
    let cases = if is_full() { cases * 20 } else { cases };
    TestRunner::new_with_rng(Config::with_cases(cases), TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn a_batch_does_what_its_steps_do_one_after_another() {
    let steps = prop::collection::vec(step(), 1..7);
    let check = |(before, steps): (Files, Vec<Step>)| {
        let (mut want, mut done) = (before.clone(), 0);
        for step in &steps {
            done += usize::from(step.by_hand(&mut want));
        }
        for mode in [Mode::Write, Mode::Ask] {
            let mut bench = Bench::new();
            bench.mode = mode;
            write(&bench.root, &before);
            let operations: Vec<Value> = steps.iter().map(Step::operation).collect();
            let call = json!({"operations": operations, "atomic": false, "force": true});
            let body = bench.call("operations", call).done();
            prop_assert!(body.contains(&format!("[{done} done, ")), "{body}");
            apply(&bench);
            prop_assert_eq!(files(&bench.root), want.clone(), "{:?}", body);
        }
        Ok(())
    };
    runner(150).run(&(tree(), steps), check).unwrap();
}

/// A later batch over pending changes, where a file is one only in the view.
#[test]
fn two_batches_that_wait_are_one_after_another_too() {
    let steps = || prop::collection::vec(step(), 1..5);
    let check = |(before, first, second): (Files, Vec<Step>, Vec<Step>)| {
        let mut bench = Bench::new();
        bench.mode = Mode::Ask;
        write(&bench.root, &before);
        let mut want = before;
        for batch in [first, second] {
            for step in &batch {
                step.by_hand(&mut want);
            }
            let operations: Vec<Value> = batch.iter().map(Step::operation).collect();
            let call = json!({"operations": operations, "atomic": false, "force": true});
            bench.call("operations", call).done();
        }
        apply(&bench);
        prop_assert_eq!(files(&bench.root), want);
        Ok(())
    };
    // A directory that an earlier batch emptied is a directory, which no file replaces: no name is in the way.
    let disjoint = |files: &Files| files.keys().all(|name| !name.contains('/'));
    let trees = tree().prop_filter("files alone", disjoint);
    runner(80).run(&(trees, steps(), steps()), check).unwrap();
}

fn git(dir: &Path, arguments: &[&str]) -> Vec<u8> {
    let fixed = ["-c", "user.name=A", "-c", "user.email=a@x", "-c", "core.autocrlf=false"];
    let mut command = Command::new("git");
    command.current_dir(dir).args(fixed).args(arguments);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let out = command.output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    out.stdout
}

/// What `git diff` writes between two trees is applied as `git apply` does it, also where a file becomes a directory.
#[test]
fn a_patch_between_any_two_trees_is_applied_as_by_git() {
    if !require("git") {
        return;
    }
    let check = |(before, after): (Files, Files)| {
        let repository = tempfile::tempdir().unwrap();
        let root = repository.path();
        git(root, &["init", "-q", "."]);
        write(root, &before);
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "--allow-empty", "-m", "before"]);
        git(root, &["rm", "-rqf", "--ignore-unmatch", "."]);
        write(root, &after);
        git(root, &["add", "-A"]);
        let patch = git(root, &["diff", "-M", "--cached", "HEAD"]);
        let patch = String::from_utf8(patch).unwrap();
        if patch.is_empty() {
            return Ok(());
        }
        for mode in [Mode::Write, Mode::Ask] {
            let mut bench = Bench::new();
            bench.mode = mode;
            write(&bench.root, &before);
            bench.call("apply_patch", json!({"patch": patch})).done();
            apply(&bench);
            prop_assert_eq!(files(&bench.root), after.clone(), "{}", patch);
        }
        Ok(())
    };
    runner(60).run(&(tree(), tree()), check).unwrap();
}

/// One operation below a file of the same batch ended the whole batch, without JSON.
#[test]
fn an_operation_below_a_file_of_the_same_batch_has_its_own_flag() {
    let on = |path: &str| json!({"sBase": "app", "sPath": path, "sMode": "overwrite", "sContent": path});
    for (paths, want) in [
        (["f", "f/x", "g"], [true, false, true]),
        (["d/x", "d", "g"], [true, false, true]),
        (["d/x/y", "d/x", "d/x/y/z"], [true, false, false]),
    ] {
        let bench = Bench::of(ToolSet::Typestack);
        let operations: Vec<Value> = paths.iter().map(|path| on(path)).collect();
        let body = bench.call("agent_prompt", json!({"aOperations": operations})).done();
        let answer: Value = serde_json::from_str(&body).unwrap();
        let flags: Vec<&Value> =
            answer["aOpResults"].as_array().unwrap().iter().map(|result| &result["bSuccess"]).collect();
        assert_eq!(flags, want.iter().map(|flag| json!(flag)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
        let made: Vec<&str> =
            paths.iter().zip(want).filter_map(|(path, is_made)| is_made.then_some(*path)).collect();
        assert_eq!(files(&bench.root).keys().map(String::as_str).collect::<Vec<_>>(), made);
    }
}

#[test]
fn what_became_a_directory_is_shown_applied_and_undone() {
    let place = Place::new().file("f", "was a file\n").file("d/x", "was below\n");
    let operations = json!({"force": true, "operations": [
        {"op": "move", "path": "f", "to": "f/moved"},
        {"op": "delete", "path": "d/x"},
        {"op": "write", "path": "d", "content": "is a file\n"},
    ]});
    drop(place.call("operations", &operations, &["--mode", "ask"]));
    assert_eq!(place.read("f"), "was a file\n");
    let patch = place.run(["changes", "--patch"]).code(0).stdout;
    assert!(patch.contains("f/moved"), "{patch}");
    place.run(["apply"]).code(0);
    assert_eq!((place.read("f/moved"), place.read("d")), ("was a file\n".into(), "is a file\n".into()));
    place.run(["undo"]).code(0);
    assert_eq!((place.read("f"), place.read("d/x")), ("was a file\n".into(), "was below\n".into()));
    let patched = Place::new().file("f", "was a file\n").file("d/x", "was below\n");
    patched.call("apply_patch", &json!({"patch": patch}), &["--mode", "write"]).code(0);
    assert_eq!((patched.read("f/moved"), patched.read("d")), ("was a file\n".into(), "is a file\n".into()));
    patched.run(["undo"]).code(0);
    assert_eq!(patched.read("f"), "was a file\n");
}
