//! The audit log: decisions, calls that are about to run, and their results.

use crate::calls::context::CallContext;
use crate::calls::origin::CallOrigin;
use crate::calls::rejection::{CallRejection, cut};
use placet_permission::{Access, Permit};
use placet_session::audit::{AuditEvent, AuditKind, digest};
use placet_tools::{CallPreview, DiffText, DisplayDetail, MatchedText, Plan, ToolError, ToolOutput};
use std::borrow::Cow;

/// Writes an entry. After an error, the action of the entry must not continue.
pub(crate) fn write(origin: &CallOrigin, entry: AuditEvent) -> Result<(), ToolError> {
    let Some(log) = &origin.interceptors.audit else { return Ok(()) };
    let clean = |text: String| origin.interceptors.secrets.redact(&text).into_owned();
    let reach = entry.reach.into_iter().map(clean).collect();
    let entry = AuditEvent { reach, why: entry.why.map(clean), outcome: entry.outcome.map(clean), ..entry };
    log.append(entry).map(|_| ()).map_err(|e| {
        tracing::error!("the audit log: {e}");
        ToolError::hint(format!("cannot write the audit log, so placet stops here: {e}"), e.hint())
    })
}

/// The first fields of the entry about the call.
pub(super) fn begin_decision(ctx: &CallContext) -> AuditEvent {
    AuditEvent {
        session: ctx.services.origin.session.clone(),
        tool: Some(ctx.call.name.clone()),
        call: Some(ctx.call.id.to_string()),
        ..AuditEvent::of(AuditKind::Decision)
    }
}

pub(super) fn write_decision(
    ctx: &CallContext,
    entry: AuditEvent,
    decided: &Result<(Box<dyn Plan>, Permit), CallRejection>,
) -> Result<AuditEvent, ToolError> {
    let (decision, why) = match decided {
        Ok((_, permit)) => ("allow", permit.why().to_string()),
        Err(CallRejection::Denied(denial) | CallRejection::Masked(denial, _)) => {
            ("deny", denial.reason.clone())
        }
        Err(CallRejection::Error(error)) => ("error", error.message.clone()),
        Err(CallRejection::Stopped) => ("stopped", String::new()),
    };
    let why = Some(cut(why, 1000)).filter(|why| !why.is_empty());
    let entry = AuditEvent { decision: Some(decision.into()), why, taint: session_level(ctx), ..entry };
    write(&ctx.services.origin, entry.clone())?;
    Ok(entry)
}

/// Called before the call starts.
pub(super) fn write_intent(ctx: &CallContext, entry: &AuditEvent) -> Result<(), ToolError> {
    write(&ctx.services.origin, AuditEvent { kind: AuditKind::Intent, ..entry.clone() })
}

/// Called before anybody gets the result.
pub(super) fn write_result(
    ctx: &CallContext,
    entry: AuditEvent,
    output: &ToolOutput,
) -> Result<(), ToolError> {
    let outcome = Some(output.outcome.name().into());
    let taint = session_level(ctx);
    let entry = AuditEvent { kind: AuditKind::Result, outcome, taint, ..entry };
    // A call of a server's tool may have applied or undone something: this is the entry of it.
    let marks = &ctx.services.origin.interceptors.unlogged;
    marks.logged(|transactions| write(&ctx.services.origin, AuditEvent { transactions, ..entry }))
}

/// The session's level, if anything is classified.
fn session_level(ctx: &CallContext) -> Option<String> {
    let policy = ctx.services.policy();
    (!policy.labels().is_off()).then(|| policy.taint().load().name().to_string())
}

/// What a call touches, as the log names it.
pub(super) fn access_names(reach: &[Access]) -> Vec<String> {
    let name = |access: &Access| match access {
        Access::Read { path, .. } | Access::Write { path, .. } => {
            format!("{} {}", access.kind(), path.display())
        }
        Access::Run { command, cwd, .. } => format!("run {command} (in {})", cwd.display()),
        Access::Network { host } | Access::Fetch { host } => format!("{} {host}", access.kind()),
        Access::ServerNetwork { server, host } => format!("network {host} (server {server})"),
        Access::Publish { port } => format!("publish {port}"),
        Access::ServerTool { server, tool, .. } => format!("mcp {server}.{tool}"),
        Access::Session | Access::Approval => access.kind().into(),
    };
    reach.iter().map(name).collect()
}

/// The hash of the preview that a person saw, or would have seen.
pub(super) fn preview_hash(preview: &CallPreview) -> String {
    let detail = match &preview.detail {
        DisplayDetail::Text(text)
        | DisplayDetail::Report(text)
        | DisplayDetail::Matches(MatchedText { text, .. })
        | DisplayDetail::Diff(DiffText { text, .. }) => Cow::Borrowed(text.as_str()),
        DisplayDetail::Command(command) => Cow::Owned(command.words()),
        DisplayDetail::Changes(_) | DisplayDetail::Image(_) | DisplayDetail::None => Cow::Borrowed(""),
    };
    digest(&format!("{}\n{detail}", preview.line))
}
