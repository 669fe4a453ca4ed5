//! placet as an MCP server: its tools over standard input and output, with the same permission checks as everywhere.
//!
//! The read ledger lasts as long as the connection: a client that edits must have read. Calls that only read run at the
//! same time; a call that writes waits for the others, and the others wait for it.

mod annotations;
mod stdio;
mod transaction;

use crate::agent::{ApprovalReply, CallInterceptors, CallOrigin, EntryPoint, SingleCall};
use crate::conversation::{CallId, CallInput, CallOutcome, CallResult, Part, ToolCall};
use crate::permission::{Mode, Policy};
use crate::text::sanitize;
use crate::tools::{ToolContext, ToolRegistry};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, ServiceExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stdio::StdioLines;
use thiserror::Error;
use tokio::sync::{RwLock, mpsc};
use tokio::time::{Instant, interval_at};

/// When a call is first reported as still running, and how often after that. Clients give a silent call up after a
/// minute.
const PROGRESS: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(5));

/// Said of a call in write mode whose changes were not applied.
const WAITS: &str =
    "[pending: what this call changed is not in the workspace yet; a person applies it with `placet apply`]";

/// Why the server ended before its client did.
#[derive(Debug, Error)]
pub enum McpServerError {
    #[error(transparent)]
    Start(#[from] Box<ServerInitializeError>),
    #[error(transparent)]
    Lost(#[from] tokio::task::JoinError),
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}

pub struct McpServer {
    /// The tools that a program gets. No other tool can be called.
    pub registry: Arc<ToolRegistry>,
    pub env: Arc<ToolContext>,
    pub policy: Arc<Mutex<Policy>>,
    visit: CallOrigin,
    /// Clients may apply what is pending.
    applies: bool,
    calls: AtomicU64,
    /// Locked for reading by calls that only read, for writing by calls that change something.
    order: RwLock<()>,
}

impl McpServer {
    pub fn new(
        registry: &ToolRegistry,
        env: Arc<ToolContext>,
        policy: Arc<Mutex<Policy>>,
        interceptors: Arc<CallInterceptors>,
        allow_apply: bool,
    ) -> McpServer {
        let mode = policy.lock().unwrap_or_else(PoisonError::into_inner).mode();
        let own =
            transaction::tools(mode, allow_apply).into_iter().filter(|_| env.workspace.view().is_some());
        let registry = Arc::new(registry.for_programs().and(own.collect()));
        let applies = allow_apply && registry.get(transaction::APPLY).is_ok();
        let visit = CallOrigin { interceptors, session: None, entry_point: EntryPoint::Mcp };
        McpServer { visit, registry, env, policy, applies, calls: AtomicU64::new(0), order: RwLock::new(()) }
    }

    /// Serves until the client closes the connection.
    pub async fn serve(self) -> Result<(), McpServerError> {
        let StdioLines { input, output, writer } = stdio::open();
        let running = ServiceExt::serve(self, (input, output)).await.map_err(Box::new)?;
        crate::permission::read_tables_ahead();
        running.waiting().await?;
        Ok(writer.await??)
    }

    /// The mode, and whether commands can have a network in it.
    fn mode(&self) -> (Mode, bool) {
        let policy = self.policy.lock().unwrap_or_else(PoisonError::into_inner);
        let configured = self.env.commands.confining.as_ref().is_none_or(|sandbox| !sandbox.hosts.is_empty());
        (policy.mode(), configured || policy.permits_network())
    }

    fn instructions(&self) -> String {
        let changes = match self.mode().0 {
            Mode::None => "no tool may be used",
            Mode::Read => {
                "files can be read and commands can be run, and what a command changes is discarded"
            }
            Mode::Ask if self.applies => {
                "changes are pending, and all calls see them: `changes` lists them, `apply` applies them, `discard` \
                 discards them, `undo` undoes that; large losses, `.git` and protected files wait for a person, who \
                 applies them with `placet apply`"
            }
            Mode::Ask => {
                "changes are pending, and all calls see them: `changes` lists them, `discard` discards them, and a \
                 person applies them with `placet apply` or discards them with `placet discard`"
            }
            Mode::Write => {
                "each call's changes are applied at once, and `undo` undoes them; large losses, `.git` and protected \
                 files stay pending for a person: `changes` lists them"
            }
            Mode::Unrestricted => {
                "changes are made at once, and commands run without a sandbox; `undo` undoes what file tools changed"
            }
        };
        format!(
            "placet runs file tools and commands of the workspace {} in a copy-on-write view. Mode: {}; {changes}. Read a \
             file before you edit it. A call that needs a person is refused with the flag that permits it.",
            sanitize::line(&self.env.workspace.cwd().display().to_string()),
            self.mode().0.name(),
        )
    }

    /// Runs the call, and reports every few seconds that it still runs, or for whom it waits, if the client asked for
    /// that.
    async fn reporting(single: SingleCall, name: &str, context: &RequestContext<RoleServer>) -> CallResult {
        let (notices, mut heard) = mpsc::unbounded_channel();
        let mut call = std::pin::pin!(single.run(|words| drop(notices.send(words.to_string()))));
        let Some(token) = context.meta.get_progress_token() else { return call.await.0 };
        let started = Instant::now();
        let mut due = interval_at(started + PROGRESS.0, PROGRESS.1);
        loop {
            let message = tokio::select! {
                (result, _) = &mut call => return result,
                Some(notice) = heard.recv() => notice,
                _ = due.tick() => format!("{name} has run for {} s", started.elapsed().as_secs()),
            };
            let report = ProgressNotificationParam::new(token.clone(), started.elapsed().as_secs_f64());
            // A client that is gone is noticed when the answer is sent.
            drop(context.peer.notify_progress(report.with_message(message)).await);
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("placet", env!("CARGO_PKG_VERSION")))
            .with_instructions(self.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        let (mode, has_network) = self.mode();
        let no_input = CallInput::Object(serde_json::json!({}));
        let tools = self.registry.specs_for_programs().into_iter().map(|spec| {
            let schema = match spec.schema {
                serde_json::Value::Object(map) => map,
                _ => serde_json::Map::new(),
            };
            let native = self.registry.judged_as(&spec.name, &no_input);
            let hints = annotations::of(&native, mode, has_network, self.applies);
            Tool::new(spec.name, spec.description, Arc::new(schema)).annotate(hints)
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, rmcp::ErrorData> {
        // Without this, the error's message is only the method's name.
        let message = format!("unknown method `{}`", request.method);
        Err(rmcp::ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let call = ToolCall {
            id: CallId::new(format!("mcp-{number}")),
            name: request.name.into_owned(),
            input: CallInput::Object(arguments),
        };
        let name = call.name.clone();
        let touches = self.registry.touches(&call.name, &call.input);
        let alone = touches.anything || !touches.writes.is_empty();
        let single = SingleCall {
            registry: Arc::clone(&self.registry),
            env: Arc::clone(&self.env),
            policy: Arc::clone(&self.policy),
            origin: self.visit.clone(),
            call,
            reply: ApprovalReply::Nobody,
            cancel: context.ct.clone(),
        };
        let mut waits = false;
        let result = if alone {
            let _alone = self.order.write().await;
            // No other call writes now: the name reaches only this call's transactions.
            let view = self.env.workspace.view();
            let held = view.is_some_and(|view| {
                view.begin_single_call(number, format!("placet mcp serve: {name}"));
                std::mem::take(&mut view.turn().held)
            });
            let result = McpServer::reporting(single, &name, &context).await;
            if let Some(view) = view {
                let mut turn = view.turn();
                waits = turn.held && self.mode().0 == Mode::Write;
                turn.held |= held;
            }
            result
        } else {
            let _together = self.order.read().await;
            McpServer::reporting(single, &name, &context).await
        };
        // The answers of tools say what they wrote, and not where it is.
        let waits = waits.then(|| ContentBlock::text(WAITS));
        let content = result.parts.iter().map(content).chain(waits).collect();
        let answer = match result.outcome {
            CallOutcome::Done => CallToolResult::success(content),
            _ => CallToolResult::error(content),
        };
        Ok(answer.into())
    }
}

fn content(part: &Part) -> ContentBlock {
    match part {
        Part::Text { text } => ContentBlock::text(text.clone()),
        Part::Note(note) => ContentBlock::text(note.words()),
        Part::Image(image) if image.is_pdf() => ContentBlock::text(format!(
            "[PDF {} is not passed on; `pdftotext FILE -` gives its text]",
            image.describe()
        )),
        Part::Image(image) => ContentBlock::image(STANDARD.encode(&image.bytes), image.media_type.clone()),
    }
}
