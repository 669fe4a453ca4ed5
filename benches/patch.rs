//! A patch of 1,000 hunks on a file of 100,000 lines: apply_patch beside `git apply` and GNU `patch`.
//!
//! `cargo bench --bench patch`. Prints ratios, because milliseconds are the machine's and ratios are ours.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise and prints"
)]

use placet::conversation::{CallId, CallInput, CallOutcome};
use placet::permission::{Decision, Mode, ModeCell, Policy};
use placet::session::Scratchpads;
use placet::text::patch::{Options, StripLevels, apply, parse, unified};
use placet::tools::{
    CommandSettings, ProgressSink, ReadScope, RunContext, ToolContext, ToolLimits, ToolRegistry,
};
use placet::workspace::{ReadLedger, View, ViewPaths, Workspace};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const LINES: usize = 100_000;
const HUNKS: usize = 1_000;
const ROUNDS: u32 = 5;

fn main() {
    let old: String = (0..LINES).map(|n| format!("line {n} of a file with some words in it\n")).collect();
    let changed = |n: usize| n % (LINES / HUNKS) == 50;
    let line = |n: usize| match changed(n) {
        true => format!("changed {n}\n"),
        false => format!("line {n} of a file with some words in it\n"),
    };
    let new: String = (0..LINES).map(line).collect();
    let mut patch = b"--- a/f\n+++ b/f\n".to_vec();
    unified(old.as_bytes(), new.as_bytes(), &mut patch);
    let moved = format!("{}{old}", "a line before\n".repeat(7));
    for (name, content) in [("at their lines", &old), ("moved by 7 lines", &moved)] {
        println!("{HUNKS} hunks {name}, {LINES} lines");
        let core = median(|| core(&patch, content));
        let tool = median(|| tool(&patch, content));
        println!("  placet, placing alone   {:8.1} ms", millis(core));
        println!("  placet, apply_patch     {:8.1} ms", millis(tool));
        for (program, arguments) in [("git", &["apply", "p"][..]), ("patch", &["-s", "-p1", "-i", "p"])] {
            let theirs = median(|| other(program, arguments, &patch, content));
            println!(
                "  {program:<6}                  {:8.1} ms   apply_patch takes {:.2} of it",
                millis(theirs),
                tool.as_secs_f64() / theirs.as_secs_f64()
            );
        }
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn median(mut run: impl FnMut() -> Duration) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| run()).collect();
    times.sort();
    times.get(times.len() / 2).copied().unwrap()
}

fn core(patch: &[u8], old: &str) -> Duration {
    let started = Instant::now();
    let patch = parse(patch, StripLevels::Auto).unwrap();
    apply(patch.files.first().unwrap(), old.as_bytes(), Options::default()).unwrap();
    started.elapsed()
}

fn other(program: &str, arguments: &[&str], patch: &[u8], old: &str) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("f"), old).unwrap();
    std::fs::write(dir.path().join("p"), patch).unwrap();
    let started = Instant::now();
    let status = Command::new(program).args(arguments).current_dir(dir.path()).status().unwrap();
    let took = started.elapsed();
    assert!(status.success());
    took
}

/// The whole call: plan, decision, preview, write, journal.
fn tool(patch: &[u8], old: &str) -> Duration {
    let dir = tempfile::tempdir().unwrap();
    let root = std::fs::canonicalize(dir.path()).unwrap().join("work");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("f"), old).unwrap();
    let env = Arc::new(env(&root));
    let registry = ToolRegistry::native();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let input = CallInput::Object(json!({"patch": String::from_utf8(patch.to_vec()).unwrap()}));
    let started = Instant::now();
    let mut plan = registry.plan("apply_patch", &input, &env).unwrap();
    let policy = Policy::new(ModeCell::new(Mode::Unrestricted), Vec::new(), vec![root]);
    let Decision::Allow(permit) = policy.decide(&CallId::new("b"), "apply_patch", plan.reach()) else {
        unreachable!("unrestricted mode allows what is inside")
    };
    plan.prepare(&env, ReadScope::Everywhere).unwrap();
    let ctx = RunContext {
        env: env.clone(),
        stop_stage: placet::tools::StopStageCell::default(),
        cancel: CancellationToken::new(),
        progress: ProgressSink::silent(),
        may_detach: placet::tools::BackgroundCheck::always(),
        inspect: placet::tools::OutputInspector::nothing(),
        children: placet::tools::SubagentSpawner::none(),
        requests: Arc::new(placet::tools::NoRequestHost),
        enquire: placet::tools::AskUser::new(|_, _| {
            Box::pin(std::future::ready(placet::tools::UserReply::Nobody))
        }),
    };
    let output = runtime.block_on(plan.run(permit, ctx));
    let took = started.elapsed();
    assert_eq!(output.outcome, CallOutcome::Done);
    took
}

fn env(root: &Path) -> ToolContext {
    let state = root.parent().unwrap().join("state");
    let places = ViewPaths {
        view: state.join("views/bench"),
        layers: Vec::new(),
        objects: state.join("objects"),
        journal: state.join("journal"),
        scratch: state.join("scratch"),
    };
    let workspace = Workspace::new(root.to_path_buf(), Vec::new()).unwrap();
    let view = View::at(places, workspace.roots());
    let commands = CommandSettings {
        supervisor: PathBuf::new(),
        reserve: Default::default(),
        timeout: Duration::MAX,
        withheld: Vec::new(),
        confining: None,
    };
    ToolContext {
        jobs: placet::tools::JobRegistry::default(),
        servers: Default::default(),
        checks: Default::default(),
        mounts: Arc::default(),
        pages: Arc::default(),
        guidance: Arc::default(),
        mode: placet::permission::ModeCell::new(placet::permission::Mode::Unrestricted),
        workspace: workspace.with_view(view),
        ledger: Mutex::new(ReadLedger::default()),
        scratchpads: Arc::new(Scratchpads::in_memory()),
        limits: ToolLimits::default(),
        commands,
    }
}
