//! The person and the model of a conversation, for what a server asks during a call.

use super::context::CallContext;
use super::interceptor::hooks;
use crate::config::ActiveModel;
use crate::costs::CostTracker;
use crate::event::{
    ChoiceQuestion, ChoiceSubject, PromptAsker, QuestionChoice, ReasonReader, TurnEvent, UserPrompt,
};
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use placet_mcp::{SampledAnswer, SamplingPrompt, SamplingPromptMessage, SamplingRefusal};
use placet_provider::{ModelRequest, StreamEvent};
use placet_session::hooks::{HookAction, HookContext, HookPoint};
use placet_text::conversation::{AssistantBlock, AssistantMessage, Message, StopReason, TokenUsage};
use placet_tools::{DisplayDetail, ServerConsent, ServerConsentQuestion, ServerRequestHost, UserReply};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long an answer of the model may take.
const LONGEST: Duration = Duration::from_secs(600);

pub(super) struct ConversationHost(pub(super) Arc<CallContext>);

impl ServerRequestHost for ConversationHost {
    fn ask(&self, question: String, choices: Vec<String>) -> BoxFuture<'static, Option<String>> {
        let ctx = Arc::clone(&self.0);
        Box::pin(async move {
            let _turn = ctx.services.subagents.asking.lock().await;
            let question = ctx.services.secrets().redact(&question).into_owned();
            let answer = ctx.events.ask(|reply| {
                TurnEvent::Enquiry(UserPrompt { asker: PromptAsker::Server, question, choices, reply })
            });
            let answer = tokio::select! {
                answer = answer => answer.unwrap_or(UserReply::Nobody),
                () = ctx.cancel.cancelled() => UserReply::Nobody,
            };
            match answer {
                UserReply::Words(words) => Some(words),
                UserReply::Open | UserReply::Nobody => None,
            }
        })
    }

    fn consent(&self, question: ServerConsentQuestion) -> BoxFuture<'static, ServerConsent> {
        let ctx = Arc::clone(&self.0);
        Box::pin(async move {
            let ServerConsentQuestion { title, reason, detail, yes, no, takes_reason, is_exact } = question;
            let _turn = ctx.services.subagents.asking.lock().await;
            let shown = ctx.services.secrets().redact(&detail).into_owned();
            if is_exact && shown != detail {
                let why = "a part of it looks like a secret, which is not shown";
                return ServerConsent::Because(why.into());
            }
            let detail = DisplayDetail::Text(shown);
            let choices = vec![
                QuestionChoice::consent('y', &yes),
                QuestionChoice::plain('n', &no),
                QuestionChoice::plain('v', "never in this call"),
            ];
            let subject = ChoiceSubject::Server;
            let (reader, mut why) = oneshot::channel();
            let reasons_for = if takes_reason { ReasonReader::Server(reader) } else { ReasonReader::Nobody };
            let answer = ctx.events.ask(|reply| {
                TurnEvent::Choice(ChoiceQuestion {
                    subject,
                    title,
                    reason,
                    detail,
                    choices,
                    checks: None,
                    reasons_for,
                    reply,
                })
            });
            let answer = tokio::select! {
                answer = answer => answer.ok(),
                () = ctx.cancel.cancelled() => None,
            };
            match answer {
                Some('y') => ServerConsent::Yes,
                Some('v') => ServerConsent::Never,
                Some(_) => ServerConsent::No,
                None => match why.try_recv() {
                    Ok(why) => ServerConsent::Because(ctx.services.secrets().redact(&why).into_owned()),
                    Err(_) => ServerConsent::No,
                },
            }
        })
    }

    fn model(&self) -> Option<String> {
        self.0.model.as_ref().map(|model| model.spec.name.clone())
    }

    fn sample(&self, prompt: SamplingPrompt) -> BoxFuture<'static, Result<SampledAnswer, SamplingRefusal>> {
        let ctx = Arc::clone(&self.0);
        Box::pin(async move {
            let model = ctx.model.clone().ok_or(SamplingRefusal::NotAllowed)?;
            check(&ctx, &prompt).await?;
            let request = request(&ctx, &model, prompt);
            let answering = ask_model(&ctx, &model, request);
            let answer = tokio::time::timeout(LONGEST, answering).await.map_err(|_| {
                SamplingRefusal::Failed(format!("it took more than {} s", LONGEST.as_secs()))
            })??;
            Ok(SampledAnswer {
                text: ctx.services.secrets().redact(&answer.text()).into_owned(),
                is_cut: answer.stop == StopReason::MaxTokens,
                model: model.spec.name,
            })
        })
    }
}

