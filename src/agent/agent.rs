//! One conversation: what it is made of, how it is taken up and gone back in, and how one of its turns begins and ends.
//! What happens within a turn is in [`super::turn_driver`].

use super::budget::CostTracker;
use super::calls::interceptor::session_hooks::HookState;
use super::calls::interceptor::{CallInterceptors, CallOrigin, EntryPoint};
use super::calls::pipeline::{CallChannels, TurnCalls};
use super::config::{AgentConfig, TurnStart};
use super::conversation::notes::{mode_in, mode_note, newest_first};
use super::event::TurnEvent;
use super::instructions::ProjectInstructions;
use super::queue::MessageQueue;
use super::request::build::ModelContext;
use super::request::evicted::attached_path;
use super::turn::ending::TurnEnding;
use super::turn::machine::{Turn, TurnInput};
use super::turn_driver::TurnDriver;
use crate::conversation::{
    CallFact, CallId, ConversationSummary, JobEnd, Message, Note, Part, TokenUsage, Transcript,
};
use crate::permission::{ClassificationLevel, Mode};
use crate::provider::catalog::Money;
use crate::provider::{DirectCallProvider, ModelSpec, Provider};
use crate::session::{
    LoadedSession, OpenSession, SessionError, SessionRecord, SessionStateKey, SessionStore,
};
use crate::tools::ToolContext;
use crate::workspace::{ReadLedger, TransactionLabel, View};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// One conversation. Turns run one at a time.
pub struct Agent {
    pub(super) parts: AgentConfig,
    pub(super) context: ModelContext,
    pub(super) transcript: Transcript,
    pub(super) turn: Turn,
    instructions: ProjectInstructions,
    mode_told: Option<Mode>,
    pub(super) costs: CostTracker,
    last_prompt: u64,
    /// How often it went back or over to another branch.
    pub(super) branches: u32,
    pub(super) unsaved: Option<String>,
    /// Messages that are part of the conversation and could not be saved yet.
    pub(super) unwritten: Vec<SessionRecord>,
    told_usage: Option<TokenUsage>,
    pub(super) points: HookState,
    queue: MessageQueue,
    /// Results that have left the model's view, each handled once.
    pub(super) forgotten: HashSet<CallId>,
    /// What the model is to hear of jobs that ran when the conversation was left.
    lost_jobs: Vec<u32>,
    /// Files that were attached and have left it.
    pub(super) forgotten_files: HashSet<String>,
    /// What the model has instead of the beginning; the last one holds.
    pub(super) summaries: Vec<ConversationSummary>,
    /// The messages before this one, and the summaries that ended among them, were not read when this was taken up.
    pub(super) begins: usize,
    /// How many messages there were when summing up failed, or was undone: it is not tried again at once.
    pub(super) not_summed_up: Option<usize>,
    /// That the window fills up was said.
    pub(super) warned: bool,
}

impl Agent {
    pub fn new(parts: AgentConfig) -> Agent {
        // Sub-agents share their parent's policy: a new one must not lower the level of the conversation.
        if !parts.family.is_child() {
            lock(&parts.policy).taint().begin(ClassificationLevel::Public);
        }
        lock(&parts.env.ledger).begin_turn(1);
        let mut context = ModelContext::new(parts.system.clone(), parts.registry.wire_specs());
        let store = parts.session.as_ref().map(|session| session.store().clone());
        context.set_sources(store, Arc::clone(&parts.env.scratchpads));
        Agent {
            points: HookState::default(),
            queue: MessageQueue::default(),
            context,
            transcript: Transcript::default(),
            turn: Turn::new(parts.bounds),
            instructions: ProjectInstructions::default(),
            mode_told: None,
            costs: CostTracker::default(),
            last_prompt: 0,
            branches: 0,
            unsaved: None,
            unwritten: Vec::new(),
            told_usage: None,
            forgotten: HashSet::new(),
            lost_jobs: Vec::new(),
            forgotten_files: HashSet::new(),
            summaries: Vec::new(),
            begins: 0,
            not_summed_up: None,
            warned: false,
            parts,
        }
    }

