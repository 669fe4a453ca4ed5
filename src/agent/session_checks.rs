//! The hooks at a conversation's own points, and its classification, which is stored with the session. What surrounds a
//! single call is in [`super::calls::interceptor`].

use super::calls::interceptor::{audit, hooks};
use super::config::{ActiveModel, TurnStart};
use super::conversation::log::Conversation;
use super::conversation::notes::words_in;
use super::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent, TurnEvents};
use super::services::SharedServices;
use super::turn::ending::TurnEnding;
use crate::audit::{AuditEvent, AuditKind};
use crate::conversation::{AssistantBlock, AssistantMessage, Note};
use crate::hooks::{HookAction, HookContext, HookPoint, HookRuling};
use crate::permission::ClassificationLevel;
use crate::provider::ProviderError;
use crate::session::{SessionError, SessionStateKey};
use crate::tools::{DisplayDetail, ToolError};
use serde_json::{Value, json};
use std::sync::Arc;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// Why the conversation cannot be left for a new one.
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
    /// The level that is stored in the session.
    stored_level: ClassificationLevel,
}

impl SessionChecks {
    pub(super) fn new(services: Arc<SharedServices>) -> SessionChecks {
        SessionChecks { services, is_key_allowed: false, stored_level: ClassificationLevel::default() }
    }

    /// Somebody else answers from now on, with a key of their own.
    pub(super) fn ask_for_key_again(&mut self) {
        self.is_key_allowed = false;
    }

    /// The hooks' word on what the agent is given to do.
    pub(super) async fn before_turn(
        &self,
        start: &TurnStart,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let context = HookContext { text: Some(start.text()), ..self.context(json!({})) };
        self.pass(HookPoint::AgentInvocation, context, events, stop).await
    }

    /// The conversation is left for a new one: hooks are asked, it is written down, and the level falls to PUBLIC. The
    /// person did it themselves, which is the approval a hook may want.
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

    /// Another conversation could not be resumed: this one's level holds again.
    pub(super) fn restore_level(&self) {
        self.services.policy().taint().begin(self.stored_level);
    }

    /// What is in the session already; a level that cannot be read is the strictest.
    pub(super) fn load_level(&mut self, conversation: &Conversation) -> Result<(), SessionError> {
        if let Some(text) = conversation.state(SessionStateKey::Taint)? {
            self.stored_level = ClassificationLevel::parse(&text).unwrap_or(ClassificationLevel::Restricted);
            self.restore_level();
        }
        Ok(())
    }

    /// Stored before what was seen is: a session that is resumed is never lower than what is in it.
    pub(super) fn save_level(&mut self, conversation: &Conversation) -> Result<(), SessionError> {
        let level = self.services.policy().taint().load();
        if level != self.stored_level {
            conversation.set_state(SessionStateKey::Taint, level.name())?;
            self.stored_level = level;
        }
        Ok(())
    }

    /// True when an answer is shown only once hooks have seen all of it.
    pub(super) fn holds_output(&self) -> bool {
        hooks::has_hook(&self.services.origin, HookPoint::PreOutput, "")
    }

    /// A broken answer without its text, where hooks would have had to see that first.
    pub(super) fn unseen(&self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::Broken { message, .. } if self.holds_output() => {
                ProviderError::Broken { message, partial: Box::default() }
            }
            error => error,
        }
    }

    /// Whether the next request may be sent: the classification, the key, what is in it.
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
        // The provider `offline` has no key, so there is nothing to ask for.
        if !self.is_key_allowed && model.provider.name() != "offline" {
            self.pass(HookPoint::SecretAccess, self.context(about.clone()), events, stop).await?;
        }
        self.is_key_allowed = true;
        if !hooks::has_hook(&self.services.origin, HookPoint::PreContextInjection, "") {
            return Ok(());
        }
        let newest = transcript.last().map(words_in).unwrap_or_default();
        let context = HookContext { text: Some(newest), ..self.context(about) };
        self.pass(HookPoint::PreContextInjection, context, events, stop).await
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

    /// The answer as the hooks leave it; only then it is shown, and only so it is stored.
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
            // Nothing was shown while the answer arrived (see `holds_output`): this is the first time that
            // it is shown.
            events.send(TurnEvent::Text(text.clone()));
        }
        answer
    }

    fn context(&self, input: Value) -> HookContext {
        HookContext { input, ..hooks::context(&self.services) }
    }

    /// Asks the hooks whether something may go on, and the person where they want that.
    async fn pass(
        &self,
        point: HookPoint,
        context: HookContext,
        events: &TurnEvents,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let shown = context.text.clone().unwrap_or_default();
        let ruling = hooks::ask(&self.services.origin, point, context, None, stop).await;
        let ruling = ruling
            .map_err(|e| TurnEnding::Blocked { why: e.message, hint: e.hint.map(|hint| hint.to_string()) })?;
        let why = match &ruling.action {
            HookAction::Allow | HookAction::Redact(_) => return Ok(()),
            HookAction::Block(_) => ruling.says(&format!("blocks it at {}", point.name())),
            HookAction::Ask(_) => {
                let reason = ruling.says(&format!("asks for a person's approval at {}", point.name()));
                if ask_yes_no(&reason, shown, events, stop).await {
                    return Ok(());
                }
                format!("{reason}, and nobody approved")
            }
        };
        let is_stored = point == HookPoint::PreContextInjection;
        let hint = "the message is still in the conversation and will be sent with the next message: /rewind removes it";
        Err(TurnEnding::Blocked { why, hint: is_stored.then(|| hint.to_string()) })
    }
}

/// Without a person, or without an answer, it is a no.
async fn ask_yes_no(reason: &str, shown: String, events: &TurnEvents, stop: &CancellationToken) -> bool {
    let answer = events.ask(|reply| {
        TurnEvent::Choice(ChoiceQuestion {
            subject: ChoiceSubject::Hook,
            title: "a hook asks: continue?".into(),
            reason: reason.into(),
            detail: DisplayDetail::Text(shown),
            choices: vec![QuestionChoice::consent('y', "yes"), QuestionChoice::plain('n', "no")],
            takes_reason: false,
            reply,
        })
    });
    tokio::select! {
        answer = answer => answer == Ok('y'),
        () = stop.cancelled() => false,
    }
}
