//! What is over a limit is refused in one sentence that names the limit, and leaves nothing behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test"
)]

mod support;

use placet_git::{
    GitCall, GitError, GitOutput, GitRunner, PlainRunner, PlainSource, QuestionSides, RepositoryQuestion,
    RepositoryRows, limit,
};
use std::time::Duration;
use support::{FUNCTIONS, Scene, in_parallel, sh};

/// Runs calls with a limit that this change reaches.
struct Tight(Tighten);

type Tighten = fn(&mut GitCall);

impl GitRunner for Tight {
    fn run(&self, calls: &[GitCall]) -> Vec<Result<GitOutput, GitError>> {
        let mut calls = calls.to_vec();
        calls.iter_mut().for_each(self.0);
        PlainRunner.run(&calls)
    }
}

fn is(call: &GitCall, command: &str) -> bool {
    call.args.first().is_some_and(|name| name == command)
}

const CASES: &[(&str, Tighten)] = &[
    ("`git for-each-ref` took longer than 0 seconds", |call| call.most_time = Duration::ZERO),
    ("`git ls-files` wrote more than 3 bytes", |call| {
        if is(call, "ls-files") {
            call.most_output = 3;
        }
    }),
    ("`git pack-objects` wrote more than ", |call| {
        if is(call, "pack-objects") {
            call.most_output = 4096;
        }
    }),
    ("`git pack-objects` failed: fatal: ", |call| {
        if is(call, "pack-objects") {
            call.most_memory = 1 << 20;
        }
    }),
];

#[test]
fn a_call_over_its_limit_is_one_sentence() {
    in_parallel(CASES, |(says, tighten)| {
        let mut scene = Scene::new(&format!("{FUNCTIONS}repository ."));
        scene.agent(&format!(
            "T=1700100000\n{FUNCTIONS}head -c 8000000 /dev/urandom > big; git add big; git commit -qm Big"
        ));
        let (person, agent) = (PlainSource::new(&scene.git_dir()), PlainSource::new(&scene.agent_git_dir()));
        let sides = QuestionSides { base: &scene.base, person: &person, agent: &agent };
        let found = RepositoryQuestion::read(sides, &scene.fresh("question"), &Tight(*tighten));
        let said = found.map(drop).err().map(|error| error.to_string()).unwrap_or_default();
        if !said.starts_with(says) || said.contains("no reason was given") {
            return Err(format!("`{said}` instead of `{says}`"));
        }
        support::same(says, &scene.said_before, &scene.says())
    });
}

#[test]
fn as_many_refs_as_one_change_may_move_have_rows_and_one_more_is_refused() {
    // As git packs them: it would write and sync a file for each.
    let tags = |from: usize, to: usize| {
        format!(
            "h=$(git rev-parse HEAD); git pack-refs --all; seq {from} {to} | sed \"s,.*,$h refs/tags/t&,\" >> .git/packed-refs"
        )
    };
    // Names in the order of their bytes.
    let first = 100_000;
    let last = first + limit::MOVED_REFS - 1;
    let mut scene = Scene::new(&format!("{FUNCTIONS}repository ."));
    scene.agent(&tags(first, last));
    let question = scene.question().unwrap().unwrap();
    let rows = RepositoryRows::read(&question, &PlainRunner).unwrap();
    assert_eq!(rows.refs.len(), limit::MOVED_REFS);
    sh(&scene.root().join("2/repo"), &tags(last + 1, last + 1));
    let refused = scene.question().unwrap_err().to_string();
    assert_eq!(refused, "the repository has more than 10000 changed refs");
}
