//! Starts the process of a server, in the view or outside of it, or connects to its address, and greets the server.

use super::home_writes::ServerHome;
use super::running::{RunningServer, ViewStamp, ended, last_lines, quoted};
use crate::command::command_hint::{SaidHints, new_hints, shown_dirs};
use crate::command::ended_command::EndedCommand;
use crate::command::network_summary::NetworkSummary;
use crate::command::sandboxed::{RunMode, describe};
use crate::{ToolContext, ToolError};
use placet_mcp::{
    HttpAccess, HttpServer, McpClientError, ServerConnection, ServerDefinition, ServerKind, ServerProgram,
};
use placet_permission::WritePolicy;
use placet_process::{CommandInput, PipedCommand, ShellCommand};
use placet_sandbox::{HostRule, SandboxNetwork};
use placet_workspace::WriteContext;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Lines of a log that may show why a server did not start.
const LOOKED_THROUGH: usize = 20;

/// What uv prints where it is offline and its cache is not enough, and where it gets packages then.
const UV_IS_OFFLINE: &str = "because the network was disabled";
const UV_HOSTS: [&str; 2] = ["pypi.org", "files.pythonhosted.org"];

/// Why a server did not start.
pub(super) struct FailedServerStart {
    pub(super) error: ToolError,
    /// The hosts that it asked for and may not connect to.
    pub(super) refused: Vec<String>,
}

impl From<ToolError> for FailedServerStart {
    fn from(error: ToolError) -> FailedServerStart {
        FailedServerStart { error, refused: Vec::new() }
    }
}

/// Starts the server, or connects to it, and greets it. It may connect to `hosts` and to those of its settings. `writer`
/// says what becomes of its changes; `log` gets its standard error.
pub(super) async fn start_server(
    definition: &ServerDefinition,
    hosts: &[String],
    (env, access): (&ToolContext, HttpAccess),
    writer: WriteContext,
    log: &Path,
) -> Result<RunningServer, FailedServerStart> {
    match &definition.kind {
        ServerKind::Program(program) => {
            start_program((program, hosts), definition.timeout, env, writer, log).await
        }
        ServerKind::Http(server) => {
            let roots = env.workspace.roots().to_vec();
            // A log of a program that had this name before says nothing of this server.
            drop(std::fs::remove_file(log));
            Ok(connect((&definition.name, server), access, roots, definition.timeout, writer).await?)
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
        home: None,
        landing: writer.landing,
        stamp: ViewStamp::default(),
    })
}

async fn start_program(
    (program, more_hosts): (&ServerProgram, &[String]),
    timeout: Duration,
    env: &ToolContext,
    writer: WriteContext,
    log: &Path,
) -> Result<RunningServer, FailedServerStart> {
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
    let (mut run, mut home) = (None, None);
    let mut environment = program.environment.clone();
    if !program.is_outside {
        let all_hosts: Vec<String> = program.hosts.iter().chain(more_hosts).cloned().collect();
        let hosts = if landing == WritePolicy::Discard { &[][..] } else { &all_hosts };
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
            home =
                home_of(program, env, entered.home_layer(), log).filter(|_| landing != WritePolicy::Discard);
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
            home,
            landing,
            stamp,
        }),
        Err(error) => {
            let (how, report) = match ended(supervisor, Duration::ZERO).await {
                Ok(report) => (String::new(), report),
                Err(e) => (format!(": {e}"), None),
            };
            let network = NetworkSummary::of(report.as_deref());
            let causes = if run.is_some() { causes(program, env, &network, log) } else { String::new() };
            let error = ToolError::new(format!("{error}{how}{}{causes}", quoted(log)));
            // A server may ask for what no entry can name, such as an address.
            let can_be_allowed = |name: &String| HostRule::parse(name).is_ok();
            let mut refused: Vec<String> = network.refused_names.into_iter().filter(can_be_allowed).collect();
            if refused.is_empty() && run.is_some() {
                refused = hosts_of_uv(log);
            }
            Err(FailedServerStart { error, refused })
        }
    }
}

/// `log` is in a directory of placet's own directory.
fn home_of(
    program: &ServerProgram,
    env: &ToolContext,
    layer: Option<&Path>,
    log: &Path,
) -> Option<ServerHome> {
    Some(ServerHome {
        home: env.commands.confining.as_ref()?.home.clone()?,
        layer: layer?.to_path_buf(),
        state: log.parent()?.parent()?.to_path_buf(),
        keep: program.keep.clone(),
        began: SystemTime::now(),
        protected: env.workspace.protected(),
    })
}

/// uv asks for a newer version of what it has, and fails where it gets no answer. Other commands are not told so: they
/// would not name the host that they need.
fn take_from_cache(environment: &mut Vec<(String, String)>) {
    const OFFLINE: &str = "UV_OFFLINE";
    if std::env::var_os(OFFLINE).is_none() && !environment.iter().any(|(name, _)| name == OFFLINE) {
        environment.push((OFFLINE.into(), "1".into()));
    }
}

/// What uv would have asked for if it were not offline.
fn hosts_of_uv(log: &Path) -> Vec<String> {
    let is_uv = last_lines(log, LOOKED_THROUGH).iter().any(|line| line.contains(UV_IS_OFFLINE));
    if is_uv { UV_HOSTS.map(String::from).into() } else { Vec::new() }
}

/// Why a program in the view may not have become a server: the hosts that it was refused, and what its log shows. Each
/// with a way out, as the end of a sentence.
fn causes(program: &ServerProgram, env: &ToolContext, network: &NetworkSummary, log: &Path) -> String {
    let mut text = String::new();
    if let Some(names) = &network.refused {
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
    let hints = new_hints(&failed, &SaidHints::default());
    if !hints.is_empty() {
        text.push_str(&format!(
            "; {}; `outside = true` in its settings runs it without the view",
            hints.join("; ")
        ));
    }
    text
}
