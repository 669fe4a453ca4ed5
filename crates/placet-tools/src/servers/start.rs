//! Starts the process of a server, in the view or outside of it, or connects to its address, and greets the server.

use super::running::{RunningServer, ViewStamp, ended, last_lines, quoted};
use crate::command::command_hint::{EndedCommand, SaidHints, shown_dirs};
use crate::command::network_summary::NetworkSummary;
use crate::command::sandboxed::{RunMode, describe};
use crate::{ToolContext, ToolError};
use placet_mcp::{
    HttpAccess, HttpServer, McpClientError, ServerConnection, ServerDefinition, ServerKind, ServerProgram,
};
use placet_permission::WritePolicy;
use placet_process::{CommandInput, PipedCommand, ShellCommand};
use placet_sandbox::SandboxNetwork;
use placet_workspace::WriteContext;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Lines of a log that may show why a server did not start.
const LOOKED_THROUGH: usize = 20;

/// Starts the server, or connects to it, and greets it. `writer` says what becomes of its changes; `log` gets its
/// standard error.
pub(super) async fn start_server(
    definition: &ServerDefinition,
    (env, access): (&ToolContext, HttpAccess),
    writer: WriteContext,
    log: &Path,
) -> Result<RunningServer, ToolError> {
    match &definition.kind {
        ServerKind::Program(program) => start_program(program, definition.timeout, env, writer, log).await,
        ServerKind::Http(server) => {
            let roots = env.workspace.roots().to_vec();
            // A log of a program that had this name before says nothing of this server.
            drop(std::fs::remove_file(log));
            connect((&definition.name, server), access, roots, definition.timeout, writer).await
        }
    }
}

/// A failed call or start; with the command to log in if that is the remedy.
pub(super) fn failure(error: &McpClientError, server: &str) -> ToolError {
    match error.needs_login() {
        true => ToolError::hint(
            error.to_string(),
            format!("the person can log in with `placet mcp login {server}`"),
        ),
        false => ToolError::new(error.to_string()),
    }
}

async fn connect(
    server: (&str, &HttpServer),
    access: HttpAccess,
    roots: Vec<PathBuf>,
    timeout: Duration,
    writer: WriteContext,
) -> Result<RunningServer, ToolError> {
    let opening = ServerConnection::open_http(server, access, roots, timeout);
    let connected = opening.await.map_err(|error| failure(&error, server.0))?;
    Ok(RunningServer {
        connection: connected.connection,
        called: connected.name,
        supervisor: None,
        run: None,
        landing: writer.landing,
        stamp: ViewStamp::default(),
    })
}

async fn start_program(
    program: &ServerProgram,
    timeout: Duration,
    env: &ToolContext,
    writer: WriteContext,
    log: &Path,
) -> Result<RunningServer, ToolError> {
    let (landing, stamp) = (writer.landing, ViewStamp::of(env.workspace.view()));
    let mut command = ShellCommand {
        line: format!("exec {}", program.command_line()),
        cwd: env.workspace.cwd().to_path_buf(),
        supervisor: env.commands.supervisor.clone(),
        timeout: Duration::MAX,
        withheld: env.commands.withheld.clone(),
        stdin: CommandInput::Nothing,
        sandbox: None,
    };
    let mut run = None;
    let mut environment = program.environment.clone();
    if !program.is_outside {
        let hosts = if landing == WritePolicy::Discard { &[][..] } else { &program.hosts };
        let cwd = env.workspace.cwd();
        let entered = describe(env, cwd, hosts, (writer, RunMode::Background)).await.map_err(|e| {
            let hint = "`outside = true` in its settings runs it without the view, with all your rights";
            ToolError::hint(e.message, hint)
        })?;
        if let Some((entered, mut spec)) = entered {
            if landing == WritePolicy::Discard {
                spec.network = SandboxNetwork::Off;
            }
            if spec.network.has_no_hosts() {
                take_from_cache(&mut environment);
            }
            spec.keep_env.extend(program.environment.iter().map(|(name, _)| name.clone()));
            command.sandbox = Some(spec.to_words());
            run = Some(entered);
        }
    }
    let started = command.begin_piped(&environment, log);
    let PipedCommand { input, output, supervisor } = started.map_err(|e| ToolError::new(e.to_string()))?;
    let roots = env.workspace.roots().to_vec();
    match ServerConnection::open((output, input), roots, timeout).await {
        Ok(connected) => Ok(RunningServer {
            connection: connected.connection,
            called: connected.name,
            supervisor: Some(supervisor),
            run,
            landing,
            stamp,
        }),
        Err(error) => {
            let (how, report) = match ended(supervisor, Duration::ZERO).await {
                Ok(report) => (String::new(), report),
                Err(e) => (format!(": {e}"), None),
            };
            let causes =
                if run.is_some() { causes(program, env, report.as_deref(), log) } else { String::new() };
            Err(ToolError::new(format!("{error}{how}{}{causes}", quoted(log))))
        }
    }
}

/// uv asks for a newer version of what it has, and fails where it gets no answer. Other commands are not told so: they
/// would not name the host that they need.
fn take_from_cache(environment: &mut Vec<(String, String)>) {
    const OFFLINE: &str = "UV_OFFLINE";
    if std::env::var_os(OFFLINE).is_none() && !environment.iter().any(|(name, _)| name == OFFLINE) {
        environment.push((OFFLINE.into(), "1".into()));
    }
}

/// Why a program in the view may not have become a server: the hosts that it was refused, and what its log shows. Each
/// with a way out, as the end of a sentence.
fn causes(program: &ServerProgram, env: &ToolContext, report: Option<&str>, log: &Path) -> String {
    let mut text = String::new();
    if let Some(names) = NetworkSummary::of(report).refused {
        text.push_str(&format!(
            "; it may not connect to {names}: `hosts` in its settings allows that, and a package that is in the cache \
             needs no host"
        ));
    }
    let output = last_lines(log, LOOKED_THROUGH).join("\n");
    let home = env.commands.confining.as_ref().and_then(|confining| confining.home.as_deref());
    let missing = || env.commands.confining.as_ref().map_or_else(Vec::new, |confining| confining.copies().2);
    let (line, roots) = (program.command_line(), shown_dirs(env.workspace.roots(), home));
    let failed = EndedCommand { line: &line, output: &output, code: 1, roots: &roots, missing: &missing };
    let hints = failed.hints(&SaidHints::default());
    if !hints.is_empty() {
        text.push_str(&format!(
            "; {}; `outside = true` in its settings runs it without the view",
            hints.join("; ")
        ));
    }
    text
}
