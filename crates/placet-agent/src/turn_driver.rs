//! Performs the effects of a [`Turn`](super::turn::machine::Turn): saves, asks the provider, plans and runs calls, and
//! reports events.

use super::budget::BudgetCheck;
use super::calls::pipeline::TurnCalls;
use super::compact::{Compaction, CompactionState};
use super::config::TurnStart;
use super::conversation::directory_instructions::add_directory_instructions;
use super::conversation::log::Conversation;
use super::conversation::reported::ReportedState;
use super::edit_checks::EditChecks;
use super::event::{LoopQuestion, TurnEvent, TurnEvents};
use super::queue::MessageQueue;
use super::request::build::{BASIC_TOOLS, BuiltRequest};
use super::request::client::ModelClient;
use super::request::usage::{fullness, room_for_results};
use super::services::SharedServices;
use super::session_checks::SessionChecks;
use super::turn::ending::TurnEnding;
use super::turn::machine::{LoopAnswer, Turn, TurnEffect, TurnInput};
use super::turn::repair::TurnRepair;
use futures_util::StreamExt;
use placet_provider::{AnswerStream, ProviderError, RejectionCause, StreamEvent, ToolForm};
use placet_session::session::{SessionRecord, SessionStateKey, SessionStore};
use placet_text::conversation::{AssistantBlock, Message, Part, StopReason};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the beginning of a streaming answer is saved.
const SAVE_EVERY: Duration = Duration::from_millis(250);
/// How long a stopped call may take to answer before it is given up.
const STOP_WITHIN: Duration = Duration::from_secs(3);
/// The same for a command that has ended and whose changes are being collected: with hundreds of thousands of files that
/// takes a minute, and the person must learn what became of them.
const COLLECT_WITHIN: Duration = Duration::from_secs(120);

/// The parts that a turn works on.
pub(super) struct TurnParts<'a> {
    pub(super) services: &'a SharedServices,
    pub(super) conversation: &'a mut Conversation,
    pub(super) client: &'a mut ModelClient,
    pub(super) reported: &'a mut ReportedState,
    pub(super) compaction: &'a mut CompactionState,
    pub(super) checks: &'a mut SessionChecks,
    pub(super) turn: &'a mut Turn,
    /// The person's lines that may steer the turn.
    pub(super) queue: Option<MessageQueue>,
    pub(super) edit_checks: Option<&'a mut EditChecks>,
}

/// One turn in progress.
pub(super) struct TurnDriver<'a> {
    parts: TurnParts<'a>,
    calls: TurnCalls,
    events: TurnEvents,
    inputs: UnboundedSender<TurnInput>,
    stop: CancellationToken,
    /// Cancels the stream, the questions and the running calls of this turn.
    cancel: CancellationToken,
    stream: Option<AnswerStream>,
    ended: Option<TurnEnding>,
    /// Why placet stopped the turn itself: this is the ending of the turn, whatever the state machine makes of the
    /// stop.
    aborted: Option<TurnEnding>,
    stopped_at: Option<Instant>,
    /// When the calls that still collect changes are given up, too.
    collects_until: Option<Instant>,
}

