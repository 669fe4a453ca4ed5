//! After a call has run, before anybody hears: hooks look at the result, and what a command in a classified session
//! wrote to a lower level is undone.

use crate::agent::agent::lock;
use crate::agent::calls::pipeline::CallServices;
use crate::agent::event::{ApprovalReply, ApprovalRequest, TurnEvent};
use crate::conversation::{BlockedWrite, CallId, CallOutcome, Note, Part, ToolCall, text_of};
use crate::hooks::{HookAction, HookPoint, HookRuling};
use crate::permission::{Access, ClassificationLevel};
use crate::tools::{
    CallPreview, CallSummary, DiffText, DisplayDetail, OutputFacts, OutputInspector, Plan, ToolError,
    ToolOutput,
};
use crate::workspace::{ChangeSet, LayerKind, PathState, View};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What was pending before a command that is watched.
pub(in crate::agent) struct PostCallCheck {
    view: View,
    before: BTreeMap<PathBuf, PathState>,
}

impl CallServices {
    /// Hooks look at each result of `call` before it is cut, kept in a scratchpad, shown or sent.
    /// What looks like a secret goes before anything else sees it.
    pub(in crate::agent) fn inspect(
        self: Arc<Self>,
        call: &ToolCall,
        reach: &[Access],
        cancel: CancellationToken,
    ) -> OutputInspector {
        let hooked = self.visit.watches(HookPoint::PostToolResponse, &call.name);
        let let_out = self.visit.gate.secrets.allows_secrets(reach);
        if !hooked && let_out {
            return OutputInspector::nothing();
        }
        let call = call.clone();
        OutputInspector::new(move |output| {
            let (shared, call, cancel) = (Arc::clone(&self), call.clone(), cancel.clone());
            Box::pin(async move {
                let output = if let_out { output } else { shared.visit.gate.secrets.clean(output) };
                if hooked { shared.looked_at(&call, output, &cancel).await } else { output }
            })
        })
    }

    async fn looked_at(&self, call: &ToolCall, output: ToolOutput, cancel: &CancellationToken) -> ToolOutput {
        let context = {
            let policy = lock(&self.policy);
            let mut context = self.visit.about(&policy, self.env.workspace.cwd(), call, &[]);
            context.text = Some(text_of(&output.for_model));
            context
        };
        let ruling = self.visit.ask(HookPoint::PostToolResponse, context, Some(&call.id), cancel).await;
        let ruling = match ruling {
            Ok(ruling) => ruling,
            Err(error) => return withheld(&output, &error.message),
        };
        let output = redacted(output, &ruling);
        match &ruling.action {
            HookAction::Allow | HookAction::Redact(_) => output,
            HookAction::Block(_) => withheld(&output, &ruling.says("blocks it")),
            HookAction::Ask(_) => {
                let reason = ruling.says("asks a person to see the result first");
                match self.approve(&call.id, &call.name, &reason, &output, cancel).await {
                    Ok(()) => output,
                    Err(why) => withheld(&output, &why),
                }
            }
        }
    }

    /// Asks the person whether a result may go on; the error says why not.
    async fn approve(
        &self,
        id: &CallId,
        tool: &str,
        reason: &str,
        output: &ToolOutput,
        cancel: &CancellationToken,
    ) -> Result<(), String> {
        let (reply, answer) = oneshot::channel();
        self.tell(TurnEvent::Question(ApprovalRequest {
            id: id.clone(),
            tool: tool.into(),
            reason: reason.into(),
            preview: CallPreview {
                line: format!("the result of {tool}"),
                detail: DisplayDetail::Text(text_of(&output.for_model)),
            },
            always: None,
            pattern: None,
            typed: None,
            why: String::new(),
            flag: None,
            reply,
        }));
        let reply = tokio::select! {
            reply = answer => reply.unwrap_or(ApprovalReply::No(String::new())),
            () = cancel.cancelled() => return Err("the turn was stopped".into()),
        };
        match reply {
            ApprovalReply::Yes | ApprovalReply::Always | ApprovalReply::Pattern => Ok(()),
            ApprovalReply::Nobody => Err(format!("{reason}, and nobody can be asked")),
            ApprovalReply::No(_) | ApprovalReply::Never | ApprovalReply::Cancel => {
                Err(format!("{reason}; the person refused"))
            }
        }
    }

