//! One conversation: its parts, how it is resumed and rewound, and how one of its turns begins and ends. What happens
//! within a turn is in [`super::turn_driver`].

use super::calls::origin::{CallInterceptors, CallOrigin, EntryPoint};
use super::calls::pipeline::TurnCalls;
use super::calls::server_start;
use super::compact::{Compaction, CompactionState};
use super::config::{ActiveModel, AgentConfig, AgentLimits, SelectedModel, TurnStart};
use super::conversation::log::Conversation;
use super::conversation::model_switch::lost_on_switch;
use super::conversation::reported::ReportedState;
use super::cost_meter::CostBudget;
use super::costs::CostTracker;
use super::edit_checks::EditChecks;
use super::end_of_turn::{self, FindReviewed, TurnDecision};
use super::event::{TurnEvent, TurnEvents};
use super::lock::lock;
use super::queue::MessageQueue;
use super::request::build::ModelContext;
use super::request::client::ModelClient;
use super::request::evicted::attached_path;
use super::request::inquiry::ServerInquiry;
use super::request::usage::{ContextUsage, context_usage};
use super::services::SharedServices;
use super::session_checks::{LeaveError, SessionChecks};
use super::subagents::{SubagentEnd, SubagentFactory};
use super::turn::ending::TurnEnding;
use super::turn::machine::{Turn, TurnInput};
use super::turn_checks::{CheckGoal, CheckVerdict, GoalEnd, GoalStop, TurnChecks};
use super::turn_driver::{TurnDriver, TurnParts};
use super::turn_transaction;
use placet_permission::ClassificationLevel;
use placet_provider::{DirectCallProvider, ModelSpec, Provider, ServerFacts};
use placet_session::session::{LoadedSession, OpenSession, RequestCost, SessionError, SessionStateKey};
use placet_text::conversation::{Message, Part, TokenUsage, Transcript};
use placet_tools::{SubagentSpawner, ToolContext};
use placet_workspace::ReadLedger;
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// How often hooks may make the model continue in one turn.
const MOST_CONTINUED: u32 = 8;

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
    /// The next turn continues until its checks pass.
    goal: Option<CheckGoal>,
    goal_end: Option<GoalEnd>,
}

