//! Performs the effects of a [`Turn`]: saves, asks the provider, plans and runs calls, and tells a face about it.

use super::calls::{Calls, Cleared, Shares};
use super::context::{Built, Context};
use super::cost::Costs;
use super::ending::Ending;
use super::event::{Event, LoopQuestion};
use super::gate::{Entrance, Gate, Visit};
use super::instructions::Instructions;
use super::parts::{Parts, Start};
use super::points::Points;
use super::queue::Queue;
use super::standing::{mode_in, mode_words, texts};
use super::turn::{Effect, Input, LoopAnswer, Repair, Turn};
use crate::conversation::{CallId, CallResult, Message, Outcome, Part, Summary, Transcript, Usage};
use crate::permission::{Level, Mode};
use crate::provider::catalog::Money;
use crate::provider::{AnswerStream, Direct, Model, Provider, ProviderError, StreamEvent};
use crate::session::{Loaded, OpenSession, Record, SessionError, State, Store};
use crate::tools::Env;
use crate::workspace::{Label, Ledger};
use futures_util::StreamExt;
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the beginning of a streaming answer is saved.
const SAVE_EVERY: Duration = Duration::from_millis(250);
/// How long a stopped call may take to answer before it is given up.
const STOP_WITHIN: Duration = Duration::from_secs(3);

/// One conversation. Turns run one at a time.
pub struct Agent {
    pub(super) parts: Parts,
    pub(super) context: Context,
    pub(super) transcript: Transcript,
    turn: Turn,
    instructions: Instructions,
    mode_told: Option<Mode>,
    pub(super) costs: Costs,
    last_prompt: u64,
    unsaved: Option<String>,
    told_usage: Option<Usage>,
    pub(super) points: Points,
    queue: Queue,
    /// Results that have left the model's view, each handled once.
    pub(super) forgotten: HashSet<CallId>,
    /// What the model has instead of the beginning; the last one holds.
    pub(super) summaries: Vec<Summary>,
    /// How many messages there were when summing up failed: it is not tried again at once.
    pub(super) not_summed_up: Option<usize>,
}

impl Agent {
    pub fn new(parts: Parts) -> Agent {
        if !parts.family.is_child() {
            lock(&parts.policy).taint().begin(Level::Public);
        }
        lock(&parts.env.ledger).begin_turn(1);
        Agent {
            points: Points::default(),
            queue: Queue::default(),
            context: Context::new(parts.system.clone(), parts.registry.wire_specs()),
            transcript: Transcript::default(),
            turn: Turn::new(parts.max_rounds),
            instructions: Instructions::default(),
            mode_told: None,
            costs: Costs::default(),
            last_prompt: 0,
            unsaved: None,
            told_usage: None,
            forgotten: HashSet::new(),
            summaries: Vec::new(),
            not_summed_up: None,
            parts,
        }
    }

    /// Takes up a session that was read back. Returns what the person should know about it.
    pub fn resume(&mut self, loaded: Loaded) -> Result<Vec<String>, SessionError> {
        for (hash, reason) in loaded.withheld {
            self.context.withhold(hash, reason);
        }
        if let Some(session) = &mut self.parts.session {
            for message in loaded.repairs {
                session.append(Record::Message { message })?;
            }
            if let Some(saved) = session.state(State::Ledger)? {
                // One that cannot be read costs the model one read per file, nothing more.
                if let Ok(snapshot) = serde_json::from_str(&saved) {
                    *lock(&self.parts.env.ledger) = Ledger::restore(&snapshot);
                }
            }
        }
        self.recall_taint()?;
        self.transcript = loaded.transcript;
        self.summaries = loaded.summaries;
        self.costs.restore(loaded.usage, &loaded.spent);
        self.last_prompt = loaded.last_prompt;
        self.recall();
        let mut notes = loaded.dropped;
        notes.extend(self.left_behind());
        Ok(notes)
    }

    /// What the model was told stands in the transcript: saying it again would only cost tokens.
    pub(super) fn recall(&mut self) {
        self.count_turn(None);
        let told = || self.transcript.messages().iter().rev().flat_map(texts);
        self.mode_told = told().find_map(mode_in);
        self.instructions.recall(told());
    }

    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub fn session(&self) -> Option<&OpenSession> {
        self.parts.session.as_ref()
    }

