//! Sub-agents: conversations that a conversation begins, each for one task.
//!
//! A child has a context, a ledger and a turn of its own; workspace, rules, mode, scratchpads and the gate are its
//! parent's, so that nothing is permitted to it that is not permitted here, also when the mode changes meanwhile. What it
//! seeks to edit it must have read itself, by content: two that change one file never overwrite each other unseen, the
//! second has to read again. Commands and writes of all of them take turns ([`SubagentPool::order`]), for a
//! command changes files without saying which. Children have no children and ask the person nothing of their
//! own; questions of the gate go to the person, one at a time. Stopping the turn stops them all.

use super::agent::{Agent, lock};
use super::config::{AgentConfig, TurnStart};
use super::cost_meter::CostMeter;
use super::event::TurnEvent;
use super::turn::ending::TurnEnding;
use crate::conversation::{CallOutcome, Message, Part};
use crate::provider::catalog::Money;
use crate::session::{RequestCost, SessionStore};
use crate::tools::{ProgressSink, SubagentReport, SubagentSpawner, SubagentTask};
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// Tools that a child does not have.
const NOT_FOR_CHILDREN: [&str; 3] = ["agent", "ask_person", "todo"];
/// All that one has that may change nothing.
const READING: [&str; 5] = ["read_file", "list_directory", "find_files", "search_contents", "scratchpad"];
/// Bytes of a log.
const LONGEST_LOG: usize = 200_000;

/// What a conversation and its children have in common. Clones share it.
#[derive(Clone)]
pub struct SubagentPool {
    is_child: bool,
    /// So many work at once.
    slots: Arc<Semaphore>,
    /// Questions are asked one at a time.
    pub(super) asking: Arc<tokio::sync::Mutex<()>>,
    /// A command runs alone; what writes a file runs next to others that do.
    pub(super) order: Arc<tokio::sync::RwLock<()>>,
    /// What children cost that the parent has not counted yet.
    paid: Arc<Mutex<Vec<RequestCost>>>,
    /// What all of them spend.
    meter: Arc<CostMeter>,
    /// Where the costs of all sessions are kept, for a child that has no session of its own.
    store: Option<SessionStore>,
    born: Arc<AtomicU32>,
}

impl SubagentPool {
    /// `at_once`: how many children may work at the same time.
    pub fn new(at_once: usize) -> SubagentPool {
        SubagentPool {
            is_child: false,
            slots: Arc::new(Semaphore::new(at_once.clamp(1, 64))),
            asking: Arc::default(),
            order: Arc::default(),
            paid: Arc::default(),
            meter: Arc::default(),
            store: None,
            born: Arc::default(),
        }
    }

    pub(super) fn is_child(&self) -> bool {
        self.is_child
    }

    pub(super) fn meter(&self) -> &CostMeter {
        &self.meter
    }

    pub(super) fn store(&self) -> Option<&SessionStore> {
        self.store.as_ref()
    }

    /// What children cost that is not in the sums of the store yet.
    pub(super) fn unsaved(&self) -> u64 {
        lock(&self.paid).iter().map(|one| one.picos).sum()
    }
}

impl Default for SubagentPool {
    fn default() -> SubagentPool {
        SubagentPool::new(4)
    }
}

impl Agent {
    /// How this conversation's tools begin children.
    pub(super) fn children(&self, events: &UnboundedSender<TurnEvent>) -> SubagentSpawner {
        let (family, events) = (self.parts.family.clone(), events.clone());
        let parts = Arc::new(self.parts.for_child());
        SubagentSpawner::new(move |task, progress, cancel| {
            let (family, events, parts) = (family.clone(), events.clone(), Arc::clone(&parts));
            Box::pin(async move { run(&family, &parts, task, progress, events, cancel).await })
        })
    }

    /// A request of a child, for its parent to count.
    pub(super) fn report_cost_to_parent(&self, one: &RequestCost) {
        if self.parts.family.is_child {
            lock(&self.parts.family.paid).push(one.clone());
        }
    }

    /// Counts what children cost since it was last asked.
    pub(super) fn count_children(&mut self, events: &UnboundedSender<TurnEvent>) {
        if self.parts.family.is_child {
            return;
        }
        let paid = lock(&self.parts.family.paid).clone();
        if paid.is_empty() {
            return;
        }
        for one in &paid {
            self.count_child(one);
        }
        // Only now: a reader that sums up the day in between finds it in one place at least.
        lock(&self.parts.family.paid).drain(..paid.len());
        let (total, prompt) = self.usage();
        self.report_usage(total, prompt, events);
    }
}

