//! Performs the effects of a [`Turn`](super::turn::machine::Turn): saves, asks the provider, plans and runs calls, and tells a
//! face about it.

use super::agent::Agent;
use super::calls::pipeline::{ApprovedCall, TurnCalls};
use super::event::{LoopQuestion, TurnEvent};
use super::queue::MessageQueue;
use super::request::build::BuiltRequest;
use super::turn::ending::TurnEnding;
use super::turn::machine::{LoopAnswer, TurnEffect, TurnInput};
use super::turn::repair::TurnRepair;
use crate::conversation::{CallInterruption, CallResult, Message};
use crate::provider::{AnswerStream, ProviderError, RejectionCause, StreamEvent};
use crate::session::{SessionRecord, SessionStateKey};
use futures_util::StreamExt;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often the beginning of a streaming answer is saved.
const SAVE_EVERY: Duration = Duration::from_millis(250);
/// How long a stopped call may take to answer before it is given up.
const STOP_WITHIN: Duration = Duration::from_secs(3);

/// One turn in progress.
pub(super) struct TurnDriver<'a> {
    pub(super) agent: &'a mut Agent,
    calls: TurnCalls,
    pub(super) events: UnboundedSender<TurnEvent>,
    inputs: UnboundedSender<TurnInput>,
    pub(super) stop: CancellationToken,
    /// Cancels the stream, the questions and the running calls of this turn.
    cancel: CancellationToken,
    stream: Option<AnswerStream>,
    ended: Option<TurnEnding>,
    stopped_at: Option<Instant>,
    pub(super) queue: Option<MessageQueue>,
}

