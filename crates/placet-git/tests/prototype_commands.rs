//! The 54 commands of the prototype: each is read, applied, undone after a `git gc --prune=now`, and redone.

mod support;

use support::{Scene, everything, same, sh};

/// Title, command, and what the result is.
const CASES: &str = include_str!("fixtures/prototype_commands.txt");

/// Nothing but refs, the index and the stash keeps an object alive.
const FORGET: &str = "find .git/logs -type f ! -path '*refs/stash' -delete; git gc -q --prune=now";

fn run(title: &str, command: &str) -> Result<(), String> {
    let mut scene = Scene::prototype();
    scene.agent(command);
    let words = |what: &str, error: placet_git::GitError| format!("{title}: {what}: {error}");
    if !scene.agent_git_dir().exists() {
        let error = scene.question().expect_err("a removed repository");
        return same(title, "the repository has no `HEAD` or no objects", &error.to_string());
    }
    let question = scene.question().map_err(|error| words("read", error))?;
    let Some(question) = question else {
        scene.work_tree_of("2");
        return same(&format!("{title}: nothing to apply"), scene.agent_says(), &scene.says());
    };
    placet_git::RepositoryRows::read(&question, &placet_git::PlainRunner).map_err(|error| words("rows", error))?;
    let applied = scene.apply(&question, &everything(&question)).map_err(|error| words("apply", error))?;
    scene.work_tree_of("2");
    same(&format!("{title}: applied"), scene.agent_says(), &scene.says())?;
    sh(&scene.repo(), FORGET);
    let undone = scene.undo(&applied).map_err(|error| words("undo", error))?;
    scene.work_tree_of("1");
    same(&format!("{title}: undone"), &scene.said_before, &scene.says())?;
    let redone = scene.undo(&undone).map_err(|error| words("redo", error))?;
    scene.work_tree_of("2");
    same(&format!("{title}: redone"), scene.agent_says(), &scene.says())?;
    sh(&scene.repo(), FORGET);
    scene.undo(&redone).map_err(|error| words("undo after gc", error))?;
    scene.work_tree_of("1");
    same(&format!("{title}: undone after gc"), &scene.said_before, &scene.says())
}

#[test]
fn each_command_of_the_prototype_is_applied_undone_and_redone_as_git_would_say() {
    let only = std::env::var("PLACET_SCENARIO").unwrap_or_default();
    let cases: Vec<(&str, &str)> = CASES.lines().filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(cases.len(), 54);
    let cases: Vec<_> = cases.into_iter().filter(|(title, _)| only.is_empty() || *title == only).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((title, command)) = cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    if let Err(why) = run(title, command) {
                        failed.lock().unwrap().push(why);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}
