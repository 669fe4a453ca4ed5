//! Plans a call, prepares its preview for the person, and asks the person.

use super::context::CallContext;
use super::interceptor::metrics;
use super::rejection::{CallRejection, crashed, cut};
use crate::event::{ApprovalReply, ApprovalRequest, TurnEvent};
use crate::lock::lock;
use placet_permission::{Access, Decision, Denial, Permit, PolicyQuestion};
use placet_session::metrics::MetricStatus;
use placet_text::conversation::text_of;
use placet_text::text::sanitize;
use placet_tools::{CallPreview, DisplayDetail, Plan, ReadScope, ToolError, ToolOutput};
use std::sync::Arc;
use std::time::Instant;
use thiserror::Error;

pub(super) async fn plan(ctx: &Arc<CallContext>) -> Result<Box<dyn Plan>, CallRejection> {
    let CallContext { call, events, .. } = ctx.as_ref();
    let own = Arc::clone(ctx);
    let plan =
        blocking(move || own.services.registry.plan(&own.call.name, &own.call.input, &own.services.env))
            .await?;
    let title = cut(plan.title(), 500);
    lock(&ctx.titles).insert(call.id.clone(), title.clone());
    events.send(TurnEvent::CallPlanned { id: call.id.clone(), name: call.name.clone(), title });
    Ok(plan)
}

/// Reads no further than the decision allows. A call that cannot succeed counts as a failed call, although it does not
/// run.
pub(super) async fn prepare(
    ctx: &CallContext,
    mut plan: Box<dyn Plan>,
    decision: &Decision,
) -> Result<(Box<dyn Plan>, CallPreview), CallRejection> {
    let scope = match decision {
        Decision::Deny(denial) => return Err(CallRejection::Denied(denial.clone())),
        Decision::Allow(_) => ReadScope::Everywhere,
        Decision::Ask(_) => ReadScope::InsideOnly,
    };
    let (services, started) = (Arc::clone(&ctx.services), Instant::now());
    let prepared = blocking(move || {
        let preview = plan.prepare(&services.env, scope)?;
        Ok((plan, preview))
    })
    .await;
    if matches!(prepared, Err(CallRejection::Error(_))) {
        metrics::count(ctx, MetricStatus::Failure, started);
    }
    prepared
}

/// Asks the person if the decision says so, one question at a time. While this question waits, an "always" given to an
/// earlier question may answer it, or the mode may change: `decide_again` decides again with the present grants and
/// mode.
pub(super) async fn settle(
    ctx: &CallContext,
    decision: Decision,
    preview: CallPreview,
    decide_again: impl Fn() -> Decision,
) -> Result<Permit, CallRejection> {
    if let Decision::Allow(permit) = decision {
        return Ok(permit);
    }
    let _turn = tokio::select! {
        turn = ctx.services.subagents.asking.lock() => turn,
        () = ctx.cancel.cancelled() => return Err(CallRejection::Stopped),
    };
    let mut decision = decide_again();
    loop {
        let question = match decision {
            Decision::Deny(denial) => return Err(CallRejection::Denied(denial)),
            Decision::Allow(permit) => return Ok(permit),
            Decision::Ask(question) => question,
        };
        let asked_for = question.landing;
        ask(ctx, question, preview.clone()).await?;
        // The person may have switched the mode at the question: what happens is what the mode on the screen says. A yes
        // holds where the call does no more than it was asked for.
        decision = match decide_again() {
            Decision::Ask(now) if now.landing <= asked_for => return Ok(now.allow()),
            other => other,
        };
    }
}

