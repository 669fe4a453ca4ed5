//! The calls of an answer: each call is its own task, and the turn gets the result. The interceptors of a call are in
//! [`super::interceptor`].

use super::context::{CallContext, CallTitles};
use super::interceptor::{self, ApprovedPlan};
use super::origin::EntryPoint;
use super::other_placet;
use super::rejection::{CallRejection, crashed, cut};
use crate::config::ActiveModel;
use crate::event::{TurnEvent, TurnEvents};
use crate::lock::lock;
use crate::services::SharedServices;
use crate::turn::machine::TurnInput;
use placet_permission::Mode;
use placet_text::conversation::{
    CallFact, CallId, CallInterruption, CallOutcome, CallResult, Note, Part, ToolCall,
};
use placet_tools::{CallSummary, OutputFacts, StopStage, StopStageCell, SubagentSpawner, ToolOutput};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// A call that may run.
struct ApprovedCall {
    call: ToolCall,
    /// Taken out when the call starts.
    plan: Option<ApprovedPlan>,
    stop_stage: StopStageCell,
}

/// Shared by the tasks of one turn.
#[derive(Clone)]
pub(crate) struct TurnCalls {
    services: Arc<SharedServices>,
    events: TurnEvents,
    spawner: SubagentSpawner,
    model: Option<ActiveModel>,
    inputs: UnboundedSender<TurnInput>,
    approved: Arc<Mutex<HashMap<CallId, ApprovedCall>>>,
    titles: CallTitles,
}

impl TurnCalls {
    pub(crate) fn new(
        services: Arc<SharedServices>,
        events: TurnEvents,
        (spawner, model): (SubagentSpawner, Option<ActiveModel>),
        inputs: UnboundedSender<TurnInput>,
    ) -> TurnCalls {
        let (approved, titles) = Default::default();
        TurnCalls { services, events, spawner, model, inputs, approved, titles }
    }

    fn context(&self, call: ToolCall, cancel: CancellationToken) -> Arc<CallContext> {
        let TurnCalls { services, events, spawner, model, titles, .. } = self.clone();
        // Only the conversation knows that it came through another tool.
        let call = services.registry.unwrapped(call);
        let stop_stage = StopStageCell::default();
        Arc::new(CallContext { services, events, spawner, model, call, cancel, titles, stop_stage })
    }

    /// Plans and decides; sends `Cleared` or `Ended`.
    pub(crate) fn check(&self, call: ToolCall, cancel: CancellationToken) {
        let calls = self.clone();
        let ctx = self.context(call.clone(), cancel);
        tokio::spawn(async move {
            // A separate task, so that a panic during planning fails this call and not the turn.
            let approved = tokio::spawn(interceptor::approve(ctx)).await;
            match approved.unwrap_or_else(|e| Err(CallRejection::Error(crashed(&e)))) {
                Ok(plan) => {
                    let id = call.id.clone();
                    let stop_stage = StopStageCell::default();
                    let approved = ApprovedCall { call, plan: Some(plan), stop_stage };
                    lock(&calls.approved).insert(id.clone(), approved);
                    drop(calls.inputs.send(TurnInput::Cleared(id)));
                }
                Err(rejection) => calls.reject(&call, rejection),
            }
        });
    }

    /// Runs an approved call; sends `Ended`.
    pub(crate) fn run(&self, id: CallId, cancel: CancellationToken) {
        let taken = lock(&self.approved).get_mut(&id).and_then(|c| Some((c.call.clone(), c.plan.take()?)));
        let Some((call, plan)) = taken else { return };
        let calls = self.clone();
        let ctx = self.context(call.clone(), cancel);
        if let Some(approved) = lock(&self.approved).get_mut(&id) {
            approved.stop_stage = ctx.stop_stage.clone();
        }
        tokio::spawn(async move {
            let view = calls.services.env.workspace.view().cloned();
            let output = other_placet::named(view, &calls.events, interceptor::run(ctx, plan)).await;
            if lock(&calls.approved).remove(&id).is_none() {
                // The call was given up, and its row and its result say so.
                return;
            }
            match output {
                Ok((output, note)) => calls.end(&call, output, note),
                Err(rejection) => calls.reject(&call, rejection),
            }
        });
    }