impl Agent {
    pub fn new(config: AgentConfig) -> Agent {
        let AgentConfig { model, system, registry, env, policy, limits, interceptors, subagents, session } =
            config;
        // Sub-agents share their parent's policy: a new sub-agent must not lower the level of the conversation.
        if !subagents.is_child {
            lock(&policy).taint().begin(ClassificationLevel::Public);
        }
        lock(&env.ledger).begin_turn(1);
        lock(&env.ledger).begin_message(1);
        let mut context = ModelContext::new(system, registry.wire_specs());
        let store = session.as_ref().map(|session| session.store().clone());
        context.set_sources(store, Arc::clone(&env.scratchpads));
        let origin = CallOrigin {
            interceptors,
            session: session.as_ref().map(|s| s.id().to_string()),
            entry_point: EntryPoint::Conversation,
        };
        let (costs, budget) = (CostTracker::default(), limits.budget);
        let client = ModelClient {
            model,
            context,
            costs,
            budget,
            subagents: subagents.clone(),
            inquiry: ServerInquiry::default(),
        };
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
            goal: None,
            goal_end: None,
            services,
        }
    }

    /// Resumes a loaded session. Returns what the person should know about it.
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
            // A ledger that cannot be read costs the model one read per file, nothing more.
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

    /// What must hold before the messages of the session are read: its level.
    pub fn begin_resume(&mut self) -> Result<(), SessionError> {
        self.checks.load_level(&self.conversation)
    }

    fn restore_reported(&mut self) {
        self.conversation.begin_reads(None, &self.services);
        self.reported.restore(&self.conversation);
    }

    /// Rewinds to the state before the message `index`. The later messages leave this conversation and remain in the
    /// session as a branch. The model must read again what it had seen.
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

    /// The text that replaces the beginning for the model, and the number of replaced messages.
    pub fn summary(&self) -> Option<(&str, usize)> {
        self.conversation.summary()
    }

    /// Replaces the summary with the person's text. Text that looks like a secret is redacted here as well.
    pub fn rewrite_summary(&mut self, text: &str) -> Result<(), SessionError> {
        let text = self.services.secrets().redact(text.trim()).into_owned();
        let Some(summary) = self.conversation.summary_with(text) else { return Ok(()) };
        self.conversation.add_summary(summary, &self.services)?;
        self.client.context.reset_rejected();
        // The provider's last count was of a request with the old summary.
        self.client.costs.last_prompt = 0;
        Ok(())
    }

    /// Removes the last summary: its messages are sent again. Returns their number, or `None` without a summary.
    pub fn undo_summary(&mut self) -> Result<Option<usize>, SessionError> {
        let Some(upto) = self.conversation.undo_summary()? else { return Ok(None) };
        self.client.context.reset_rejected();
        self.restore_reported();
        // The provider's last count was of a request with the removed summary.
        self.client.costs.last_prompt = 0;
        // Otherwise the next request would begin with a new summary.
        self.compaction.failed_at = Some(self.conversation.transcript.len());
        Ok(Some(upto))
    }

    /// Uses another provider or model from the next request on.
    pub fn switch(&mut self, provider: Arc<dyn Provider>, model: ModelSpec, max_output: u64) {
        self.checks.ask_for_key_again();
        self.client.switch(ActiveModel { provider, spec: model, max_output });
    }

    /// The parts of the conversation that the present model cannot get; `None` if it gets everything.
    pub fn lost_on_switch(&self) -> Option<String> {
        let ActiveModel { provider, spec, .. } = &self.client.model;
        lost_on_switch(self.conversation.unsummarized(), spec, provider.wire())
    }

    /// Called when the person leaves the conversation for a new one: hooks may forbid it, and the level falls to
    /// PUBLIC.
    pub async fn leave(&self) -> Result<(), LeaveError> {
        self.checks.leave(self.conversation.transcript.len()).await
    }

    /// The conversation ends in this process: hooks learn it. Returns what they say to the person.
    pub async fn end_session(&self, reason: &str) -> Vec<String> {
        self.checks.end_session(reason).await
    }

    /// Another conversation could not be resumed: the level of this one applies again.
    pub fn reclaim(&self) {
        self.checks.restore_level();
    }

    /// The lines that `queue` contains for this turn reach the model between two requests.
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

    /// Who answers now, to be set again by [`Agent::switch`].
    pub fn answerer(&self) -> SelectedModel {
        let ActiveModel { provider, spec, max_output } = self.client.model.clone();
        SelectedModel { provider, model: spec, max_output, note: None }
    }

    /// What the server says of the model, once it was asked.
    pub fn server_facts(&self) -> Option<&ServerFacts> {
        self.client.inquiry.facts()
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

    /// The tokens of the window that a request may have.
    pub fn usable_window(&self) -> u64 {
        self.client.usable_window() as u64
    }

    pub fn context_usage(&self) -> ContextUsage {
        context_usage(&self.client, &self.conversation)
    }

    /// The cost of the session until now, and of the last turn.
    pub fn costs(&self) -> (&RequestCost, &RequestCost) {
        (&self.client.costs.session, &self.client.costs.turn)
    }

    pub fn budget(&self) -> CostBudget {
        self.limits.budget
    }

    /// The next [`Agent::run`] continues with further turns until these checks pass.
    pub fn set_goal(&mut self, goal: CheckGoal) {
        self.goal = Some(goal);
    }

    /// How the goal of the last run ended; `None` where it had no goal.
    pub fn goal_end(&self) -> Option<GoalEnd> {
        self.goal_end
    }

    /// Runs one turn to its end, or turns until the goal is reached ([`Agent::set_goal`]). Then an empty message begins
    /// with the checks.
    pub async fn run(
        &mut self,
        start: TurnStart,
        events: UnboundedSender<TurnEvent>,
        stop: CancellationToken,
    ) -> TurnEnding {
        self.goal_end = None;
        let Some(goal) = self.goal.take() else { return self.run_turn(start, events, stop).await };
        self.goal_end = Some(GoalEnd::Failed);
        let mut held = false;
        let ending = self.run_until(&goal, start, (&events, &stop), &mut held).await;
        // What an earlier round left pending belongs to the question at the end, too.
        if let Some(view) = self.services.env.workspace.view().filter(|_| held) {
            view.turn().held = true;
        }
        ending
    }

    async fn run_until(
        &mut self,
        goal: &CheckGoal,
        start: TurnStart,
        (events, stop): (&UnboundedSender<TurnEvent>, &CancellationToken),
        held: &mut bool,
    ) -> TurnEnding {
        let checks = TurnChecks::new(&self.services, &TurnEvents::new(events.clone()), stop);
        let is_empty = matches!(&start, TurnStart::Say(parts) if parts.is_empty());
        if !is_empty {
            let ending = self.run_round(start, (events, stop), held).await;
            if ending != TurnEnding::Done {
                return ending;
            }
        }
        let mut round = 0;
        loop {
            let before = checks.state().await;
            let note = match checks.of_goal(goal, round).await {
                CheckVerdict::Passed => {
                    self.goal_end = Some(GoalEnd::Passed);
                    checks.report_end(goal, GoalStop::Passed { rounds: round });
                    return TurnEnding::Done;
                }
                CheckVerdict::Unknown => return TurnEnding::Done,
                CheckVerdict::Failed(_) if round == goal.rounds => {
                    checks.report_end(goal, GoalStop::Rounds);
                    return TurnEnding::Done;
                }
                CheckVerdict::Failed(note) => note,
            };
            round += 1;
            let start = TurnStart::Say(vec![Part::Note(note)]);
            let ending = self.run_round(start, (events, stop), held).await;
            if ending != TurnEnding::Done || stop.is_cancelled() {
                return ending;
            }
            if before.is_none() || checks.state().await == before {
                checks.report_end(goal, GoalStop::Unchanged);
                return TurnEnding::Done;
            }
        }
    }

    /// One turn of a goal; `held` remembers whether one of them left changes pending.
    async fn run_round(
        &mut self,
        start: TurnStart,
        (events, stop): (&UnboundedSender<TurnEvent>, &CancellationToken),
        held: &mut bool,
    ) -> TurnEnding {
        let ending = self.run_turn(start, events.clone(), stop.clone()).await;
        *held |= self.services.env.workspace.view().is_some_and(|view| view.turn().held);
        ending
    }

    /// Runs one turn to its end. `events` receives every event. When `stop` is cancelled, the turn is interrupted; it
    /// still answers every open call and is saved.
    async fn run_turn(
        &mut self,
        start: TurnStart,
        events: UnboundedSender<TurnEvent>,
        stop: CancellationToken,
    ) -> TurnEnding {
        let events = TurnEvents::new(events);
        let added = match self.checks.before_turn(&start, &events, &stop).await {
            Ok(added) => added,
            Err(blocked) => return blocked,
        };
        self.conversation.begin_reads(Some(&start), &self.services);
        self.client.begin_turn();
        turn_transaction::begin(&self.services, &self.conversation, &start);
        // `DirectCallProvider` answers in this turn only: the person's own provider is set again when the
        // turn ends.
        let provider = Arc::clone(&self.client.model.provider);
        // A call that the person typed has no model that a queued line could steer.
        let mut queue = Some(self.queue.clone());
        let first = match start {
            TurnStart::Say(parts) => {
                self.offer_server_tools(&events, &stop).await;
                parts.iter().filter_map(attached_path).for_each(|path| self.conversation.reads.attach(path));
                let mut parts = self.services.secrets().clean_message(parts, &events);
                parts.extend(self.reported.notes(&self.services, &events));
                let is_resumed = !self.conversation.transcript.is_empty();
                parts.extend(self.checks.begin_session(is_resumed, &events, &stop).await);
                parts.extend(added);
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
        let has_model = queue.is_some();
        let checks = TurnChecks::new(&self.services, &events, &stop);
        let before = if has_model { checks.before_turn().await } else { None };
        let edit_checks = EditChecks::new(TurnChecks::new(&self.services, &events, &stop));
        let mut edit_checks = edit_checks.filter(|_| has_model);
        let mut sent = 0;
        let mut ending = self.drive(first, (queue.clone(), edit_checks.as_mut()), &events, &stop).await;
        let mut continued = 0;
        while has_model && ending == TurnEnding::Done {
            let answer = last_answer(self.transcript());
            let more = self.checks.before_end(answer, continued > 0, &events, &stop).await;
            let more = match more {
                Some(more) => more,
                None => match checks.failures(before.as_ref(), sent).await {
                    Some(failures) => {
                        sent += 1;
                        let failures = TurnInput::Said(vec![Part::Note(failures)]);
                        ending =
                            self.drive(failures, (queue.clone(), edit_checks.as_mut()), &events, &stop).await;
                        continue;
                    }
                    None => break,
                },
            };
            if continued == MOST_CONTINUED {
                events.notice(format!("the turn ends: hooks made it continue {MOST_CONTINUED} times"));
                break;
            }
            continued += 1;
            let more = TurnInput::Said(vec![more]);
            ending = self.drive(more, (queue.clone(), edit_checks.as_mut()), &events, &stop).await;
        }
        self.client.model.provider = provider;
        self.client.count_subagents(&mut self.conversation, &events);
        self.conversation.save_ledger(&self.services);
        self.conversation.begin_reads(None, &self.services);
        if !self.services.subagents.is_child {
            let env = &self.services.env;
            let settled = env.servers.settle(&env.workspace).await;
            settled.into_iter().for_each(|words| events.notice(words));
        }
        turn_transaction::end(&self.services, &events);
        ending
    }

    /// From one message to the end of the model's work.
    async fn drive(
        &mut self,
        first: TurnInput,
        (queue, edit_checks): (Option<MessageQueue>, Option<&mut EditChecks>),
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> TurnEnding {
        let (inputs, inbox) = unbounded_channel();
        let spawner = self.subagent_spawner(events);
        let helpers = (spawner, Some(self.client.model.clone()));
        let calls = TurnCalls::new(Arc::clone(&self.services), events.clone(), helpers, inputs.clone());
        let parts = TurnParts {
            services: &self.services,
            conversation: &mut self.conversation,
            client: &mut self.client,
            reported: &mut self.reported,
            compaction: &mut self.compaction,
            checks: &mut self.checks,
            turn: &mut self.turn,
            queue,
            edit_checks,
        };
        let mut driver = TurnDriver::new(parts, calls, events.clone(), inputs, stop.clone());
        let ending = driver.run_to_end(first, inbox).await;
        if let Some(metrics) = &self.services.origin.interceptors.metrics {
            metrics.flush();
        }
        ending
    }

    /// Before the first request of the conversation: which tools of servers requests contain. They never change afterwards.
    async fn offer_server_tools(&mut self, events: &TurnEvents, stop: &CancellationToken) {
        let SharedServices { registry, env, .. } = self.services.as_ref();
        if env.servers.is_empty() {
            return;
        }
        let servers = registry.servers();
        let Some(unread) = servers.read_unknown(env, stop, |words| events.notice(words)).await else {
            return;
        };
        for server in unread {
            if !server_start::start_with_hosts(&self.services, events, &server.name, stop).await {
                events.notice(server.words);
            }
        }
        let notices = servers.choose(env, &registry.names());
        notices.into_iter().for_each(|words| events.notice(words));
        self.client.context.set_tools(registry.wire_specs());
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

    /// The way in which this conversation's tools start sub-agents.
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
            let last_answer = last_answer(agent.transcript());
            SubagentEnd { ending, last_answer, spent: agent.costs().0.clone() }
        })
    }

    /// Asks whether to apply the changes that this turn left pending. Without an answer the changes remain pending. `stop`
    /// ends an apply before its first change.
    pub async fn ask_to_apply(
        &mut self,
        events: &UnboundedSender<TurnEvent>,
        stop: &CancellationToken,
        reviewed: FindReviewed,
    ) -> TurnDecision {
        end_of_turn::ask_after_turn(&self.services, events, stop, reviewed).await
    }
}

fn last_answer(transcript: &Transcript) -> String {
    match transcript.last() {
        Some(Message::Assistant(answer)) => answer.text(),
        _ => String::new(),
    }
}
