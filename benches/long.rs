//! A day of work against memory and the clock: 10,000 turns with 2 GB of tool output in one saved session, summed up as it
//! goes, and how long taking it up again takes.
//!
//! `cargo bench --bench long`; `-- TURNS` for another number. The model is scripted: one call a turn, whose result has
//! 200 kB, and an answer. What is set beside it is reading the same database with `cat`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a bench stops at the first surprise and prints"
)]

mod desk;

use futures_util::stream;
use placet::agent::{
    ActiveModel, Agent, AgentConfig, AgentLimits, CostBudget, SubagentPool, TurnEnding, TurnLimits, TurnStart,
};
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, Message, Part, StopReason, TokenUsage, ToolCall,
};
use placet::permission::{Mode, ModeCell, Policy};
use placet::provider::{AnswerStream, ModelLimits, ModelRequest, Provider, StreamEvent};
use placet::session::SessionStore;
use placet::tools::ToolRegistry;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const OUTPUT: usize = 200_000;

/// Reads another part of the large file in each turn.
struct Scripted(AtomicUsize);

impl Provider for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn answer(&self, request: ModelRequest, _: CancellationToken) -> AnswerStream {
        let n = self.0.fetch_add(1, Ordering::Relaxed);
        let (block, stop) = match request.messages.last() {
            Some(Message::User { parts })
                if !parts.iter().any(|p| p.as_text().is_some_and(|t| t.contains("will be replaced"))) =>
            {
                let input = serde_json::json!({"command": format!("head -c {OUTPUT} big.txt; echo {n}")});
                let call = ToolCall {
                    id: CallId::new(format!("c{n}")),
                    name: "run_command".into(),
                    input: CallInput::Object(input),
                };
                (AssistantBlock::Call(call), StopReason::ToolUse)
            }
            _ => (
                AssistantBlock::Text { text: format!("answer {n}: {}", "words of an answer ".repeat(20)) },
                StopReason::EndTurn,
            ),
        };
        let bytes: usize =
            request.messages.iter().map(|m| serde_json::to_string(m).map_or(0, |s| s.len())).sum();
        let usage = TokenUsage { input: (bytes / 4) as u64, output: 100, ..TokenUsage::default() };
        let answer = AssistantMessage { blocks: vec![block], stop, usage, ..AssistantMessage::default() };
        Box::pin(stream::iter([Ok(StreamEvent::Finished(answer))]))
    }
}

fn parts(root: &Path, session: placet::session::OpenSession) -> AgentConfig {
    let env = desk::env(root, session.scratchpads().unwrap());
    let policy = Policy::new(ModeCell::new(Mode::Unrestricted), Vec::new(), vec![root.to_path_buf()]);
    AgentConfig {
        model: ActiveModel {
            provider: Arc::new(Scripted(AtomicUsize::new(0))),
            spec: ModelLimits { window: 200_000, max_output: 8_000, vision: true }.model("scripted"),
            max_output: 8_000,
        },
        system: "You are a bench.".to_string().into(),
        registry: Arc::new(ToolRegistry::native()),
        env: Arc::new(env),
        policy: Arc::new(Mutex::new(policy)),
        limits: AgentLimits {
            turn: TurnLimits { rounds: 0, repeats: 0 },
            compact_at: 0.85,
            budget: CostBudget::default(),
        },
        interceptors: Arc::default(),
        subagents: SubagentPool::default(),
        session: Some(session),
    }
}

fn memory(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0) / 1000.0
}

fn main() {
    let turns = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(10_000);
    let dir = tempfile::TempDir::new().unwrap();
    let root = dir.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("big.txt"), "a line of output that is long enough\n".repeat(OUTPUT / 37 + 1))
        .unwrap();
    let state = dir.path().join("state");
    let (store, _) = SessionStore::open(&state).unwrap();
    let session = store.create(&root, "a day").unwrap();
    let id = session.id().clone();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut agent = Agent::new(parts(&root, session));
    let started = Instant::now();
    let mut slowest = Duration::ZERO;
    println!("before                                  {:8.1} MB", memory("VmRSS"));
    for n in 0..turns {
        let one = Instant::now();
        let (events, mut inbox) = tokio::sync::mpsc::unbounded_channel();
        let start = TurnStart::Say(vec![Part::text(format!("question {n}"))]);
        let ending = runtime.block_on(agent.run(start, events, CancellationToken::new()));
        assert_eq!(ending, TurnEnding::Done);
        while inbox.try_recv().is_ok() {}
        slowest = slowest.max(one.elapsed());
        if (n + 1) % (turns / 5).max(1) == 0 {
            let gone = started.elapsed().as_secs_f64();
            println!("after {:6} turns                      {:8.1} MB  {gone:7.1} s", n + 1, memory("VmRSS"));
        }
    }
    println!("peak                                    {:8.1} MB", memory("VmHWM"));
    println!("slowest turn                            {:8.1} ms", slowest.as_secs_f64() * 1e3);
    drop(agent);
    store.checkpoint().unwrap();
    let size = std::fs::metadata(state.join("placet.db")).unwrap().len();
    let again = Instant::now();
    let loaded = store.load_for_resume(&id).unwrap();
    let read = again.elapsed();
    let open = store.resume(&id).unwrap();
    let mut agent = Agent::new(parts(&root, open));
    let opened = again.elapsed() - read;
    agent.resume(loaded).unwrap();
    let window = agent.context_usage();
    let resumed = again.elapsed();
    assert!(window.summed_up > 0 || turns < 200, "a day of work is summed up");
    println!(
        "of that reading {:.1} ms, scratchpads {:.1} ms",
        read.as_secs_f64() * 1e3,
        opened.as_secs_f64() * 1e3
    );
    let whole = Instant::now();
    let messages = agent.transcript().messages().len();
    println!("all {messages} messages                  {:8.1} ms", whole.elapsed().as_secs_f64() * 1e3);
    println!("peak                                    {:8.1} MB", memory("VmHWM"));
    let cat = Instant::now();
    let status =
        Command::new("sh").arg("-c").arg(format!("cat {}/placet.db > /dev/null", state.display())).status();
    assert!(status.unwrap().success());
    let cat = cat.elapsed();
    println!(
        "taken up again                          {:8.1} ms  {:.2}x cat of its {:.0} MB",
        resumed.as_secs_f64() * 1e3,
        resumed.as_secs_f64() / cat.as_secs_f64(),
        size as f64 / 1e6
    );
}
