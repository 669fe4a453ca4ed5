//! What placet answers to a server: where the workspace is, and, during a call, what a person agrees to.
//!
//! A server may send what it likes at any time. Its log messages and the news that its list has changed are kept within
//! limits, and a progress report reaches only the call that it names.

use super::elicitation::ElicitationAnswer;
use super::server_request::{SamplingPrompt, SamplingRefusal, ServerRequestHandler, elicit_result, form_of};
use rmcp::ErrorData;
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    FormElicitationCapability, Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
#[expect(
    deprecated,
    reason = "servers of today still ask for roots and for answers, and send log messages"
)]
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, ListRootsResult, LoggingMessageNotificationParam, Root,
    SamplingCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// How many log messages are kept, and the longest of them in bytes.
const MESSAGES: usize = 50;
const LONGEST: usize = 500;

/// Gets a sentence about a call that runs.
pub type ProgressReport = Arc<dyn Fn(&str) + Send + Sync>;

/// The side of placet in the conversation with one server. Clones share everything.
#[derive(Clone, Default)]
pub(super) struct McpClientHandler(Arc<HandlerState>);

#[derive(Default)]
struct HandlerState {
    roots: Vec<PathBuf>,
    progress: Mutex<HashMap<ProgressToken, ProgressReport>>,
    messages: Mutex<Vec<String>>,
    list_changed: AtomicBool,
    /// Who answers what the server asks for: only while a call runs.
    answering: Mutex<Option<AnsweringCall>>,
    /// How many of its questions wait for a person.
    waiting: AtomicUsize,
}

/// The call that runs.
#[derive(Clone)]
struct AnsweringCall {
    handler: Arc<dyn ServerRequestHandler>,
    /// The call has ended: nobody has to answer any more.
    ended: CancellationToken,
}

/// Until it is dropped, questions of the server are answered.
pub(super) struct AnsweringGuard(McpClientHandler);

impl Drop for AnsweringGuard {
    fn drop(&mut self) {
        if let Some(call) = self.0.answering().take() {
            call.ended.cancel();
        }
    }
}

/// A question that waits for a person.
struct WaitingQuestion<'a>(&'a AtomicUsize);

impl<'a> WaitingQuestion<'a> {
    fn begin(count: &'a AtomicUsize) -> WaitingQuestion<'a> {
        count.fetch_add(1, Ordering::AcqRel);
        WaitingQuestion(count)
    }
}

impl Drop for WaitingQuestion<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl McpClientHandler {
    pub(super) fn new(roots: Vec<PathBuf>) -> McpClientHandler {
        McpClientHandler(Arc::new(HandlerState { roots, ..HandlerState::default() }))
    }

    fn progress(&self) -> MutexGuard<'_, HashMap<ProgressToken, ProgressReport>> {
        self.0.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until [`McpClientHandler::forget`], reports for `token` go to `report`.
    pub(super) fn watch(&self, token: ProgressToken, report: ProgressReport) {
        self.progress().insert(token, report);
    }

    pub(super) fn forget(&self, token: &ProgressToken) {
        self.progress().remove(token);
    }

    fn answering(&self) -> MutexGuard<'_, Option<AnsweringCall>> {
        self.0.answering.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until the guard is dropped, `handler` answers what the server asks for.
    pub(super) fn answer_with(&self, handler: Arc<dyn ServerRequestHandler>) -> AnsweringGuard {
        *self.answering() = Some(AnsweringCall { handler, ended: CancellationToken::new() });
        AnsweringGuard(self.clone())
    }

    /// True while the server waits for a person: then its silence means nothing.
    pub(super) fn is_waiting_for_person(&self) -> bool {
        self.0.waiting.load(Ordering::Acquire) > 0
    }

    /// The last log messages of the server: hostile text.
    pub(super) fn messages(&self) -> Vec<String> {
        self.0.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// True once after the server said that one of its lists has changed.
    pub(super) fn take_list_changed(&self) -> bool {
        self.0.list_changed.swap(false, Ordering::AcqRel)
    }
}

#[expect(deprecated, reason = "servers of today still ask for roots and for answers, and send log messages")]
impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(Default::default());
        let form = FormElicitationCapability::new().with_schema_validation(true);
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        capabilities.sampling = Some(SamplingCapability::default());
        ClientConfig::new(capabilities, Implementation::new("placet", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::V_2025_06_18)
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, rmcp::ErrorData> {
        let root = |path: &PathBuf| Root::new(format!("file://{}", escaped(&path.to_string_lossy())));
        Ok(ListRootsResult::new(self.0.roots.iter().map(root).collect()))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let form = form_of(params)?;
        let call = self.answering().clone();
        let (Some(form), Some(call)) = (form, call) else {
            return Ok(elicit_result(ElicitationAnswer::Declined));
        };
        let _waiting = WaitingQuestion::begin(&self.0.waiting);
        let answer = tokio::select! {
            answer = call.handler.elicit(form) => answer,
            () = call.ended.cancelled() => ElicitationAnswer::Cancelled,
        };
        Ok(elicit_result(answer))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let prompt = SamplingPrompt::read(params).map_err(SamplingRefusal::into_error)?;
        let call = self.answering().clone().ok_or_else(|| SamplingRefusal::NoCall.into_error())?;
        let _waiting = WaitingQuestion::begin(&self.0.waiting);
        let answer = tokio::select! {
            answer = call.handler.sample(prompt) => answer,
            () = call.ended.cancelled() => Err(SamplingRefusal::NotAllowed),
        };
        answer.map(|answer| answer.into_result()).map_err(SamplingRefusal::into_error)
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let Some(watcher) = self.progress().get(&report.progress_token).cloned() else { return };
        let of = report.total.map_or_else(String::new, |total| format!(" of {total}"));
        let words = report.message.unwrap_or_default();
        let cut = words.floor_char_boundary(LONGEST);
        watcher(&format!("{}{of} {}\n", report.progress, words.get(..cut).unwrap_or_default()));
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text = message.data.as_str().map_or_else(|| message.data.to_string(), String::from);
        let cut = text.floor_char_boundary(LONGEST);
        let mut messages = self.0.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() >= MESSAGES {
            messages.remove(0);
        }
        messages.push(text.get(..cut).unwrap_or_default().to_string());
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.store(true, Ordering::Release);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.store(true, Ordering::Release);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.store(true, Ordering::Release);
    }
}

/// A path in a URI.
fn escaped(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    path.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_path_becomes_a_uri() {
        assert_eq!(escaped("/home/me/a b/é"), "/home/me/a%20b/%C3%A9");
    }
}