/// What is checked before each request of a conversation counts here too: the budget, the level, the hooks.
async fn check(ctx: &CallContext, prompt: &SamplingPrompt) -> Result<(), SamplingRefusal> {
    let is_too_high = {
        let policy = ctx.services.policy();
        let labels = policy.labels();
        !labels.is_off() && policy.taint().load() > labels.provider_ceiling()
    };
    if is_too_high || ctx.services.subagents.meter.is_refused() {
        return Err(SamplingRefusal::NotAllowed);
    }
    let texts = prompt.messages.iter().map(|message| message.text.as_str());
    let text = Some(texts.collect::<Vec<_>>().join("\n"));
    let context = HookContext { text, ..hooks::context(&ctx.services) };
    let point = HookPoint::PreContextInjection;
    let asked = hooks::ask(&ctx.services.origin, point, context, Some(&ctx.call.id), &ctx.cancel).await;
    match asked.map(|ruling| ruling.action) {
        Ok(HookAction::Allow | HookAction::Redact(_)) => Ok(()),
        _ => Err(SamplingRefusal::NotAllowed),
    }
}

fn request(ctx: &CallContext, model: &ActiveModel, prompt: SamplingPrompt) -> ModelRequest {
    // As the person has seen it.
    let redacted = |text: &str| ctx.services.secrets().redact(text).into_owned();
    let message = |SamplingPromptMessage { is_of_model, text }: SamplingPromptMessage| {
        let text = redacted(&text);
        match is_of_model {
            false => Message::user(text),
            true => Message::Assistant(AssistantMessage {
                blocks: vec![AssistantBlock::Text { text }],
                ..AssistantMessage::default()
            }),
        }
    };
    ModelRequest {
        model: model.spec.clone(),
        system: redacted(prompt.system.as_deref().unwrap_or_default()).into(),
        tools: Arc::new([]),
        messages: prompt.messages.into_iter().map(message).collect(),
        max_output: u64::from(prompt.max_tokens).min(model.max_output),
    }
}

async fn ask_model(
    ctx: &CallContext,
    model: &ActiveModel,
    request: ModelRequest,
) -> Result<AssistantMessage, SamplingRefusal> {
    let mut costs = SampledCosts { ctx, model, costs: CostTracker::default() };
    costs.costs.open();
    let mut stream = model.provider.answer(request, ctx.cancel.child_token());
    while let Some(event) = stream.next().await {
        let event = event.map_err(|error| {
            let error = ctx.services.secrets().redact(&error.to_string()).into_owned();
            SamplingRefusal::Failed(error)
        })?;
        if let StreamEvent::Retrying { .. } | StreamEvent::Elsewhere { .. } = event {
            // Another attempt is another request.
            costs.settle();
            costs.costs.open();
        }
        costs.costs.observe(&event);
        if let StreamEvent::Finished(answer) = event {
            let open = costs.costs.take_open().unwrap_or_default();
            let usage = if answer.usage.is_zero() { open.usage } else { answer.usage };
            costs.count((&answer.provider, &answer.model), usage);
            return Ok(answer);
        }
    }
    Err(SamplingRefusal::Failed("its answer ended too early".into()))
}

/// What the requests of a server cost: counted with those of the conversation, also if an answer breaks off.
struct SampledCosts<'a> {
    ctx: &'a CallContext,
    model: &'a ActiveModel,
    costs: CostTracker,
}

impl SampledCosts<'_> {
    fn count(&mut self, by: (&str, &str), usage: TokenUsage) {
        let cost = self.costs.price((self.model.provider.name(), &self.model.spec.name), by, usage);
        self.ctx.services.subagents.report_request(&cost);
    }

    fn settle(&mut self) {
        if let Some(open) = self.costs.take_unfinished() {
            self.count((&open.fallback, ""), open.usage);
        }
    }
}

impl Drop for SampledCosts<'_> {
    fn drop(&mut self) {
        self.settle();
    }
}
