//! Transactions against the clock: what a command did is found by its own size, not by the tree's; landing and taking
//! back 10,000 files beside `git stash` and `git stash pop`.
//!
//! `cargo bench --bench transactions`. Prints ratios, because milliseconds are the machine's and ratios are ours. A
//! sandboxed `true` beside a plain one is in `benches/sandbox.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench stops at the first surprise and prints"
)]

use placet::workspace::{ApplyOutcome, LayerKind, TransactionLabel, View, ViewPaths};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

struct Bench {
    _dir: tempfile::TempDir,
    root: PathBuf,
    view: View,
}

fn content(number: usize, word: &str) -> String {
    (0..30).map(|line| format!("let {word}_{line} = compute({number}, {line});\n")).collect()
}

fn name(number: usize) -> String {
    format!("d{:03}/f{number}.rs", number / 100)
}

impl Bench {
    /// A tree of so many files, a hundred to a directory.
    fn new(files: usize) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let root = base.join("w");
        for number in 0..files {
            if number % 100 == 0 {
                std::fs::create_dir_all(root.join(name(number)).parent().unwrap()).unwrap();
            }
            std::fs::write(root.join(name(number)), content(number, "old")).unwrap();
        }
        let places = ViewPaths {
            view: base.join("state/view"),
            layers: Vec::new(),
            objects: base.join("state/objects"),
            journal: base.join("state/journal"),
            scratch: base.join("scratch"),
        };
        let view = View::at(places, std::slice::from_ref(&root));
        Bench { _dir: dir, root, view }
    }

    /// The fold and the change set of a command that changed every `step`-th of so many files.
    fn effects(&self, count: usize, step: usize, word: &str) -> Duration {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let command = runtime.block_on(self.view.begin(LayerKind::Pending, None)).unwrap();
        let upper = command.mounts[0].upper.clone();
        for number in (0..count).map(|n| n * step) {
            std::fs::create_dir_all(upper.join(name(number)).parent().unwrap()).unwrap();
            std::fs::write(upper.join(name(number)), content(number, word)).unwrap();
        }
        let start = Instant::now();
        self.view.finish(command, &|_| false).unwrap();
        assert_eq!(self.view.changes(LayerKind::Pending).unwrap().len(), count);
        start.elapsed()
    }

    fn apply(&self, turn: &str) -> Duration {
        let start = Instant::now();
        let set = self.view.changes(LayerKind::Pending).unwrap();
        let label = TransactionLabel { turn: turn.into(), ..TransactionLabel::default() };
        let applied = self.view.apply(&View::everything(&set), label).unwrap();
        assert!(matches!(applied, ApplyOutcome::Landed(_)));
        start.elapsed()
    }

    fn undo(&self) -> Duration {
        let start = Instant::now();
        let plan =
            self.view.plan_undo(&self.view.journal().to_undo(), None, TransactionLabel::default()).unwrap();
        self.view.execute_plan(plan).unwrap().unwrap();
        start.elapsed()
    }
}

fn git(root: &Path, args: &[&str]) -> Duration {
    let start = Instant::now();
    let mut command = Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=e", "-c", "gc.auto=0"]).args(args);
    let status = command.current_dir(root).stdout(std::process::Stdio::null()).status().unwrap();
    assert!(status.success(), "git {args:?}");
    start.elapsed()
}

/// The middle one of some, after one to warm up.
fn median(runs: usize, mut work: impl FnMut() -> Duration) -> Duration {
    work();
    let mut times: Vec<Duration> = (0..runs).map(|_| work()).collect();
    times.sort();
    times[runs / 2]
}

fn report(name: &str, ours: Duration, other: &str, theirs: Duration) {
    let ms = |d: Duration| d.as_secs_f64() * 1000.0;
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{name:<44} {:>9.1} ms   {other} {:>9.1} ms   {ratio:.2}x", ms(ours), ms(theirs));
}

fn main() {
    let mut turn = 0;
    let mut word = || {
        turn += 1;
        format!("new{turn}")
    };
    let effects = |files: usize, word: &mut dyn FnMut() -> String| {
        let bench = Bench::new(files);
        median(5, || {
            let time = bench.effects(1000, files / 1000, &word());
            bench.view.discard_everything().unwrap();
            time
        })
    };
    if std::env::args().all(|arg| arg != "land") {
        let few = effects(5_000, &mut word);
        let many = effects(50_000, &mut word);
        report("effects of 1,000 files of 50,000", many, "of 5,000", few);
    }
    let bench = Bench::new(10_000);
    let (mut landing, mut back) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        bench.effects(10_000, 1, &word());
        landing.push(bench.apply(&word()));
        back.push(bench.undo());
    }
    let middle = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2]
    };
    let (landing, back) = (middle(landing), middle(back));
    git(&bench.root, &["init", "-q"]);
    git(&bench.root, &["add", "-A"]);
    git(&bench.root, &["commit", "-qm", "base"]);
    let (mut stash, mut pop) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        let word = word();
        for number in 0..10_000 {
            std::fs::write(bench.root.join(name(number)), content(number, &word)).unwrap();
        }
        stash.push(git(&bench.root, &["stash", "-q"]));
        pop.push(git(&bench.root, &["stash", "pop", "-q"]));
        git(&bench.root, &["checkout", "-q", "--", "."]);
    }
    let (stash, pop) = (middle(stash), middle(pop));
    report("apply of 10,000 files", landing, "git stash", stash);
    report("undo of 10,000 files", back, "git stash pop", pop);
    report("both", landing + back, "git stash, pop", stash + pop);
}