    /// Gives up the approved calls that have not ended, and answers them; those whose changes are being collected only
    /// where `even_collecting` says so. Returns whether such calls are left.
    pub(crate) fn give_up(&self, even_collecting: bool) -> bool {
        let mut approved = lock(&self.approved);
        let is_awaited = |one: &ApprovedCall| !even_collecting && one.stop_stage.get() == StopStage::Collects;
        let given_up: Vec<ApprovedCall> =
            approved.extract_if(|_, one| !is_awaited(one)).map(|(_, one)| one).collect();
        let are_left = !approved.is_empty();
        drop(approved);
        for ApprovedCall { call, stop_stage, .. } in given_up {
            let at = match stop_stage.give_up() {
                StopStage::Plain | StopStage::GivenUp => CallInterruption::Abandoned,
                StopStage::CommandRuns => CallInterruption::AbandonedCommand,
                StopStage::Collects => CallInterruption::AbandonedCollection,
            };
            let result = CallResult::interrupted(&call, at);
            let line = format!("{}: {}", call.name, result.body());
            self.answer(result, CallSummary::line(line));
        }
        are_left
    }

    fn reject(&self, call: &ToolCall, rejection: CallRejection) {
        let mut refused_by = None;
        // As `more_tools` only the conversation knows a call.
        let called = self.services.registry.unwrapped(call.clone()).name;
        let (outcome, text, summary, recorded) = match rejection {
            CallRejection::Error(e) => {
                let summary = CallSummary::failure(&called, &e.message);
                (CallOutcome::Failed, e.for_model(), summary, vec![CallFact::Failed { fault: e.fault }])
            }
            CallRejection::Denied(d) => {
                refused_by = d.refused_by;
                let way = other_mode(refused_by, self.services.origin.entry_point);
                let text = format!("denied: {}\nhint: {}{way}", d.reason, d.hint);
                (CallOutcome::Denied, text, CallSummary::failure(&called, &d.reason_for_person()), Vec::new())
            }
            CallRejection::Masked(d, words) => {
                let text = format!("denied: {words}\nhint: do not try this path again in this session");
                (CallOutcome::Denied, text, CallSummary::failure(&called, &d.reason_for_person()), Vec::new())
            }
            CallRejection::Stopped => {
                let result = CallResult::interrupted(call, CallInterruption::BeforeItRan);
                return self.answer(result, CallSummary::line(format!("{called}: stopped")));
            }
        };
        let text = self.services.secrets().redact(&text).into_owned();
        // Errors quote the request, which may have any length.
        let text = cut(text, 8_000);
        let for_person = CallSummary::new(cut(summary.line, 500), summary.detail);
        self.answer(CallResult::text(call, outcome, text).with(recorded), for_person);
        if let Some(mode) = refused_by {
            self.events.send(TurnEvent::LimitedByMode(mode));
        }
    }

    fn end(&self, call: &ToolCall, output: ToolOutput, note: Option<Note>) {
        let ToolOutput { outcome, for_model, for_person, facts, recorded } = output;
        if let OutputFacts::Todos(items) = facts {
            self.events.send(TurnEvent::Todos(items));
        }
        let mut parts = from_tool(for_model);
        parts.extend(recorded.iter().filter_map(CallFact::note).map(Part::Note));
        parts.extend(note.map(Part::Note));
        self.answer(CallResult::new(call, outcome, parts).with(recorded), for_person);
    }

    fn answer(&self, mut result: CallResult, summary: CallSummary) {
        // What is stored of it has no secret, as the rest of the session.
        let title = lock(&self.titles).remove(&result.id).filter(|_| result.outcome != CallOutcome::Done);
        let line =
            title.map_or_else(|| summary.line.clone(), |title| summary.named_line(&result.name, &title));
        result.shown = cut(self.services.secrets().redact(&line).into_owned(), 500);
        let CallResult { id, name, outcome, .. } = &result;
        tracing::debug!(tool = name, ?outcome, "a call ended");
        let (id, name, outcome) = (id.clone(), name.clone(), *outcome);
        self.events.send(TurnEvent::CallEnded { id, name, outcome, summary });
        drop(self.inputs.send(TurnInput::Ended(result)));
    }
}

/// How a person gets the mode that would permit a call that this mode refuses: a program that calls tools has no keys.
fn other_mode(refused_by: Option<Mode>, entry_point: EntryPoint) -> &'static str {
    match (refused_by, entry_point) {
        (Some(Mode::Read), EntryPoint::Conversation) => {
            "; the person can switch with Shift+Tab, /mode ask or --mode ask"
        }
        (Some(Mode::Read), EntryPoint::CommandLine) => "; `--mode ask` permits it",
        (Some(Mode::Read), EntryPoint::Mcp) => {
            "; the person can start this server with `--mode ask`, where changes wait until they are applied"
        }
        _ => "",
    }
}

/// A tool's result is somebody else's text: a note never comes from there.
fn from_tool(parts: Vec<Part>) -> Vec<Part> {
    let foreign = |part: Part| match part {
        Part::Note(note) => Part::text(note.words()),
        other => other,
    };
    parts.into_iter().map(foreign).collect()
}
