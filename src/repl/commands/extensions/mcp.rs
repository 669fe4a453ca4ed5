//! `/mcp`: the servers whose tools the model has, their state, their tools and their logs.

use super::mcp_login;
use crate::mcp::{KnownTools, LoginState, ServerLogLevel};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::text::{count, visible};
use crate::tools::{ServerPool, ServerState, ServerStatus};

/// How much of a log is shown, in bytes.
const LOG: usize = 4_000;
const USAGE: &str =
    "/mcp, /mcp NAME for its tools, /mcp log NAME [LEVEL], /mcp stop NAME, /mcp login NAME, /mcp logout NAME";

/// `/mcp`, `/mcp NAME`, and the words of [`USAGE`].
pub(in crate::repl::commands) fn mcp(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let servers = match &context.conversation.agent {
        Some(agent) => agent.env().servers.clone(),
        None => context.app.tools.servers.clone(),
    };
    if rest.trim().is_empty() {
        for shadowed in &context.app.config.shadowed_servers {
            context.output.note(&shadowed.to_string());
        }
    }
    if servers.is_empty() {
        context.output.note("no servers; `placet mcp add NAME -- COMMAND` adds one");
        return Ok(CommandFollowUp::Nothing);
    }
    match rest.split_whitespace().collect::<Vec<_>>().as_slice() {
        [] => list(context, &servers),
        ["log", name] => log(context, &servers, named(&servers, name)?),
        ["log", name, level] => log_level(context, &servers, (named(&servers, name)?, level))?,
        ["login", name] => mcp_login::log_in(context, &servers, named(&servers, name)?)?,
        ["logout", name] => mcp_login::log_out_of(context, &servers, named(&servers, name)?)?,
        ["stop", name] => stop(context, &servers, named(&servers, name)?)?,
        [name] => show(context, &servers, named(&servers, name)?),
        _ => return Err(CommandStop::with_hint(format!("unknown argument `{rest}` of /mcp"), USAGE)),
    }
    Ok(CommandFollowUp::Nothing)
}

fn named<'n>(servers: &ServerPool, name: &'n str) -> Result<&'n str, CommandStop> {
    match servers.definitions().any(|definition| definition.name == name) {
        true => Ok(name),
        false => {
            let names: Vec<&str> = servers.definitions().map(|definition| definition.name.as_str()).collect();
            let hint = format!("the servers are {}", names.join(", "));
            Err(CommandStop::with_hint(format!("no server `{name}`"), hint))
        }
    }
}

fn list(context: &CommandContext<'_>, servers: &ServerPool) {
    let row = |definition: &crate::mcp::ServerDefinition| {
        let status = servers.status(&definition.name);
        let mut parts = vec![state(&status, definition.is_enabled)];
        match servers.login(definition).filter(|_| definition.is_enabled) {
            Some(LoginState::Needed) => {
                parts.push(format!("needs login: /mcp login {}", definition.name));
            }
            Some(LoginState::LoggedIn) => parts.push("logged in".into()),
            Some(LoginState::Unusable) => {
                parts.push(format!("its stored login cannot be used: /mcp logout {}", definition.name));
            }
            None => {}
        }
        parts.push(tools_words(&status));
        parts.extend(status.last_error.map(|error| format!("last error: {error}")));
        (definition.name.clone(), parts.join(" · "))
    };
    context.output.rows(&servers.definitions().map(row).collect::<Vec<_>>());
}

fn state(status: &ServerStatus, is_enabled: bool) -> String {
    match status.state {
        _ if !is_enabled => "switched off".into(),
        ServerState::Idle => "not running".into(),
        ServerState::Failed => "failed".into(),
        ServerState::Running { since } => {
            let calls = count::of(usize::try_from(status.calls).unwrap_or(usize::MAX), "call");
            format!("running for {} s, {calls}", since.elapsed().as_secs())
        }
    }
}

