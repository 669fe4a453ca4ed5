//! Sub-agents: conversations that a conversation starts, each for one task.
//!
//! A sub-agent has its own context, ledger and turn. It shares workspace, rules, mode, scratchpads and interceptors
//! with its parent, so that it may never do more than the parent, also if the mode changes meanwhile. A sub-agent must
//! have read the content that it edits: two sub-agents that change one file never overwrite each other unseen, because
//! the second must read the file again. Commands and writes of all sub-agents take turns (`order` in
//! [`super::subagent_pool`]), because placet cannot know in advance which files a command changes. A sub-agent cannot
//! start sub-agents or ask the person questions of its own. Permission questions go to the person, one at a time. When
//! the turn is stopped, all sub-agents stop.

use super::config::{ActiveModel, AgentConfig, AgentLimits, TurnStart};
use super::event::{PromptAsker, TurnEvent, TurnEvents};
use super::services::SharedServices;
use super::turn::ending::TurnEnding;
use placet_provider::catalog::Money;
use placet_session::session::{RequestCost, SessionStore};
use placet_text::conversation::{CallOutcome, Part};
use placet_tools::{ProgressSink, SubagentReport, SubagentSpawner, SubagentTask};
use std::fmt::Write;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// Tools that a sub-agent does not get.
const NOT_FOR_CHILDREN: [&str; 4] = ["agent", "ask_person", "todo", "remember"];
/// The only tools of a read-only sub-agent.
const READING: [&str; 6] =
    ["read_file", "list_directory", "find_files", "search_contents", "scratchpad", "skill"];
/// The most bytes of a log.
const LONGEST_LOG: usize = 200_000;

/// How a sub-agent's conversation ended.
pub(super) struct SubagentEnd {
    pub(super) ending: TurnEnding,
    pub(super) last_answer: String,
    pub(super) spent: RequestCost,
}

/// Runs the conversation of a sub-agent; [`super::agent`] implements it.
pub(super) type Converse = fn(
    AgentConfig,
    TurnStart,
    UnboundedSender<TurnEvent>,
    CancellationToken,
) -> Pin<Box<dyn Future<Output = SubagentEnd> + Send>>;

/// What sub-agents get from their parent.
pub(super) struct SubagentFactory {
    pub(super) services: Arc<SharedServices>,
    pub(super) model: ActiveModel,
    pub(super) system: Arc<str>,
    pub(super) limits: AgentLimits,
    pub(super) store: Option<SessionStore>,
    pub(super) events: TurnEvents,
    pub(super) converse: Converse,
}

impl SubagentFactory {
    /// The way in which the tools of a conversation start sub-agents.
    pub(super) fn spawner(self) -> SubagentSpawner {
        let factory = Arc::new(self);
        SubagentSpawner::new(move |task, progress, cancel| {
            let factory = Arc::clone(&factory);
            Box::pin(async move { factory.run(task, progress, cancel).await })
        })
    }

    /// The configuration of a sub-agent. Its session is stored only in its parent's scratchpads.
    fn config(&self, is_read_only: bool) -> AgentConfig {
        let SharedServices { registry, env, policy, origin, subagents } = self.services.as_ref();
        let is_offered =
            |name: &str| !NOT_FOR_CHILDREN.contains(&name) && (!is_read_only || READING.contains(&name));
        // Nobody knows what the tools of servers change: a sub-agent that only reads does not get them.
        let registry = match is_read_only {
            true => registry.only(is_offered),
            false => registry.only_and_servers(is_offered),
        };
        AgentConfig {
            model: self.model.clone(),
            system: format!("{}{}", self.system, include_str!("../prompts/agent.md")).into(),
            registry: Arc::new(registry),
            env: Arc::new(env.for_child()),
            policy: Arc::clone(policy),
            limits: self.limits,
            interceptors: Arc::clone(&origin.interceptors),
            subagents: subagents.for_child(self.store.clone()),
            session: None,
        }
    }

    async fn run(
        &self,
        task: SubagentTask,
        progress: ProgressSink,
        cancel: CancellationToken,
    ) -> SubagentReport {
        let pool = &self.services.subagents;
        let number = pool.next_number();
        let name = task.name.clone().unwrap_or_else(|| number.to_string());
        let slot = tokio::select! {
            slot = Arc::clone(&pool.slots).acquire_owned() => slot.ok(),
            () = cancel.cancelled() => None,
        };
        if slot.is_none() {
            return SubagentReport { name, outcome: CallOutcome::Interrupted, ..SubagentReport::default() };
        }
        let mut log = format!("task: {}\n", task.text);
        let (sender, mut inbox) = unbounded_channel();
        let SubagentEnd { ending, last_answer, spent } = {
            let start = TurnStart::Say(vec![Part::text(&task.text)]);
            // A sub-agent that may not continue stops itself, and not the others.
            let running = (self.converse)(self.config(task.read_only), start, sender, cancel.child_token());
            let hearing = async {
                while let Some(event) = inbox.recv().await {
                    forward_event(event, &name, &progress, &self.events, &mut log);
                }
            };
            tokio::join!(running, hearing).0
        };
        let (outcome, text) = result_of(&ending, last_answer);
        let _ = write!(log, "\n{text}\n");
        let cost = format!("{} requests{}", spent.requests, priced(&spent));
        SubagentReport { name, outcome, text, log, cost }
    }
}

/// Forwards the events of a sub-agent: its calls become the parent's progress, its questions go to the person.
fn forward_event(
    event: TurnEvent,
    name: &str,
    progress: &ProgressSink,
    events: &TurnEvents,
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
            events.send(TurnEvent::Question(question));
        }
        TurnEvent::Choice(mut question) => {
            question.reason = format!("sub-agent {name}: {}", question.reason);
            events.send(TurnEvent::Choice(question));
        }
        TurnEvent::LoopQuestion(question) => events.send(TurnEvent::LoopQuestion(question)),
        TurnEvent::Enquiry(question) if question.asker == PromptAsker::Server => {
            events.send(TurnEvent::Enquiry(question));
        }
        _ => {}
    }
}

/// The last answer of the sub-agent, or why there is none.
fn result_of(ending: &TurnEnding, last_answer: String) -> (CallOutcome, String) {
    match ending {
        TurnEnding::Done if last_answer.trim().is_empty() => {
            (CallOutcome::Failed, "it ended without a report".into())
        }
        TurnEnding::Done => (CallOutcome::Done, last_answer),
        TurnEnding::Interrupted => {
            (CallOutcome::Interrupted, format!("it was interrupted. Its last answer: {last_answer}"))
        }
        other => {
            let why = other.words().map_or_else(String::new, |(words, _)| words);
            (CallOutcome::Failed, format!("it stopped: {why}. Its last answer: {last_answer}"))
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
