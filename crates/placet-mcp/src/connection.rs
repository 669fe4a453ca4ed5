//! The conversation with one server, over a pair of pipes or over HTTP. Every wait has a deadline.

use super::bounded_answers::{BoundedAnswers, OpenRequests};
use super::client_handler::{McpClientHandler, ProgressReport};
use super::definition::HttpServer;
use super::error::McpClientError;
use super::http::{HttpAccess, HttpLink, HttpTransport};
use super::line_transport::{LONGEST_MESSAGE, LineTransport};
use super::log_level::ServerLogLevel;
use super::offers::is_typed;
use super::server_request::ServerRequestHandler;
use super::template::{OpenVariable, ServerTemplate};
use super::tool_list::{FetchedTools, MOST_PAGES};
use super::unread_lines::UnreadLines;
use super::usable_result::{self, AS_ANSWERED, ListPage};
#[allow(deprecated, reason = "servers of today still log over the protocol")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, CancelledNotificationParam, ClientRequest,
    CompletionContext, ContentBlock, GetPromptRequest, GetPromptRequestParams, GetPromptResult, JsonObject,
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    PaginatedRequestParams, Prompt, ReadResourceRequest, ReadResourceRequestParams, RequestId, Resource,
    ResourceTemplate, Role, ServerResult, Tool,
};
use rmcp::service::{
    PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError, ServiceExt,
};
use rmcp::transport::IntoTransport;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long a call may take in total, however often the server reports progress.
const LONGEST_CALL: Duration = Duration::from_secs(3600);
/// How long a server may take to complete an address, while somebody types it.
const COMPLETE: Duration = Duration::from_secs(1);
/// The longest completion that is offered, in bytes.
const LONGEST_VALUE: usize = 200;
/// How much of a server's own name and of its version is shown, in characters.
const LONGEST_NAME: usize = 60;
/// How long the news that a call was stopped may take to reach the server.
const SAY_STOP: Duration = Duration::from_secs(1);

/// A server that answered. A drop closes the connection.
pub struct ServerConnection {
    running: RunningService<RoleClient, McpClientHandler>,
    handler: McpClientHandler,
    /// Over HTTP: what says that the session has ended.
    link: Option<Arc<HttpLink>>,
    open: OpenRequests,
    /// Empty over HTTP, where an answer belongs to its request.
    unread: UnreadLines,
    /// The number of the call that was made last. An answer to an older one is of no interest any more.
    last_call: AtomicI64,
    /// The news that a call was stopped did not leave: no other message will.
    is_stuck: AtomicBool,
    /// For the thread of a menu, which is none of the runtime's.
    runtime: tokio::runtime::Handle,
}

/// A connection, and what the server said first.
pub struct ConnectedServer {
    pub connection: ServerConnection,
    /// Its name and version: hostile text.
    pub name: String,
}

/// What a server is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerCallSubject {
    Tool { name: String, arguments: JsonObject },
    Resource { uri: String },
    Prompt { name: String, arguments: JsonObject },
}

impl ServerCallSubject {
    /// The name that rules use and that a person reads.
    pub fn name(&self) -> &str {
        match self {
            ServerCallSubject::Tool { name, .. } => name,
            ServerCallSubject::Resource { .. } => "resources/read",
            ServerCallSubject::Prompt { .. } => "prompts/get",
        }
    }

    /// Below which key the content of the answer is.
    fn content_key(&self) -> &'static str {
        match self {
            ServerCallSubject::Tool { .. } => "content",
            ServerCallSubject::Resource { .. } => "contents",
            ServerCallSubject::Prompt { .. } => "messages",
        }
    }

    fn into_request(self) -> ClientRequest {
        match self {
            ServerCallSubject::Tool { name, arguments } => {
                let params = CallToolRequestParams::new(name).with_arguments(arguments);
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            }
            ServerCallSubject::Resource { uri } => ClientRequest::ReadResourceRequest(
                ReadResourceRequest::new(ReadResourceRequestParams::new(uri)),
            ),
            ServerCallSubject::Prompt { name, arguments } => {
                let mut params = GetPromptRequestParams::new(name);
                params.arguments = (!arguments.is_empty()).then_some(arguments);
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            }
        }
    }
}