    pub fn model(&self) -> &Model {
        &self.parts.model
    }

    pub fn provider_name(&self) -> &str {
        self.parts.provider.name()
    }

    /// Tells the figures when they are new: a provider may give the last ones twice.
    pub(super) fn tell_usage(&mut self, total: Usage, prompt: u64, events: &UnboundedSender<Event>) {
        if self.told_usage.replace(total) != Some(total) {
            let cost = self.costs.session.clone();
            let cost = (cost.unpriced < cost.requests).then(|| Money::from_picos(cost.picos));
            drop(events.send(Event::Usage { total, prompt, window: self.parts.model.window, cost }));
        }
    }

    pub(super) fn set_last_prompt(&mut self, tokens: u64) {
        self.last_prompt = tokens;
    }

    pub(super) fn last_prompt(&self) -> u64 {
        self.last_prompt
    }

    pub fn usage(&self) -> (Usage, u64) {
        (self.costs.session.usage, self.last_prompt)
    }

    /// What is in `queue` for it reaches the model between two requests of a turn.
    pub fn listen_to(&mut self, queue: &Queue) {
        self.queue = queue.clone();
    }

    pub fn env(&self) -> &Arc<Env> {
        &self.parts.env
    }

    pub fn gate(&self) -> &Arc<Gate> {
        &self.parts.gate
    }

    /// This conversation before the gate.
    pub fn visit(&self) -> Visit {
        Visit {
            gate: Arc::clone(&self.parts.gate),
            session: self.parts.session.as_ref().map(|s| s.id().to_string()),
            entrance: Entrance::Conversation,
        }
    }

    pub fn store(&self) -> Option<&Store> {
        self.parts.session.as_ref().map(OpenSession::store)
    }

    pub fn provider(&self) -> &Arc<dyn Provider> {
        &self.parts.provider
    }

    /// Another provider or model from the next request on.
    pub fn switch(&mut self, provider: Arc<dyn Provider>, model: Model, max_output: u64) {
        self.points.ask_for_key_again();
        self.parts.provider = provider;
        self.parts.model = model;
        self.parts.max_output = max_output;
    }