    /// Takes up a session that was read back. Returns what the person should know about it.
    pub fn resume(&mut self, loaded: LoadedSession) -> Result<Vec<String>, SessionError> {
        for (hash, reason) in loaded.withheld {
            self.context.withhold(hash, reason);
        }
        if let Some(session) = &mut self.parts.session {
            for message in loaded.repairs {
                session.append(SessionRecord::Message { message })?;
            }
            let branches = session.state(SessionStateKey::Branches)?;
            self.branches = branches.and_then(|count| count.parse().ok()).unwrap_or(0);
            if let Some(saved) = session.state(SessionStateKey::Ledger)? {
                // One that cannot be read costs the model one read per file, nothing more.
                if let Ok(snapshot) = serde_json::from_str(&saved) {
                    *lock(&self.parts.env.ledger) = ReadLedger::restore(&snapshot);
                }
            }
        }
        self.load_taint()?;
        self.begins = loaded.transcript.begins();
        self.transcript = loaded.transcript;
        self.summaries = loaded.summaries;
        self.not_summed_up = loaded.undone;
        self.costs.restore(loaded.usage, &loaded.spent);
        self.parts.family.meter().begin_at(self.costs.session.picos);
        self.last_prompt = loaded.last_prompt;
        self.restore_reported();
        let mut notes = loaded.dropped;
        self.lost_jobs = lost_jobs(self.transcript.since(self.summaries.last().map_or(0, |s| s.upto)));
        if !self.lost_jobs.is_empty() {
            notes.push("the background commands of this conversation ended when placet was closed".into());
        }
        notes.extend(self.lost_on_switch());
        Ok(notes)
    }

    /// What the model was sent is in the transcript: saying it again would only cost tokens.
    pub(super) fn restore_reported(&mut self) {
        self.count_turn(None);
        // What was sent before the last summary, and still holds, is in it.
        let summary = self.summaries.last();
        let told = || {
            let after = newest_first(self.transcript.since(summary.map_or(0, |s| s.upto)));
            after.chain(summary.into_iter().flat_map(|s| s.notes.iter().rev()))
        };
        self.mode_told = told().find_map(mode_in);
        self.instructions.recall(told());
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub fn session(&self) -> Option<&OpenSession> {
        self.parts.session.as_ref()
    }

    pub fn model(&self) -> &ModelSpec {
        &self.parts.model
    }

    pub fn provider_name(&self) -> &str {
        self.parts.provider.name()
    }

    /// Tells the figures when they are new: a provider may give the last ones twice.
    pub(super) fn report_usage(
        &mut self,
        total: TokenUsage,
        prompt: u64,
        events: &UnboundedSender<TurnEvent>,
    ) {
        if self.told_usage.replace(total) != Some(total) {
            let cost = self.costs.session.clone();
            let cost = (cost.unpriced < cost.requests).then(|| Money::from_picos(cost.picos));
            drop(events.send(TurnEvent::Usage { total, prompt, window: self.parts.model.window, cost }));
        }
    }

    pub(super) fn set_last_prompt(&mut self, tokens: u64) {
        self.last_prompt = tokens;
    }

    pub(super) fn last_prompt(&self) -> u64 {
        self.last_prompt
    }

    pub fn usage(&self) -> (TokenUsage, u64) {
        (self.costs.session.usage, self.last_prompt)
    }

    /// What is in `queue` for it reaches the model between two requests of a turn.
    pub fn set_queue(&mut self, queue: &MessageQueue) {
        self.queue = queue.clone();
    }

    pub fn env(&self) -> &Arc<ToolContext> {
        &self.parts.env
    }

    pub fn gate(&self) -> &Arc<CallInterceptors> {
        &self.parts.gate
    }

    /// This conversation before the gate.
    pub fn visit(&self) -> CallOrigin {
        CallOrigin {
            gate: Arc::clone(&self.parts.gate),
            session: self.parts.session.as_ref().map(|s| s.id().to_string()),
            entrance: EntryPoint::Conversation,
        }
    }

    pub fn store(&self) -> Option<&SessionStore> {
        self.parts.session.as_ref().map(OpenSession::store)
    }

    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.parts.provider
    }

