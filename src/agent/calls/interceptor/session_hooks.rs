//! The conversation before the gate: hooks at its own points, and its classification, kept with the session.

use crate::agent::agent::{Agent, lock};
use crate::agent::config::TurnStart;
use crate::agent::conversation::notes::words_in;
use crate::agent::event::{ChoiceQuestion, ChoiceSubject, QuestionChoice, TurnEvent};
use crate::agent::turn::ending::TurnEnding;
use crate::agent::turn_driver::TurnDriver;
use crate::audit::{AuditEvent, AuditKind};
use crate::conversation::{AssistantBlock, AssistantMessage, Note, Part, text_of};
use crate::hooks::{HookAction, HookContext, HookPoint, HookRuling};
use crate::permission::ClassificationLevel;
use crate::provider::ProviderError;
use crate::session::{SessionError, SessionStateKey};
use crate::text::secret::marks;
use crate::tools::DisplayDetail;
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What a conversation remembers of the gate.
#[derive(Default)]
pub(in crate::agent) struct HookState {
    /// How a request was stopped that is not sent.
    pub(in crate::agent) blocked: Option<TurnEnding>,
    /// The provider's key was asked for.
    secret: bool,
    /// The level that is stored in the session.
    pub(in crate::agent) kept: ClassificationLevel,
}

impl HookState {
    /// Somebody else answers from now on, with a key of their own.
    pub(in crate::agent) fn ask_for_key_again(&mut self) {
        self.secret = false;
    }
}

impl Agent {
    /// The hooks' word on what the agent is given to do.
    pub(in crate::agent) async fn check_start_hooks(
        &self,
        start: &TurnStart,
        events: &UnboundedSender<TurnEvent>,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let said = match start {
            TurnStart::Say(parts) => text_of(parts),
            TurnStart::Call { text, .. } => text.clone(),
            TurnStart::Retry => "again".into(),
            TurnStart::SumUp { .. } => "sum up".into(),
        };
        let context = HookContext { text: Some(said), ..self.about(json!({})) };
        self.pass(HookPoint::AgentInvocation, context, events, stop).await
    }

    /// The conversation is left for a new one: hooks are asked, it is written down, and the level falls to PUBLIC. The
    /// person did it themselves, which is the approval a hook may want.
    pub async fn leave(&self) -> Result<(), String> {
        let visit = self.visit();
        let context = self.about(json!({ "messages": self.transcript.len() }));
        let ruling = visit.ask(HookPoint::SessionReset, context, None, &CancellationToken::new()).await;
        let ruling = ruling.map_err(|e| e.message)?;
        if let HookAction::Block(_) = &ruling.action {
            return Err(ruling.says("blocks it"));
        }
        let taint = lock(&self.parts.policy).taint().clone();
        let before = taint.load();
        if before > ClassificationLevel::Public {
            let why = "the person left the conversation".to_string();
            let level = Some(before.name().to_string());
            let note = AuditEvent {
                session: visit.session.clone(),
                why: Some(why),
                taint: level,
                ..AuditEvent::of(AuditKind::Reset)
            };
            visit.write(note).map_err(|e| e.message)?;
        }
        taint.begin(ClassificationLevel::Public);
        Ok(())
    }

    /// Another conversation could not be taken up: this one's level holds again.
    pub fn reclaim(&self) {
        lock(&self.parts.policy).taint().begin(self.points.kept);
    }

    /// What is in the session already; one that cannot be read is the strictest.
    pub(in crate::agent) fn load_taint(&mut self) -> Result<(), SessionError> {
        let Some(session) = &self.parts.session else { return Ok(()) };
        if let Some(text) = session.state(SessionStateKey::Taint)? {
            self.points.kept = ClassificationLevel::parse(&text).unwrap_or(ClassificationLevel::Restricted);
            lock(&self.parts.policy).taint().begin(self.points.kept);
        }
        Ok(())
    }

    /// Written before what was seen is: a session that is taken up again is never lower than what is in it.
    pub(in crate::agent) fn save_taint(&mut self) -> Result<(), SessionError> {
        let level = lock(&self.parts.policy).taint().load();
        if level == self.points.kept {
            return Ok(());
        }
        if let Some(session) = &self.parts.session {
            session.set(SessionStateKey::Taint, level.name())?;
        }
        self.points.kept = level;
        Ok(())
    }

    /// True when an answer is shown only once hooks have seen all of it.
    pub(in crate::agent) fn holds_output(&self) -> bool {
        self.visit().watches(HookPoint::PreOutput, "")
    }

    /// A broken answer without its text, where hooks would have had to see that first.
    pub(in crate::agent) fn unseen(&self, error: ProviderError) -> ProviderError {
        match error {
            ProviderError::Broken { message, .. } if self.holds_output() => {
                ProviderError::Broken { message, partial: Box::default() }
            }
            error => error,
        }
    }

    /// What the person says without what looks like a secret: pasted output often holds one.
    pub(in crate::agent) fn without_secrets(
        &self,
        mut parts: Vec<Part>,
        events: &UnboundedSender<TurnEvent>,
    ) -> Vec<Part> {
        let secrets = &self.parts.gate.secrets;
        let mut kept_back = 0;
        for text in parts.iter_mut().flat_map(Part::foreign_texts_mut) {
            let clean = secrets.redact(text).into_owned();
            kept_back += marks(clean.as_bytes()).saturating_sub(marks(text.as_bytes()));
            *text = clean;
        }
        if kept_back > 0 {
            let words = format!(
                "{} in your message hidden from the model; `secrets.redact = false` turns this off",
                crate::text::count::of(kept_back, "secret")
            );
            drop(events.send(TurnEvent::Notice(words)));
        }
        parts
    }