    /// What is pending now, when a command is about to run in a session where something is classified.
    pub(in crate::agent) fn watch(&self, plan: &dyn Plan) -> Option<PostCallCheck> {
        let off = {
            let policy = lock(&self.policy);
            policy.labels().is_off() || policy.taint().load() == ClassificationLevel::Public
        };
        let runs = plan.reach().iter().any(|one| matches!(one, Access::Run { .. }));
        if off || !runs {
            return None;
        }
        let view = self.env.workspace.view()?.clone();
        // If the pending changes cannot be read, all of them count as made by the command: the strict side.
        let set = view.changes(LayerKind::Pending).unwrap_or_default();
        Some(PostCallCheck { view, before: set.changes.into_iter().map(|c| (c.path, c.after)).collect() })
    }

    /// What goes on after its call cannot be judged when it ends: the conversation may have another level by then.
    pub(in crate::agent) fn check_background_allowed(&self) -> Result<(), ToolError> {
        let policy = lock(&self.policy);
        if policy.labels().is_off() || policy.taint().load() == ClassificationLevel::Public {
            return Ok(());
        }
        Err(ToolError::hint(
            "no background commands in a classified conversation: placet cannot check what they write later",
            "run it without `background`",
        ))
    }

    /// Discards what the command changed at a lower level than the session's; the note says what.
    pub(in crate::agent) async fn discard_lower_writes(
        self: Arc<Self>,
        watch: Option<PostCallCheck>,
        mut output: ToolOutput,
    ) -> (ToolOutput, Option<Note>) {
        let Some(PostCallCheck { view, before }) = watch else { return (output, None) };
        let (env, shared) = (Arc::clone(&self.env), Arc::clone(&self));
        let thrown = tokio::task::spawn_blocking(move || {
            let mut set = view.changes(LayerKind::Pending).map_err(|e| e.to_string())?;
            let (taint, level_of) = {
                let policy = lock(&shared.policy).clone();
                (policy.taint().load(), move |path: &PathBuf| policy.level_of(path))
            };
            set.changes.retain(|c| before.get(&c.path) != Some(&c.after) && level_of(&c.path) < taint);
            let note = blocked(&set, taint, &level_of, |path| env.workspace.shown(path));
            if !set.is_empty() {
                view.discard(&View::everything(&set)).map_err(|e| e.to_string())?;
            }
            Ok::<_, String>(note)
        });
        let note = match thrown.await.unwrap_or_else(|e| Err(e.to_string())) {
            Ok(note) => note,
            Err(e) => {
                let why = format!("cannot check what the command wrote: {e}");
                return (withheld(&output, &why), None);
            }
        };
        if note.is_some() {
            output.for_person.line.push_str(" · write-down blocked");
        }
        (output, note)
    }
}

/// The most files that the note names.
const NAMED: usize = 10;

fn blocked(
    set: &ChangeSet,
    taint: ClassificationLevel,
    level_of: &dyn Fn(&PathBuf) -> ClassificationLevel,
    shown: impl Fn(&PathBuf) -> String,
) -> Option<Note> {
    let file = |path: &PathBuf| BlockedWrite { path: shown(path), level: level_of(path).name().into() };
    let files: Vec<BlockedWrite> = set.changes.iter().take(NAMED).map(|c| file(&c.path)).collect();
    let more = set.len() - files.len();
    (!set.is_empty()).then(|| Note::WriteDownBlocked { level: taint.name().into(), files, more })
}

/// Everything of a result that is text.
fn redacted(output: ToolOutput, ruling: &HookRuling) -> ToolOutput {
    if ruling.redactions.is_empty() {
        return output;
    }
    let part = |part: Part| match part {
        Part::Text { text } => Part::text(ruling.redact(&text)),
        other => other,
    };
    let detail = match output.for_person.detail {
        DisplayDetail::Text(text) => DisplayDetail::Text(ruling.redact(&text)),
        DisplayDetail::Diff(diff) => {
            DisplayDetail::Diff(DiffText { text: ruling.redact(&diff.text), ..diff })
        }
        other => other,
    };
    ToolOutput {
        outcome: output.outcome,
        for_model: output.for_model.into_iter().map(part).collect(),
        for_person: CallSummary { line: ruling.redact(&output.for_person.line), detail },
        // The facts of a command repeat its output: without the hook's redactions they must not go on.
        facts: OutputFacts::None,
        recorded: output.recorded,
    }
}

/// The call has run, and its result goes nowhere.
fn withheld(output: &ToolOutput, why: &str) -> ToolOutput {
    let error = ToolError::hint(
        format!("result withheld: {why}"),
        "the call itself ran; do not repeat it to get its result in another way",
    );
    let line = output.for_person.line.lines().next().unwrap_or_default().to_string();
    ToolOutput {
        outcome: CallOutcome::Denied,
        for_model: vec![Part::text(error.denied())],
        for_person: CallSummary::failure(&line, &error.message),
        facts: OutputFacts::None,
        recorded: output.recorded.clone(),
    }
}