    /// Another provider or model from the next request on.
    pub fn switch(&mut self, provider: Arc<dyn Provider>, model: ModelSpec, max_output: u64) {
        self.points.ask_for_key_again();
        self.context.reset_for_model();
        self.parts.provider = provider;
        self.parts.model = model;
        self.parts.max_output = max_output;
    }

    /// Runs one turn to its end. `events` hears everything; cancelling `stop` interrupts the turn, which then still
    /// answers every open call and is saved.
    pub async fn run(
        &mut self,
        start: TurnStart,
        events: UnboundedSender<TurnEvent>,
        stop: CancellationToken,
    ) -> TurnEnding {
        if let Err(blocked) = self.check_start_hooks(&start, &events, &stop).await {
            return blocked;
        }
        self.count_turn(Some(&start));
        self.costs.begin_turn();
        if !self.parts.family.is_child() {
            self.parts.family.meter().begin_turn();
        }
        self.begin_turn(&start);
        // `DirectCallProvider` answers in this turn only: the person's own provider is set again when the
        // turn ends.
        let asked = Arc::clone(&self.parts.provider);
        if let TurnStart::Call { tool, input, .. } = &start {
            self.parts.provider = Arc::new(DirectCallProvider::new(tool, input.clone()));
        }
        // A call that the person typed is answered by no model that could be steered.
        let queue = (!matches!(start, TurnStart::Call { .. })).then(|| self.queue.clone());
        let (inputs, inbox) = unbounded_channel();
        let first = match start {
            TurnStart::Say(parts) => {
                for path in parts.iter().filter_map(attached_path) {
                    self.forgotten_files.remove(path);
                }
                let parts = self.without_secrets(parts, &events);
                TurnInput::Said(self.with_news(parts, &events))
            }
            TurnStart::Call { text, .. } => TurnInput::Typed(self.with_news(vec![Part::text(text)], &events)),
            TurnStart::Retry => TurnInput::Retry,
            TurnStart::SumUp { focus } => return self.sum_up_asked(&focus, &events, &stop).await,
        };
        let calls = TurnCalls::new(
            Arc::clone(&self.parts.registry),
            Arc::clone(&self.parts.env),
            Arc::clone(&self.parts.policy),
            self.visit(),
            CallChannels {
                events: events.clone(),
                family: self.parts.family.clone(),
                children: self.children(&events),
            },
            inputs.clone(),
        );
        let events_after = events.clone();
        let mut run = TurnDriver::new(self, calls, events, inputs, stop, queue);
        let ending = run.run_to_end(first, inbox).await;
        self.parts.provider = asked;
        let ending = match (self.unsaved.take(), self.points.blocked.take()) {
            (Some(why), _) => TurnEnding::Unsaved(why),
            (None, Some(blocked)) => blocked,
            (None, None) => ending,
        };
        self.count_children(&events_after);
        self.save_ledger();
        self.count_turn(None);
        self.end_turn(&events_after);
        ending
    }

    /// What is applied from now on is journaled under this turn's name.
    fn begin_turn(&self, start: &TurnStart) {
        if self.parts.family.is_child() {
            return;
        }
        let Some(view) = self.parts.env.workspace.view() else { return };
        let said = match start {
            TurnStart::Say(parts) => crate::conversation::text_of(parts),
            TurnStart::Call { text, .. } => text.clone(),
            TurnStart::Retry => "again".into(),
            TurnStart::SumUp { .. } => "sum up".into(),
        };
        let said = self.parts.gate.secrets.redact(&said);
        let title = said.lines().next().unwrap_or_default().chars().take(80).collect();
        let session = self.parts.session.as_ref().map(|s| s.id().to_string());
        let number = self.transcript.len();
        let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Err(e) = view.drop_unchanged() {
            tracing::warn!("files whose changes cancel out are still listed as pending: {e}");
        }
        let turn = TransactionLabel::turn_of(&name, number, self.branches);
        view.begin_turn(TransactionLabel { turn, session, title, ..TransactionLabel::default() });
    }

