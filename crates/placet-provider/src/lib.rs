//! Providers: where a request is sent and an answer comes from.
//!
//! A wire format is two pure functions, [`WireFormat::encode`] and [`AnswerDecoder::feed`], and is tested byte for byte
//! without a network. Every failure is one [`ProviderError`]; everything that arrives is one [`StreamEvent`].

mod answer;
pub mod catalog;
mod connection;
mod direct_call;
mod error;
mod keys;
mod offline;
mod recorded;
mod request;
mod server;
mod text_calls;
mod wire;

pub use answer::stream::{AnswerStream, StreamEvent};
pub use catalog::ModelLimits;
pub use connection::endpoint::{AuthScheme, Endpoint, base_url_problem};
pub use connection::fallback::{FallbackEntry, FallbackProvider};
pub use connection::http_provider::{HttpProvider, HttpProviderSettings};
pub use connection::limit::{AnswerLimits, ExceededLimit};
pub use connection::retry::RetryPolicy;
pub use direct_call::DirectCallProvider;
pub use error::{ExceededWindow, ProviderError, RejectionCause};
pub use keys::api_key::ApiKey;
pub use keys::api_key_source::ApiKeySource;
pub use offline::{OfflineGrammarRow, OfflineProvider, grammar};
pub use recorded::record::RecordingProvider;
pub use recorded::replay::ReplayProvider;
pub use recorded::scripted::{ScriptedAnswer, ScriptedProvider};
pub use request::{ModelCapabilities, ModelRequest, ModelSpec, ToolForm};
pub use server::preset::{ApiKeyRequirement, ProviderPreset, ServerLocation, WireFormatKind};
pub use server::probe;
pub use server::quirks::{
    AfterToolResults, CallIdFormat, EmptyContent, OutputLimitField, ServerQuirks, SystemRole,
    ToolImagePlacement,
};
pub use server::server_facts::{ServerFact, ServerFacts};
pub use wire::{AnthropicFormat, GeminiFormat, OpenAiChatFormat, OpenAiResponsesFormat};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// Something that answers requests: a server, the built-in offline provider, a recording.
pub trait Provider: Send + Sync {
    /// The name in settings and on the screen: `anthropic`, `offline`.
    fn name(&self) -> &str;

    /// The name in the proofs of its wire format; `None` where the format has none of its own.
    fn wire(&self) -> Option<&'static str> {
        None
    }

    /// Starts one request. The stream ends after `Finished` or after an error; retries before the first token are
    /// made inside and reported as `Retrying`. Cancelling ends it at once with [`ProviderError::Cancelled`];
    /// dropping the stream closes the connection. Nothing is sent before the stream is first polled.
    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream;

    /// Opens a connection ahead of a request, without a key and without a part of the conversation. The request reports
    /// errors.
    fn warm(&self) -> WarmUpFuture {
        Box::pin(std::future::ready(()))
    }

    /// The command that gives the server a larger window; `None` for a server that never shortens a request in silence.
    fn widening(&self) -> Option<&str> {
        None
    }

    /// How calls are made where the server turns out to take no tools; `None` where the person said how.
    fn without_tools(&self) -> Option<ToolForm> {
        None
    }

    /// What the server says of `model`; nothing where it does not know the questions. An error where the same questions
    /// may be answered a moment later. Takes seconds at most.
    fn facts(&self, _model: &str) -> ServerFactsFuture {
        Box::pin(std::future::ready(Ok(ServerFacts::default())))
    }
}

/// Work that may be dropped at any time.
pub type WarmUpFuture = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// The same with what the server says.
pub type ServerFactsFuture =
    std::pin::Pin<Box<dyn Future<Output = Result<ServerFacts, ProviderError>> + Send>>;

/// A wire format as pure functions.
pub trait WireFormat: Send + Sync {
    /// The path below the base URL: `/v1/messages`.
    fn path(&self, request: &ModelRequest) -> String;

    /// The request body. The same request gives the same bytes, so that prompt caches hold.
    fn encode(&self, request: &ModelRequest) -> Value;

    fn decoder(&self) -> Box<dyn AnswerDecoder>;

    /// The name in the proofs of reasoning that are of this format.
    fn wire(&self) -> &'static str;

    /// The path below the base URL under which the server lists its models.
    fn models_path(&self) -> &'static str;

    /// The typed error for a response that is not a stream.
    fn error(&self, status: u16, body: &str) -> ProviderError;
}

/// Takes one answer apart, event by event. No I/O, no clock.
pub trait AnswerDecoder: Send {
    /// Feeds one server-sent event. `Finished` comes exactly once, as the last.
    fn feed(&mut self, event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError>;

    /// True when the stop reason has arrived: the answer is complete, though the stream may continue.
    fn is_whole(&self) -> bool;

    /// The connection closed without `Finished`. Where the stop reason had arrived the answer is whole and carries
    /// it; else it is marked as [`Cut`](placet_text::conversation::StopReason::Cut) and holds no call at all.
    fn cut(&mut self) -> placet_text::conversation::AssistantMessage;

    /// What had arrived and was held back when the stream ended without `Finished`. Asked for after
    /// [`cut`](AnswerDecoder::cut).
    fn held_back(&mut self) -> Vec<StreamEvent> {
        Vec::new()
    }
}
