//! The calls of an answer on their way: plan, decide, ask, run. Each is its own task; the turn hears how it ended.

use super::interceptor::{CallOrigin, EntryPoint, described};
use super::output_stream::{OutputPiece, trickle};
use crate::agent::agent::lock;
use crate::agent::event::{ApprovalReply, ApprovalRequest, TurnEvent, UserPrompt};
use crate::agent::subagents::SubagentPool;
use crate::agent::turn::machine::TurnInput;
use crate::audit::{AuditEvent, AuditKind, digest};
use crate::conversation::{
    CallFact, CallId, CallInterruption, CallOutcome, CallResult, Note, Part, ToolCall,
};
use crate::hooks::{HookAction, HookPoint};
use crate::metrics::MetricStatus;
use crate::permission::{Access, Decision, Denial, Permit, Policy, PolicyQuestion as Ask};
use crate::tools::{
    AskUser, CallPreview, CallSummary, DiffText, DisplayDetail, OutputFacts, Plan, ProgressSink, ReadScope,
    RunContext, SubagentSpawner, ToolContext, ToolError, ToolOutput, ToolRegistry, UserReply,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// A call that may run.
pub(in crate::agent) struct ApprovedCall {
    pub(in crate::agent) call: ToolCall,
    /// Taken out when it starts.
    ready: Option<PreparedCall>,
}

/// A call that was decided, and the entry that says so.
struct PreparedCall {
    plan: Box<dyn Plan>,
    permit: Permit,
    decided: AuditEvent,
}

/// Shared by the tasks of one turn.
pub(in crate::agent) struct TurnCalls(Arc<CallServices>);

pub(in crate::agent) struct CallServices {
    registry: Arc<ToolRegistry>,
    pub(in crate::agent) env: Arc<ToolContext>,
    pub(in crate::agent) policy: Arc<Mutex<Policy>>,
    pub(in crate::agent) visit: CallOrigin,
    events: UnboundedSender<TurnEvent>,
    inputs: UnboundedSender<TurnInput>,
    cleared: Mutex<HashMap<CallId, ApprovedCall>>,
    family: SubagentPool,
    children: SubagentSpawner,
}

/// What the calls of a turn share with others: who hears of them, and the conversation's sub-agents.
pub(in crate::agent) struct CallChannels {
    pub(in crate::agent) events: UnboundedSender<TurnEvent>,
    pub(in crate::agent) family: SubagentPool,
    pub(in crate::agent) children: SubagentSpawner,
}

/// A turn that was waited for; it ends when this goes.
enum ExecGuard {
    None,
    Alone(#[expect(dead_code, reason = "held, not looked at")] tokio::sync::OwnedRwLockWriteGuard<()>),
    Together(#[expect(dead_code, reason = "held, not looked at")] tokio::sync::OwnedRwLockReadGuard<()>),
}

/// Why a call will not run.
enum CallRejection {
    Error(ToolError),
    Denied(Denial),
    /// The same with other words for the model.
    Masked(Denial, String),
    Stopped,
}

impl TurnCalls {
    pub(in crate::agent) fn new(
        registry: Arc<ToolRegistry>,
        env: Arc<ToolContext>,
        policy: Arc<Mutex<Policy>>,
        visit: CallOrigin,
        shares: CallChannels,
        inputs: UnboundedSender<TurnInput>,
    ) -> TurnCalls {
        let cleared = Mutex::default();
        let CallChannels { events, family, children } = shares;
        TurnCalls(Arc::new(CallServices {
            registry,
            env,
            policy,
            visit,
            events,
            inputs,
            cleared,
            family,
            children,
        }))
    }

    /// Plans and decides; ends in `Cleared` or `Ended`.
    pub(in crate::agent) fn check(&self, call: ToolCall, cancel: CancellationToken) {
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            // A task of its own, so that a panic while planning fails this call and not the turn.
            let checked = tokio::spawn(Arc::clone(&shared).clear(call.clone(), cancel)).await;
            let checked = checked.unwrap_or_else(|e| Err(CallRejection::Error(crashed(&e))));
            match checked {
                Ok(ready) => {
                    let id = call.id.clone();
                    lock(&shared.cleared).insert(id.clone(), ApprovedCall { call, ready: Some(ready) });
                    drop(shared.inputs.send(TurnInput::Cleared(id)));
                }
                Err(refusal) => shared.refuse(&call, refusal),
            }
        });
    }

    /// Runs what was cleared; ends in `Ended`.
    pub(in crate::agent) fn run(&self, id: CallId, cancel: CancellationToken) {
        let shared = Arc::clone(&self.0);
        let taken = lock(&shared.cleared).get_mut(&id).and_then(|c| Some((c.call.clone(), c.ready.take()?)));
        let Some((call, ready)) = taken else { return };
        tokio::spawn(async move {
            let output = Arc::clone(&shared).run_approved(&call, ready, cancel).await;
            lock(&shared.cleared).remove(&id);
            match output {
                Ok(output) => shared.end(&call, output),
                Err(refusal) => shared.refuse(&call, refusal),
            }
        });
    }

    /// Everything that was cleared and has not ended, given up.
    pub(in crate::agent) fn abandon(&self) -> Vec<ApprovedCall> {
        lock(&self.0.cleared).drain().map(|(_, cleared)| cleared).collect()
    }
}

impl CallServices {
    /// Plans and decides, and writes down what was decided: what cannot be written down may not run.
    async fn clear(
        self: Arc<Self>,
        call: ToolCall,
        cancel: CancellationToken,
    ) -> Result<PreparedCall, CallRejection> {
        let mut note = self.visit.note(AuditKind::Decision, &call);
        let judged = Arc::clone(&self).judge(&call, &cancel, &mut note).await;
        let (decision, why) = match &judged {
            Ok((_, permit)) => ("allow", permit.why().to_string()),
            Err(CallRejection::Denied(denial) | CallRejection::Masked(denial, _)) => {
                ("deny", denial.reason.clone())
            }
            Err(CallRejection::Error(error)) => ("error", error.message.clone()),
            Err(CallRejection::Stopped) => ("stopped", String::new()),
        };
        let why = Some(cut(why, 1000)).filter(|why| !why.is_empty());
        let decided = AuditEvent { decision: Some(decision.into()), why, taint: self.taint(), ..note };
        self.visit.write(decided.clone()).map_err(CallRejection::Error)?;
        judged.map(|(plan, permit)| PreparedCall { plan, permit, decided })
    }

    async fn judge(
        self: Arc<Self>,
        call: &ToolCall,
        cancel: &CancellationToken,
        note: &mut AuditEvent,
    ) -> Result<(Box<dyn Plan>, Permit), CallRejection> {
        let shared = Arc::clone(&self);
        let wanted = call.clone();
        let planned =
            blocking(move || shared.registry.plan(&wanted.name, &wanted.input, &shared.env)).await?;
        note.reach = described(&planned.reach());
        self.tell(TurnEvent::CallPlanned {
            id: call.id.clone(),
            name: call.name.clone(),
            title: cut(planned.title(), 500),
        });
        // These words are for the model only: the person and the log need the reason.
        let words = planned.refusal(&self.env);
        let consented = self.consent(call, planned, cancel, note).await;
        consented.map_err(|refusal| match (refusal, words) {
            (CallRejection::Denied(denial), Some(words)) => CallRejection::Masked(denial, words),
            (refusal, _) => refusal,
        })
    }

    /// Lets the hooks, the rules and the person decide about a plan.
    async fn consent(
        &self,
        call: &ToolCall,
        planned: Box<dyn Plan>,
        cancel: &CancellationToken,
        note: &mut AuditEvent,
    ) -> Result<(Box<dyn Plan>, Permit), CallRejection> {
        let demand = self.hooks_before(call, planned.reach(), cancel).await?;
        let demand = demand.as_deref();
        match self.decide(call, planned.as_ref(), demand) {
            Decision::Deny(denial) => Err(CallRejection::Denied(denial)),
            Decision::Allow(permit) => {
                let (planned, preview) = self.prepare(call, planned, ReadScope::Everywhere).await?;
                note.preview_hash = Some(fingerprint(&preview));
                Ok((planned, permit))
            }
            Decision::Ask(_) => {
                let (planned, preview) = self.prepare(call, planned, ReadScope::InsideOnly).await?;
                note.preview_hash = Some(fingerprint(&preview));
                let turn = tokio::select! {
                    guard = self.family.asking.lock() => guard,
                    () = cancel.cancelled() => return Err(CallRejection::Stopped),
                };
                // An "always" given to an earlier question may have answered this one; the mode may have changed.
                let permit = match self.decide(call, planned.as_ref(), demand) {
                    Decision::Deny(denial) => return Err(CallRejection::Denied(denial)),
                    Decision::Allow(permit) => permit,
                    Decision::Ask(ask) => self.ask(ask, preview, cancel).await?,
                };
                // One question at a time: the next is asked when this one has its answer.
                drop(turn);
                Ok((planned, permit))
            }
        }
    }

    /// The person's hooks, before anything is decided. What comes back is why a person must be asked, if so.
    async fn hooks_before(
        &self,
        call: &ToolCall,
        reach: Vec<Access>,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, CallRejection> {
        let mut demand: Option<String> = None;
        for point in [HookPoint::McpToolCall, HookPoint::PreToolCall] {
            let wanted = point == HookPoint::PreToolCall || self.visit.entrance == EntryPoint::Mcp;
            if !wanted || !self.visit.watches(point, &call.name) {
                continue;
            }
            let context = {
                let policy = lock(&self.policy);
                self.visit.about(&policy, self.env.workspace.cwd(), call, &reach)
            };
            let ruling = self.visit.ask(point, context, Some(&call.id), cancel).await;
            let ruling = ruling.map_err(CallRejection::Error)?;
            match &ruling.action {
                HookAction::Block(_) => {
                    let hint = "the person set this up; find another way, or ask them".into();
                    let reason = ruling.says("blocks it");
                    return Err(CallRejection::Denied(Denial { reason, hint }));
                }
                HookAction::Ask(_) => {
                    let why = ruling.says("asks for a person's approval");
                    demand = Some(demand.map_or(why.clone(), |first| format!("{first}; {why}")));
                }
                HookAction::Allow | HookAction::Redact(_) => {}
            }
        }
        Ok(demand)
    }

    fn decide(&self, call: &ToolCall, planned: &dyn Plan, demand: Option<&str>) -> Decision {
        let policy = lock(&self.policy);
        policy.at(jiff::Timestamp::now());
        let judged_as = self.registry.judged_as(&call.name, &call.input);
        let reach = planned.reach();
        let level = policy.flow(&judged_as, &reach).level;
        let decision = policy.decide(&call.id, &judged_as, reach);
        let decision = match demand {
            Some(because) => decision.asking(&call.name, because),
            None => decision,
        };
        if !matches!(decision, Decision::Deny(_)) {
            // Before anything is looked at: also an error may quote what it found.
            policy.taint().raise(level);
        }
        if let Decision::Allow(permit) = &decision {
            tracing::info!(call = %call.id, tool = call.name, why = %permit.why(), "permitted");
        }
        decision
    }

    /// Runs what was permitted: written down before it starts, and what came of it before anybody hears.
    async fn run_approved(
        self: Arc<Self>,
        call: &ToolCall,
        ready: PreparedCall,
        cancel: CancellationToken,
    ) -> Result<(ToolOutput, Option<Note>), CallRejection> {
        let PreparedCall { plan, permit, decided } = ready;
        if plan.outlasts_call() {
            self.check_background_allowed().map_err(CallRejection::Error)?;
        }
        self.visit
            .write(AuditEvent { kind: AuditKind::Intent, ..decided.clone() })
            .map_err(CallRejection::Error)?;
        self.tell(TurnEvent::CallRunning { id: call.id.clone() });
        let (title, watch, reach) = (plan.title(), self.watch(plan.as_ref()), plan.reach());
        let title_told = self.visit.gate.secrets.redact(&title).into_owned();
        let view = self.env.workspace.view();
        // Until the call ends, changes in the view are recorded as made by this call.
        let _origin = view.map(|view| view.enter_call(&call.id.to_string(), &call.name, &title_told));
        let ctx = RunContext {
            env: Arc::clone(&self.env),
            progress: self.progress(call),
            inspect: Arc::clone(&self).inspect(call, &reach, cancel.clone()),
            enquire: Arc::clone(&self).enquire(),
            children: self.children.clone(),
            cancel,
        };
        let started = Instant::now();
        let order = self.turn_of(&reach, &ctx.cancel).await;
        // A task of its own, so that a panic in the tool fails this call and not the turn.
        let output = match tokio::spawn(plan.run(permit, ctx)).await {
            Ok(output) => output,
            Err(e) => failed(&crashed(&e), &title),
        };
        drop(order);
        let (output, note) = Arc::clone(&self).discard_lower_writes(watch, output).await;
        let status =
            if output.outcome == CallOutcome::Done { MetricStatus::Success } else { MetricStatus::Failure };
        self.count(call, status, started);
        let outcome = Some(output.outcome.name().into());
        let ended = AuditEvent { kind: AuditKind::Result, outcome, taint: self.taint(), ..decided };
        let written = self.visit.write(ended);
        // It has run; but nobody hears what came of it, since nothing says that they did.
        written.map_err(CallRejection::Error)?;
        Ok((output, note))
    }

    /// Where a command's output goes as it comes: nowhere, when a hook has yet to look at it.
    fn progress(&self, call: &ToolCall) -> ProgressSink {
        if self.visit.watches(HookPoint::PostToolResponse, &call.name) {
            return ProgressSink::silent();
        }
        let (events, id) = (self.events.clone(), call.id.clone());
        trickle(&self.visit.gate, move |piece| {
            let id = id.clone();
            drop(events.send(match piece {
                OutputPiece::Lines(text) => TurnEvent::CallOutput { id, text: text.into() },
                OutputPiece::Open(text) => TurnEvent::CallLine { id, text: text.into() },
            }));
        })
    }

    /// Waits for the turn of what reaches so far, among all of the family: a command runs alone, writes run together,
    /// reads need no turn. Nothing is held where the call was cancelled meanwhile: it will see that itself.
    async fn turn_of(&self, reach: &[Access], cancel: &CancellationToken) -> ExecGuard {
        let order = Arc::clone(&self.family.order);
        if reach.iter().any(|one| matches!(one, Access::Run { .. })) {
            return tokio::select! {
                guard = order.write_owned() => ExecGuard::Alone(guard),
                () = cancel.cancelled() => ExecGuard::None,
            };
        }
        if reach.iter().any(|one| matches!(one, Access::Write { .. })) {
            return tokio::select! {
                guard = order.read_owned() => ExecGuard::Together(guard),
                () = cancel.cancelled() => ExecGuard::None,
            };
        }
        ExecGuard::None
    }

    /// The person for a tool that asks them: after other questions, one at a time.
    fn enquire(self: Arc<Self>) -> AskUser {
        AskUser::new(move |question, choices| {
            let shared = Arc::clone(&self);
            Box::pin(async move {
                let _turn = shared.family.asking.lock().await;
                let (reply, answer) = oneshot::channel();
                let question = shared.visit.gate.secrets.redact(&question).into_owned();
                shared.tell(TurnEvent::Enquiry(UserPrompt { question, choices, reply }));
                answer.await.unwrap_or(UserReply::Nobody)
            })
        })
    }

    /// The session's level, where anything is classified.
    fn taint(&self) -> Option<String> {
        let policy = lock(&self.policy);
        (!policy.labels().is_off()).then(|| policy.taint().load().name().to_string())
    }

    /// A call that cannot do its work counts as one that failed, although it does not run.
    async fn prepare(
        &self,
        call: &ToolCall,
        planned: Box<dyn Plan>,
        sight: ReadScope,
    ) -> Result<(Box<dyn Plan>, CallPreview), CallRejection> {
        let (env, started) = (Arc::clone(&self.env), Instant::now());
        let prepared = blocking(move || {
            let mut planned = planned;
            let preview = planned.prepare(&env, sight)?;
            Ok((planned, preview))
        })
        .await;
        if matches!(prepared, Err(CallRejection::Error(_))) {
            self.count(call, MetricStatus::Failure, started);
        }
        prepared
    }

    fn count(&self, call: &ToolCall, status: MetricStatus, started: Instant) {
        // A tool with two names is counted once.
        self.visit.count(self.registry.own_name(&call.name), status, started.elapsed());
    }

    async fn ask(
        &self,
        ask: Ask,
        preview: CallPreview,
        cancel: &CancellationToken,
    ) -> Result<Permit, CallRejection> {
        let (reply, answer) = oneshot::channel();
        self.tell(TurnEvent::Question(ApprovalRequest {
            id: ask.call.clone(),
            tool: ask.tool.clone(),
            reason: ask.reason.clone(),
            preview,
            always: ask.always.clone(),
            pattern: ask.pattern.clone(),
            typed: ask.typed.clone(),
            why: ask.why.clone(),
            flag: ask.flag.clone(),
            reply,
        }));
        let reply = tokio::select! {
            reply = answer => reply.unwrap_or(ApprovalReply::No(String::new())),
            () = cancel.cancelled() => return Err(CallRejection::Stopped),
        };
        match reply {
            ApprovalReply::Yes => Ok(ask.allow()),
            ApprovalReply::Always | ApprovalReply::Pattern => {
                let grant = if reply == ApprovalReply::Always { &ask.always } else { &ask.pattern };
                if let Some(grant) = grant.clone() {
                    lock(&self.policy).remember(grant);
                }
                Ok(ask.allow())
            }
            ApprovalReply::No(words) => Err(CallRejection::Denied(ask.deny(&words))),
            ApprovalReply::Never => {
                lock(&self.policy).forbid(ask.reach.clone());
                Err(CallRejection::Denied(ask.deny("not in this session")))
            }
            ApprovalReply::Cancel => Err(CallRejection::Stopped),
            ApprovalReply::Nobody => Err(CallRejection::Denied(no_person_denial(&ask))),
        }
    }

    fn refuse(&self, call: &ToolCall, refusal: CallRejection) {
        let (outcome, text, summary, recorded) = match refusal {
            CallRejection::Error(e) => {
                let summary = CallSummary::failure(&call.name, &e.message);
                (CallOutcome::Failed, e.for_model(), summary, vec![CallFact::Failed { fault: e.fault }])
            }
            CallRejection::Denied(d) => {
                let text = format!("denied: {}\nhint: {}", d.reason, d.hint);
                (CallOutcome::Denied, text, CallSummary::failure(&call.name, &d.reason), Vec::new())
            }
            CallRejection::Masked(d, words) => {
                let text = format!("denied: {words}\nhint: do not try this path again in this session");
                (CallOutcome::Denied, text, CallSummary::failure(&call.name, &d.reason), Vec::new())
            }
            CallRejection::Stopped => {
                let result = CallResult::interrupted(call, CallInterruption::BeforeItRan);
                return self.answer(result, CallSummary::line(format!("{}: stopped", call.name)));
            }
        };
        let text = self.visit.gate.secrets.redact(&text).into_owned();
        // Errors quote what was asked for, which may be of any length.
        let text = cut(text, 8_000);
        let for_person = CallSummary { line: cut(summary.line, 500), detail: summary.detail };
        self.answer(CallResult::text(call, outcome, text).with(recorded), for_person);
    }

    fn end(&self, call: &ToolCall, (output, note): (ToolOutput, Option<Note>)) {
        let ToolOutput { outcome, for_model, for_person, facts, recorded } = output;
        if let OutputFacts::Todos(items) = facts {
            self.tell(TurnEvent::Todos(items));
        }
        let mut parts = from_tool(for_model);
        parts.extend(note.map(Part::Note));
        self.answer(CallResult::new(call, outcome, parts).with(recorded), for_person);
    }

    fn answer(&self, result: CallResult, summary: CallSummary) {
        let CallResult { id, name, outcome, .. } = &result;
        tracing::debug!(tool = name, ?outcome, "a call ended");
        let (id, name, outcome) = (id.clone(), name.clone(), *outcome);
        self.tell(TurnEvent::CallEnded { id, name, outcome, summary });
        drop(self.inputs.send(TurnInput::Ended(result)));
    }

    pub(in crate::agent) fn tell(&self, event: TurnEvent) {
        drop(self.events.send(event));
    }
}

/// Whatever a tool gives back is somebody else's words: no note can come from there.
fn from_tool(parts: Vec<Part>) -> Vec<Part> {
    let foreign = |part: Part| match part {
        Part::Note(note) => Part::text(note.words()),
        other => other,
    };
    parts.into_iter().map(foreign).collect()
}

/// What a person was, or would have been, shown.
fn fingerprint(preview: &CallPreview) -> String {
    let detail = match &preview.detail {
        DisplayDetail::Text(text) | DisplayDetail::Diff(DiffText { text, .. }) => text.as_str(),
        DisplayDetail::Changes(_) | DisplayDetail::Image(_) | DisplayDetail::None => "",
    };
    digest(&format!("{}\n{detail}", preview.line))
}

/// At most `bytes` of `text`, and how much is missing.
fn cut(mut text: String, bytes: usize) -> String {
    let whole = text.len();
    if whole > bytes {
        text.truncate(text.floor_char_boundary(bytes));
        text.push_str(&format!("[... {} more bytes]", whole - text.len()));
    }
    text
}

fn no_person_denial(ask: &Ask) -> Denial {
    let hint = match &ask.flag {
        Some(flag) => format!("nobody can be asked; {flag} allows it"),
        None => "nobody can be asked, and this is never allowed without a person".into(),
    };
    Denial { reason: format!("{}, and nobody can be asked", ask.reason), hint }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, CallRejection> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(CallRejection::Error),
        Err(e) => Err(CallRejection::Error(crashed(&e))),
    }
}

fn crashed(error: &tokio::task::JoinError) -> ToolError {
    tracing::error!("a tool crashed: {error}");
    ToolError::hint(
        "the tool crashed; this is a bug in placet",
        "the call had no known effect; check before you rely on it",
    )
}

fn failed(error: &ToolError, title: &str) -> ToolOutput {
    ToolOutput {
        outcome: CallOutcome::Failed,
        for_model: vec![Part::text(error.for_model())],
        for_person: CallSummary::failure(title, &error.message),
        facts: OutputFacts::None,
        recorded: vec![CallFact::Failed { fault: error.fault }],
    }
}
