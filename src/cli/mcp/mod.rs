//! `placet mcp`: placet as a server of tools, and the servers whose tools placet uses.

pub(super) mod login;
pub(super) mod server_name;
pub(super) mod start_note;

use super::command_line::mcp_args::McpCommand;
use super::command_line::options::Options;
use super::report::{self, CliError, print, print_list, warn};
use super::settings_file;
use super::startup::start;
use crate::config::{SettingsLayer, TomlText};
use crate::mcp::{
    HttpHeader, HttpServer, KnownTools, LoginOptions, LoginState, LoginStore, ServerDefinition,
};
use crate::permission::{Mode, WritePolicy};
use crate::serve::mcp::McpServer;
use crate::session::Scratchpads;
use crate::text::{count, visible};
use crate::tools::read_server_tools;
use server_name::known;
use start_note::start_note;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;
use toml_edit::{Array, DocumentMut, Item, Table, value};

pub(super) fn run(command: McpCommand, options: &Options) -> Result<u8, CliError> {
    match command {
        McpCommand::List => list(options),
        McpCommand::Test { name } => test(&name, options),
        McpCommand::Add { name, hosts, env, outside, url, headers, command } => {
            add(&name, &NewServer { hosts, env, outside, url, headers, command })
        }
        McpCommand::Remove { name } => remove(&name),
        McpCommand::Login { name, scopes, port, no_browser } => {
            login::log_in(&name, (LoginOptions { scopes, port, can_keep: false }, !no_browser), options)
        }
        McpCommand::Logout { name } => login::log_out(&name, options),
        McpCommand::Serve { root, allow_apply } => serve(root, allow_apply, options),
    }
}

fn serve(root: Option<PathBuf>, allow_apply: bool, options: &Options) -> Result<u8, CliError> {
    let options = Options { cwd: root.or_else(|| options.cwd.clone()), ..options.clone() };
    let app = start::app(&options)?;
    let mode = app.mode.load();
    if allow_apply && !matches!(mode, Mode::Ask | Mode::Write) {
        let message = format!("in {} mode nothing is pending that `--allow-apply` could apply", mode.name());
        return Err(CliError::usage(message).hint("start the server with `--mode ask`"));
    }
    let env = app.env(Arc::new(Scratchpads::in_memory()), &app.fresh_view());
    let (policy, gate) = (Arc::clone(&app.policy), Arc::clone(&app.gate));
    let server = McpServer::new(&app.registry, env, policy, gate, allow_apply);
    start::runtime()?.block_on(server.serve()).map_err(CliError::new)?;
    Ok(report::DONE)
}

