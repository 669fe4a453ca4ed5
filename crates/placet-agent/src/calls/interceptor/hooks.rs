//! The person's hooks: their own programs and rules, which placet asks before a call and about each of its results.

use super::audit;
use crate::calls::approval;
use crate::calls::context::CallContext;
use crate::calls::origin::{CallOrigin, EntryPoint};
use crate::calls::rejection::{CallRejection, withheld};
use crate::services::SharedServices;
use placet_permission::{Access, Denial, FlowCheck, FlowViolation};
use placet_session::audit::{AuditEvent, AuditKind};
use placet_session::hooks::{HookAction, HookContext, HookFlow, HookPoint, HookRuling, SUBJECT};
use placet_text::conversation::{CallId, CallInput, CallOutcome, Note, Part, text_of};
use placet_tools::{OutputFacts, ToolError, ToolOutput};
use tokio_util::sync::CancellationToken;

pub(crate) fn has_hook(origin: &CallOrigin, point: HookPoint, tool: &str) -> bool {
    origin.interceptors.hooks.has_hook_for(point, tool)
}

/// Asks the hooks and logs their answer. Without hooks at this point the answer is ALLOW, at no cost.
pub(crate) async fn ask(
    origin: &CallOrigin,
    point: HookPoint,
    context: HookContext,
    call: Option<&CallId>,
    cancel: &CancellationToken,
) -> Result<HookRuling, ToolError> {
    let tool = context.tool.clone().unwrap_or_default();
    if !has_hook(origin, point, &tool) {
        return Ok(HookRuling::nothing());
    }
    let ruling = origin.interceptors.hooks.decide(point, context, cancel).await;
    let why = match &ruling.hook {
        Some(_) => ruling.says("decided"),
        None => "no hook decided".into(),
    };
    let entry = AuditEvent {
        session: origin.session.clone(),
        tool: Some(point.name().into()),
        call: call.map(ToString::to_string),
        reach: Some(tool).filter(|tool| !tool.is_empty()).into_iter().collect(),
        decision: Some(ruling.action.name().into()),
        why: Some(why),
        ..AuditEvent::of(AuditKind::Hook)
    };
    audit::write(origin, entry)?;
    Ok(ruling)
}

/// What hooks learn about everything in this conversation.
pub(crate) fn context(services: &SharedServices) -> HookContext {
    let policy = services.policy();
    HookContext {
        session_id: services.origin.session.clone(),
        mode: policy.mode().name().into(),
        session_taint: policy.taint().load().name().into(),
        cwd: services.env.workspace.cwd().to_path_buf(),
        ..HookContext::default()
    }
}

/// What hooks learn about the call.
fn call_context(ctx: &CallContext, reach: &[Access]) -> HookContext {
    // In a separate statement, because `context` takes the same lock.
    let flow = flow_of(&ctx.services.policy().flow(&ctx.call.name, reach));
    HookContext {
        tool: Some(ctx.call.name.clone()),
        input: match &ctx.call.input {
            CallInput::Object(value) => value.clone(),
            CallInput::Malformed { raw, .. } => raw.clone().into(),
        },
        flow,
        native: ctx.services.registry.judged_as(&ctx.call.name, &ctx.call.input),
        call_id: Some(ctx.call.id.to_string()),
        reach: reach.to_vec(),
        ..context(&ctx.services)
    }
}

fn flow_of(check: &FlowCheck) -> HookFlow {
    let any = |is: fn(&FlowViolation) -> bool| check.violations.iter().any(is);
    HookFlow {
        write_down: any(|v| matches!(v, FlowViolation::Sink { .. })),
        resource_write_down: any(|v| matches!(v, FlowViolation::File { .. })),
        read_ceiling: any(|v| matches!(v, FlowViolation::Ceiling { .. })),
    }
}

