//! The hooks of the conversation itself, and its classification, which is stored with the session. The interceptors of
//! a single call are in [`super::calls::interceptor`].

use super::calls::interceptor::{audit, hooks};
use super::config::{ActiveModel, TurnStart};
use super::conversation::log::Conversation;
use super::conversation::notes::words_in;
use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, ReasonReader, TurnEvent, TurnEvents};
use super::services::SharedServices;
use super::turn::ending::TurnEnding;
use placet_permission::ClassificationLevel;
use placet_provider::ProviderError;
use placet_session::audit::{AuditEvent, AuditKind};
use placet_session::hooks::{HookAction, HookContext, HookPoint, HookRuling, SUBJECT};
use placet_session::session::{SessionError, SessionStateKey};
use placet_text::conversation::{AssistantBlock, AssistantMessage, Note, Part};
use placet_tools::{DisplayDetail, ToolError};
use serde_json::{Value, json};
use std::sync::Arc;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// Why the person cannot leave the conversation for a new one.
#[derive(Debug, Error)]
pub enum LeaveError {
    #[error("{}", .0.says("blocks it"))]
    Blocked(Box<HookRuling>),
    /// The hooks could not be asked, or the audit log could not be written.
    #[error(transparent)]
    Unrecorded(#[from] ToolError),
}

pub(super) struct SessionChecks {
    services: Arc<SharedServices>,
    /// The hooks allowed the use of the provider's key.
    is_key_allowed: bool,
    /// The hooks know of the conversation.
    is_started: bool,
    /// The level that is stored in the session.
    stored_level: ClassificationLevel,
}

impl SessionChecks {
    pub(super) fn new(services: Arc<SharedServices>) -> SessionChecks {
        let stored_level = ClassificationLevel::default();
        SessionChecks { services, is_key_allowed: false, is_started: false, stored_level }
    }

    /// Another provider answers from now on, with another key.
    pub(super) fn ask_for_key_again(&mut self) {
        self.is_key_allowed = false;
    }

