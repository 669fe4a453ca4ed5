//! Each command is read, applied, undone after a `git gc --prune=now`, and redone; git says the same each time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

/// Every fourth; all of them where long sweeps are asked for, as by `.ci/nightly`: the tests of the program run the table with
/// the real binary.
fn some_of<T>(cases: Vec<T>) -> Vec<T> {
    let nth = if std::env::var_os("PLACET_FULL").is_some() { 1 } else { 4 };
    cases.into_iter().step_by(nth).collect()
}

use support::{FUNCTIONS, Scene, in_parallel, round_trip};

#[test]
fn each_command_of_the_prototype_is_applied_undone_and_redone_as_git_would_say() {
    let cases = include_str!("fixtures/prototype_commands.txt");
    let cases: Vec<(&str, &str)> = cases.lines().filter_map(|line| line.split_once(": ")).collect();
    assert_eq!(cases.len(), 54);
    in_parallel(&some_of(cases), |(title, command)| {
        let mut scene = Scene::prototype();
        scene.agent(command);
        round_trip(title, &scene)
    });
}

/// Title, what the person did before, what the agent runs.
fn fixture_cases() -> Vec<(String, String, String)> {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/git_commands.txt");
    let text = std::fs::read_to_string(file).unwrap().replace("\n  ", " ");
    let mut cases: Vec<(String, String, String)> = Vec::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("== ") {
            cases.push((title.into(), String::new(), String::new()));
        } else if let Some(before) = line.strip_prefix("before: ") {
            cases.last_mut().unwrap().1 = before.into();
        } else if let Some(agent) = line.strip_prefix("agent: ") {
            cases.last_mut().unwrap().2 = agent.into();
        }
    }
    cases
}

#[test]
fn each_command_of_placets_own_table_is_applied_undone_and_redone_as_git_would_say() {
    // Those with one repository in the directory itself; clones and submodules have tests of their own.
    let is_one = |before: &str| {
        before.starts_with("repository .")
            || before.starts_with("git init -q -b main --object")
            || before.starts_with("git init -q -b main --ref")
    };
    let cases: Vec<_> = fixture_cases().into_iter().filter(|(_, before, _)| is_one(before)).collect();
    assert!(cases.len() >= 100, "{}", cases.len());
    in_parallel(&some_of(cases), |(title, before, agent)| {
        let mut scene = Scene::new(&format!("{FUNCTIONS}{before}"));
        scene.agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
        round_trip(title, &scene)
    });
}

/// Makes the repository of a clone of `up` with these options the one of the directory itself.
const CLONED: &str = "clone() { repository up; git switch -qc side; echo g > gone; git add .; git commit -qm Side; git switch -q main; cd ..; git -C up config uploadpack.allowFilter true; git clone -q \"$@\" c; mv c/.git c/*.txt .; \
    mkdir -p .git/info; echo up > .git/info/exclude; }; ";
/// Commits, staged files, and a stash entry.
const WORK: &str = "echo 2 >> a.txt; git commit -qam Agent; git branch b HEAD~1; echo 3 >> a.txt; git stash push -q; echo n > n; git add n; \
    git update-ref -d refs/remotes/origin/side";

/// Formats and names: title, what the person did before, what the agent runs.
const FORMATS: &[(&str, &str, &str)] = &[
    (
        "a name that was a directory",
        "repository .; git branch side/x",
        "git branch -D side/x; git branch side HEAD~1",
    ),
    (
        "a directory that was a name",
        "repository .; git branch side",
        "git branch -D side; git branch side/x; git branch side/y/z HEAD~1",
    ),
    (
        "packed names",
        "repository .; git branch side; git pack-refs --all",
        "git branch -D side; git branch side/x; git switch -qc side/z",
    ),
    ("rename below itself", "repository .", "git branch -m main main2; git branch -m main2 main/x"),
    (
        "reftable with a stash",
        "git init -q -b main --ref-format=reftable .; echo 1 > a; git add a; git commit -qm 1; echo 2 > a; git stash -q",
        "echo 3 > a; git stash push -q; git stash drop -q stash@{1}; git switch -qc t; git commit -q --allow-empty -m e; git tag x",
    ),
    (
        "SHA-256 with a stash",
        "git init -q -b main --object-format=sha256 .; echo 1 > a; git add a; git commit -qm 1",
        "echo 3 > a; git stash push -q; : > e; git add -N e; git commit -q --allow-empty -m e",
    ),
    (
        "intent to add",
        "repository .; : > old; git add -N old",
        "mkdir s; echo n > s/n; : > e; git add -N s/n e; git add old",
    ),
    (
        "intent to add next to an empty file",
        "repository .; : > e; git add e; git commit -qm e",
        "git rm -q --cached e; git add -N e; : > f; git add f",
    ),
    (
        "linked worktree",
        "repository .; git worktree add -q wt -b linked",
        "cd wt; echo w > w; git add w; git commit -qm In; echo x > x; git add x; cd ..; echo two >> a.txt; git commit -qam Here",
    ),
    (
        "linked worktree, detached with its own refs",
        "repository .; git worktree add -q wt -b linked",
        "cd wt; git checkout -q --detach HEAD~1; git update-ref refs/worktree/mine HEAD",
    ),
    (
        "file in place of a directory",
        "repository .; mkdir d; echo 1 > d/f; git add .; git commit -qm d",
        "git rm -rq d; echo f > d; git add d; git commit -qm f",
    ),
    (
        "hostile path names",
        "repository .",
        "printf x > 'a\nb'; printf y > $'\\xff\\x1b[2J'; printf z > '-n'; git add .; git commit -qm odd; git branch 'x%00\u{202e}'",
    ),
    ("alternates", "clone --shared up", WORK),
    ("shallow clone", "clone --depth 1 \"file://$PWD/up\"", WORK),
    ("partial clone", "clone --filter=blob:none \"file://$PWD/up\"", WORK),
    ("split index", "repository .; git update-index --split-index; echo p > p; git add p", WORK),
    (
        "symbolic refs",
        "repository .; git branch other; git symbolic-ref refs/remotes/origin/HEAD refs/heads/main",
        "git symbolic-ref refs/remotes/origin/HEAD refs/heads/other; git symbolic-ref refs/heads/alias refs/heads/main",
    ),
    (
        "many commits",
        "repository .",
        "for n in $(seq 45); do echo $n > n$n; git add .; git commit -qm c$n; done",
    ),
];

#[test]
fn formats_and_odd_names_are_applied_undone_and_redone() {
    in_parallel(FORMATS, |(title, before, agent)| {
        let mut scene = Scene::new(&format!("{FUNCTIONS}{CLONED}{before}"));
        scene.agent(&format!("T=1700100000\n{FUNCTIONS}{agent}"));
        round_trip(title, &scene)
    });
}
