//! One conversation: the parts that it is made of, how it is resumed and gone back in, and how one of its turns begins and
//! ends. What happens within a turn is in [`super::turn_driver`].

use super::calls::origin::{CallInterceptors, CallOrigin, EntryPoint};
use super::calls::pipeline::TurnCalls;
use super::compact::{Compaction, CompactionState};
use super::config::{ActiveModel, AgentConfig, AgentLimits, TurnStart};
use super::conversation::log::Conversation;
use super::conversation::model_switch::lost_on_switch;
use super::conversation::reported::ReportedState;
use super::cost_meter::CostBudget;
use super::costs::CostTracker;
use super::end_of_turn::{self, TurnDecision};
use super::event::{TurnEvent, TurnEvents};
use super::lock::lock;
use super::queue::MessageQueue;
use super::request::build::ModelContext;
use super::request::client::ModelClient;
use super::request::evicted::attached_path;
use super::request::usage::{ContextUsage, context_usage};
use super::services::SharedServices;
use super::session_checks::{LeaveError, SessionChecks};
use super::subagents::{SubagentEnd, SubagentFactory};
use super::turn::ending::TurnEnding;
use super::turn::machine::{Turn, TurnInput};
use super::turn_driver::{TurnDriver, TurnParts};
use super::turn_transaction;
use crate::conversation::{Message, Part, TokenUsage, Transcript};
use crate::permission::ClassificationLevel;
use crate::provider::{DirectCallProvider, ModelSpec, Provider};
use crate::session::{LoadedSession, OpenSession, RequestCost, SessionError, SessionStateKey};
use crate::tools::{SubagentSpawner, ToolContext};
use crate::workspace::ReadLedger;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// One conversation. Turns run one at a time.
pub struct Agent {
    services: Arc<SharedServices>,
    limits: AgentLimits,
    conversation: Conversation,
    client: ModelClient,
    reported: ReportedState,
    compaction: CompactionState,
    checks: SessionChecks,
    turn: Turn,
    queue: MessageQueue,
}

impl Agent {
    pub fn new(config: AgentConfig) -> Agent {
        let AgentConfig { model, system, registry, env, policy, limits, interceptors, subagents, session } =
            config;
        // Sub-agents share their parent's policy: a new one must not lower the level of the conversation.
        if !subagents.is_child {
            lock(&policy).taint().begin(ClassificationLevel::Public);
        }
        lock(&env.ledger).begin_turn(1);
        let mut context = ModelContext::new(system, registry.wire_specs());
        let store = session.as_ref().map(|session| session.store().clone());
        context.set_sources(store, Arc::clone(&env.scratchpads));
        let origin = CallOrigin {
            interceptors,
            session: session.as_ref().map(|s| s.id().to_string()),
            entry_point: EntryPoint::Conversation,
        };
        let (costs, budget) = (CostTracker::default(), limits.budget);
        let client = ModelClient { model, context, costs, budget, subagents: subagents.clone() };
        let services = Arc::new(SharedServices { registry, env, policy, origin, subagents });
        Agent {
            limits,
            conversation: Conversation::new(session),
            client,
            reported: ReportedState::default(),
            compaction: CompactionState::new(limits.compact_at),
            checks: SessionChecks::new(Arc::clone(&services)),
            turn: Turn::new(limits.turn),
            queue: MessageQueue::default(),
            services,
        }
    }

    /// Resumes a session that was read back. Returns what the person should know about it.
    pub fn resume(&mut self, mut loaded: LoadedSession) -> Result<Vec<String>, SessionError> {
        for (hash, reason) in std::mem::take(&mut loaded.withheld) {
            self.client.context.withhold(hash, reason);
        }
        self.client.costs.restore(loaded.usage, &loaded.spent, loaded.last_prompt);
        self.services.subagents.meter.begin_at(self.client.costs.session.picos);
        self.compaction.failed_at = loaded.undone;
        let mut notes = std::mem::take(&mut loaded.dropped);
        self.conversation.resume(loaded)?;
        if let Some(saved) = self.conversation.state(SessionStateKey::Ledger)? {
            // One that cannot be read costs the model one read per file, nothing more.
            if let Ok(snapshot) = serde_json::from_str(&saved) {
                *self.services.ledger() = ReadLedger::restore(&snapshot);
            }
        }
        self.checks.load_level(&self.conversation)?;
        self.restore_reported();
        if self.reported.find_lost_jobs(&self.conversation) {
            notes.push("the background commands of this conversation ended when placet was closed".into());
        }
        notes.extend(self.lost_on_switch());
        Ok(notes)
    }