impl<'a> TurnDriver<'a> {
    pub(super) fn new(
        agent: &'a mut Agent,
        calls: TurnCalls,
        events: UnboundedSender<TurnEvent>,
        inputs: UnboundedSender<TurnInput>,
        stop: CancellationToken,
        queue: Option<MessageQueue>,
    ) -> TurnDriver<'a> {
        TurnDriver {
            agent,
            calls,
            events,
            inputs,
            stop,
            cancel: CancellationToken::new(),
            stream: None,
            ended: None,
            stopped_at: None,
            queue,
        }
    }

    pub(super) async fn run_to_end(
        &mut self,
        first: TurnInput,
        mut inbox: UnboundedReceiver<TurnInput>,
    ) -> TurnEnding {
        let mut effects: VecDeque<TurnEffect> = self.agent.turn.handle(first).into();
        let mut save_at = Instant::now() + SAVE_EVERY;
        let mut saved_bytes = 0;
        loop {
            while let Some(effect) = effects.pop_front() {
                match effect {
                    TurnEffect::Listen => {
                        let parts = self.take_steering_parts().await;
                        effects.extend(self.agent.turn.handle(TurnInput::Heard(parts)));
                    }
                    effect => {
                        saved_bytes = if effect == TurnEffect::Request { 0 } else { saved_bytes };
                        self.perform(effect).await;
                    }
                }
            }
            if let Some(ending) = self.ended.take() {
                return ending;
            }
            let deadline = self.stopped_at.map(|at| at + STOP_WITHIN);
            let input = tokio::select! {
                // In this order: a stop is seen first, even if the stream always has more.
                biased;
                () = self.stop.cancelled(), if self.stopped_at.is_none() => {
                    self.stopped_at = Some(Instant::now());
                    Some(TurnInput::Interrupted)
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
                    // Moved on, or this branch would be ready at once in every round of the loop.
                    self.stopped_at = deadline.map(|at| at + STOP_WITHIN);
                    self.answer_abandoned_calls();
                    None
                }
            };
            if let Some(input) = input {
                effects.extend(self.agent.turn.handle(input));
            }
        }
    }

    async fn perform(&mut self, effect: TurnEffect) {
        match effect {
            TurnEffect::Save(message) => self.save(message),
            TurnEffect::Request => self.request().await,
            // Answered where effects are taken up: it leads to more of them.
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

    /// Saves before anything is done about it. What cannot be saved is not acted on: the turn stops.
    fn save(&mut self, mut message: Message) {
        if let Err(e) = self.agent.save_taint() {
            self.stop_after_save_error(e.to_string());
            return;
        }
        self.agent.count_children(&self.events);
        if let Message::Results { results } = &mut message {
            // The person may have switched modes while the calls ran: the model hears it with the results.
            if let Some(last) = results.last_mut() {
                last.parts.extend(self.agent.mode_change_note());
                last.parts.extend(self.agent.job_notes(&self.events));
            }
        }
        if let Err(e) = self.agent.transcript.push(message.clone()) {
            tracing::error!("a message that does not fit the conversation: {e}");
            self.stop_after_save_error(e.to_string());
            return;
        }
        let is_answer = matches!(message, Message::Assistant(_));
        if let Err(e) = self.agent.append_record(SessionRecord::Message { message }) {
            self.stop_after_save_error(e.to_string());
        }
        if is_answer {
            self.agent.leave_room_for_results();
        }
    }

    fn stop_after_save_error(&mut self, why: String) {
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
        kept.blocks.retain(|b| matches!(b, crate::conversation::AssistantBlock::Text { .. }));
        if let (Some(session), Ok(json)) = (&self.agent.parts.session, serde_json::to_string(&kept)) {
            // Best effort: the answer itself is saved when it is complete, and an error there stops the
            // turn.
            drop(session.set(SessionStateKey::Partial, &json));
        }
    }

    async fn request(&mut self) {
        if self.stop.is_cancelled() {
            // The loop sees the stop next; a request that nobody waits for is not sent.
            return;
        }
        tracing::debug!(messages = self.agent.transcript.len(), "a request");
        let allowed = match self.may_send().await {
            Ok(()) => self.agent.may_spend(&self.events, &self.stop).await,
            refused => refused,
        };
        if let Err(blocked) = allowed {
            self.agent.points.blocked = Some(blocked);
            self.stop.cancel();
            return;
        }
        if let Err(blocked) = self.agent.sum_up_in_time(&self.events, &self.cancel, &self.stop).await {
            self.agent.points.blocked = Some(blocked);
            self.stop.cancel();
        }
        // A summary takes as long as a request: the person may have stopped the turn in the meantime.
        if self.stop.is_cancelled() {
            return;
        }
        self.agent.warn_ahead(&self.events);
        self.tell(TurnEvent::Requested);
        let BuiltRequest { request, notes, out_of_view } = {
            let agent = &mut *self.agent;
            let sent = agent.transcript.over(agent.summaries.last());
            agent.context.build(&sent, &agent.parts.model, agent.parts.max_output)
        };
        for note in notes {
            self.tell(TurnEvent::Notice(note));
        }
        self.agent.forget_unseen(out_of_view);
        self.agent.open_request(&self.events);
        self.stream = Some(self.agent.parts.provider.answer(request, self.cancel.child_token()));
    }

    async fn streamed(&mut self, event: Option<Result<StreamEvent, ProviderError>>) -> Option<TurnInput> {
        if let Some(Ok(event)) = &event {
            self.agent.meter(event, &self.events);
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
                    self.agent.meter(&StreamEvent::Usage(partial.usage), &self.events);
                }
                self.close_stream();
                let error = self.repairable_error(error);
                Some(TurnInput::Failed(self.agent.unseen(error)))
            }
            Some(Ok(StreamEvent::Finished(answer))) => {
                self.stream = None;
                self.agent.context.answered();
                self.agent.close_request(&answer, &self.events);
                let answer = self.apply_answer_hooks(answer).await;
                let touches = self.agent.touches(&answer);
                Some(TurnInput::Answered { answer, touches })
            }
            Some(Ok(StreamEvent::Text(_) | StreamEvent::Thinking(_))) if self.agent.holds_output() => None,
            Some(Ok(event)) => {
                self.show(&event);
                Some(TurnInput::Streamed(event))
            }
        }
    }

    /// No more is heard of the answer; what came of it is paid for.
    fn close_stream(&mut self) {
        self.stream = None;
        self.agent.settle_request(&self.events);
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
                let mut total = self.agent.costs.session.usage;
                total += usage;
                return self.agent.report_usage(total, usage.prompt(), &self.events);
            }
            StreamEvent::Finished(_) => return,
        };
        self.tell(shown);
    }

    /// The same error, blaming nothing where nothing is left that could be left out.
    fn repairable_error(&self, error: ProviderError) -> ProviderError {
        let context = &self.agent.context;
        match error {
            ProviderError::BadRequest { status, message, blames } => {
                let blames = match blames {
                    RejectionCause::Image if context.suspect_images(&self.agent.sent()).is_empty() => {
                        RejectionCause::Nothing
                    }
                    RejectionCause::Content if !context.can_leave_out(&self.agent.sent()) => {
                        RejectionCause::Nothing
                    }
                    blames => blames,
                };
                ProviderError::BadRequest { status, message, blames }
            }
            error => error,
        }
    }

    fn repair(&mut self, repair: TurnRepair) {
        let notice = match repair {
            TurnRepair::Images => {
                let images = self.agent.context.suspect_images(&self.agent.sent());
                let reason = "the provider refused it".to_string();
                for (hash, _) in &images {
                    self.agent.context.withhold(hash.clone(), reason.clone());
                    let record = SessionRecord::Withheld { hash: hash.clone(), reason: reason.clone() };
                    if let Err(e) = self.agent.append_record(record) {
                        tracing::warn!("the list of rejected pictures was not saved: {e}");
                    }
                }
                let names = images.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(", ");
                format!("the provider refused a picture; no longer sent: {names}")
            }
            TurnRepair::Content => match self.agent.context.leave_out(&self.agent.sent()) {
                Some(what) => format!("the provider refused something in the conversation; {what}"),
                None => "the provider refuses your message, and nothing else can be left out of the request"
                    .into(),
            },
            TurnRepair::Tool(at) => match self.agent.context.drop_tool(at) {
                Some(name) => {
                    format!("the provider refused the tool `{name}`; it is not offered again in this session")
                }
                None => "the provider refused a tool that was not offered".into(),
            },
            TurnRepair::Nudge(silence) => format!("{silence}; asking once more"),
            TurnRepair::GoOn { message } => {
                format!("the answer was cut off ({message}); asking for the rest")
            }
            TurnRepair::Shorten { message } => {
                self.agent.context.reduce_limit(&message, &self.agent.parts.model);
                "the request was too long for the model; sending a shorter one".into()
            }
        };
        self.tell(TurnEvent::Notice(notice));
    }

    fn ask_loop(&self, tool: String, times: u32) {
        let (reply, answer) = tokio::sync::oneshot::channel();
        let spent = self.agent.costs.turn.usage;
        self.tell(TurnEvent::LoopQuestion(LoopQuestion { tool, times, spent, reply }));
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            // A dropped question has no answer: the turn stops.
            let go_on = answer.await.unwrap_or(false);
            drop(inputs.send(TurnInput::LoopAnswered(if go_on {
                LoopAnswer::GoOn
            } else {
                LoopAnswer::Stop
            })));
        });
    }

    /// Calls that did not stop when asked to are answered for.
    fn answer_abandoned_calls(&mut self) {
        for ApprovedCall { call, .. } in self.calls.abandon() {
            let result = CallResult::interrupted(&call, CallInterruption::Abandoned);
            drop(self.inputs.send(TurnInput::Ended(result)));
        }
    }

    pub(super) fn tell(&self, event: TurnEvent) {
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
