//! A call of a tool of a server: the process is started if necessary, called, and ended if it has changed files.

use super::pool::{ServerPool, ServerSlot};
use super::requests::CallRequests;
use super::running::{RunningServer, quoted};
use super::start::{FailedServerStart, failure, start_server};
use crate::command::command_effects::EffectsSummary;
use crate::{ProgressSink, ServerRequestHost, ToolContext, ToolError};
use placet_mcp::{
    CallLimits, CallListeners, CallToolResult, HttpFailure, KnownTools, McpClientError, ServerCallSubject,
    ServerToolSpec, ToolDefinitionHash,
};
use placet_permission::WritePolicy;
use placet_workspace::WriteContext;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many sessions a call may need. A server over HTTP forgets sessions when it likes.
const SESSIONS: usize = 2;

/// A call of a tool of a server.
pub(super) struct ServerCall<'a> {
    pub(super) env: &'a ToolContext,
    pub(super) server: &'a str,
    pub(super) subject: ServerCallSubject,
    pub(super) writer: WriteContext,
    /// Hosts beyond those of its settings that the person allowed for a start.
    pub(super) hosts: Vec<String>,
    /// The changed definition that the person saw and approved.
    pub(super) approved: Option<ToolDefinitionHash>,
    pub(super) cancel: &'a CancellationToken,
    pub(super) progress: ProgressSink,
    pub(super) host: Arc<dyn ServerRequestHost>,
}

/// What came of a call.
pub(super) struct ServerAnswer {
    pub(super) result: Result<CallToolResult, ToolError>,
    pub(super) effects: EffectsSummary,
    pub(super) was_stopped: bool,
}

impl ServerAnswer {
    fn stopped() -> ServerAnswer {
        let result = Err(ToolError::new("the call was stopped"));
        ServerAnswer { result, effects: EffectsSummary::default(), was_stopped: true }
    }
}

/// The servers of a conversation, with what they work with.
struct ServerRunner<'a> {
    pool: &'a ServerPool,
    env: &'a ToolContext,
}

/// Starts the server if necessary and reads its tools.
pub async fn read_server_tools(
    env: &ToolContext,
    server: &str,
    cancel: &CancellationToken,
) -> Result<KnownTools, ToolError> {
    read_tools_with(env, server, &[], cancel).await
}

/// The same for a server that may connect to these hosts, too.
pub(super) async fn read_tools_with(
    env: &ToolContext,
    server: &str,
    hosts: &[String],
    cancel: &CancellationToken,
) -> Result<KnownTools, ToolError> {
    let runner = ServerRunner { pool: &env.servers, env };
    let slot = env.servers.slot(server)?;
    let landing = env.mode.load().write_policy();
    let reading = async {
        let mut running = slot.running.lock().await;
        runner.ensure(slot, &mut running, &WriteContext::from(landing), hosts).await
    };
    tokio::select! {
        read = reading => read?,
        () = cancel.cancelled() => return Err(ToolError::new("the start was stopped")),
    }
    env.servers.status(server).known.ok_or_else(|| ToolError::new("its tools are not known"))
}

/// Calls a tool.
pub(super) async fn call_server(call: ServerCall<'_>) -> Result<ServerAnswer, ToolError> {
    ServerRunner { pool: &call.env.servers, env: call.env }.call(call).await
}

impl<'a> ServerRunner<'a> {
    /// A process that the call may use, in `running`. A new process is asked for its tools.
    async fn ensure(
        &self,
        slot: &ServerSlot,
        running: &mut Option<RunningServer>,
        writer: &WriteContext,
        hosts: &[String],
    ) -> Result<(), ToolError> {
        let (definition, env) = (&slot.definition, self.env);
        if running.as_ref().is_some_and(|server| !server.fits(definition, &env.workspace, writer.landing)) {
            self.pool.end(slot, running, &self.env.workspace, writer).await?;
        }
        let is_new = running.is_none();
        if is_new {
            let (pause, why) = {
                let status = slot.status();
                (status.pause(), status.last_error.clone().unwrap_or_default())
            };
            if let Some(pause) = pause {
                return Err(ToolError::hint(
                    format!("the server `{}` failed: {why}", definition.name),
                    format!("it can be started again in {} s", pause.as_secs() + 1),
                ));
            }
            self.pool.make_dir()?;
            let log = self.pool.log_file(&definition.name);
            match start_server(definition, hosts, (env, self.pool.access()), writer.clone(), &log).await {
                Ok(server) => *running = Some(server),
                Err(FailedServerStart { error, refused }) => {
                    let error = self.pool.failed(slot, &error);
                    if refused.is_empty() || writer.landing == WritePolicy::Discard {
                        return Err(error);
                    }
                    slot.status().wants(hosts, refused);
                    let hint = "make the call again: the person is asked about these hosts";
                    return Err(ToolError::hint(error.message, hint));
                }
            }
            slot.status().started(hosts);
        }
        let Some(server) = running.as_ref() else { return Ok(()) };
        if !is_new && !server.connection.take_list_changed() {
            return Ok(());
        }
        if let Err(error) = self.pool.read_tools(slot, server, definition.timeout).await {
            let log = quoted(&self.pool.log_file(&definition.name));
            let message = format!("its list of tools cannot be read: {error}{log}");
            let error = ToolError { message, ..failure(&error, &definition.name) };
            self.pool.end(slot, running, &self.env.workspace, writer).await?;
            return Err(self.pool.failed(slot, &error));
        }
        Ok(())
    }

