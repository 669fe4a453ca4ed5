//! The steps around every call, in the order in which they run. Before a call it is [`approve`], which calls [`decide`]
//! and [`consent`]; around the run it is [`run`]; on each result it is [`inspector`]. Read them from top to bottom.
//! Errors block: an action that cannot be logged does not happen, and a hook that cannot be asked counts as a no.
//!
//! The steps are named functions and not entries of a list of trait objects, because no two have the same form. The
//! hooks wait for a program and may demand a question, only the rules can give the [`Permit`], classification needs at
//! the end what it saw at the beginning, and the audit log comes last before a call and last after it. A trait with a
//! method for each place would be empty in most of its implementations, and would hide the order that matters.

pub(crate) mod audit;
pub(crate) mod classification;
pub(crate) mod hooks;
pub(crate) mod metrics;
pub(crate) mod rules;
pub(crate) mod secrets;

use super::approval;
use super::context::CallContext;
use super::execution;
use super::rejection::{CallRejection, crashed, failed};
use crate::event::TurnEvent;
use placet_permission::{Access, Decision, Permit};
use placet_session::audit::AuditEvent;
use placet_text::conversation::Note;
use placet_tools::{OutputInspector, Plan, ToolOutput};
use std::sync::Arc;
use std::time::Instant;

/// From this size on, in bytes, the texts of a result are searched for secrets in a thread of their own.
const LONG_TEXT: usize = 256 << 10;

/// A call that was approved, and the log entry of the approval.
pub(crate) struct ApprovedPlan {
    plan: Box<dyn Plan>,
    permit: Permit,
    entry: AuditEvent,
}

/// Runs before a call.
pub(super) async fn approve(ctx: Arc<CallContext>) -> Result<ApprovedPlan, CallRejection> {
    let mut entry = audit::begin_decision(&ctx);
    let decided = decide(&ctx, &mut entry).await;
    // Whatever the decision is: a decision that cannot be logged lets nothing run.
    let entry = audit::write_decision(&ctx, entry, &decided)?;
    decided.map(|(plan, permit)| ApprovedPlan { plan, permit, entry })
}

async fn decide(
    ctx: &Arc<CallContext>,
    entry: &mut AuditEvent,
) -> Result<(Box<dyn Plan>, Permit), CallRejection> {
    let plan = approval::plan(ctx).await?;
    entry.reach = audit::access_names(&plan.reach());
    // For the model only: the person and the log need the reason.
    let mask = plan.refusal(&ctx.services.env);
    let consented = consent(ctx, plan, entry).await;
    consented.map_err(|rejection| match (rejection, mask) {
        (CallRejection::Denied(denial), Some(words)) => CallRejection::Masked(denial, words),
        (rejection, _) => rejection,
    })
}

/// Asks the hooks, the rules and the person.
async fn consent(
    ctx: &Arc<CallContext>,
    plan: Box<dyn Plan>,
    entry: &mut AuditEvent,
) -> Result<(Box<dyn Plan>, Permit), CallRejection> {
    let demand = hooks::before_call(ctx, &plan.reach()).await?;
    let decision = rules::decide(ctx, plan.reach(), demand.as_deref());
    let (plan, preview) = approval::prepare(ctx, plan, &decision).await?;
    entry.preview_hash = Some(audit::preview_hash(&preview));
    let reach = plan.reach();
    let decide_again = || rules::decide(ctx, reach.clone(), demand.as_deref());
    if matches!(decision, Decision::Ask(_)) {
        hooks::notify(ctx);
    }
    let permit = approval::settle(ctx, decision, preview, decide_again).await?;
    Ok((plan, permit))
}

/// Runs an approved call.
pub(super) async fn run(
    ctx: Arc<CallContext>,
    approved: ApprovedPlan,
) -> Result<(ToolOutput, Option<Note>), CallRejection> {
    let ApprovedPlan { plan, permit, entry } = approved;
    let reach = plan.reach();
    classification::check_background(&ctx, plan.as_ref())?;
    audit::write_intent(&ctx, &entry)?;
    ctx.events.send(TurnEvent::CallRunning { id: ctx.call.id.clone() });
    let snapshot = classification::snapshot(&ctx, &reach);
    let origin = execution::record_origin(&ctx, &plan.title());
    let started = Instant::now();
    let output = execution::run(&ctx, plan, permit, inspector(&ctx, &reach)).await;
    let (output, note) = classification::discard_lower_writes(&ctx, snapshot, output).await;
    metrics::count_result(&ctx, &output, started);
    // The call has run, but its result is withheld if the log cannot record it.
    audit::write_result(&ctx, entry, &output)?;
    drop(origin);
    Ok((output, note))
}

/// Inspects each result before it is cut, stored in a scratchpad, shown or sent.
fn inspector(ctx: &Arc<CallContext>, reach: &[Access]) -> OutputInspector {
    let shows_secrets = ctx.services.secrets().allows_secrets(reach);
    let has_hook = hooks::inspect_results(ctx);
    if shows_secrets && !has_hook {
        return OutputInspector::nothing();
    }
    let (ctx, reach) = (Arc::clone(ctx), Arc::<[Access]>::from(reach));
    OutputInspector::new(move |output| {
        let (ctx, reach) = (Arc::clone(&ctx), Arc::clone(&reach));
        Box::pin(async move {
            let output = if shows_secrets { output } else { without_secrets(&ctx, output).await };
            if has_hook { hooks::inspect_result(&ctx, &reach, output).await } else { output }
        })
    })
}

/// Redacts what looks like a secret. Long texts are searched in a thread of their own: this can take a tenth of a second,
/// and a call that is stopped meanwhile need not wait for it.
async fn without_secrets(ctx: &Arc<CallContext>, output: ToolOutput) -> ToolOutput {
    if output.text_bytes() <= LONG_TEXT {
        return ctx.services.secrets().clean(output);
    }
    let (own, title) = (Arc::clone(ctx), output.for_person.line.clone());
    let searching = tokio::task::spawn_blocking(move || own.services.secrets().clean(output));
    searching.await.unwrap_or_else(|e| failed(&crashed(&e), &title))
}