/// One line for each server; nothing is started.
fn list(options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    let servers = app.servers();
    for shadowed in &app.config.shadowed_servers {
        warn(&format!("note: {}", visible::line(&shadowed.to_string())));
    }
    if servers.is_empty() {
        warn("no servers; `placet mcp add NAME -- COMMAND` adds one");
        return Ok(report::DONE);
    }
    let width = servers.definitions().map(|definition| definition.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    for definition in servers.definitions() {
        let login = servers.login(definition);
        let tools = match servers.status(&definition.name).known {
            _ if login == Some(LoginState::Needed) && definition.is_enabled => {
                format!("needs login: placet mcp login {}", definition.name)
            }
            _ if login == Some(LoginState::Unusable) && definition.is_enabled => {
                format!("its stored login cannot be used: placet mcp logout {}", definition.name)
            }
            None => "tools not read yet".into(),
            Some(known) => sizes(&known),
        };
        let tools = if login == Some(LoginState::LoggedIn) { format!("{tools} · logged in") } else { tools };
        let _ = writeln!(
            out,
            "{:width$}  {tools} · {} · {}",
            definition.name,
            place(definition),
            visible::line(&definition.shown())
        );
    }
    print_list(&out).map(|()| report::DONE)
}

/// `2 tools, about 300 tokens`
fn sizes(known: &KnownTools) -> String {
    format!("{}, about {} tokens", count::of(known.tools.len(), "tool"), known.tokens())
}

fn place(definition: &ServerDefinition) -> String {
    if !definition.is_enabled {
        return "switched off".into();
    }
    match definition.program().map(|program| (program.is_outside, program.hosts.as_slice())) {
        None => "over HTTP".into(),
        Some((true, _)) => "outside of the view".into(),
        Some((false, [])) => "in the view".into(),
        Some((false, hosts)) => format!("in the view, with {}", hosts.join(" and ")),
    }
}

fn test(name: &str, options: &Options) -> Result<u8, CliError> {
    let app = start::app(options)?;
    known(&app, name)?;
    let env = app.env(Arc::new(Scratchpads::in_memory()), &app.fresh_view());
    // With the hosts of its settings, which read mode does not give. What it changes is discarded below.
    if options.mode.is_none() {
        env.mode.store(Mode::Ask);
    }
    let started = Instant::now();
    let cancel = CancellationToken::new();
    let reading = async {
        let tools = read_server_tools(&env, name, &cancel).await;
        // A server over HTTP would keep the session for a client that is gone.
        let ended = env.servers.stop(&env.workspace, WritePolicy::Discard, name).await;
        let said = env.servers.end_logins().await;
        said.iter().for_each(|words| warn(&visible::guard_line(words)));
        tools.and_then(|tools| ended.map(|_| tools))
    };
    let tools = start::runtime()?.block_on(reading).map_err(|error| {
        // The hint of the error is for a model.
        let log = env.servers.log_line(name).map(|line| format!("its log: {line}"));
        let failure = CliError::new(error.message);
        match hosts_hint(&env.servers.wanted_hosts(name)).or_else(|| env.servers.login_hint(name)).or(log) {
            Some(hint) => failure.hint(&hint),
            None => failure,
        }
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let mut out = format!("{name}: {}, {}, ready after {seconds:.1} s\n", tools.server, sizes(&tools));
    for tool in &tools.tools {
        let note = if tool.says_read_only { " (says that it changes nothing)" } else { "" };
        let _ =
            writeln!(out, "  {}: {}{note}", visible::line(&tool.name), visible::line(tool.first_line(100)));
    }
    print_list(&out).map(|()| report::DONE)
}

/// What lets a server start that was refused these hosts. Nobody is asked here.
fn hosts_hint(hosts: &[String]) -> Option<String> {
    let names: Vec<String> = hosts.iter().map(|host| format!("\"{}\"", visible::line(host))).collect();
    (!names.is_empty()).then(|| {
        let list = names.join(", ");
        format!("`hosts = [{list}]` in its settings allows what its start needs; a call in the shell asks")
    })
}

/// What `placet mcp add` writes.
struct NewServer {
    hosts: Vec<String>,
    env: Vec<String>,
    outside: bool,
    url: Option<String>,
    headers: Vec<String>,
    command: Vec<String>,
}

impl NewServer {
    fn table(&self) -> Table {
        let mut table = Table::new();
        let (program, arguments) = self.command.split_first().map_or(("", &[][..]), |(p, a)| (p.as_str(), a));
        match &self.url {
            Some(url) => table.insert("url", value(url)),
            None => table.insert("command", value(program)),
        };
        let lists =
            [("args", arguments), ("env", &self.env), ("hosts", &self.hosts), ("headers", &self.headers)];
        for (key, texts) in lists {
            if !texts.is_empty() {
                table.insert(key, value(Array::from_iter(texts.iter().map(String::as_str))));
            }
        }
        if self.outside {
            table.insert("outside", value(true));
        }
        table
    }
}

fn add(name: &str, server: &NewServer) -> Result<u8, CliError> {
    ServerDefinition::check_name(name).map_err(CliError::new)?;
    if let Some(url) = &server.url {
        HttpServer::check_url(name, url).map_err(CliError::new)?;
    }
    for header in &server.headers {
        HttpHeader::parse(header).map_err(CliError::new)?;
    }
    let path = start::paths()?.user_file();
    let before = settings_file::read(&path)?;
    if servers_in(&before, &path)?.is_some_and(|servers| servers.contains_key(name)) {
        return Err(CliError::new(format!("there is a server `{name}` already"))
            .hint(format!("`placet mcp remove {name}` removes it")));
    }
    let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let added = format!("[mcp.servers.{name}]\n{}", server.table());
    let text = format!("{before}{end}{gap}{added}");
    let layer = SettingsLayer::user_file(&path, &text);
    if let Some(problem) = layer.problems.first() {
        return Err(
            CliError::new(format!("the settings would not be valid: {problem}")).hint("nothing was changed")
        );
    }
    settings_file::replace(&path, &text)?;
    print(&format!("added to {}:\n{}", visible::path(&path), visible::block(&added)))?;
    let program = server.command.first().map(String::as_str).unwrap_or_default();
    let note = start_note(program, server.hosts.is_empty()).filter(|_| !server.outside);
    if let Some(note) = note {
        warn(&format!("note: {note}"));
    }
    warn(&match server.url {
        Some(_) => format!(
            "hint: `placet mcp test {name}` connects to it and shows its tools; `placet mcp login {name}` logs in if it \
             asks for that"
        ),
        None => format!("hint: `placet mcp test {name}` starts it and shows its tools"),
    });
    Ok(report::DONE)
}

/// The table of servers in the person's settings.
fn servers_in(text: &str, path: &std::path::Path) -> Result<Option<Table>, CliError> {
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    let document: DocumentMut =
        plain.parse().map_err(|e: toml_edit::TomlError| settings_file::not_toml(path, e.message()))?;
    let servers = document.get("mcp").and_then(|mcp| mcp.get("servers"));
    Ok(servers.and_then(Item::as_table).cloned())
}

fn remove(name: &str) -> Result<u8, CliError> {
    let path = start::paths()?.user_file();
    let before = settings_file::read(&path)?;
    if servers_in(&before, &path)?.is_none_or(|servers| !servers.contains_key(name)) {
        return Err(CliError::new(format!("`{}` has no server `{name}`", visible::path(&path)))
            .hint("`placet mcp list` lists all servers; those of a project are in its own files"));
    }
    let mut text = TomlText::parse(&before).map_err(|e| settings_file::not_toml(&path, e.message()))?;
    text.remove(&["mcp", "servers", name]);
    settings_file::replace(&path, &text.text())?;
    let logins = LoginStore::new(start::paths()?.state.join("mcp"));
    let removed = start::runtime()?.block_on(logins.remove_all(name));
    let removed = removed.map_err(|e| CliError::new(format!("cannot remove the login at `{name}`: {e}")))?;
    let and_login = if removed > 0 { ", and its login" } else { "" };
    print(&format!("removed the server {name} from {}{and_login}\n", visible::path(&path)))
        .map(|()| report::DONE)
}
