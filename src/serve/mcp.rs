//! placet as an MCP server: its tools over standard input and output, with the same permission checks as everywhere.
//!
//! The read ledger lasts as long as the connection: a client that edits must have read. Calls that only read run at the
//! same time; a call that writes waits for the others, and the others wait for it.

use crate::agent::{ApprovalReply, CallInterceptors, CallOrigin, EntryPoint, call_once};
use crate::conversation::{CallId, CallInput, CallOutcome, Part, ToolCall};
use crate::permission::Policy;
use crate::tools::{ToolContext, ToolRegistry};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
    ErrorCode, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError, ServiceExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use thiserror::Error;
use tokio::sync::RwLock;

/// Why the server ended before its client did.
#[derive(Debug, Error)]
pub enum McpServerError {
    #[error(transparent)]
    Start(#[from] Box<ServerInitializeError>),
    #[error(transparent)]
    Lost(#[from] tokio::task::JoinError),
}

pub struct McpServer {
    pub registry: Arc<ToolRegistry>,
    pub env: Arc<ToolContext>,
    pub policy: Arc<Mutex<Policy>>,
    visit: CallOrigin,
    calls: AtomicU64,
    /// Locked for reading by calls that only read, for writing by calls that change something.
    order: RwLock<()>,
}

impl McpServer {
    pub fn new(
        registry: Arc<ToolRegistry>,
        env: Arc<ToolContext>,
        policy: Arc<Mutex<Policy>>,
        interceptors: Arc<CallInterceptors>,
    ) -> McpServer {
        let visit = CallOrigin { interceptors, session: None, entry_point: EntryPoint::Mcp };
        McpServer { visit, registry, env, policy, calls: AtomicU64::new(0), order: RwLock::new(()) }
    }

    /// Serves until the client closes the connection.
    pub async fn serve(self) -> Result<(), McpServerError> {
        let running = ServiceExt::serve(self, rmcp::transport::stdio()).await.map_err(Box::new)?;
        running.waiting().await?;
        Ok(())
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("placet", env!("CARGO_PKG_VERSION")))
            .with_instructions("A file may have to be read before it is edited. Calls that need a person are refused with the flag that allows them. In ask mode changes are pending until a person runs `placet apply`.")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        let tools = self.registry.specs_for_programs().into_iter().map(|spec| {
            let schema = match spec.schema {
                serde_json::Value::Object(map) => map,
                _ => serde_json::Map::new(),
            };
            Tool::new(spec.name, spec.description, Arc::new(schema))
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
        let run = call_once(
            Arc::clone(&self.registry),
            Arc::clone(&self.env),
            Arc::clone(&self.policy),
            self.visit.clone(),
            call,
            ApprovalReply::Nobody,
            context.ct.clone(),
        );
        let result = if alone {
            let _alone = self.order.write().await;
            // No other call writes now: the name reaches only this call's transactions.
            if let Some(view) = self.env.workspace.view() {
                view.begin_single_call(number, format!("placet mcp serve: {name}"));
            }
            run.await
        } else {
            let _together = self.order.read().await;
            run.await
        };
        let content = result.parts.iter().map(content).collect();
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