impl AgentConfig {
    /// The same for a child; its session is kept nowhere but in its parent's scratchpads.
    fn for_child(&self) -> AgentConfig {
        let store = self.session.as_ref().map(|session| session.store().clone());
        AgentConfig {
            provider: Arc::clone(&self.provider),
            model: self.model.clone(),
            max_output: self.max_output,
            system: format!("{}{}", self.system, include_str!("../../prompts/agent.md")),
            registry: Arc::new(self.registry.only(|name| !NOT_FOR_CHILDREN.contains(&name))),
            env: Arc::new(self.env.for_child()),
            policy: Arc::clone(&self.policy),
            bounds: self.bounds,
            sum_up_at: self.sum_up_at,
            budget: self.budget,
            gate: Arc::clone(&self.gate),
            family: SubagentPool {
                is_child: true,
                store: store.or_else(|| self.family.store.clone()),
                ..self.family.clone()
            },
            session: None,
        }
    }
}

async fn run(
    family: &SubagentPool,
    parts: &AgentConfig,
    task: SubagentTask,
    progress: ProgressSink,
    events: UnboundedSender<TurnEvent>,
    cancel: CancellationToken,
) -> SubagentReport {
    let number = family.born.fetch_add(1, Ordering::Relaxed) + 1;
    let name = task.name.clone().unwrap_or_else(|| number.to_string());
    let slot = tokio::select! {
        slot = Arc::clone(&family.slots).acquire_owned() => slot.ok(),
        () = cancel.cancelled() => None,
    };
    if slot.is_none() {
        return SubagentReport { name, outcome: CallOutcome::Interrupted, ..SubagentReport::default() };
    }
    let mut parts = parts.for_child();
    if task.read_only {
        parts.registry = Arc::new(parts.registry.only(|name| READING.contains(&name)));
    }
    let mut child = Agent::new(parts);
    let mut log = format!("task: {}\n", task.text);
    let (sender, mut inbox) = unbounded_channel();
    let ending = {
        // One that may not go on stops itself, and not the others.
        let running = child.run(TurnStart::Say(vec![Part::text(&task.text)]), sender, cancel.child_token());
        let hearing = async {
            while let Some(event) = inbox.recv().await {
                forward_event(event, &name, &progress, &events, &mut log);
            }
        };
        tokio::join!(running, hearing).0
    };
    let (spent, _) = child.costs();
    let spent = spent.clone();
    let (outcome, text) = ended(&child, &ending);
    let _ = write!(log, "\n{text}\n");
    let cost = format!("{} requests{}", spent.requests, priced(&spent));
    SubagentReport { name, outcome, text, log, cost }
}

/// What a child lives through: its calls are its parent's progress, its questions are the person's.
fn forward_event(
    event: TurnEvent,
    name: &str,
    progress: &ProgressSink,
    events: &UnboundedSender<TurnEvent>,
    log: &mut String,
) {
    let mut note = |line: &str| {
        progress.send(&format!("{line}\n"));
        if log.len() < LONGEST_LOG {
            let _ = writeln!(log, "{line}");
        }
    };
    match event {
        TurnEvent::CallEnded { summary, .. } => note(&summary.line),
        TurnEvent::Notice(text) => note(&text),
        TurnEvent::Retrying { attempt, of, error, .. } => note(&format!("retry {attempt} of {of}: {error}")),
        TurnEvent::Question(mut question) => {
            question.reason = format!("sub-agent {name}: {}", question.reason);
            drop(events.send(TurnEvent::Question(question)));
        }
        TurnEvent::Choice(mut question) => {
            question.reason = format!("sub-agent {name}: {}", question.reason);
            drop(events.send(TurnEvent::Choice(question)));
        }
        TurnEvent::LoopQuestion(question) => drop(events.send(TurnEvent::LoopQuestion(question))),
        _ => {}
    }
}

/// The child's last words, or why there are none.
fn ended(child: &Agent, ending: &TurnEnding) -> (CallOutcome, String) {
    let said = match child.transcript().last() {
        Some(Message::Assistant(answer)) => answer.text(),
        _ => String::new(),
    };
    match ending {
        TurnEnding::Done if said.trim().is_empty() => {
            (CallOutcome::Failed, "it ended without a report".into())
        }
        TurnEnding::Done => (CallOutcome::Done, said),
        TurnEnding::Interrupted => {
            (CallOutcome::Interrupted, format!("it was interrupted. Its last answer: {said}"))
        }
        other => {
            let why = other.words().map_or_else(String::new, |(words, _)| words);
            (CallOutcome::Failed, format!("it stopped: {why}. Its last answer: {said}"))
        }
    }
}

fn priced(spent: &RequestCost) -> String {
    if spent.unpriced < spent.requests {
        format!(", {}", Money::from_picos(spent.picos))
    } else {
        String::new()
    }
}
