//! Files against the clock: searching a tree of 50,000 files (beside `rg`), editing in 100 MB, a window in 1 GB.
//!
//! `cargo bench --bench files`. Prints ratios, because milliseconds are the machine's and ratios are ours.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "a bench stops at the first surprise and prints"
)]

use placet::conversation::{CallId, Input, Outcome};
use placet::permission::{Decision, Mode, ModeCell, Policy};
use placet::session::Scratchpads;
use placet::tools::{CommandSettings, Env, Inspect, Limits, Progress, Registry, RunCtx, Sight};
use placet::workspace::{Ledger, Workspace};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

struct Bench {
    env: Arc<Env>,
    registry: Registry,
    runtime: tokio::runtime::Runtime,
}

impl Bench {
    fn new(root: &Path) -> Bench {
        let commands = CommandSettings {
            supervisor: PathBuf::new(),
            timeout: Duration::MAX,
            withheld: Vec::new(),
            confining: None,
            brake: placet::workspace::Brake::default(),
        };
        let env = Env {
            mounts: Arc::default(),
            mode: placet::permission::ModeCell::new(placet::permission::Mode::Unrestricted),
            workspace: Workspace::new(root.to_path_buf(), Vec::new()).unwrap(),
            ledger: Mutex::new(Ledger::default()),
            scratchpads: Arc::new(Scratchpads::in_memory()),
            limits: Limits::default(),
            commands,
        };
        let runtime = tokio::runtime::Runtime::new().unwrap();
        Bench { env: Arc::new(env), registry: Registry::native(), runtime }
    }

    fn call(&self, tool: &str, input: Value) -> String {
        let mut plan = self.registry.plan(tool, &Input::Object(input), &self.env).unwrap();
        let policy = Policy::new(ModeCell::new(Mode::Unrestricted), Vec::new(), Vec::new());
        let Decision::Allow(permit) = policy.decide(&CallId::new("b"), tool, plan.reach()) else { panic!() };
        plan.prepare(&self.env, Sight::Everywhere).unwrap();
        let ctx = RunCtx {
            env: self.env.clone(),
            cancel: CancellationToken::new(),
            progress: Progress::silent(),
            inspect: Inspect::nothing(),
        };
        let output = self.runtime.block_on(plan.run(permit, ctx));
        let text = placet::conversation::text_of(&output.for_model);
        assert_eq!(output.outcome, Outcome::Done, "{text}");
        text
    }
}

/// The median of some runs, after one to warm up.
fn median(mut work: impl FnMut()) -> Duration {
    work();
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times.swap_remove(4)
}

fn rg(root: &Path, args: &[&str]) -> Option<Duration> {
    Command::new("rg").arg("--version").output().ok()?;
    Some(median(|| drop(Command::new("rg").args(args).current_dir(root).output().unwrap())))
}

fn report(name: &str, ours: Duration, theirs: Option<Duration>) {
    let ms = |d: Duration| d.as_secs_f64() * 1000.0;
    match theirs {
        Some(theirs) => {
            let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
            println!("{name:<44} {:>9.1} ms   rg {:>9.1} ms   {ratio:.2}x", ms(ours), ms(theirs));
        }
        None => println!("{name:<44} {:>9.1} ms", ms(ours)),
    }
}

fn tree(root: &Path) {
    for dir in 0..500 {
        let path = root.join(format!("d{:02}/s{dir:03}", dir % 20));
        std::fs::create_dir_all(&path).unwrap();
        for file in 0..100 {
            let lines = (0..40).map(|n| format!("let value_{n} = compute({dir}, {file}, {n});\n"));
            let needle = if (dir * 100 + file) % 997 == 0 { "// NEEDLE here\n" } else { "" };
            std::fs::write(path.join(format!("file{file}.rs")), lines.collect::<String>() + needle).unwrap();
        }
    }
    std::fs::write(root.join(".gitignore"), "*.o\n/target/\nbuild/\n").unwrap();
    std::fs::create_dir(root.join(".git")).unwrap();
}

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap();
    tree(&root);
    let bench = Bench::new(&root);
    let ours = median(|| drop(bench.call("search_contents", json!({"pattern": "NEEDLE"}))));
    report("search_contents, 50,000 files", ours, rg(&root, &["-n", "NEEDLE"]));
    let ours = median(|| drop(bench.call("search_contents", json!({"pattern": "value_3[0-9] = .*99, 7"}))));
    report("search_contents by regex", ours, rg(&root, &["-n", "value_3[0-9] = .*99, 7"]));
    let ours = median(|| drop(bench.call("find_files", json!({"pattern": "*.rs"}))));
    report("find_files, 50,000 files", ours, rg(&root, &["--files", "-g", "*.rs"]));
    report("(rg --files alone)", ours, rg(&root, &["--files"]));
    let line = format!("{}\n", "y".repeat(99));
    std::fs::write(root.join("big"), line.repeat(1_000_000) + "the end\n").unwrap();
    bench.call("read_file", json!({"path": "big", "offset": 1_000_000, "limit": 1}));
    let mut turn = false;
    let ours = median(|| {
        turn = !turn;
        let (old, new) = if turn { ("the end", "an end") } else { ("an end", "the end") };
        bench.call("edit_file", json!({"path": "big", "old_string": old, "new_string": new}));
    });
    report("edit_file in 100 MB", ours, None);
    let big = std::fs::File::create(root.join("huge")).unwrap();
    let chunk = line.repeat(100_000);
    for _ in 0..100 {
        std::io::Write::write_all(&mut &big, chunk.as_bytes()).unwrap();
    }
    for offset in [100, 5_000_000, 9_999_000] {
        let input = json!({"path": "huge", "offset": offset, "limit": 100});
        report(
            &format!("read_file in 1 GB at line {offset}"),
            median(|| drop(bench.call("read_file", input.clone()))),
            None,
        );
    }
}