    /// Calls a tool. What the server changed meanwhile is collected with it.
    async fn call(&self, call: ServerCall<'_>) -> Result<ServerAnswer, ToolError> {
        let slot = self.pool.slot(call.server)?;
        let ServerCall { ref subject, ref writer, cancel, .. } = call;
        let tool = subject.name();
        let mut running = tokio::select! {
            running = slot.running.lock() => running,
            () = cancel.cancelled() => return Ok(ServerAnswer::stopped()),
        };
        let mut answer = Err(McpClientError::Http(HttpFailure::SessionEnded));
        for _ in 0..SESSIONS {
            tokio::select! {
                ready = self.ensure(slot, &mut running, writer, &call.hosts) => ready?,
                () = cancel.cancelled() => return Ok(ServerAnswer::stopped()),
            }
            self.check_description(slot, &call)?;
            let Some(server) = running.as_ref() else { break };
            let limits = CallLimits { silence: slot.definition.timeout, cancel };
            let progress = call.progress.clone();
            let listeners = CallListeners {
                progress: Arc::new(move |words: &str| progress.send(words)),
                requests: Arc::new(CallRequests::new(call.server, tool, Arc::clone(&call.host))),
            };
            answer = server.connection.call(subject.clone(), limits, listeners).await;
            // Such a server did not look at the call. The next pass opens another session.
            if answer != Err(McpClientError::Http(HttpFailure::SessionEnded)) {
                break;
            }
        }
        let Some(server) = running.as_ref() else { return Err(ToolError::new("the server has ended")) };
        let was_stopped = answer == Err(McpClientError::Stopped);
        let mut effects = EffectsSummary::default();
        let is_lost = answer.as_ref().is_err_and(McpClientError::is_lost) || server.connection.is_closed();
        if is_lost || server.has_written(&self.env.workspace) {
            effects = self.pool.end(slot, &mut running, &self.env.workspace, writer).await?;
        }
        let result = match answer {
            Ok(result) => {
                slot.status().answered();
                Ok(result)
            }
            Err(error) if is_lost => {
                let log = quoted(&self.pool.log_file(call.server));
                Err(self.pool.failed(slot, &ToolError::new(format!("{error}{log}"))))
            }
            Err(McpClientError::Refused(words)) => {
                slot.status().answered();
                Err(ToolError::new(format!("the server `{}` refused the call: {words}", call.server)))
            }
            Err(error) => {
                slot.status().note_error(&format!("{tool}: {error}"));
                let message = format!("the server `{}` failed: {error}", call.server);
                Err(match error {
                    McpClientError::Unreadable(_) => ToolError::hint(
                        message,
                        "the call may have had an effect; this is an error of the server",
                    ),
                    _ if error.is_silence() => {
                        ToolError::hint(message, "`mcp.servers.NAME.timeout_seconds` gives it more time")
                    }
                    _ => ToolError { message, ..failure(&error, call.server) },
                })
            }
        };
        Ok(ServerAnswer { result, effects, was_stopped })
    }

    /// The call was approved for a definition. If the server has another one now, nothing is called.
    fn check_description(&self, slot: &ServerSlot, call: &ServerCall<'_>) -> Result<(), ToolError> {
        let ServerCallSubject::Tool { name: tool, .. } = &call.subject else { return Ok(()) };
        let mut status = slot.status();
        let Some(known) = status.known.as_mut() else { return Ok(()) };
        if known.find(tool).is_none() {
            let names: Vec<&str> = known.tools.iter().map(|tool| tool.name.as_str()).take(20).collect();
            return Err(ToolError::hint(
                format!("the server `{}` has no tool `{}` any more", call.server, tool),
                format!("its tools are {}", names.join(", ")),
            ));
        }
        if !known.changed.contains(tool) {
            return Ok(());
        }
        let current = known.find(tool).map(ServerToolSpec::definition_hash);
        if call.approved.is_none() || call.approved != current {
            let when = if call.approved.is_some() { "than the question showed" } else { "since just now" };
            return Err(ToolError::hint(
                format!(
                    "the server `{}` describes `{}` in another way {when}: nothing was called",
                    call.server, tool
                ),
                "make the call again: the person is asked about the new description",
            ));
        }
        known.changed.remove(tool);
        let known = known.clone();
        drop(status);
        self.pool.store(&slot.definition, &known);
        Ok(())
    }
}
