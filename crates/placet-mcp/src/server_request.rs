//! What a server asks of placet while a call runs: a form for the person, or an answer of the model. Who answers is a
//! [`ServerRequestHandler`]; without one, everything is declined.

use super::elicitation::{ElicitationAnswer, ElicitationForm};
use futures_util::future::BoxFuture;
use rmcp::ErrorData;
#[expect(deprecated, reason = "servers of today still ask for answers of a model")]
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, SamplingContent, SamplingMessage,
    SamplingMessageContentBlock,
};
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ErrorCode, Role};
use thiserror::Error;

/// The longest text that a server may send to the model, in bytes, and the most messages of it.
const LONGEST_PROMPT: usize = 32_000;
const MOST_MESSAGES: usize = 32;
/// The code of a request that the person refused, as the protocol has it.
const REFUSED: ErrorCode = ErrorCode(-1);

/// Answers what a server asks for during a call. Both ask a person.
pub trait ServerRequestHandler: Send + Sync {
    fn elicit(&self, form: ElicitationForm) -> BoxFuture<'static, ElicitationAnswer>;

    fn sample(&self, prompt: SamplingPrompt) -> BoxFuture<'static, Result<SampledAnswer, SamplingRefusal>>;
}

/// A conversation that a server wants the model to answer: hostile text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingPrompt {
    pub system: Option<String>,
    pub messages: Vec<SamplingPromptMessage>,
    pub max_tokens: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplingPromptMessage {
    pub is_of_model: bool,
    pub text: String,
}

/// What the model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledAnswer {
    pub model: String,
    pub text: String,
    /// The answer was longer than it might be.
    pub is_cut: bool,
}

/// Why the model was not asked: the server learns it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SamplingRefusal {
    #[error("nobody allowed it")]
    NotAllowed,
    /// With the person's words.
    #[error("the person refused it: {0}")]
    Refused(String),
    #[error("it can be asked only while a call runs")]
    NoCall,
    #[error("the prompt is longer than {LONGEST_PROMPT} bytes, or has more than {MOST_MESSAGES} messages")]
    TooLong,
    #[error("only text can be sent to the model")]
    NotText,
    #[error("the conversation must begin and end with a message of the user")]
    Order,
    #[error("the model did not answer: {0}")]
    Failed(String),
}

impl SamplingRefusal {
    pub(super) fn into_error(self) -> ErrorData {
        let code = match self {
            SamplingRefusal::NotAllowed | SamplingRefusal::Refused(_) | SamplingRefusal::NoCall => REFUSED,
            SamplingRefusal::TooLong | SamplingRefusal::NotText | SamplingRefusal::Order => {
                ErrorCode::INVALID_PARAMS
            }
            SamplingRefusal::Failed(_) => ErrorCode::INTERNAL_ERROR,
        };
        ErrorData::new(code, self.to_string(), None)
    }
}

#[expect(deprecated, reason = "servers of today still ask for answers of a model")]
impl SamplingPrompt {
    pub(super) fn read(params: CreateMessageRequestParams) -> Result<SamplingPrompt, SamplingRefusal> {
        if params.tools.is_some_and(|tools| !tools.is_empty()) {
            return Err(SamplingRefusal::NotText);
        }
        if params.messages.len() > MOST_MESSAGES {
            return Err(SamplingRefusal::TooLong);
        }
        let messages: Vec<SamplingPromptMessage> =
            params.messages.into_iter().map(message).collect::<Result<_, _>>()?;
        let system = params.system_prompt;
        let length = system.iter().chain(messages.iter().map(|message| &message.text)).map(String::len);
        if length.sum::<usize>() > LONGEST_PROMPT {
            return Err(SamplingRefusal::TooLong);
        }
        let is_of_user = |message: Option<&SamplingPromptMessage>| message.is_some_and(|m| !m.is_of_model);
        if !is_of_user(messages.first()) || !is_of_user(messages.last()) {
            return Err(SamplingRefusal::Order);
        }
        Ok(SamplingPrompt { system, messages, max_tokens: params.max_tokens })
    }
}

#[expect(deprecated, reason = "servers of today still ask for answers of a model")]
fn message(message: SamplingMessage) -> Result<SamplingPromptMessage, SamplingRefusal> {
    let blocks = match message.content {
        SamplingContent::Single(block) => vec![block],
        SamplingContent::Multiple(blocks) => blocks,
    };
    let text = |block| match block {
        SamplingMessageContentBlock::Text(text) => Ok(text.text),
        _ => Err(SamplingRefusal::NotText),
    };
    let text = blocks.into_iter().map(text).collect::<Result<Vec<_>, _>>()?.join("\n");
    Ok(SamplingPromptMessage { is_of_model: message.role == Role::Assistant, text })
}

#[expect(deprecated, reason = "servers of today still ask for answers of a model")]
impl SampledAnswer {
    pub(super) fn into_result(self) -> CreateMessageResult {
        let message = SamplingMessage::new(Role::Assistant, SamplingMessageContentBlock::text(self.text));
        let stop = match self.is_cut {
            true => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
            false => CreateMessageResult::STOP_REASON_END_TURN,
        };
        CreateMessageResult::new(message, self.model).with_stop_reason(stop)
    }
}

/// The form of a request; an error if it cannot be shown, and `None` for one that is no form.
pub(super) fn form_of(params: ElicitRequestParams) -> Result<Option<ElicitationForm>, ErrorData> {
    let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = params else {
        return Ok(None);
    };
    let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
    let form = ElicitationForm::read(message, &schema);
    form.map(Some).map_err(|problem| ErrorData::invalid_params(problem.to_string(), None))
}

pub(super) fn elicit_result(answer: ElicitationAnswer) -> ElicitResult {
    match answer {
        ElicitationAnswer::Accepted(content) => {
            ElicitResult::new(ElicitationAction::Accept).with_content(content.into())
        }
        ElicitationAnswer::Declined => ElicitResult::new(ElicitationAction::Decline),
        ElicitationAnswer::Cancelled => ElicitResult::new(ElicitationAction::Cancel),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn prompt(messages: &Value) -> Result<SamplingPrompt, SamplingRefusal> {
        SamplingPrompt::read(
            serde_json::from_value(json!({"messages": messages, "maxTokens": 5, "systemPrompt": "s"}))
                .unwrap(),
        )
    }

    #[test]
    fn a_prompt_is_text_that_begins_and_ends_with_the_user() {
        let said = |role: &str, text: &str| json!({"role": role, "content": {"type": "text", "text": text}});
        let read = prompt(&json!([said("user", "a"), said("assistant", "b"), said("user", "c")])).unwrap();
        assert_eq!((read.messages.len(), read.system.as_deref(), read.max_tokens), (3, Some("s"), 5));
        assert_eq!(prompt(&json!([])), Err(SamplingRefusal::Order));
        assert_eq!(prompt(&json!([said("user", "a"), said("assistant", "b")])), Err(SamplingRefusal::Order));
        let picture =
            json!({"role": "user", "content": {"type": "image", "data": "", "mimeType": "image/png"}});
        assert_eq!(prompt(&json!([picture])), Err(SamplingRefusal::NotText));
        assert_eq!(prompt(&json!([said("user", &"x".repeat(40_000))])), Err(SamplingRefusal::TooLong));
        assert_eq!(prompt(&Value::Array(vec![said("user", "a"); 33])), Err(SamplingRefusal::TooLong));
    }
}