/// Called before any decision. Returns the reason if a hook demands that a person is asked.
pub(super) async fn before_call(
    ctx: &CallContext,
    reach: &[Access],
) -> Result<Option<String>, CallRejection> {
    let origin = &ctx.services.origin;
    let mut demands = Vec::new();
    for point in [HookPoint::McpToolCall, HookPoint::PreToolCall] {
        let applies = point == HookPoint::PreToolCall || origin.entry_point == EntryPoint::Mcp;
        if !applies || !has_hook(origin, point, &ctx.call.name) {
            continue;
        }
        let ruling = ask(origin, point, call_context(ctx, reach), Some(&ctx.call.id), &ctx.cancel).await?;
        ruling.remarks.iter().for_each(|remark| ctx.events.notice(remark));
        match &ruling.action {
            HookAction::Block(_) => {
                let hint = "the person set this up; find another way, or ask them";
                return Err(CallRejection::Denied(Denial::new(ruling.says("blocks it"), hint)));
            }
            HookAction::Ask(_) => demands.push(ruling.says("asks for a person's approval")),
            HookAction::Allow | HookAction::Redact(_) => {}
        }
    }
    Ok((!demands.is_empty()).then(|| demands.join("; ")))
}

/// Hooks learn that placet asks the person. The question does not wait for them.
pub(super) fn notify(ctx: &CallContext) {
    let origin = &ctx.services.origin;
    if !has_hook(origin, HookPoint::Notification, "") {
        return;
    }
    let context = HookContext {
        text: Some(format!("placet needs your permission to use {}", ctx.call.name)),
        input: serde_json::json!({ SUBJECT: "permission_prompt" }),
        ..context(&ctx.services)
    };
    let ctx = ctx.clone();
    tokio::spawn(async move {
        let origin = &ctx.services.origin;
        match ask(origin, HookPoint::Notification, context, Some(&ctx.call.id), &ctx.cancel).await {
            Ok(ruling) => ruling.remarks.iter().for_each(|remark| ctx.events.notice(remark)),
            Err(error) => ctx.events.notice(error.message),
        }
    });
}

/// True if a hook inspects the results of the call.
pub(crate) fn inspect_results(ctx: &CallContext) -> bool {
    has_hook(&ctx.services.origin, HookPoint::PostToolResponse, &ctx.call.name)
}

pub(super) async fn inspect_result(ctx: &CallContext, reach: &[Access], output: ToolOutput) -> ToolOutput {
    let context = HookContext {
        text: Some(text_of(&output.for_model)),
        has_failed: output.outcome != CallOutcome::Done,
        // What the call violates was decided before it ran.
        reach: reach.to_vec(),
        ..call_context(ctx, &[])
    };
    let point = HookPoint::PostToolResponse;
    let ruling = ask(&ctx.services.origin, point, context, Some(&ctx.call.id), &ctx.cancel).await;
    let ruling = match ruling {
        Ok(ruling) => ruling,
        Err(error) => return withheld(&output, &error.message),
    };
    ruling.remarks.iter().for_each(|remark| ctx.events.notice(remark));
    let mut output = redacted(output, &ruling);
    output.for_model.extend(additions(&ruling));
    output
        .for_person
        .notes
        .extend(ruling.additions.iter().map(|(hook, text)| format!("the hook `{hook}`: {text}")));
    match &ruling.action {
        HookAction::Allow | HookAction::Redact(_) => output,
        HookAction::Block(_) => withheld(&output, &ruling.says("blocks it")),
        HookAction::Ask(_) => {
            let reason = ruling.says("asks a person to see the result first");
            match approval::ask_about_result(ctx, &reason, &output).await {
                Ok(()) => output,
                Err(why) => withheld(&output, &why.to_string()),
            }
        }
    }
}

/// What hooks want the model to read.
pub(crate) fn additions(ruling: &HookRuling) -> impl Iterator<Item = Part> + '_ {
    let note = |(hook, text): &(String, String)| {
        Part::Note(Note::HookSays { hook: hook.clone(), text: text.clone() })
    };
    ruling.additions.iter().map(note)
}

/// Redacts every text of a result.
fn redacted(mut output: ToolOutput, ruling: &HookRuling) -> ToolOutput {
    if !ruling.redactions.is_empty() {
        // The facts of a command repeat its output: without the hook's redactions they must not be sent.
        output.facts = OutputFacts::None;
        output.texts_mut().into_iter().for_each(|text| *text = ruling.redact(text));
    }
    output
}