    /// Runs one turn to its end. `events` hears everything; cancelling `stop` interrupts the turn, which then still
    /// answers every open call and is saved.
    pub async fn run(
        &mut self,
        start: Start,
        events: UnboundedSender<Event>,
        stop: CancellationToken,
    ) -> Ending {
        if let Err(blocked) = self.invoked(&start, &events, &stop).await {
            return blocked;
        }
        self.count_turn(Some(&start));
        self.costs.begin_turn();
        self.begin_turn(&start);
        let asked = Arc::clone(&self.parts.provider);
        if let Start::Call { tool, input, .. } = &start {
            self.parts.provider = Arc::new(Direct::new(tool, input.clone()));
        }
        // A call that the person typed is answered by no model that could be steered.
        let queue = (!matches!(start, Start::Call { .. })).then(|| self.queue.clone());
        let (inputs, inbox) = unbounded_channel();
        let first = match start {
            Start::Say(parts) => {
                let parts = self.without_secrets(parts, &events);
                Input::Said(self.with_news(parts, &events))
            }
            Start::Call { text, .. } => Input::Said(self.with_news(vec![Part::text(text)], &events)),
            Start::Retry => Input::Retry,
            Start::SumUp { focus } => return self.sum_up_asked(&focus, &events, &stop).await,
        };
        let calls = Calls::new(
            Arc::clone(&self.parts.registry),
            Arc::clone(&self.parts.env),
            Arc::clone(&self.parts.policy),
            self.visit(),
            Shares {
                events: events.clone(),
                family: self.parts.family.clone(),
                children: self.children(&events),
            },
            inputs.clone(),
        );
        let events_after = events.clone();
        let mut run = Run {
            agent: self,
            calls,
            events,
            inputs,
            stop,
            cancel: CancellationToken::new(),
            stream: None,
            ended: None,
            stopped_at: None,
            queue,
        };
        let ending = run.until_ended(first, inbox).await;
        self.parts.provider = asked;
        let ending = match (self.unsaved.take(), self.points.blocked.take()) {
            (Some(why), _) => Ending::Unsaved(why),
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
    fn begin_turn(&self, start: &Start) {
        if self.parts.family.is_child() {
            return;
        }
        let Some(view) = self.parts.env.workspace.view() else { return };
        let said = match start {
            Start::Say(parts) => crate::conversation::text_of(parts),
            Start::Call { text, .. } => text.clone(),
            Start::Retry => "again".into(),
            Start::SumUp { .. } => "sum up".into(),
        };
        let said = self.parts.gate.secrets.redact(&said);
        let title = said.lines().next().unwrap_or_default().chars().take(80).collect();
        let session = self.parts.session.as_ref().map(|s| s.id().to_string());
        let number = self.transcript.messages().len();
        let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Err(e) = view.forget_unchanged() {
            tracing::warn!("files that were changed and changed back stay on the shelf: {e}");
        }
        view.begin_turn(Label { turn: format!("{name}#{number}"), session, title, ..Label::default() });
    }

    /// What read mode's commands changed goes, and is said to.
    fn end_turn(&self, events: &UnboundedSender<Event>) {
        if self.parts.family.is_child() {
            return;
        }
        for why in self.parts.env.mounts.push() {
            drop(events.send(Event::Notice(format!("not carried to its store: {why}"))));
        }
        let Some(view) = self.parts.env.workspace.view() else { return };
        if let Err(e) = view.drop_scratch() {
            drop(events.send(Event::Notice(format!("what commands changed could not be removed: {e}"))));
        }
        let dropped = view.turn().dropped;
        if dropped > 0 {
            let (s, were) = if dropped == 1 { ("", "was") } else { ("s", "were") };
            let words = format!("read mode: {dropped} change{s} that commands made {were} thrown away");
            drop(events.send(Event::Notice(words)));
        }
    }

    /// What the person says, with what the model must know besides: the mode, and the project's instructions.
    fn with_news(&mut self, mut parts: Vec<Part>, events: &UnboundedSender<Event>) -> Vec<Part> {
        if let Some((text, sources)) = self.instructions.news(self.parts.env.workspace.cwd()) {
            if !sources.is_empty() {
                let names =
                    sources.iter().map(|p: &PathBuf| p.display().to_string()).collect::<Vec<_>>().join(", ");
                drop(events.send(Event::Notice(format!("instructions from {names}"))));
            }
            parts.push(Part::text(text));
        }
        parts.extend(self.mode_note());
        parts
    }

    /// The mode, when the model was last told another one. Part of the saved message, so that what was sent once is
    /// sent the same way ever after.
    fn mode_note(&mut self) -> Option<Part> {
        let mode = lock(&self.parts.policy).mode();
        if self.mode_told == Some(mode) {
            return None;
        }
        self.mode_told = Some(mode);
        Some(Part::text(mode_words(mode)))
    }
}

/// One turn in progress.
pub(super) struct Run<'a> {
    pub(super) agent: &'a mut Agent,
    calls: Calls,
    pub(super) events: UnboundedSender<Event>,
    inputs: UnboundedSender<Input>,
    pub(super) stop: CancellationToken,
    /// Cancels the stream, the questions and the running calls of this turn.
    cancel: CancellationToken,
    stream: Option<AnswerStream>,
    ended: Option<Ending>,
    stopped_at: Option<Instant>,
    pub(super) queue: Option<Queue>,
}

impl Run<'_> {
    async fn until_ended(&mut self, first: Input, mut inbox: UnboundedReceiver<Input>) -> Ending {
        let mut effects: VecDeque<Effect> = self.agent.turn.handle(first).into();
        let mut save_at = Instant::now() + SAVE_EVERY;
        let mut saved_bytes = 0;
        loop {
            while let Some(effect) = effects.pop_front() {
                match effect {
                    Effect::Listen => {
                        let parts = self.heard().await;
                        effects.extend(self.agent.turn.handle(Input::Heard(parts)));
                    }
                    effect => {
                        saved_bytes = if effect == Effect::Request { 0 } else { saved_bytes };
                        self.perform(effect).await;
                    }
                }
            }
            if let Some(ending) = self.ended.take() {
                return ending;
            }
            let deadline = self.stopped_at.map(|at| at + STOP_WITHIN);
            let input = tokio::select! {
                biased;
                () = self.stop.cancelled(), if self.stopped_at.is_none() => {
                    self.stopped_at = Some(Instant::now());
                    Some(Input::Interrupted)
                }
                Some(input) = inbox.recv() => Some(input),
                // Before the stream: one that always has more must not keep its beginning from being saved.
                () = tokio::time::sleep_until(save_at), if self.stream.is_some() => {
                    self.save_partial(&mut saved_bytes);
                    save_at = Instant::now() + SAVE_EVERY;
                    None
                }
                event = next(&mut self.stream) => self.streamed(event).await,
                () = sleep_until(deadline) => {
                    self.stopped_at = deadline.map(|at| at + STOP_WITHIN);
                    self.give_up_calls();
                    None
                }
            };
            if let Some(input) = input {
                effects.extend(self.agent.turn.handle(input));
            }
        }
    }

