//! Which lines of git are applied at once in write mode, and which wait: what adds is applied, what takes away waits.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

use placet_git::{PlainRunner, RepositoryRows};
use support::{FUNCTIONS, Scene, in_parallel};

/// Before, a line of git, and whether it waits.
const CASES: &[(&str, &str, bool)] = &[
    ("", "echo n > n; git add n", false),
    ("", "echo 2 >> a.txt; git commit -qam c", false),
    ("", "git commit -q --allow-empty -m c", false),
    ("git branch topic HEAD~1", "git merge -q topic", false),
    (
        "git switch -qc topic; echo c > c; git add c; git commit -qm C; git switch -q main",
        "git merge -q --ff-only topic",
        false,
    ),
    ("diverge", "git merge -q topic -m M", false),
    ("diverge", "git cherry-pick topic", false),
    ("", "git revert --no-edit HEAD", false),
    ("", "echo 2 >> a.txt; git stash push -q", false),
    ("", "git tag v1; git tag -a -m a v2", false),
    ("", "git switch -qc topic", false),
    ("git branch topic HEAD~1", "git checkout -q topic", false),
    ("", "git checkout -q --detach", false),
    ("", "git notes add -m n", false),
    ("", "git mv a.txt c.txt", false),
    ("", "git rm -q a.txt", false),
    ("", "git gc -q", false),
    ("", "git pack-refs --all", false),
    ("", "git branch topic; git branch -m topic work", false),
    ("git branch topic", "git branch -m topic work", false),
    (
        "git clone -q --bare . ../up.git; git remote add origin ../up.git; git -C ../up.git branch far main",
        "git fetch -q",
        false,
    ),
    (
        "git clone -q --bare . ../up.git; git remote add origin ../up.git",
        "echo 2 >> a.txt; git commit -qam c; git push -q origin main",
        false,
    ),
    (
        "git switch -qc far; git commit -q --allow-empty -m far; git switch -q main; git clone -q --bare . ../up.git; git branch -qD far; git remote add origin ../up.git",
        "git pull -q --ff-only origin far",
        false,
    ),
    ("", "git bisect start; git bisect reset", false),
    ("", "git add -N a.txt; echo n > n; git add -N n", false),
    // What waits, and why.
    ("", "git commit -q --amend -m other", true),
    ("", "git reset -q --hard HEAD~1", true),
    ("diverge; git switch -q topic", "git rebase -q main", true),
    ("git branch topic", "git branch -D topic", true),
    ("git tag v1", "git tag -f v1 HEAD~1", true),
    ("echo 2 >> a.txt; git stash push -q", "git stash drop -q", true),
    ("echo 2 >> a.txt; git stash push -q", "git stash pop -q", true),
    ("git branch topic HEAD~1; echo s > s; git add s", "git switch -q topic", true),
    ("echo s > s; git add s", "git reset -q", true),
    ("", "git config user.name X", true),
    ("", "git remote add origin ../up.git", true),
    ("", "git worktree add -q ../wt -b linked", true),
    ("", "git bisect start", true),
    ("conflict", "git merge -q topic", true),
    ("", "git update-index --assume-unchanged a.txt", true),
    ("", "printf '#!/bin/sh\\n' > .git/hooks/pre-push", true),
];

#[test]
fn write_mode_applies_what_adds_and_waits_for_what_takes_away() {
    in_parallel(CASES, |(before, line, waits)| {
        let mut scene = Scene::new(&format!("{FUNCTIONS}repository .; mkdir -p .git/hooks; {before}"));
        scene.agent(&format!("T=1700100000\n{FUNCTIONS}{line}"));
        let error = |error: placet_git::GitError| format!("{line}: {error}");
        let Some(question) = scene.question().map_err(error)? else {
            return if *waits { Err(format!("{line}: nothing changed")) } else { Ok(()) };
        };
        let rows = RepositoryRows::read(&question, &PlainRunner).map_err(error)?;
        let found = rows.takes_away(&question) || !question.groups.is_empty();
        if found == *waits { Ok(()) } else { Err(format!("{before} | {line}: {rows:?}")) }
    });
}
