//! A desk to measure tools at: an environment with a view, a policy that says yes, and other programs' times.

#![allow(dead_code, unreachable_pub, reason = "each bench takes of it what it needs")]

use placet::conversation::{CallId, CallInput, CallOutcome};
use placet::permission::{Decision, Mode, ModeCell, Policy};
use placet::session::Scratchpads;
use placet::tools::{
    CommandSettings, ProgressSink, ReadScope, RunContext, ToolContext, ToolLimits, ToolRegistry,
};
use placet::workspace::{ReadLedger, View, ViewPaths, Workspace};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub struct Bench {
    env: Arc<ToolContext>,
    registry: ToolRegistry,
    runtime: tokio::runtime::Runtime,
}

/// The workspace through a view whose state lies in a directory of its own beside it.
fn viewed(root: &Path) -> Workspace {
    let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let state = root.parent().unwrap_or(root).join(format!(".{name}-state"));
    let places = ViewPaths {
        view: state.join("views/bench"),
        layers: Vec::new(),
        objects: state.join("objects"),
        journal: state.join("journal"),
        scratch: state.join("scratch"),
    };
    let workspace = Workspace::new(root.to_path_buf(), Vec::new()).unwrap();
    let view = View::at(places, workspace.roots());
    workspace.with_view(view)
}

/// What tools work with, below `root`.
pub fn env(root: &Path, scratchpads: Arc<Scratchpads>) -> ToolContext {
    let commands = CommandSettings {
        supervisor: PathBuf::from(env!("CARGO_BIN_EXE_placet")),
        reserve: Default::default(),
        timeout: Duration::from_secs(60),
        withheld: Vec::new(),
        confining: None,
    };
    ToolContext {
        mounts: Arc::default(),
        pages: Arc::default(),
        guidance: Arc::default(),
        jobs: placet::tools::JobRegistry::default(),
        servers: Default::default(),
        checks: Default::default(),
        mode: placet::permission::ModeCell::new(placet::permission::Mode::Unrestricted),
        workspace: viewed(root),
        ledger: Mutex::new(ReadLedger::default()),
        scratchpads,
        limits: ToolLimits::default(),
        commands,
    }
}

impl Bench {
    pub fn new(root: &Path) -> Bench {
        let env = env(root, Arc::new(Scratchpads::in_memory()));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        Bench { env: Arc::new(env), registry: ToolRegistry::native(), runtime }
    }

    pub fn call(&self, tool: &str, input: Value) -> String {
        let mut plan = self.registry.plan(tool, &CallInput::Object(input), &self.env).unwrap();
        let policy = Policy::new(ModeCell::new(Mode::Unrestricted), Vec::new(), Vec::new());
        let Decision::Allow(permit) = policy.decide(&CallId::new("b"), tool, plan.reach()) else { panic!() };
        plan.prepare(&self.env, ReadScope::Everywhere).unwrap();
        let ctx = RunContext {
            env: self.env.clone(),
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
        let output = self.runtime.block_on(plan.run(permit, ctx));
        let text = placet::conversation::text_of(&output.for_model);
        assert_eq!(output.outcome, CallOutcome::Done, "{text}");
        text
    }
}

/// The median of some runs, after one to warm up; of few where one takes long.
pub fn median(mut work: impl FnMut()) -> Duration {
    let mut timed = || {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    let rounds = if timed() > Duration::from_secs(1) { 3 } else { 9 };
    let mut times: Vec<Duration> = (0..rounds).map(|_| timed()).collect();
    times.sort();
    times.swap_remove(rounds / 2)
}

/// The median of another program's runs, its output thrown away; `None` where it is not installed.
pub fn other(root: &Path, program: &str, args: &[&str]) -> Option<Duration> {
    Command::new(program).arg("--version").output().ok()?;
    let run = || {
        let mut command = Command::new(program);
        drop(command.args(args).current_dir(root).stdin(Stdio::null()).output().unwrap());
    };
    Some(median(run))
}

/// A line of the table: ours, theirs and the ratio.
pub fn report(name: &str, ours: Duration, program: &str, theirs: Option<Duration>) {
    let ms = |d: Duration| d.as_secs_f64() * 1000.0;
    match theirs {
        Some(theirs) => {
            let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
            println!("{name:<48} {:>9.1} ms   {program} {:>9.1} ms   {ratio:.2}x", ms(ours), ms(theirs));
        }
        None => println!("{name:<48} {:>9.1} ms", ms(ours)),
    }
}