    fn about(&self, input: serde_json::Value) -> HookContext {
        let policy = lock(&self.parts.policy);
        HookContext { input, ..self.visit().context(&policy, self.parts.env.workspace.cwd().to_path_buf()) }
    }

    /// Asks the hooks whether something may go on, and the person where they want that.
    async fn pass(
        &self,
        point: HookPoint,
        context: HookContext,
        events: &UnboundedSender<TurnEvent>,
        stop: &CancellationToken,
    ) -> Result<(), TurnEnding> {
        let shown = context.text.clone().unwrap_or_default();
        let ruling = self.visit().ask(point, context, None, stop).await;
        let ruling = ruling
            .map_err(|e| TurnEnding::Blocked { why: e.message, hint: e.hint.map(|hint| hint.to_string()) })?;
        match &ruling.action {
            HookAction::Allow | HookAction::Redact(_) => Ok(()),
            HookAction::Block(_) => {
                let why = ruling.says(&format!("blocks it at {}", point.name()));
                Err(TurnEnding::Blocked { why, hint: hint(point) })
            }
            HookAction::Ask(_) => {
                let reason = ruling.says(&format!("asks for a person's approval at {}", point.name()));
                if ask_yes_no(&reason, shown, events, stop).await {
                    return Ok(());
                }
                Err(TurnEnding::Blocked { why: format!("{reason}, and nobody approved"), hint: hint(point) })
            }
        }
    }
}

fn hint(point: HookPoint) -> Option<String> {
    let sent =
        "the message is still in the conversation and will be sent with the next message: /rewind removes it";
    (point == HookPoint::PreContextInjection).then(|| sent.to_string())
}

/// Without a person, or without an answer, it is a no.
async fn ask_yes_no(
    reason: &str,
    shown: String,
    events: &UnboundedSender<TurnEvent>,
    stop: &CancellationToken,
) -> bool {
    let (reply, answer) = oneshot::channel();
    drop(events.send(TurnEvent::Choice(ChoiceQuestion {
        subject: ChoiceSubject::Hook,
        title: "a hook asks: continue?".into(),
        reason: reason.into(),
        detail: DisplayDetail::Text(shown),
        choices: vec![QuestionChoice::consent('y', "yes"), QuestionChoice::plain('n', "no")],
        reply,
    })));
    tokio::select! {
        answer = answer => answer == Ok('y'),
        () = stop.cancelled() => false,
    }
}

impl TurnDriver<'_> {
    /// Whether the next request may be sent: the classification, the key, what is in it.
    pub(in crate::agent) async fn may_send(&mut self) -> Result<(), TurnEnding> {
        let agent = &*self.agent;
        let (taint, ceiling) = {
            let policy = lock(&agent.parts.policy);
            let taint =
                if policy.labels().is_off() { ClassificationLevel::Public } else { policy.taint().load() };
            (taint, policy.labels().provider_ceiling())
        };
        if taint > ceiling {
            return Err(TurnEnding::Blocked {
                why: format!(
                    "nothing was sent: this conversation is {taint}, and this provider may receive up to {ceiling}"
                ),
                hint: Some("/taint reset starts a new conversation below this level; or set `classification.provider_ceiling`".into()),
            });
        }
        let about = json!({
            "provider": agent.parts.provider.name(),
            "model": agent.parts.model.name,
            "messages": agent.transcript.len(),
        });
        // The provider `offline` has no key, so there is nothing to ask for.
        if !agent.points.secret && agent.parts.provider.name() != "offline" {
            let context = agent.about(about.clone());
            agent.pass(HookPoint::SecretAccess, context, &self.events, &self.stop).await?;
        }
        self.agent.points.secret = true;
        let agent = &*self.agent;
        if !agent.visit().watches(HookPoint::PreContextInjection, "") {
            return Ok(());
        }
        let newest = agent.transcript.last().map(words_in).unwrap_or_default();
        let context = HookContext { text: Some(newest), ..agent.about(about) };
        agent.pass(HookPoint::PreContextInjection, context, &self.events, &self.stop).await
    }

    /// The answer as the hooks leave it; only then it is shown, and only so it is kept.
    pub(in crate::agent) async fn apply_answer_hooks(
        &mut self,
        mut answer: AssistantMessage,
    ) -> AssistantMessage {
        if !self.agent.holds_output() || answer.text().is_empty() {
            return answer;
        }
        let context = HookContext { text: Some(answer.text()), ..self.agent.about(json!({})) };
        let ruling = self.agent.visit().ask(HookPoint::PreOutput, context, None, &self.stop).await;
        let held = match &ruling {
            Err(error) => Some(error.message.clone()),
            Ok(HookRuling { action: HookAction::Block(_), .. }) => {
                ruling.as_ref().ok().map(|r| r.says("blocks it"))
            }
            Ok(ruling @ HookRuling { action: HookAction::Ask(_), .. }) => {
                let reason = ruling.says("asks a person to see the answer first");
                let shown = ruling.redact(&answer.text());
                let yes = ask_yes_no(&reason, shown, &self.events, &self.stop).await;
                (!yes).then(|| format!("{reason}, and nobody approved"))
            }
            Ok(_) => None,
        };
        for block in &mut answer.blocks {
            let AssistantBlock::Text { text } = block else { continue };
            let withheld = |reason: &str| Note::AnswerWithheld { reason: reason.into() }.words().into_owned();
            *text = match (&held, &ruling) {
                (None, Ok(ruling)) => ruling.redact(text),
                (Some(why), _) => withheld(why),
                (None, Err(error)) => withheld(&error.message),
            };
            // Nothing was shown while the answer arrived (see `holds_output`): this is the first time that
            // it is shown.
            self.events.send(TurnEvent::Text(text.clone())).ok();
        }
        answer
    }
}