    fn restore_reported(&mut self) {
        self.conversation.begin_reads(None, &self.services);
        self.reported.restore(&self.conversation);
    }

    /// Goes back to before the message `index`: what came from there on is forgotten here, and stays in the session as a
    /// branch. The model must read again what it had seen.
    pub fn rewind(&mut self, index: usize) -> Result<(), SessionError> {
        self.conversation.rewind(index)?;
        self.reset_branch_state();
        Ok(())
    }

    /// Goes to the end of the branch whose last message is the entry `tip`. Returns what the person should know.
    pub fn go_to(&mut self, tip: i64) -> Result<Vec<String>, SessionError> {
        let notes = self.conversation.go_to(tip)?;
        self.reset_branch_state();
        Ok(notes)
    }

    fn reset_branch_state(&mut self) {
        self.compaction.failed_at = None;
        self.client.context.reset_rejected();
        self.services.ledger().drop_all();
        self.conversation.save_ledger(&self.services);
        self.restore_reported();
    }

    /// What the model has in place of the beginning, and of how many messages.
    pub fn summary(&self) -> Option<(&str, usize)> {
        self.conversation.summary()
    }

    /// The summary in the person's words. What looks like a secret is kept from the model here as well.
    pub fn rewrite_summary(&mut self, text: &str) -> Result<(), SessionError> {
        let text = self.services.secrets().redact(text.trim()).into_owned();
        let Some(summary) = self.conversation.summary_with(text) else { return Ok(()) };
        self.conversation.add_summary(summary, &self.services)?;
        self.client.context.reset_rejected();
        // The provider's last count was of a request with the old summary.
        self.client.costs.last_prompt = 0;
        Ok(())
    }

    /// Takes the last summary away: its messages are sent again. Says of how many it was; nothing where there is none.
    pub fn undo_summary(&mut self) -> Result<Option<usize>, SessionError> {
        let Some(upto) = self.conversation.undo_summary()? else { return Ok(None) };
        self.client.context.reset_rejected();
        self.restore_reported();
        // The provider's last count was of a request with the summary that is gone now.
        self.client.costs.last_prompt = 0;
        // Otherwise the next request would begin with another one.
        self.compaction.failed_at = Some(self.conversation.transcript.len());
        Ok(Some(upto))
    }

    /// Another provider or model from the next request on.
    pub fn switch(&mut self, provider: Arc<dyn Provider>, model: ModelSpec, max_output: u64) {
        self.checks.ask_for_key_again();
        self.client.switch(ActiveModel { provider, spec: model, max_output });
    }

    /// What of the conversation the present model cannot have; nothing where all of it goes along.
    pub fn lost_on_switch(&self) -> Option<String> {
        let ActiveModel { provider, spec, .. } = &self.client.model;
        lost_on_switch(self.conversation.unsummarized(), spec, provider.wire())
    }

    /// The conversation is left for a new one: hooks may forbid it, and its level falls to PUBLIC.
    pub async fn leave(&self) -> Result<(), LeaveError> {
        self.checks.leave(self.conversation.transcript.len()).await
    }

    /// Another conversation could not be resumed: this one's level holds again.
    pub fn reclaim(&self) {
        self.checks.restore_level();
    }

    /// What is in `queue` for it reaches the model between two requests of a turn.
    pub fn set_queue(&mut self, queue: &MessageQueue) {
        self.queue = queue.clone();
    }

    pub fn transcript(&self) -> &Transcript {
        &self.conversation.transcript
    }

    pub fn session(&self) -> Option<&OpenSession> {
        self.conversation.session()
    }