/// What is known of its tools, in a row of the list.
fn tools_words(status: &ServerStatus) -> String {
    match (&status.known, status.state) {
        (Some(known), _) => sizes(known),
        (None, ServerState::Failed) => "its tools are not offered".into(),
        (None, _) => "tools not read yet".into(),
    }
}

/// `2 tools, about 300 tokens`
fn sizes(known: &KnownTools) -> String {
    format!("{}, about {} tokens", count::of(known.tools.len(), "tool"), known.tokens())
}

fn show(context: &CommandContext<'_>, servers: &ServerPool, name: &str) {
    let status = servers.status(name);
    let Some(definition) = servers.definitions().find(|definition| definition.name == name) else { return };
    let called = status.known.as_ref().map(|known| format!(" · {}", known.server)).unwrap_or_default();
    let line = visible::line(&definition.shown()).into_owned();
    context.output.note(&format!("{name} · {}{called} · {line}", state(&status, definition.is_enabled)));
    if let Some(error) = &status.last_error {
        context.output.hint(&format!("last error: {error}"));
    }
    let Some(known) = status.known else {
        let words = match status.pause() {
            _ if status.state != ServerState::Failed => {
                "its tools are read before the first request".to_string()
            }
            Some(wait) if wait.as_secs() > 0 => {
                format!(
                    "its tools are not offered; placet tries again with a request after {} s",
                    wait.as_secs()
                )
            }
            _ => "its tools are not offered; placet tries again with the next request".into(),
        };
        return context.output.hint(&words);
    };
    let row = |tool: &crate::mcp::ServerToolSpec| {
        let mut about = visible::line(tool.first_line(120)).into_owned();
        if tool.says_read_only {
            about.push_str(" (says that it changes nothing)");
        }
        if known.changed.contains(&tool.name) {
            about.push_str(" (described in another way than before)");
        }
        (visible::line(&tool.name).into_owned(), about)
    };
    context.output.rows(&known.tools.iter().map(row).collect::<Vec<_>>());
}

fn log(context: &CommandContext<'_>, servers: &ServerPool, name: &str) {
    let bytes = std::fs::read(servers.log_file(name)).unwrap_or_default();
    let end = bytes.get(bytes.len().saturating_sub(LOG)..).unwrap_or(&bytes);
    let messages = servers.messages(name);
    if end.is_empty() && messages.is_empty() {
        return context.output.note(&format!("the log of {name} is empty"));
    }
    if let Some(line) = servers.log_line(name) {
        context.output.note(&format!("the end of the log of {name} · {line}"));
        context.output.quote(&String::from_utf8_lossy(end));
    }
    if !messages.is_empty() {
        context.output.note(&format!("log messages that {name} sent"));
        context.output.quote(&messages.join("\n"));
    }
}

fn log_level(
    context: &CommandContext<'_>,
    servers: &ServerPool,
    (name, level): (&str, &str),
) -> Result<(), CommandStop> {
    let Some(level) = ServerLogLevel::of(level) else {
        let names = ServerLogLevel::ALL.map(ServerLogLevel::name).join(", ");
        return Err(CommandStop::with_hint(
            format!("unknown level `{level}`"),
            format!("the levels are {names}"),
        ));
    };
    context.runtime.block_on(servers.set_log_level(name, level))?;
    context.output.note(&format!("{name} logs from {} on, until it ends", level.name()));
    Ok(())
}

fn stop(context: &CommandContext<'_>, servers: &ServerPool, name: &str) -> Result<(), CommandStop> {
    let Some(agent) = &context.conversation.agent else {
        context.output.note(&format!("{name} is not running"));
        return Ok(());
    };
    let env = agent.env();
    let stopping = servers.stop(&env.workspace, env.mode.load().write_policy(), name);
    let effects = context.runtime.block_on(stopping)?;
    context.output.note(&format!("ended {name}{effects}"));
    Ok(())
}
