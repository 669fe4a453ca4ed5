//! The servers of the settings become definitions. Nothing is started here, and nothing is connected.

use crate::config::{Config, ConfigProblem, McpServerSettings};
use crate::mcp::{
    ClientSecret, DefinitionError, HttpHeader, HttpServer, ServerDefinition, ServerKind, ServerProgram,
    UnsetVariable, expand_variables,
};
use crate::workspace::is_home_pattern;
use std::time::Duration;

/// Every `[mcp.servers.NAME]` that can be used. A mistake is reported, and its server is left out.
pub(super) fn definitions(config: &mut Config) -> Vec<ServerDefinition> {
    let (mut out, mut problems) = (Vec::new(), Vec::new());
    for (name, settings) in config.mcp_servers() {
        // It only says that a project's server of this name is not used.
        if !settings.enabled && settings.command.is_none() && settings.url.is_none() {
            continue;
        }
        match definition(&name, &settings, |variable| std::env::var(variable).ok()) {
            Ok(definition) => out.push(definition),
            Err(error) => problems.push(ConfigProblem {
                place: None,
                message: format!("{error}; the server is not used"),
                hint: None,
                permission: false,
            }),
        }
    }
    config.problems.extend(problems);
    out
}

fn definition(
    name: &str,
    settings: &McpServerSettings,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<ServerDefinition, DefinitionError> {
    ServerDefinition::check_name(name)?;
    let kind = match (&settings.command, &settings.url) {
        (Some(command), None) => ServerKind::Program(program(name, command, settings, &variable)?),
        (None, Some(url)) => ServerKind::Http(http_server(name, url, settings, &variable)?),
        (None, None) => return Err(DefinitionError::NoCommand(name.into())),
        (Some(_), Some(_)) => return Err(DefinitionError::TwoKinds(name.into())),
    };
    Ok(ServerDefinition {
        name: name.into(),
        kind,
        is_trusted: settings.trusted,
        is_enabled: settings.enabled,
        timeout: Duration::from_secs(settings.timeout_seconds.max(1)),
    })
}

fn expanded(
    server: &str,
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, DefinitionError> {
    expand_variables(text, variable)
        .map_err(|UnsetVariable(variable)| DefinitionError::Variable { server: server.into(), variable })
}

fn program(
    name: &str,
    command: &str,
    settings: &McpServerSettings,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<ServerProgram, DefinitionError> {
    let has_no_effect = |key| DefinitionError::OtherKind { server: name.into(), key, kind: "url" };
    if !settings.headers.is_empty() {
        return Err(has_no_effect("headers"));
    }
    if settings.headers_command.is_some() {
        return Err(has_no_effect("headers_command"));
    }
    if settings.oauth_client_id.is_some() {
        return Err(has_no_effect("oauth_client_id"));
    }
    if settings.oauth_client_secret.is_some() {
        return Err(has_no_effect("oauth_client_secret"));
    }
    // As people write other paths at home.
    let keep: Vec<String> =
        settings.keep.iter().map(|path| path.strip_prefix("~/").unwrap_or(path).to_string()).collect();
    if let Some(path) = keep.iter().find(|path| !is_home_pattern(path)) {
        return Err(DefinitionError::Keep { server: name.into(), path: path.clone() });
    }
    let entry = |entry| ServerDefinition::environment_entry(name, entry, &variable);
    Ok(ServerProgram {
        command: expanded(name, command, &variable)?,
        arguments: settings
            .args
            .iter()
            .map(|text| expanded(name, text, &variable))
            .collect::<Result<_, _>>()?,
        // A server that is switched off may name a variable that is not set.
        environment: match settings.enabled {
            true => settings.env.iter().map(entry).collect::<Result<_, _>>()?,
            false => Vec::new(),
        },
        hosts: settings.hosts.to_vec(),
        is_outside: settings.outside,
        keep,
        keeps_running: settings.keep_running,
    })
}

fn http_server(
    name: &str,
    url: &str,
    settings: &McpServerSettings,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<HttpServer, DefinitionError> {
    let of_programs = [
        ("args", !settings.args.is_empty()),
        ("env", !settings.env.is_empty()),
        ("hosts", !settings.hosts.is_empty()),
        ("outside", settings.outside),
        ("keep", !settings.keep.is_empty()),
        ("keep_running", settings.keep_running),
    ];
    if let Some((key, _)) = of_programs.into_iter().find(|(_, is_set)| *is_set) {
        return Err(DefinitionError::OtherKind { server: name.into(), key, kind: "command" });
    }
    if !settings.enabled {
        return Ok(HttpServer { url: url.into(), ..HttpServer::default() });
    }
    let url = expanded(name, url, &variable)?;
    HttpServer::check_url(name, &url)?;
    let header = |text| {
        let line = expanded(name, text, &variable)?;
        HttpHeader::parse(&line).map_err(|error| DefinitionError::Header { server: name.into(), error })
    };
    let headers = settings.headers.iter().map(header).collect::<Result<_, _>>()?;
    let text =
        |text: &Option<String>| text.as_deref().map(|text| expanded(name, text, &variable)).transpose();
    Ok(HttpServer {
        url,
        headers,
        headers_command: settings.headers_command.clone(),
        client_id: text(&settings.oauth_client_id)?,
        client_secret: text(&settings.oauth_client_secret)?.map(ClientSecret),
    })
}