/// The messages of a prompt as one: those that the model is to have said are marked.
fn spoken(prompt: GetPromptResult) -> Vec<ContentBlock> {
    let mark = |role| match role {
        Role::Assistant => Some(ContentBlock::text(AS_ANSWERED)),
        Role::User => None,
    };
    prompt.messages.into_iter().flat_map(|said| mark(said.role).into_iter().chain([said.content])).collect()
}

/// A list that cannot be read is none that calls need.
fn note_failure(list: &str, read: Result<bool, McpClientError>) {
    if let Err(error) = read {
        tracing::warn!("the list of {list} of a server cannot be read: {error}");
    }
}

/// What bounds a call.
pub struct CallLimits<'a> {
    /// How long the server may be silent. The time in which it waits for a person does not count.
    pub silence: Duration,
    pub cancel: &'a CancellationToken,
}

/// Who learns what the server says while a call runs, and who answers what it asks for.
pub struct CallListeners {
    pub progress: ProgressReport,
    pub requests: Arc<dyn ServerRequestHandler>,
}

impl ServerConnection {
    /// Greets the server at the other end of `output` and `input`. `roots` are the directories that it may ask for.
    pub async fn open(
        (output, input): (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
        roots: Vec<PathBuf>,
        within: Duration,
    ) -> Result<ConnectedServer, McpClientError> {
        let lines = LineTransport::new(output, input, LONGEST_MESSAGE);
        let unread = lines.unread_lines();
        ServerConnection::greet(lines, (None, unread), roots, within).await
    }

    /// Greets the server at an address.
    pub async fn open_http(
        server: (&str, &HttpServer),
        access: HttpAccess,
        roots: Vec<PathBuf>,
        within: Duration,
    ) -> Result<ConnectedServer, McpClientError> {
        let transport = HttpTransport::new(server, access).await?;
        let link = Some(transport.link());
        ServerConnection::greet(transport, (link, UnreadLines::default()), roots, within).await
    }

    async fn greet<E, A>(
        transport: impl IntoTransport<RoleClient, E, A>,
        (link, unread): (Option<Arc<HttpLink>>, UnreadLines),
        roots: Vec<PathBuf>,
        within: Duration,
    ) -> Result<ConnectedServer, McpClientError>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        let handler = McpClientHandler::new(roots);
        let transport = BoundedAnswers::new(transport.into_transport());
        let open = transport.open_requests();
        let greeting = ServiceExt::serve(handler.clone(), transport);
        let greeted = tokio::select! {
            greeted = tokio::time::timeout(within, greeting) => match greeted {
                Err(_) => Err(McpClientError::Silent(within)),
                Ok(greeted) => greeted.map_err(|e| McpClientError::of_start(&e)),
            },
            line = unread.answer(0, |_| true) => Err(McpClientError::Unreadable(line)),
        };
        let running = greeted.map_err(|error| error.explained(&unread))?;
        let said = running.peer().peer_info();
        let server = said.and_then(|info| info.server_info.clone());
        let short = |text: String| text.chars().take(LONGEST_NAME).collect::<String>();
        let name = server.map(|s| format!("{} {}", short(s.name), short(s.version))).unwrap_or_default();
        let is_stuck = AtomicBool::new(false);
        let runtime = tokio::runtime::Handle::current();
        let last_call = AtomicI64::new(-1);
        let connection =
            ServerConnection { running, handler, link, open, unread, last_call, is_stuck, runtime };
        Ok(ConnectedServer { connection, name })
    }

    pub fn is_closed(&self) -> bool {
        let is_over = self.link.as_ref().is_some_and(|link| link.is_over());
        let is_useless = self.open.is_stalled() || self.is_stuck.load(Ordering::Acquire);
        is_over || is_useless || self.running.is_closed() || self.running.peer().is_transport_closed()
    }

    /// True once after the server said that its tools have changed.
    pub fn take_list_changed(&self) -> bool {
        self.handler.take_list_changed()
    }

    /// The last log messages of the server, after the first line that was not a message: hostile text.
    pub fn messages(&self) -> Vec<String> {
        let line = self.unread.first().map(|line| format!("not a message of the protocol: {line}"));
        line.into_iter().chain(self.handler.messages()).collect()
    }