    /// What read mode's commands changed goes, and is said to.
    fn end_turn(&self, events: &UnboundedSender<TurnEvent>) {
        if self.parts.family.is_child() {
            return;
        }
        for why in self.parts.env.mounts.push() {
            drop(events.send(TurnEvent::Notice(format!("not saved to the store: {why}"))));
        }
        let Some(view) = self.parts.env.workspace.view() else { return };
        if let Err(e) = view.drop_scratch() {
            drop(events.send(TurnEvent::Notice(format!("could not discard the changes of commands: {e}"))));
        }
        let dropped = view.turn().dropped;
        if dropped > 0 {
            let changes = crate::text::count::of(dropped, "change");
            let words = format!("read mode: discarded {changes} made by commands");
            drop(events.send(TurnEvent::Notice(words)));
        }
    }

    /// What the person says, with what the model must know besides: the mode, and the project's instructions.
    fn with_news(&mut self, mut parts: Vec<Part>, events: &UnboundedSender<TurnEvent>) -> Vec<Part> {
        if let Some((note, sources)) = self.instructions.news(self.parts.env.workspace.cwd()) {
            if !sources.is_empty() {
                let names =
                    sources.iter().map(|p: &PathBuf| p.display().to_string()).collect::<Vec<_>>().join(", ");
                drop(events.send(TurnEvent::Notice(format!("instructions from {names}"))));
            }
            parts.push(Part::Note(note));
        }
        parts.extend(self.mode_change_note());
        parts.extend(self.job_notes(events));
        let jobs = std::mem::take(&mut self.lost_jobs);
        if !jobs.is_empty() {
            parts.push(Part::Note(Note::JobsLost { jobs }));
        }
        parts
    }

    /// Background commands that have ended since the model last learned of any. The person hears of them as
    /// well.
    pub(super) fn job_notes(&self, events: &UnboundedSender<TurnEvent>) -> Vec<Part> {
        if self.parts.family.is_child() {
            return Vec::new();
        }
        let env = &self.parts.env;
        let view = env.workspace.view().map(View::dir);
        for words in env.jobs.news_for_person(view) {
            drop(events.send(TurnEvent::Notice(words)));
        }
        let clean = |mut note: Note| {
            for text in note.foreign_texts_mut() {
                *text = self.parts.gate.secrets.redact(text).into_owned();
            }
            Part::Note(note)
        };
        env.jobs.news_for_model(view).into_iter().map(Note::JobEnded).map(clean).collect()
    }

    /// The mode, when the model was last sent another one. Part of the saved message, so that what was sent
    /// once is sent the same way ever after.
    pub(super) fn mode_change_note(&mut self) -> Option<Part> {
        let mode = lock(&self.parts.policy).mode();
        if self.mode_told == Some(mode) {
            return None;
        }
        self.mode_told = Some(mode);
        Some(Part::Note(mode_note(mode)))
    }
}

/// The background commands that were begun in these messages and are not known to have ended: they ended with placet.
fn lost_jobs(messages: &[Message]) -> Vec<u32> {
    let mut running: BTreeSet<u32> = BTreeSet::new();
    for message in messages {
        if let Message::Results { results } = message {
            for fact in results.iter().flat_map(|result| &result.facts) {
                match fact {
                    CallFact::JobStarted { job } => drop(running.insert(*job)),
                    CallFact::JobEnded { job } => drop(running.remove(job)),
                    _ => {}
                }
            }
        }
        for note in newest_first(std::slice::from_ref(message)) {
            match note {
                Note::JobEnded(JobEnd { job, .. }) => drop(running.remove(job)),
                // The model knows already.
                Note::JobsLost { jobs } => running.retain(|job| !jobs.contains(job)),
                _ => {}
            }
        }
    }
    running.into_iter().collect()
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
