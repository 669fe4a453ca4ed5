//! A project's `.mcp.json`, which several programs read: its servers become settings `mcp.servers.NAME`. The project must
//! be trusted first, as for all settings that start a program.

use super::layer::{SettingsLayer, line_column};
use super::problem::ConfigProblem;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;

#[derive(Debug, Deserialize)]
struct McpFile {
    #[serde(default, rename = "mcpServers")]
    servers: BTreeMap<String, McpFileEntry>,
}

/// One server. What placet does not know is ignored, as the other programs do.
#[derive(Debug, Deserialize)]
struct McpFileEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "headersHelper")]
    headers_helper: Option<String>,
    oauth: Option<McpFileLogin>,
}

/// What a login at the server needs.
#[derive(Debug, Deserialize)]
struct McpFileLogin {
    #[serde(rename = "clientId")]
    client_id: Option<String>,
}

/// Why a server of the file is not used.
#[derive(Debug, Error)]
enum UnusableEntry {
    #[error("no `{0}`")]
    Missing(&'static str),
    #[error("its type `{0}` is none of \"stdio\", \"http\" and \"sse\"")]
    Type(String),
}

impl McpFileEntry {
    /// The settings of the server, or why there are none.
    fn table(self) -> Result<toml_edit::Table, UnusableEntry> {
        let texts = |texts: Vec<String>| toml_edit::value(toml_edit::Array::from_iter(texts));
        let mut table = toml_edit::Table::new();
        // As other programs do: without a `type`, what the server has decides.
        let kind = self.kind.as_deref().unwrap_or(if self.url.is_some() { "http" } else { "stdio" });
        match kind {
            "stdio" => {
                let env = self.env.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
                table.insert(
                    "command",
                    toml_edit::value(self.command.ok_or(UnusableEntry::Missing("command"))?),
                );
                table.insert("args", texts(self.args));
                table.insert("env", texts(env));
            }
            // placet finds out itself which of the transports a server knows.
            "http" | "streamable-http" | "sse" => {
                let headers: Vec<String> =
                    self.headers.into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
                table.insert("url", toml_edit::value(self.url.ok_or(UnusableEntry::Missing("url"))?));
                if !headers.is_empty() {
                    table.insert("headers", texts(headers));
                }
                if let Some(command) = self.headers_helper {
                    table.insert("headers_command", toml_edit::value(command));
                }
                if let Some(id) = self.oauth.and_then(|login| login.client_id) {
                    table.insert("oauth_client_id", toml_edit::value(id));
                }
            }
            other => return Err(UnusableEntry::Type(other.into())),
        }
        Ok(table)
    }
}

/// Where the server is named: line and column.
fn place_of(name: &str, text: &str) -> (usize, usize) {
    let key = serde_json::Value::from(name).to_string();
    let is_key =
        |at: &usize| text.get(at + key.len()..).is_some_and(|rest| rest.trim_start().starts_with(':'));
    let at = text.match_indices(&key).map(|(at, _)| at).find(is_key).unwrap_or_default();
    line_column(text, at)
}

pub(super) fn layer(path: &Path, text: &str) -> SettingsLayer {
    let problem = |message: String, line: usize, column: usize| ConfigProblem {
        place: Some((path.into(), line, column)),
        message,
        hint: None,
        permission: false,
    };
    let file: McpFile = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(e) => {
            let problems = vec![problem(format!("not a list of servers: {e}"), e.line(), e.column())];
            return SettingsLayer { problems, ..SettingsLayer::default() };
        }
    };
    let (mut document, mut problems) = (toml_edit::DocumentMut::new(), Vec::new());
    for (name, entry) in file.servers {
        let table = match entry.table() {
            Ok(table) => table,
            Err(why) => {
                let (line, column) = place_of(&name, text);
                problems.push(problem(format!("the server `{name}` is not used: {why}"), line, column));
                continue;
            }
        };
        let servers = document.entry("mcp").or_insert_with(toml_edit::table);
        let servers = servers.as_table_mut().map(|mcp| mcp.entry("servers").or_insert_with(toml_edit::table));
        if let Some(servers) = servers.and_then(|servers| servers.as_table_mut()) {
            servers.insert(&name, toml_edit::Item::Table(table));
        }
    }
    let mut layer = SettingsLayer::project_file(path, &document.to_string());
    layer.problems.extend(problems);
    layer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_become_settings_and_what_cannot_be_used_is_named() {
        let text = r#"{"mcpServers": {
            "a": {"type": "stdio", "command": "run \"x\"", "args": ["-y", "b"], "env": {"K": "${V}"}, "other": 1},
            "b": {"type": "http", "url": "https://example.org", "headers": {"Authorization": "Bearer ${KEY}"}},
            "c": {"type": "sse", "url": "https://example.com/sse", "headersHelper": "print-headers", "oauth": {"clientId": "mine"}},
            "d": {"type": "ws", "url": "wss://example.net"},
            "e": {"type": "stdio"}
        }}"#;
        let read = layer(Path::new("/p/.mcp.json"), text);
        let values: Vec<String> =
            read.values.iter().map(|(name, value, _)| format!("{name} = {value}")).collect();
        assert_eq!(
            values,
            [
                r#"mcp.servers.a.command = 'run "x"'"#,
                r#"mcp.servers.a.args = ["-y", "b"]"#,
                r#"mcp.servers.a.env = ["K=${V}"]"#,
                r#"mcp.servers.b.url = "https://example.org""#,
                r#"mcp.servers.b.headers = ["Authorization: Bearer ${KEY}"]"#,
                r#"mcp.servers.c.url = "https://example.com/sse""#,
                r#"mcp.servers.c.headers_command = "print-headers""#,
                r#"mcp.servers.c.oauth_client_id = "mine""#,
            ]
        );
        let problems: Vec<String> = read.problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "/p/.mcp.json:5:13: the server `d` is not used: its type `ws` is none of \"stdio\", \"http\" and \"sse\"",
                "/p/.mcp.json:6:13: the server `e` is not used: no `command`",
            ]
        );
        assert!(
            layer(Path::new("/p/.mcp.json"), "{").problems[0].message.starts_with("not a list of servers")
        );
    }
}