    /// All tools, resources and prompts, within limits. A list that never ends is cut.
    pub async fn tools(&self, within: Duration) -> Result<FetchedTools, McpClientError> {
        let info = self.running.peer().peer_info();
        let offers = info.as_ref().map(|info| &info.capabilities);
        let (has_resources, has_prompts) =
            offers.map_or((false, false), |offers| (offers.resources.is_some(), offers.prompts.is_some()));
        // A server that offers only these answers no question for tools.
        let has_tools = offers.is_none_or(|offers| offers.tools.is_some()) || !has_resources && !has_prompts;
        let (limit, mut fetched) = ((Instant::now() + within, within), FetchedTools::default());
        if has_tools {
            let ask = |at| ClientRequest::ListToolsRequest(ListToolsRequest::with_param(at));
            let add = |page: ListPage<Tool>| {
                fetched.left_out.unusable += page.unreadable;
                fetched.add(page.entries);
                !fetched.left_out.is_endless
            };
            let is_endless = self.pages(limit, ("tools", ask), add).await?;
            fetched.left_out.is_endless |= is_endless;
        }
        // The tools can be used also if one of these lists cannot be read.
        let offers = &mut fetched.offers;
        if has_resources {
            let ask = |at| ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(at));
            let add = |page: ListPage<Resource>| offers.add_resources(page.entries);
            note_failure("resources", self.pages(limit, ("resources", ask), add).await);
            let ask = |at| {
                ClientRequest::ListResourceTemplatesRequest(ListResourceTemplatesRequest::with_param(at))
            };
            let add = |page: ListPage<ResourceTemplate>| offers.add_templates(page.entries);
            note_failure("templates", self.pages(limit, ("resourceTemplates", ask), add).await);
        }
        if has_prompts {
            let ask = |at| ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(at));
            let add = |page: ListPage<Prompt>| offers.add_prompts(page.entries);
            note_failure("prompts", self.pages(limit, ("prompts", ask), add).await);
        }
        Ok(fetched)
    }

    /// Asks for one page after the other of the list below a key. `add` takes a page and says whether more are wanted.
    /// True if the server has more pages than are read.
    async fn pages<T: DeserializeOwned>(
        &self,
        limit: (Instant, Duration),
        (key, ask): (&str, impl Fn(PaginatedRequestParams) -> ClientRequest),
        mut add: impl FnMut(ListPage<T>) -> bool,
    ) -> Result<bool, McpClientError> {
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let at = PaginatedRequestParams::default().with_cursor(cursor);
            let answer = self.in_time(limit, self.running.peer().send_request(ask(at))).await?;
            let page = ListPage::of_answer(&answer, key).ok_or(McpClientError::Unexpected)?;
            cursor = page.next.clone();
            if !add(page) || cursor.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if the server says that its messages have levels.
    pub fn has_log_levels(&self) -> bool {
        self.running.peer().peer_info().is_some_and(|info| info.capabilities.logging.is_some())
    }

    /// Asks for log messages from this level on.
    #[allow(deprecated, reason = "servers of today still log over the protocol")]
    pub async fn set_log_level(&self, level: ServerLogLevel, within: Duration) -> Result<(), McpClientError> {
        let asking = self.running.peer().set_level(SetLevelRequestParams::new(level.in_protocol()));
        self.in_time((Instant::now() + within, within), asking).await
    }

    /// What the value that is being typed could be, for a thread that may wait a moment. Hostile text, each one word of
    /// visible ASCII.
    pub fn complete(&self, template: &ServerTemplate, open: &OpenVariable) -> Vec<String> {
        let info = self.running.peer().peer_info();
        if info.is_none_or(|info| info.capabilities.completions.is_none()) {
            return Vec::new();
        }
        let earlier =
            (!open.earlier.is_empty()).then(|| CompletionContext::with_arguments(open.earlier.clone()));
        let asking =
            self.running.peer().complete_resource_argument(&template.uri, &open.name, &open.value, earlier);
        let asked = self.runtime.block_on(self.in_time((Instant::now() + COMPLETE, COMPLETE), asking));
        let mut values = asked.map(|found| found.values).unwrap_or_default();
        values.retain(|value| value.len() <= LONGEST_VALUE && is_typed(value));
        values
    }

    async fn in_time<T>(
        &self,
        (deadline, within): (Instant, Duration),
        asking: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpClientError> {
        let (before, last_call) = (self.unread.count(), self.last_call.load(Ordering::Acquire));
        let is_newer = |id: &RequestId| matches!(id, RequestId::Number(id) if *id > last_call);
        let asked = tokio::select! {
            asked = timeout_at(deadline, asking) => match asked {
                Err(_) => Err(McpClientError::Silent(within)),
                Ok(asked) => asked.map_err(McpClientError::of_request),
            },
            () = self.open.stalled() => Err(McpClientError::Stalled),
            line = self.unread.answer(before, is_newer) => Err(McpClientError::Unreadable(line)),
        };
        asked.map_err(|error| error.explained(&self.unread))
    }

    /// Calls a tool, reads a resource or gets a prompt.
    pub async fn call(
        &self,
        subject: ServerCallSubject,
        limits: CallLimits<'_>,
        CallListeners { progress, requests }: CallListeners,
    ) -> Result<CallToolResult, McpClientError> {
        let _answering = self.handler.answer_with(requests);
        let key = subject.content_key();
        let request = subject.into_request();
        // The deadline is kept here: that of rmcp ends only when the server has taken the news of it.
        let sending = self.running.peer().send_cancellable_request(request, PeerRequestOptions::no_options());
        let sent = tokio::time::timeout(limits.silence, sending).await;
        let handle = sent.map_err(|_| McpClientError::Silent(limits.silence))?;
        let handle = handle.map_err(McpClientError::of_request)?;
        let (id, token) = (handle.id.clone(), handle.progress_token.clone());
        if let RequestId::Number(number) = id {
            self.last_call.store(number, Ordering::Release);
        }
        let alive = Arc::new(Notify::new());
        let report: ProgressReport = {
            let alive = Arc::clone(&alive);
            Arc::new(move |words: &str| {
                alive.notify_one();
                progress(words);
            })
        };
        self.handler.watch(token.clone(), report);
        let answer = self.wait(handle, &limits, &alive).await;
        match &answer {
            Err(McpClientError::Stopped) => self.say_stop(id, "the person stopped it").await,
            Err(McpClientError::Silent(_)) => self.say_stop(id, "it took too long").await,
            _ => {}
        }
        self.handler.forget(&token);
        match answer.map_err(|error| error.explained(&self.unread))? {
            ServerResult::CallToolResult(result) => Ok(result),
            ServerResult::ReadResourceResult(read) => {
                Ok(CallToolResult::success(read.contents.into_iter().map(ContentBlock::resource).collect()))
            }
            ServerResult::GetPromptResult(prompt) => Ok(CallToolResult::success(spoken(prompt))),
            ServerResult::InputRequiredResult(_) => Err(McpClientError::InputRequired),
            other => Ok(usable_result::of_answer(key, &other)),
        }
    }

    /// Waits for an answer. A report of progress begins the time of silence again.
    async fn wait(
        &self,
        handle: RequestHandle<RoleClient>,
        limits: &CallLimits<'_>,
        alive: &Notify,
    ) -> Result<ServerResult, McpClientError> {
        let (end, mut silent_at) = (Instant::now() + LONGEST_CALL, Instant::now() + limits.silence);
        let id = handle.id.clone();
        let mut unread = pin!(self.unread.answer(0, |answered| *answered == id));
        let mut answer = pin!(handle.await_response());
        loop {
            tokio::select! {
                biased;
                () = limits.cancel.cancelled() => return Err(McpClientError::Stopped),
                () = self.open.stalled() => return Err(McpClientError::Stalled),
                answer = &mut answer => return answer.map_err(McpClientError::of_request),
                line = &mut unread => return Err(McpClientError::Unreadable(line)),
                () = sleep_until(silent_at.min(end)) => {
                    if self.handler.is_waiting_for_person() && Instant::now() < end {
                        silent_at = Instant::now() + limits.silence;
                        continue;
                    }
                    return Err(McpClientError::Silent(limits.silence));
                }
                () = alive.notified() => silent_at = Instant::now() + limits.silence,
            }
        }
    }

    /// Tells the server that nobody waits for an answer any more.
    async fn say_stop(&self, id: RequestId, why: &str) {
        let stop = CancelledNotificationParam::new(Some(id), Some(why.into()));
        let said = tokio::time::timeout(SAY_STOP, self.running.peer().notify_cancelled(stop)).await;
        // Over HTTP each message has a connection of its own.
        if said.is_err() && self.link.is_none() {
            self.is_stuck.store(true, Ordering::Release);
        }
    }

    /// Closes the connection, so that the server sees the end of its input.
    pub async fn close(mut self) {
        drop(self.running.close_with_timeout(SAY_STOP).await);
    }
}