    /// Asks the hooks about the task of the agent.
    pub(super) async fn before_turn(
        &self,
        start: &TurnStart,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Result<Vec<Part>, TurnEnding> {
        let context = HookContext { text: Some(start.text()), ..self.context(json!({})) };
        self.pass(HookPoint::AgentInvocation, context, events, stop).await
    }

    /// The first message of the conversation in this process: what hooks want the model to read with it.
    pub(super) async fn begin_session(
        &mut self,
        is_resumed: bool,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Vec<Part> {
        if std::mem::replace(&mut self.is_started, true) || self.services.subagents.is_child {
            return Vec::new();
        }
        let source = if is_resumed { "resume" } else { "startup" };
        let context = self.context(json!({ SUBJECT: source }));
        let ruling = self.hear(HookPoint::SessionStart, context, events, stop).await;
        hooks::additions(&ruling).collect()
    }

    /// The conversation ends in this process. Waits for the hooks, within their time limits.
    pub(super) async fn end_session(&self, reason: &str) -> Vec<String> {
        if !self.is_started {
            return Vec::new();
        }
        let context = self.context(json!({ SUBJECT: reason }));
        let (origin, stop) = (&self.services.origin, CancellationToken::new());
        match hooks::ask(origin, HookPoint::SessionEnd, context, None, &stop).await {
            Ok(ruling) => ruling.remarks,
            Err(error) => vec![error.message],
        }
    }

    /// The model has ended its work: a text with which a hook wants it to continue. `is_continued` is true if a hook
    /// already made it continue.
    pub(super) async fn before_end(
        &self,
        answer: String,
        is_continued: bool,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Option<Part> {
        let point = match self.services.subagents.is_child {
            true => HookPoint::SubagentEnd,
            false => HookPoint::TurnEnd,
        };
        if !hooks::has_hook(&self.services.origin, point, "") {
            return None;
        }
        let input = json!({ "continued": is_continued });
        let context = HookContext { text: Some(answer), ..self.context(input) };
        let ruling = self.hear(point, context, events, stop).await;
        let HookAction::Block(text) = ruling.action else { return None };
        let hook = ruling.hook.unwrap_or_default();
        events.notice(format!("the hook `{hook}` makes the model continue: {text}"));
        Some(Part::Note(Note::HookSays { hook, text }))
    }

    /// Why the conversation must not be summarized now.
    pub(super) async fn before_summary(
        &self,
        trigger: &str,
        focus: &str,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Option<String> {
        let context =
            HookContext { text: Some(focus.to_string()), ..self.context(json!({ SUBJECT: trigger })) };
        let ruling = self.hear(HookPoint::PreCompact, context, events, stop).await;
        match &ruling.action {
            HookAction::Block(_) => Some(ruling.says("blocks it")),
            _ => None,
        }
    }

    /// Asks the hooks, and shows what they say to the person. A failure of the log is a block.
    async fn hear(
        &self,
        point: HookPoint,
        context: HookContext,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> HookRuling {
        let ruling = match hooks::ask(&self.services.origin, point, context, None, stop).await {
            Ok(ruling) => ruling,
            Err(error) => HookRuling { action: HookAction::Block(error.message), ..HookRuling::nothing() },
        };
        ruling.remarks.iter().for_each(|remark| events.notice(remark));
        ruling
    }

    /// Called when the person leaves the conversation for a new one: asks the hooks, logs the event, and the level
    /// falls to PUBLIC. The person's own action counts as the approval that a hook may demand.
    pub(super) async fn leave(&self, messages: usize) -> Result<(), LeaveError> {
        let context = self.context(json!({ "messages": messages }));
        let origin = &self.services.origin;
        let ruling =
            hooks::ask(origin, HookPoint::SessionReset, context, None, &CancellationToken::new()).await;
        let ruling = ruling?;
        if let HookAction::Block(_) = &ruling.action {
            return Err(LeaveError::Blocked(Box::new(ruling)));
        }
        let taint = self.services.policy().taint().clone();
        let before = taint.load();
        if before > ClassificationLevel::Public {
            let entry = AuditEvent {
                session: origin.session.clone(),
                why: Some("the person left the conversation".into()),
                taint: Some(before.name().into()),
                ..AuditEvent::of(AuditKind::Reset)
            };
            audit::write(origin, entry)?;
        }
        taint.begin(ClassificationLevel::Public);
        Ok(())
    }

    /// Another conversation could not be resumed: the level of this one applies again.
    pub(super) fn restore_level(&self) {
        self.services.policy().taint().begin(self.stored_level);
    }

    /// Loads the level that the session stores; a level that cannot be read counts as the strictest.
    pub(super) fn load_level(&mut self, conversation: &Conversation) -> Result<(), SessionError> {
        if let Some(text) = conversation.state(SessionStateKey::Taint)? {
            self.stored_level = ClassificationLevel::parse(&text).unwrap_or(ClassificationLevel::Restricted);
            self.restore_level();
        }
        Ok(())
    }

    /// Stores the level before the content that raised it: the level of a resumed session is never lower than that of
    /// its content.
    pub(super) fn save_level(&mut self, conversation: &Conversation) -> Result<(), SessionError> {
        let level = self.services.policy().taint().load();
        if level != self.stored_level {
            conversation.set_state(SessionStateKey::Taint, level.name())?;
            self.stored_level = level;
        }
        Ok(())
    }

    /// True if an answer is shown only after hooks have seen all of it.
    pub(super) fn holds_output(&self) -> bool {
        hooks::has_hook(&self.services.origin, HookPoint::PreOutput, "")
    }

    /// Removes the text of a broken answer if hooks would have had to see it first.
    pub(super) fn unseen(&self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::Broken { message, .. } if self.holds_output() => {
                ProviderError::Broken { message, partial: Box::default() }
            }
            error => error,
        }
    }

    /// Decides whether the next request may be sent: checks the classification, the key, and the content.
    pub(super) async fn before_request(
        &mut self,
        model: &ActiveModel,
        conversation: &Conversation,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        self.check_provider_level()?;
        let transcript = &conversation.transcript;
        let about = json!({
            "provider": model.provider.name(),
            "model": model.spec.name,
            "messages": transcript.len(),
        });
        // The provider `offline` has no key and needs no check.
        if !self.is_key_allowed && model.provider.name() != "offline" {
            drop(self.pass(HookPoint::SecretAccess, self.context(about.clone()), events, stop).await?);
        }
        self.is_key_allowed = true;
        if !hooks::has_hook(&self.services.origin, HookPoint::PreContextInjection, "") {
            return Ok(());
        }
        let newest = transcript.last().map(words_in).unwrap_or_default();
        let context = HookContext { text: Some(newest), ..self.context(about) };
        self.pass(HookPoint::PreContextInjection, context, events, stop).await.map(drop)
    }

    fn check_provider_level(&self) -> Result<(), TurnEnding> {
        let policy = self.services.policy();
        let (labels, level) = (policy.labels(), policy.taint().load());
        let ceiling = labels.provider_ceiling();
        if labels.is_off() || level <= ceiling {
            return Ok(());
        }
        Err(TurnEnding::Blocked {
            why: format!(
                "nothing was sent: this conversation is {level}, and this provider may receive up to {ceiling}"
            ),
            hint: Some("/taint reset starts a new conversation below this level; or set `classification.provider_ceiling`".into()),
        })
    }

    /// Lets the hooks change the answer; only the changed answer is shown and stored.
    pub(super) async fn check_answer(
        &self,
        mut answer: AssistantMessage,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> AssistantMessage {
        if !self.holds_output() || answer.text().is_empty() {
            return answer;
        }
        let context = HookContext { text: Some(answer.text()), ..self.context(json!({})) };
        let ruling = hooks::ask(&self.services.origin, HookPoint::PreOutput, context, None, stop).await;
        let passed = match ruling {
            Err(error) => Err(error.message),
            Ok(ruling) => match &ruling.action {
                HookAction::Block(_) => Err(ruling.says("blocks it")),
                HookAction::Ask(_) => {
                    let reason = ruling.says("asks a person to see the answer first");
                    match ask_yes_no(&reason, ruling.redact(&answer.text()), events, stop).await {
                        true => Ok(ruling),
                        false => Err(format!("{reason}, and nobody approved")),
                    }
                }
                HookAction::Allow | HookAction::Redact(_) => Ok(ruling),
            },
        };
        for block in &mut answer.blocks {
            let AssistantBlock::Text { text } = block else { continue };
            *text = match &passed {
                Ok(ruling) => ruling.redact(text),
                Err(reason) => Note::AnswerWithheld { reason: reason.clone() }.words().into_owned(),
            };
            // Nothing was shown while the answer arrived (see `holds_output`): this is the first time that it is shown.
            events.send(TurnEvent::Text(text.clone()));
        }
        answer
    }

    fn context(&self, input: Value) -> HookContext {
        HookContext { input, ..hooks::context(&self.services) }
    }

    /// Asks the hooks whether to continue, and the person if the hooks demand it. Returns what they add for the model.
    async fn pass(
        &self,
        point: HookPoint,
        context: HookContext,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Result<Vec<Part>, TurnEnding> {
        let shown = context.text.clone().unwrap_or_default();
        let ruling = hooks::ask(&self.services.origin, point, context, None, stop).await;
        let ruling = ruling
            .map_err(|e| TurnEnding::Blocked { why: e.message, hint: e.hint.map(|hint| hint.to_string()) })?;
        ruling.remarks.iter().for_each(|remark| events.notice(remark));
        let added = || hooks::additions(&ruling).collect();
        let why = match &ruling.action {
            HookAction::Allow | HookAction::Redact(_) => return Ok(added()),
            HookAction::Block(_) => ruling.says(&format!("blocks it at {}", point.name())),
            HookAction::Ask(_) => {
                let reason = ruling.says(&format!("asks for a person's approval at {}", point.name()));
                if ask_yes_no(&reason, shown, events, stop).await {
                    return Ok(added());
                }
                format!("{reason}, and nobody approved")
            }
        };
        let is_stored = point == HookPoint::PreContextInjection;
        let hint = "the message is still in the conversation and will be sent with the next message: /rewind removes it";
        Err(TurnEnding::Blocked { why, hint: is_stored.then(|| hint.to_string()) })
    }
}

/// Without a person, or without an answer, the result is no.
async fn ask_yes_no(reason: &str, shown: String, events: &TurnEvents, stop: &CancellationToken) -> bool {
    let answer = events.ask(|reply| {
        TurnEvent::Choice(ChoiceQuestion {
            subject: ChoiceSubject::Hook,
            title: "a hook asks: continue?".into(),
            reason: reason.into(),
            detail: DisplayDetail::Text(shown),
            choices: vec![QuestionChoice::consent('y', "yes"), QuestionChoice::plain('n', "no")],
            checks: None,
            reasons_for: ReasonReader::Nobody,
            reply,
        })
    });
    tokio::select! {
        answer = answer => answer == Ok('y'),
        () = stop.cancelled() => false,
    }
}