    pub fn model(&self) -> &ModelSpec {
        &self.client.model.spec
    }

    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.client.model.provider
    }

    pub fn provider_name(&self) -> &str {
        self.client.model.provider.name()
    }

    pub fn env(&self) -> &Arc<ToolContext> {
        &self.services.env
    }

    pub fn interceptors(&self) -> &Arc<CallInterceptors> {
        &self.services.origin.interceptors
    }

    /// This conversation as the origin of a call.
    pub fn call_origin(&self) -> CallOrigin {
        self.services.origin.clone()
    }

    /// The tokens of the session, and those of the last prompt.
    pub fn usage(&self) -> (TokenUsage, u64) {
        (self.client.costs.session.usage, self.client.costs.last_prompt)
    }

    pub fn context_usage(&self) -> ContextUsage {
        context_usage(&self.client, &self.conversation)
    }

    /// What the session cost so far, and the turn that ran last.
    pub fn costs(&self) -> (&RequestCost, &RequestCost) {
        (&self.client.costs.session, &self.client.costs.turn)
    }

    pub fn budget(&self) -> CostBudget {
        self.limits.budget
    }

    /// Runs one turn to its end. `events` hears everything; cancelling `stop` interrupts the turn, which then still
    /// answers every open call and is saved.
    pub async fn run(
        &mut self,
        start: TurnStart,
        events: UnboundedSender<TurnEvent>,
        stop: CancellationToken,
    ) -> TurnEnding {
        let events = TurnEvents::new(events);
        if let Err(blocked) = self.checks.before_turn(&start, &events, &stop).await {
            return blocked;
        }
        self.conversation.begin_reads(Some(&start), &self.services);
        self.client.begin_turn();
        turn_transaction::begin(&self.services, &self.conversation, &start);
        // `DirectCallProvider` answers in this turn only: the person's own provider is set again when the
        // turn ends.
        let provider = Arc::clone(&self.client.model.provider);
        // A call that the person typed is answered by no model that could be steered.
        let mut queue = Some(self.queue.clone());
        let first = match start {
            TurnStart::Say(parts) => {
                parts.iter().filter_map(attached_path).for_each(|path| self.conversation.reads.attach(path));
                let mut parts = self.services.secrets().clean_message(parts, &events);
                parts.extend(self.reported.notes(&self.services, &events));
                TurnInput::Said(parts)
            }
            TurnStart::Call { text, tool, input } => {
                self.client.model.provider = Arc::new(DirectCallProvider::new(&tool, input));
                queue = None;
                let notes = self.reported.notes(&self.services, &events);
                TurnInput::Typed([Part::text(text)].into_iter().chain(notes).collect())
            }
            TurnStart::Retry => TurnInput::Retry,
            TurnStart::SumUp { focus } => return self.compact(&focus, &events, &stop).await,
        };
        let (inputs, inbox) = unbounded_channel();
        let spawner = self.subagent_spawner(&events);
        let calls = TurnCalls::new(Arc::clone(&self.services), events.clone(), spawner, inputs.clone());
        let parts = TurnParts {
            services: &self.services,
            conversation: &mut self.conversation,
            client: &mut self.client,
            reported: &mut self.reported,
            compaction: &mut self.compaction,
            checks: &mut self.checks,
            turn: &mut self.turn,
            queue,
        };
        let ending =
            TurnDriver::new(parts, calls, events.clone(), inputs, stop).run_to_end(first, inbox).await;
        self.client.model.provider = provider;
        self.client.count_subagents(&mut self.conversation, &events);
        self.conversation.save_ledger(&self.services);
        self.conversation.begin_reads(None, &self.services);
        turn_transaction::end(&self.services, &events);
        ending
    }

    /// The whole turn of `/compact`.
    async fn compact(&mut self, focus: &str, events: &TurnEvents, stop: &CancellationToken) -> TurnEnding {
        let compaction = Compaction {
            conversation: &mut self.conversation,
            client: &mut self.client,
            state: &mut self.compaction,
            checks: &self.checks,
            services: &self.services,
            events,
        };
        compaction.run_turn(focus, stop).await
    }

    /// How this conversation's tools start sub-agents.
    fn subagent_spawner(&self, events: &TurnEvents) -> SubagentSpawner {
        let factory = SubagentFactory {
            services: Arc::clone(&self.services),
            model: self.client.model.clone(),
            system: Arc::clone(self.client.context.system()),
            limits: self.limits,
            store: self.conversation.store().cloned(),
            events: events.clone(),
            converse: Agent::run_as_subagent,
        };
        factory.spawner()
    }

    fn run_as_subagent(
        config: AgentConfig,
        start: TurnStart,
        events: UnboundedSender<TurnEvent>,
        stop: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = SubagentEnd> + Send>> {
        Box::pin(async move {
            let mut agent = Agent::new(config);
            let ending = agent.run(start, events, stop).await;
            let last_answer = match agent.transcript().last() {
                Some(Message::Assistant(answer)) => answer.text(),
                _ => String::new(),
            };
            SubagentEnd { ending, last_answer, spent: agent.costs().0.clone() }
        })
    }

    /// Asks what becomes of the changes that this turn left pending. Without an answer they stay pending.
    pub async fn ask_to_apply(&mut self, events: &UnboundedSender<TurnEvent>) -> TurnDecision {
        end_of_turn::ask_after_turn(&self.services, events).await
    }
}
