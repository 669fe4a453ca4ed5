//! placet as an MCP client: a server's definition, the conversation with it, and the list of its tools.
//!
//! This module starts no server and opens no file of the person's: it gets a pair of pipes or an address, and it stores
//! what it knows of a server below a directory that its caller names. Everything that a server sends is hostile: each message, each
//! list and each wait has a limit. `serve::mcp` is the other side, placet as a server.

mod bounded_answers;
mod broken_message;
mod client_handler;
mod connection;
mod definition;
mod elicitation;
mod error;
mod http;
mod line_transport;
mod log_level;
mod login;
mod message_text;
mod offers;
mod server_request;
mod template;
mod tool_list;
mod unread_lines;
mod usable_result;

pub use broken_message::request_id;
pub use client_handler::ProgressReport;
pub use connection::{CallLimits, CallListeners, ConnectedServer, ServerCallSubject, ServerConnection};
pub use definition::{
    ClientSecret, DefinitionError, HttpServer, ServerDefinition, ServerKind, ServerProgram, UnsetVariable,
    expand_variables,
};
pub use elicitation::{ElicitationAnswer, ElicitationForm, FormAnswerError, FormField, FormProblem};
pub use error::McpClientError;
pub use http::{HttpAccess, HttpFailure, HttpHeader, HttpHeaderError};
pub use log_level::ServerLogLevel;
pub use login::{
    LoginDone, LoginError, LoginOptions, LoginState, LoginStore, PendingLogin, log_out, login_hint,
    login_request, login_summary, logout_line,
};
pub use offers::{ServerOffers, ServerPrompt, ServerPromptArgument, ServerResource};
pub use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
pub use server_request::{
    SampledAnswer, SamplingPrompt, SamplingPromptMessage, SamplingRefusal, ServerRequestHandler,
};
pub use template::{OpenVariable, ServerTemplate};
pub use tool_list::{FetchedTools, KnownTools, LeftOutTools, ServerToolSpec, ToolDefinitionHash};