/// Asks; an error if the person does not allow it.
async fn ask(ctx: &CallContext, question: PolicyQuestion, preview: CallPreview) -> Result<(), CallRejection> {
    let policy = &ctx.services.policy;
    let request = |reply| ApprovalRequest {
        id: question.call.clone(),
        tool: question.tool.clone(),
        reason: question.reason.clone(),
        preview,
        always: question.always.clone(),
        pattern: question.pattern.clone(),
        typed: question.typed.clone(),
        needs_care: question.needs_care,
        why: question.why.clone(),
        flag: question.flag.clone(),
        takes_reason: true,
        reply,
    };
    let reply = send(ctx, request).await?;
    let allows = matches!(reply, ApprovalReply::Yes | ApprovalReply::Always | ApprovalReply::Pattern);
    if let Some(hosts) = hosts(&question.reach).filter(|_| allows) {
        // The question leaves the screen: what was allowed to leave the machine stays in view.
        ctx.events.notice(format!("allowed for {hosts}"));
    }
    match reply {
        ApprovalReply::Yes => Ok(()),
        reply @ (ApprovalReply::Always | ApprovalReply::Pattern) => {
            let grant = if reply == ApprovalReply::Always { &question.always } else { &question.pattern };
            if let Some(grant) = grant.clone() {
                lock(policy).remember(grant);
            }
            Ok(())
        }
        ApprovalReply::No(words) => Err(CallRejection::Denied(question.deny(&words))),
        ApprovalReply::Never => {
            lock(policy).forbid(question.reach.clone());
            Err(CallRejection::Denied(question.deny("not in this session")))
        }
        ApprovalReply::Cancel => Err(CallRejection::Stopped),
        ApprovalReply::Nobody => Err(CallRejection::Denied(no_person_denial(&question))),
    }
}

/// Who wants to connect to which hosts, in one line; `None` where nobody does.
fn hosts(reach: &[Access]) -> Option<String> {
    let mut who = None;
    let mut named = Vec::new();
    for access in reach {
        let (by, host) = match access {
            Access::Network { host } => ("this command".to_string(), host),
            Access::ServerNetwork { server, host } => (format!("the server {server}"), host),
            _ => continue,
        };
        who = Some(by);
        named.push(sanitize::line(host));
    }
    who.map(|who| format!("{who}: {}", named.join(", ")))
}

/// Why a result is withheld.
#[derive(Debug, Error)]
pub(super) enum WithheldResult {
    #[error("{reason}, and nobody can be asked")]
    Nobody { reason: String },
    #[error("{reason}; the person refused")]
    Refused { reason: String },
    #[error("the turn was stopped")]
    Stopped,
}

/// Asks the person whether a result may be sent.
pub(super) async fn ask_about_result(
    ctx: &CallContext,
    reason: &str,
    output: &ToolOutput,
) -> Result<(), WithheldResult> {
    let preview = CallPreview {
        line: format!("the result of {}", ctx.call.name),
        detail: DisplayDetail::Text(text_of(&output.for_model)),
    };
    let asked = (ctx.call.id.clone(), ctx.call.name.as_str());
    let request = |reply| ApprovalRequest::once(asked, reason.into(), preview, reply);
    match send(ctx, request).await {
        Ok(ApprovalReply::Yes | ApprovalReply::Always | ApprovalReply::Pattern) => Ok(()),
        Ok(ApprovalReply::Nobody) => Err(WithheldResult::Nobody { reason: reason.into() }),
        Ok(ApprovalReply::No(_) | ApprovalReply::Never | ApprovalReply::Cancel) => {
            Err(WithheldResult::Refused { reason: reason.into() })
        }
        Err(_) => Err(WithheldResult::Stopped),
    }
}

/// A dropped question counts as a no.
async fn send(
    ctx: &CallContext,
    request: impl FnOnce(tokio::sync::oneshot::Sender<ApprovalReply>) -> ApprovalRequest,
) -> Result<ApprovalReply, CallRejection> {
    let answer = ctx.events.ask(|reply| TurnEvent::Question(request(reply)));
    tokio::select! {
        reply = answer => Ok(reply.unwrap_or(ApprovalReply::No(String::new()))),
        () = ctx.cancel.cancelled() => Err(CallRejection::Stopped),
    }
}

fn no_person_denial(question: &PolicyQuestion) -> Denial {
    let hint = match &question.flag {
        Some(flag) => format!("{flag} allows it"),
        None => "this is never allowed without a person".into(),
    };
    Denial::new(format!("{}, and nobody can be asked", question.reason), hint)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, CallRejection> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(CallRejection::Error),
        Err(e) => Err(CallRejection::Error(crashed(&e))),
    }
}
