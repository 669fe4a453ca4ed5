//! What the requests of a server need of a conversation: a person who reads and answers, and a model.

use futures_util::future::BoxFuture;
use placet_mcp::{SampledAnswer, SamplingPrompt, SamplingRefusal};

/// The person and the model of a conversation.
pub trait ServerRequestHost: Send + Sync {
    /// The text that the person types or chooses; `None` if the person leaves it open, or if nobody is there.
    fn ask(&self, question: String, choices: Vec<String>) -> BoxFuture<'static, Option<String>>;

    /// What the person says to a text. Without a person it is no.
    fn consent(&self, question: ServerConsentQuestion) -> BoxFuture<'static, ServerConsent>;

    /// The model that would answer.
    fn model(&self) -> Option<String>;

    /// Asks the model, with nothing of the conversation.
    fn sample(&self, prompt: SamplingPrompt) -> BoxFuture<'static, Result<SampledAnswer, SamplingRefusal>>;
}

/// A text that the person must see whole before it is agreed to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConsentQuestion {
    pub title: String,
    pub reason: String,
    /// Hostile text.
    pub detail: String,
    pub yes: String,
    pub no: String,
    /// The server can be told why not.
    pub takes_reason: bool,
    /// What is agreed to is `detail`, byte by byte: where a part of it would be hidden as a secret, nobody is asked, and the
    /// answer is [`ServerConsent::Because`].
    pub is_exact: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerConsent {
    Yes,
    No,
    /// No, and why: the person's words for the server.
    Because(String),
    /// No, and no question of this call any more.
    Never,
}

/// Surroundings without a person and without a model.
pub struct NoRequestHost;

impl ServerRequestHost for NoRequestHost {
    fn ask(&self, _: String, _: Vec<String>) -> BoxFuture<'static, Option<String>> {
        Box::pin(std::future::ready(None))
    }

    fn consent(&self, _: ServerConsentQuestion) -> BoxFuture<'static, ServerConsent> {
        Box::pin(std::future::ready(ServerConsent::No))
    }

    fn model(&self) -> Option<String> {
        None
    }

    fn sample(&self, _: SamplingPrompt) -> BoxFuture<'static, Result<SampledAnswer, SamplingRefusal>> {
        Box::pin(std::future::ready(Err(SamplingRefusal::NotAllowed)))
    }
}
