//! The gate around every call, next to the policy: the person's hooks, the audit log, the figures.
//!
//! One value for the whole program; a default one has nothing in it and lets everything through. It fails closed: what
//! cannot be written down is not done, and a hook that cannot be asked blocks.

pub(in crate::agent) mod post_call;
pub(in crate::agent) mod session_hooks;
use crate::audit::{AuditError, AuditEvent, AuditKind, AuditLog};
use crate::conversation::{CallId, CallInput, Part, ToolCall};
use crate::hooks::{HookAction, HookContext, HookFlow, HookPoint, HookRuling, HookSet};
use crate::metrics::{MetricStatus, MetricsFile};
use crate::permission::{Access, FlowCheck, FlowViolation, Policy};
use crate::text::secret;
use crate::tools::ToolError;
use crate::tools::{CallSummary, CommandResult, DiffText, DisplayDetail, OutputFacts, ToolOutput};
use globset::GlobSet;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What surrounds every call.
#[derive(Default)]
pub struct CallInterceptors {
    pub hooks: HookSet,
    pub audit: Option<AuditLog>,
    pub metrics: Option<MetricsFile>,
    pub secrets: SecretFilter,
}

/// What is kept from models and from files of ours.
#[derive(Default)]
pub struct SecretFilter {
    /// Secrets by their shape are looked for at all.
    pub on: bool,
    /// placet's own keys.
    pub known: Vec<String>,
    /// Files whose secrets the person lets out.
    pub shown: GlobSet,
}

impl SecretFilter {
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.on { secret::redact(text, &self.known) } else { Cow::Borrowed(text) }
    }

    /// True for a call that reads nothing but files whose secrets are let out.
    pub(in crate::agent) fn allows_secrets(&self, reach: &[Access]) -> bool {
        let mut paths = reach.iter().filter_map(Access::path).peekable();
        !self.on
            || paths.peek().is_some()
                && reach.iter().all(|r| r.path().is_some_and(|p| self.shown.is_match(p)))
    }

    /// Everything of a result that is text.
    pub(in crate::agent) fn clean(&self, output: ToolOutput) -> ToolOutput {
        let text = |text: String| match self.redact(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(told) => told,
        };
        let part = |part: Part| match part {
            Part::Text { text: words } => Part::text(text(words)),
            other => other,
        };
        let facts = match output.facts {
            OutputFacts::Ran(ran) => OutputFacts::Ran(CommandResult {
                output: text(ran.output),
                effects: text(ran.effects),
                ..ran
            }),
            OutputFacts::Steady(words) => OutputFacts::Steady(text(words)),
            other => other,
        };
        let detail = match output.for_person.detail {
            DisplayDetail::Text(words) => DisplayDetail::Text(text(words)),
            DisplayDetail::Diff(diff) => DisplayDetail::Diff(DiffText { text: text(diff.text), ..diff }),
            other => other,
        };
        let for_person = CallSummary { line: text(output.for_person.line), detail };
        let for_model = output.for_model.into_iter().map(part).collect();
        ToolOutput { outcome: output.outcome, for_model, for_person, facts, recorded: output.recorded }
    }
}

/// Where a call comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// The model's, or the person's own word in a conversation.
    Conversation,
    /// The command line.
    CommandLine,
    Mcp,
}

/// The gate, as one conversation or one caller comes to it.
#[derive(Clone)]
pub struct CallOrigin {
    pub gate: Arc<CallInterceptors>,
    pub session: Option<String>,
    pub entrance: EntryPoint,
}

impl CallInterceptors {
    /// Writes down what became of pending or applied changes; `told` is what the person was shown.
    pub fn log_decision(
        &self,
        kind: AuditKind,
        by: &str,
        session: Option<String>,
        told: &str,
    ) -> Result<(), AuditError> {
        let Some(log) = &self.audit else { return Ok(()) };
        let note = AuditEvent {
            session,
            tool: Some(by.into()),
            decision: Some("yes".into()),
            why: Some("approved by the person".into()),
            preview_hash: Some(crate::audit::digest(told)),
            outcome: Some(told.lines().next().unwrap_or_default().chars().take(300).collect()),
            ..AuditEvent::of(kind)
        };
        log.append(note).map(|_| ())
    }
}

impl CallOrigin {
    /// A gate with nothing in it, for tests of other things.
    pub fn open(entrance: EntryPoint) -> CallOrigin {
        CallOrigin { gate: Arc::default(), session: None, entrance }
    }