impl<'a> TurnDriver<'a> {
    pub(super) fn new(
        parts: TurnParts<'a>,
        calls: TurnCalls,
        events: TurnEvents,
        inputs: UnboundedSender<TurnInput>,
        stop: CancellationToken,
    ) -> TurnDriver<'a> {
        let cancel = CancellationToken::new();
        let (stream, ended, aborted, stopped_at, collects_until) = (None, None, None, None, None);
        TurnDriver {
            parts,
            calls,
            events,
            inputs,
            stop,
            cancel,
            stream,
            ended,
            aborted,
            stopped_at,
            collects_until,
        }
    }

    pub(super) async fn run_to_end(
        &mut self,
        first: TurnInput,
        mut inbox: UnboundedReceiver<TurnInput>,
    ) -> TurnEnding {
        let mut effects: VecDeque<TurnEffect> = self.parts.turn.handle(first).into();
        let mut save_at = Instant::now() + SAVE_EVERY;
        let mut saved_bytes = 0;
        loop {
            while let Some(effect) = effects.pop_front() {
                match effect {
                    TurnEffect::Listen => {
                        let parts = self.take_steering_parts().await;
                        effects.extend(self.parts.turn.handle(TurnInput::Heard(parts)));
                    }
                    effect => {
                        saved_bytes = if effect == TurnEffect::Request { 0 } else { saved_bytes };
                        self.perform(effect).await;
                    }
                }
            }
            if let Some(ending) = self.ended.take() {
                return self.aborted.take().unwrap_or(ending);
            }
            let deadline = self.stopped_at.map(|at| at + STOP_WITHIN);
            let input = tokio::select! {
                // In this order: a stop is noticed first, even if the stream always has more.
                biased;
                () = self.stop.cancelled(), if self.stopped_at.is_none() => {
                    self.stopped_at = Some(Instant::now());
                    Some(TurnInput::Interrupted)
                }
                Some(input) = inbox.recv() => Some(input),
                // Before the stream: a stream that always has more must not prevent that its beginning is saved.
                () = tokio::time::sleep_until(save_at), if self.stream.is_some() => {
                    self.save_partial(&mut saved_bytes);
                    save_at = Instant::now() + SAVE_EVERY;
                    None
                }
                event = next(&mut self.stream) => self.streamed(event).await,
                () = sleep_until(deadline) => {
                    // Moved forward, or this branch would be ready at once in every round of the loop.
                    self.stopped_at = deadline.map(|at| at + STOP_WITHIN);
                    self.give_up_calls();
                    None
                }
            };
            if let Some(input) = input {
                effects.extend(self.parts.turn.handle(input));
            }
        }
    }

    async fn perform(&mut self, effect: TurnEffect) {
        match effect {
            TurnEffect::Save(mut message) => {
                if let (Message::Results { results }, Some(checks)) =
                    (&mut message, &mut self.parts.edit_checks)
                {
                    checks.after_calls(results).await;
                }
                // A borrow of all of `self` would not be `Send`.
                until_writable(self.parts.conversation.store(), &self.stop, &self.events).await;
                self.save(message);
            }
            TurnEffect::Request => self.request().await,
            // Answered by the caller that collects effects, because the answer leads to more effects.
            TurnEffect::Listen => {}
            TurnEffect::Repair(repair) => self.repair(repair),
            TurnEffect::Check(call) => self.calls.check(call, self.cancel.clone()),
            TurnEffect::Run(id) => self.calls.run(id, self.cancel.clone()),
            TurnEffect::Cancel => {
                self.close_stream();
                self.cancel.cancel();
                self.stopped_at.get_or_insert_with(Instant::now);
            }
            TurnEffect::AskLoop { tool, times } => self.ask_loop(tool, times),
            TurnEffect::End(ending) => {
                self.close_stream();
                self.ended = Some(ending);
            }
        }
    }

    /// Saves a message before anything acts on it. If the save fails, nothing acts on the message: the turn stops.
    fn save(&mut self, mut message: Message) {
        let TurnParts { services, conversation, client, reported, checks, .. } = &mut self.parts;
        if let Err(e) = checks.save_level(conversation) {
            return self.abort(TurnEnding::Unsaved(e.to_string()));
        }
        client.count_subagents(conversation, &self.events);
        if let Message::Results { results } = &mut message {
            add_directory_instructions(conversation, services, results, &self.events);
            // The person may have switched modes while the calls ran: the model learns it with the results.
            if let Some(last) = results.last_mut() {
                last.parts.extend(reported.changes(services, &self.events));
            }
        }
        if let Err(e) = conversation.transcript.push(message.clone()) {
            tracing::error!("a message that does not fit the conversation: {e}");
            return self.abort(TurnEnding::Unsaved(e.to_string()));
        }
        let is_answer = matches!(message, Message::Assistant(_));
        let saved = conversation.append(SessionRecord::Message { message });
        if is_answer {
            conversation.begin_calls(services);
            services.env.limits.room.leave(room_for_results(client, conversation));
        }
        if let Err(e) = saved {
            self.abort(TurnEnding::Unsaved(e.to_string()));
        }
    }

    /// Stops the turn. A failed save is more important than any other reason.
    fn abort(&mut self, ending: TurnEnding) {
        if !matches!(self.aborted, Some(TurnEnding::Unsaved(_))) {
            self.aborted = Some(ending);
        }
        self.stop.cancel();
    }

    fn save_partial(&mut self, saved_bytes: &mut usize) {
        let partial = self.parts.turn.partial();
        let bytes = partial.text().len();
        if bytes == *saved_bytes || bytes == 0 {
            return;
        }
        *saved_bytes = bytes;
        let mut kept = partial.clone();
        kept.stop = StopReason::Cut;
        kept.blocks.retain(|b| matches!(b, AssistantBlock::Text { .. }));
        if let Ok(json) = serde_json::to_string(&kept) {
            // Best effort: the answer itself is saved when it is complete, and an error there stops the turn.
            drop(self.parts.conversation.set_state(SessionStateKey::Partial, &json));
        }
    }

    async fn request(&mut self) {
        if self.stop.is_cancelled() {
            // The loop notices the stop next; a request that nobody waits for is not sent.
            return;
        }
        tracing::debug!(messages = self.parts.conversation.transcript.len(), "a request");
        let client = &mut *self.parts.client;
        tokio::select! {
            biased;
            () = self.stop.cancelled() => return,
            () = client.inquiry.learn(&mut client.model, &self.events) => {}
        }
        if client.context.fit_tools(&client.model.spec) {
            let window = client.context.window(&client.model.spec);
            self.events.notice(format!(
                "the window of {window} tokens is small: only {} are offered",
                BASIC_TOOLS.map(|(name, _)| name).join(", ")
            ));
        }
        if let Err(blocked) = self.check_request().await {
            self.abort(blocked);
        }
        // A summary takes as long as a request: the person may have stopped the turn in the meantime.
        if self.stop.is_cancelled() {
            return;
        }
        let TurnParts { services, conversation, client, compaction, .. } = &mut self.parts;
        compaction.warn_ahead(fullness(client, conversation), &self.events);
        self.events.send(TurnEvent::Requested);
        let BuiltRequest { request, notes, out_of_view } = match client.build(conversation) {
            Ok(built) => built,
            Err(too_long) => return self.abort(TurnEnding::Failed(too_long)),
        };
        for note in notes {
            self.events.notice(note);
        }
        conversation.evict(out_of_view, services);
        services.env.limits.offered.set(&request.tools);
        self.stream = Some(client.send(request, conversation, &self.events, self.cancel.child_token()));
    }

    /// Checks whether the next request may be sent and paid for. First summarizes the conversation if necessary.
    async fn check_request(&mut self) -> Result<(), TurnEnding> {
        let TurnParts { services, conversation, client, compaction, checks, .. } = &mut self.parts;
        let (events, stop) = (&self.events, &self.stop);
        checks.before_request(&client.model, conversation, events, stop).await?;
        BudgetCheck { client, store: conversation.store(), events, stop }.run().await?;
        let compaction = Compaction { conversation, client, state: compaction, checks, services, events };
        compaction.run_in_time(&self.cancel, stop).await
    }

    /// The lines that the person adds before the next request. Hooks see them like every line. If a hook blocks a line,
    /// the turn ends and the line returns to the queue.
    async fn take_steering_parts(&mut self) -> Vec<Part> {
        // A stopped turn sends no further request: the lines remain in the queue.
        if self.stop.is_cancelled() {
            return Vec::new();
        }
        let Some(queue) = self.parts.queue.clone() else { return Vec::new() };
        let lines = queue.take_steering();
        if lines.is_empty() {
            return Vec::new();
        }
        let parts: Vec<Part> = lines.iter().map(Part::text).collect();
        let start = TurnStart::Say(parts.clone());
        let added = match self.parts.checks.before_turn(&start, &self.events, &self.stop).await {
            Ok(added) => added,
            Err(blocked) => {
                queue.give_back(lines);
                self.abort(blocked);
                return Vec::new();
            }
        };
        for line in lines {
            self.events.send(TurnEvent::Steered(line));
        }
        let mut parts = self.parts.services.secrets().clean_message(parts, &self.events);
        parts.extend(added);
        parts
    }

    async fn streamed(&mut self, event: Option<Result<StreamEvent, ProviderError>>) -> Option<TurnInput> {
        let TurnParts { services, conversation, client, checks, edit_checks, .. } = &mut self.parts;
        if let Some(Ok(event)) = &event {
            client.observe(event, conversation, &self.events);
        }
        match event {
            None => {
                self.close_stream();
                let message = "the stream ended too early".to_string();
                Some(TurnInput::Failed(ProviderError::Protocol(message)))
            }
            Some(Err(error)) => {
                if let ProviderError::Broken { partial, .. } = &error
                    && !partial.usage.is_zero()
                {
                    client.observe(&StreamEvent::Usage(partial.usage), conversation, &self.events);
                }
                self.close_stream();
                let error = self.repairable_error(error);
                Some(TurnInput::Failed(self.parts.checks.unseen(error)))
            }
            Some(Ok(StreamEvent::Finished(answer))) => {
                self.stream = None;
                client.context.answered();
                client.close(&answer, conversation, &self.events);
                let answer = checks.check_answer(answer, &self.events, &self.stop).await;
                if let Some(edit_checks) = edit_checks {
                    edit_checks.before_calls(&answer).await;
                }
                let touches = services.touched_paths(&answer);
                Some(TurnInput::Answered { answer, touches })
            }
            Some(Ok(StreamEvent::Text(_) | StreamEvent::Thinking(_))) if checks.holds_output() => None,
            Some(Ok(event)) => {
                if let StreamEvent::CallStarted { name, .. } = &event {
                    services.expect_call(name);
                }
                self.show(&event);
                Some(TurnInput::Streamed(event))
            }
        }
    }

    /// Ends the stream of the answer; the part that has come is paid for.
    fn close_stream(&mut self) {
        self.stream = None;
        self.parts.client.settle(self.parts.conversation, &self.events);
    }

    fn show(&mut self, event: &StreamEvent) {
        let shown = match event.clone() {
            StreamEvent::Text(text) => TurnEvent::Text(text),
            StreamEvent::Thinking(text) => TurnEvent::Thinking(text),
            StreamEvent::CallStarted { id, name } => TurnEvent::CallComing { id, name },
            StreamEvent::CallArguments { bytes } => TurnEvent::CallArguments { bytes },
            StreamEvent::Retrying { attempt, of, wait, error } => {
                TurnEvent::Retrying { attempt, of, wait, error }
            }
            StreamEvent::Silent { since } => TurnEvent::Silent { since },
            StreamEvent::Elsewhere { from, to, because } => {
                TurnEvent::Notice(format!("{from} does not answer ({because}); using {to} instead"))
            }
            StreamEvent::Usage(usage) => {
                return self.parts.client.report_usage(Some(usage), &self.events);
            }
            StreamEvent::Finished(_) => return,
        };
        self.events.send(shown);
    }

    /// The same error, but without blame for a part if no part can be omitted any more.
    fn repairable_error(&self, error: ProviderError) -> ProviderError {
        let (context, sent) = (&self.parts.client.context, self.parts.conversation.sent());
        match error {
            ProviderError::BadRequest { status, message, blames } => {
                let blames = match blames {
                    RejectionCause::Image if context.suspect_images(&sent).is_empty() => {
                        RejectionCause::Nothing
                    }
                    RejectionCause::Tools if self.parts.client.model.form_without_tools().is_none() => {
                        RejectionCause::Nothing
                    }
                    RejectionCause::Content if !context.can_leave_out(&sent) => RejectionCause::Nothing,
                    blames => blames,
                };
                ProviderError::BadRequest { status, message, blames }
            }
            error => error,
        }
    }

    fn repair(&mut self, repair: TurnRepair) {
        let TurnParts { conversation, client, .. } = &mut self.parts;
        let context = &mut client.context;
        let notice = match repair {
            TurnRepair::Images => {
                let images = context.suspect_images(&conversation.sent());
                let reason = "the provider refused it".to_string();
                for (hash, _) in &images {
                    context.withhold(hash.clone(), reason.clone());
                    let record = SessionRecord::Withheld { hash: hash.clone(), reason: reason.clone() };
                    if let Err(e) = conversation.append(record) {
                        tracing::warn!("the list of rejected pictures was not saved: {e}");
                    }
                }
                let names = images.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
                format!("the provider refused a picture; no longer sent: {names}")
            }
            TurnRepair::Content => match context.leave_out(&conversation.sent()) {
                Some(what) => format!("the provider refused something in the conversation; {what}"),
                None => "the provider refuses your message, and nothing else can be left out of the request"
                    .into(),
            },
            TurnRepair::Tool(at) => match context.drop_tool(at) {
                Some(name) => {
                    format!("the provider refused the tool `{name}`; it is not offered again in this session")
                }
                None => "the provider refused a tool that was not offered".into(),
            },
            TurnRepair::WithoutTools => match client.model.form_without_tools() {
                Some(form) => {
                    client.model.spec.capabilities.tools = form;
                    let calls = if form == ToolForm::Text { "text" } else { "JSON" };
                    format!("the server takes no tools: calls as {calls} from now on")
                }
                None => "the server takes no tools".into(),
            },
            TurnRepair::Nudge(silence) => format!("{silence}; asking once more"),
            TurnRepair::TextCall(fault) => {
                format!("the model wrote a tool call as text, and it was not run: {fault}; asking once more")
            }
            TurnRepair::GoOn { message } => {
                format!("the answer was cut off ({message}); asking for the rest")
            }
            TurnRepair::Shorten { message, exceeded } => {
                context.reduce_limit((&message, exceeded), &client.model.spec);
                "the request was too long for the model; sending a shorter one".into()
            }
        };
        self.events.notice(notice);
    }

    fn ask_loop(&self, tool: String, times: u32) {
        let spent = self.parts.client.costs.turn.usage;
        let question = |reply| TurnEvent::LoopQuestion(LoopQuestion { tool, times, spent, reply });
        let answer = self.events.ask(question);
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            // A dropped question has no answer: the turn stops.
            let go_on = answer.await.unwrap_or(false);
            let answer = if go_on { LoopAnswer::GoOn } else { LoopAnswer::Stop };
            drop(inputs.send(TurnInput::LoopAnswered(answer)));
        });
    }

    /// Answers the calls that did not stop when asked.
    fn give_up_calls(&mut self) {
        let is_first = self.collects_until.is_none();
        let until = *self.collects_until.get_or_insert_with(|| Instant::now() + COLLECT_WITHIN);
        if self.calls.give_up(Instant::now() >= until) && is_first {
            self.events.notice("stopping: placet still collects what the command changed");
        }
    }
}

/// Waits while another program has the session database locked, so that the person sees why nothing happens and can stop
/// it. Where the wait ends without success, the save fails at once.
async fn until_writable(store: Option<&SessionStore>, stop: &CancellationToken, events: &TurnEvents) {
    if let Some(store) = store {
        store.until_writable(stop, |words| events.notice(words)).await;
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
