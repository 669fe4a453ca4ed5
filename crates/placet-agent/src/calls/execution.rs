//! Runs an approved call: waits for its turn among the others, streams its output, and asks the questions of the tool
//! itself.

use super::context::CallContext;
use super::interceptor::{classification, hooks};
use super::output_stream::{OutputPiece, stream_redacted};
use super::rejection::{crashed, failed};
use super::server_requests::ConversationHost;
use crate::event::{PromptAsker, TurnEvent, UserPrompt};
use placet_permission::{Access, Permit};
use placet_tools::{
    AskUser, BackgroundCheck, OutputInspector, Plan, ProgressSink, RunContext, ToolOutput, UserReply,
};
use placet_workspace::OriginGuard;
use std::sync::Arc;

/// The right to run, after waiting for it; released on drop.
enum ExecGuard {
    None,
    Alone(#[expect(dead_code, reason = "held, not looked at")] tokio::sync::OwnedRwLockWriteGuard<()>),
    Together(#[expect(dead_code, reason = "held, not looked at")] tokio::sync::OwnedRwLockReadGuard<()>),
}

/// Until the guard is dropped, changes in the view are recorded as made by this call.
pub(super) fn record_origin(ctx: &CallContext, title: &str) -> Option<OriginGuard> {
    let title = ctx.services.secrets().redact(title);
    let view = ctx.services.env.workspace.view()?;
    Some(view.enter_call(&ctx.call.id.to_string(), &ctx.call.name, &title))
}

pub(super) async fn run(
    ctx: &Arc<CallContext>,
    plan: Box<dyn Plan>,
    permit: Permit,
    inspect: OutputInspector,
) -> ToolOutput {
    let (title, reach) = (plan.title(), plan.reach());
    let run = RunContext {
        env: Arc::clone(&ctx.services.env),
        progress: progress(ctx),
        may_detach: may_detach(ctx),
        inspect,
        enquire: ask_user(ctx),
        children: ctx.spawner.clone(),
        requests: Arc::new(ConversationHost(Arc::clone(ctx))),
        cancel: ctx.cancel.clone(),
        stop_stage: ctx.stop_stage.clone(),
    };
    let _turn = wait_for_turn(ctx, &reach).await;
    // A separate task, so that a panic in the tool fails this call and not the turn.
    match tokio::spawn(plan.run(permit, run)).await {
        Ok(output) => output,
        Err(e) => failed(&crashed(&e), &title),
    }
}

/// Where a command's output goes while it runs: nowhere if a hook still has to inspect it.
fn progress(ctx: &CallContext) -> ProgressSink {
    if hooks::inspect_results(ctx) {
        return ProgressSink::silent();
    }
    let (events, id) = (ctx.events.clone(), ctx.call.id.clone());
    stream_redacted(&ctx.services.origin.interceptors, move |piece| {
        let id = id.clone();
        events.send(match piece {
            OutputPiece::Lines(text) => TurnEvent::CallOutput { id, text: text.into() },
            OutputPiece::Open(text) => TurnEvent::CallLine { id, text: text.into() },
        });
    })
}

/// A command whose writes must be checked when it ends stays in the foreground.
fn may_detach(ctx: &CallContext) -> BackgroundCheck {
    let services = Arc::clone(&ctx.services);
    BackgroundCheck::new(move || classification::may_detach(&services))
}

/// Waits for the turn of a call among all calls of the pool: a command runs alone, writes run together, reads need no
/// turn. Takes no lock if the call was cancelled meanwhile: the call notices the cancellation itself.
async fn wait_for_turn(ctx: &CallContext, reach: &[Access]) -> ExecGuard {
    let order = Arc::clone(&ctx.services.subagents.order);
    if reach.iter().any(|one| matches!(one, Access::Run { .. })) {
        return tokio::select! {
            guard = order.write_owned() => ExecGuard::Alone(guard),
            () = ctx.cancel.cancelled() => ExecGuard::None,
        };
    }
    if reach.iter().any(|one| matches!(one, Access::Write { .. })) {
        return tokio::select! {
            guard = order.read_owned() => ExecGuard::Together(guard),
            () = ctx.cancel.cancelled() => ExecGuard::None,
        };
    }
    ExecGuard::None
}

/// Lets a tool ask the person: after other questions, one at a time.
fn ask_user(ctx: &Arc<CallContext>) -> AskUser {
    let ctx = Arc::clone(ctx);
    AskUser::new(move |question, choices| {
        let ctx = Arc::clone(&ctx);
        Box::pin(async move {
            let _turn = ctx.services.subagents.asking.lock().await;
            let question = ctx.services.secrets().redact(&question).into_owned();
            let answer = ctx.events.ask(|reply| {
                TurnEvent::Enquiry(UserPrompt { asker: PromptAsker::Model, question, choices, reply })
            });
            answer.await.unwrap_or(UserReply::Nobody)
        })
    })
}