    /// The beginning of an entry about `call`.
    pub(in crate::agent) fn note(&self, kind: AuditKind, call: &ToolCall) -> AuditEvent {
        AuditEvent {
            session: self.session.clone(),
            tool: Some(call.name.clone()),
            call: Some(call.id.to_string()),
            ..AuditEvent::of(kind)
        }
    }

    /// Writes an entry. An error means that what it is about must not go on.
    pub(in crate::agent) fn write(&self, note: AuditEvent) -> Result<(), ToolError> {
        let Some(log) = &self.gate.audit else { return Ok(()) };
        let clean = |text: String| self.gate.secrets.redact(&text).into_owned();
        let reach = note.reach.into_iter().map(clean).collect();
        let note = AuditEvent { reach, why: note.why.map(clean), outcome: note.outcome.map(clean), ..note };
        let written = log.append(note);
        written.map(|_| ()).map_err(|e| {
            tracing::error!("the audit log: {e}");
            ToolError::hint(format!("cannot write the audit log, so placet stops here: {e}"), e.hint())
        })
    }

    pub(in crate::agent) fn watches(&self, point: HookPoint, tool: &str) -> bool {
        self.gate.hooks.has_hook_for(point, tool)
    }

    /// Asks the hooks and writes down what they say. Without hooks at this point it is ALLOW, at no cost.
    pub(in crate::agent) async fn ask(
        &self,
        point: HookPoint,
        context: HookContext,
        call: Option<&CallId>,
        cancel: &CancellationToken,
    ) -> Result<HookRuling, ToolError> {
        let tool = context.tool.clone().unwrap_or_default();
        if !self.watches(point, &tool) {
            return Ok(HookRuling { action: HookAction::Allow, hook: None, redactions: Vec::new() });
        }
        let about = (!tool.is_empty()).then_some(tool);
        let ruling = self.gate.hooks.decide(point, context, cancel).await;
        self.write(AuditEvent {
            session: self.session.clone(),
            tool: Some(point.name().into()),
            call: call.map(ToString::to_string),
            reach: about.into_iter().collect(),
            decision: Some(ruling.action.name().into()),
            why: Some(
                ruling
                    .hook
                    .as_ref()
                    .map_or_else(|| "no hook had an opinion".into(), |_| ruling.says("decided")),
            ),
            ..AuditEvent::of(AuditKind::Hook)
        })?;
        Ok(ruling)
    }

    pub(in crate::agent) fn count(&self, tool: &str, status: MetricStatus, took: Duration) {
        if let Some(metrics) = &self.gate.metrics {
            metrics.count(tool, status, took);
        }
    }

    /// What hooks get to know about anything in this conversation.
    pub(in crate::agent) fn context(&self, policy: &Policy, cwd: PathBuf) -> HookContext {
        HookContext {
            session_id: self.session.clone(),
            mode: policy.mode().name().into(),
            session_taint: policy.taint().load().name().into(),
            cwd,
            ..HookContext::default()
        }
    }

    /// What they get to know about a call.
    pub(in crate::agent) fn about(
        &self,
        policy: &Policy,
        cwd: &Path,
        call: &ToolCall,
        reach: &[Access],
    ) -> HookContext {
        HookContext {
            tool: Some(call.name.clone()),
            input: match &call.input {
                CallInput::Object(value) => value.clone(),
                CallInput::Malformed { raw, .. } => raw.clone().into(),
            },
            flow: flags(&policy.flow(&call.name, reach)),
            ..self.context(policy, cwd.to_path_buf())
        }
    }
}

fn flags(flowing: &FlowCheck) -> HookFlow {
    let any = |is: fn(&FlowViolation) -> bool| flowing.violations.iter().any(is);
    HookFlow {
        write_down: any(|v| matches!(v, FlowViolation::Sink { .. })),
        resource_write_down: any(|v| matches!(v, FlowViolation::File { .. })),
        read_ceiling: any(|v| matches!(v, FlowViolation::Ceiling { .. })),
    }
}

/// What a call touches, as the log names it.
pub(in crate::agent) fn described(reach: &[Access]) -> Vec<String> {
    let one = |reach: &Access| match reach {
        Access::Read { path, .. } | Access::Write { path, .. } => {
            format!("{} {}", reach.kind(), path.display())
        }
        Access::Run { command, cwd, .. } => format!("run {command} (in {})", cwd.display()),
        Access::Network { host } => format!("network {host}"),
        Access::Session | Access::Approval => reach.kind().into(),
    };
    reach.iter().map(one).collect()
}