    async fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Save(message) => self.save(message),
            Effect::Request => self.request().await,
            // Answered where effects are taken up: it leads to more of them.
            Effect::Listen => {}
            Effect::Repair(repair) => self.repair(repair),
            Effect::Check(call) => self.calls.check(call, self.cancel.clone()),
            Effect::Run(id) => self.calls.run(id, self.cancel.clone()),
            Effect::Cancel => {
                self.stream = None;
                self.cancel.cancel();
                self.stopped_at.get_or_insert_with(Instant::now);
            }
            Effect::AskLoop { tool, times } => self.ask_loop(tool, times),
            Effect::End(ending) => {
                self.stream = None;
                self.ended = Some(ending);
            }
        }
    }

    /// Saves before anything is done about it. What cannot be saved is not acted on: the turn stops.
    fn save(&mut self, mut message: Message) {
        if let Err(e) = self.agent.keep_taint() {
            self.fail_unsaved(e.to_string());
            return;
        }
        self.agent.count_children(&self.events);
        if let Message::Results { results } = &mut message {
            // The person may have switched modes while the calls ran: the model hears it with the results.
            if let (Some(note), Some(last)) = (self.agent.mode_note(), results.last_mut()) {
                last.parts.push(note);
            }
        }
        if let Err(e) = self.agent.transcript.push(message.clone()) {
            tracing::error!("a message that does not fit the conversation: {e}");
            self.fail_unsaved(e.to_string());
            return;
        }
        let saved =
            self.agent.parts.session.as_mut().map(|session| session.append(Record::Message { message }));
        if let Some(Err(e)) = saved {
            self.fail_unsaved(e.to_string());
        }
    }

    fn fail_unsaved(&mut self, why: String) {
        self.agent.unsaved.get_or_insert(why);
        self.stop.cancel();
    }

    fn save_partial(&mut self, saved_bytes: &mut usize) {
        let partial = self.agent.turn.partial();
        let bytes = partial.text().len();
        if bytes == *saved_bytes || bytes == 0 {
            return;
        }
        *saved_bytes = bytes;
        let mut kept = partial.clone();
        kept.stop = crate::conversation::StopReason::Cut;
        kept.blocks.retain(|b| matches!(b, crate::conversation::Block::Text { .. }));
        if let (Some(session), Ok(json)) = (&self.agent.parts.session, serde_json::to_string(&kept)) {
            drop(session.set(State::Partial, &json));
        }
    }

    async fn request(&mut self) {
        if self.stop.is_cancelled() {
            // The loop sees the stop next; a request that nobody waits for is not sent.
            return;
        }
        tracing::debug!(messages = self.agent.transcript.messages().len(), "a request");
        let allowed = match self.may_send().await {
            Ok(()) => self.agent.may_spend(&self.events, &self.stop).await,
            refused => refused,
        };
        if let Err(blocked) = allowed {
            self.agent.points.blocked = Some(blocked);
            self.stop.cancel();
            return;
        }
        self.agent.sum_up_in_time(&self.events, &self.cancel, &self.stop).await;
        if self.stop.is_cancelled() {
            return;
        }
        self.tell(Event::Requested);
        let Built { request, notes, out_of_view } = {
            let agent = &mut *self.agent;
            let all = agent.transcript.messages();
            let sent = agent.summaries.last().map_or(Cow::Borrowed(all), |s| Cow::Owned(s.over(all)));
            agent.context.build(&sent, &agent.parts.model, agent.parts.max_output)
        };
        for note in notes {
            self.tell(Event::Notice(note));
        }
        self.agent.forget_unseen(out_of_view);
        self.stream = Some(self.agent.parts.provider.answer(request, self.cancel.child_token()));
    }

    async fn streamed(&mut self, event: Option<Result<StreamEvent, ProviderError>>) -> Option<Input> {
        match event {
            None => {
                self.stream = None;
                let message = "the stream ended without an end".to_string();
                Some(Input::Failed(ProviderError::Protocol(message)))
            }
            Some(Err(error)) => {
                self.stream = None;
                Some(Input::Failed(self.agent.unseen(error)))
            }
            Some(Ok(StreamEvent::Finished(answer))) => {
                self.stream = None;
                self.agent.count(&answer, &self.events);
                let answer = self.screened(answer).await;
                let touches = self.agent.touches(&answer);
                Some(Input::Answered { answer, touches })
            }
            Some(Ok(StreamEvent::Text(_) | StreamEvent::Thinking(_))) if self.agent.holds_output() => None,
            Some(Ok(event)) => {
                self.show(&event);
                Some(Input::Streamed(event))
            }
        }
    }

    fn show(&mut self, event: &StreamEvent) {
        let shown = match event.clone() {
            StreamEvent::Text(text) => Event::Text(text),
            StreamEvent::Thinking(text) => Event::Thinking(text),
            StreamEvent::CallStarted { id, name } => Event::CallComing { id, name },
            StreamEvent::CallArguments { bytes } => Event::CallArguments { bytes },
            StreamEvent::Retrying { attempt, of, wait, error } => {
                Event::Retrying { attempt, of, wait, error }
            }
            StreamEvent::Silent { since } => Event::Silent { since },
            StreamEvent::Elsewhere { from, to, because } => {
                Event::Notice(format!("{from} does not answer ({because}); {to} answers instead"))
            }
            StreamEvent::Usage(usage) => {
                let mut total = self.agent.costs.session.usage;
                total += usage;
                return self.agent.tell_usage(total, usage.prompt(), &self.events);
            }
            StreamEvent::Finished(_) => return,
        };
        self.tell(shown);
    }

    fn repair(&mut self, repair: Repair) {
        let notice = match repair {
            Repair::Images => {
                let images = self.agent.context.sent_images(self.agent.transcript.messages());
                let reason = "the provider refused it".to_string();
                for (hash, _) in &images {
                    self.agent.context.withhold(hash.clone(), reason.clone());
                    if let Some(session) = &mut self.agent.parts.session {
                        let record = Record::Withheld { hash: hash.clone(), reason: reason.clone() };
                        if let Err(e) = session.append(record) {
                            tracing::warn!("a withheld picture was not noted: {e}");
                        }
                    }
                }
                let names = images.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
                format!("the provider refused a picture; left out from here on: {names}")
            }
            Repair::Tool(at) => match self.agent.context.drop_tool(at) {
                Some(name) => {
                    format!("the provider refused the tool `{name}`; it is left out of this session")
                }
                None => "the provider refused a tool that was not offered".into(),
            },
            Repair::Shorten { message } => {
                self.agent.context.was_too_long(&message, &self.agent.parts.model);
                "the request was too long for the model; sending a shorter one".into()
            }
        };
        self.tell(Event::Notice(notice));
    }

    fn ask_loop(&self, tool: String, times: u32) {
        let (reply, answer) = tokio::sync::oneshot::channel();
        self.tell(Event::LoopQuestion(LoopQuestion { tool, times, reply }));
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            let go_on = answer.await.unwrap_or(false);
            drop(inputs.send(Input::LoopAnswered(if go_on { LoopAnswer::GoOn } else { LoopAnswer::Stop })));
        });
    }

    /// Calls that did not stop when told to are answered for.
    fn give_up_calls(&mut self) {
        for Cleared { call, .. } in self.calls.abandon() {
            let text = "interrupted; it did not stop in time and was abandoned";
            let result = CallResult::text(&call, Outcome::Interrupted, text);
            drop(self.inputs.send(Input::Ended(result)));
        }
    }

    pub(super) fn tell(&self, event: Event) {
        // A face that has gone away is no reason to stop: the turn is still saved.
        drop(self.events.send(event));
    }
}

async fn next(stream: &mut Option<AnswerStream>) -> Option<Result<StreamEvent, ProviderError>> {
    match stream {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
