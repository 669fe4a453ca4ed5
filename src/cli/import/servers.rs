//! MCP servers of other programs become `[mcp.servers.NAME]`. Their variables and headers keep their names and lose
//! their values, unless a value is plain.

use super::plain_text::{has_secret, is_plain_value, is_variable, secret_argument};
use super::proposal::{ImportProposal, MOST};
use super::skip_reason::SkipReason;
use crate::mcp::{HttpServer, ServerDefinition};
use crate::permission::RuleVerdict;
use serde_json::Value;
use std::path::Path;
use toml_edit::{Array, Table, value};

/// A server as another program has it.
#[derive(Debug, Default)]
pub(super) struct ForeignServer {
    pub(super) command: Option<String>,
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
    /// Names of variables that the server gets.
    pub(super) variables: Vec<String>,
    pub(super) directory: Option<String>,
    pub(super) url: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) headers_command: Option<String>,
    /// The id that an authorization server gave to the program.
    pub(super) client_id: Option<String>,
    pub(super) is_disabled: bool,
    pub(super) timeout_seconds: Option<u64>,
    /// The other program asks about none of its calls.
    pub(super) is_trusted: bool,
    pub(super) only_tools: Vec<String>,
    pub(super) without_tools: Vec<String>,
}

impl ForeignServer {
    /// Adds the server to the proposal; `what` names it in the other program's file.
    pub(super) fn propose(self, name: &str, what: &str, file: &Path, out: &mut ImportProposal) {
        let name = own_name(name);
        if out.servers.len() >= MOST {
            return out.skip(what, file, SkipReason::TooMany(MOST));
        }
        let mut needed = Vec::new();
        let table = match self.table(&name, &mut needed) {
            Ok(table) => table,
            Err(why) => return out.skip(what, file, why),
        };
        if out.servers.iter().any(|(known, _)| *known == name) {
            return out.skip(what, file, SkipReason::ServerExists);
        }
        for variable in needed {
            out.variables.entry(variable).or_insert_with(|| format!("the server {name}"));
        }
        if self.directory.is_some() {
            out.skip(&format!("{what}: its working directory"), file, SkipReason::ServerDirectory);
        }
        if !self.only_tools.is_empty() {
            out.skip(&format!("{what}: its list of tools"), file, SkipReason::ServerTools(name.clone()));
        }
        for tool in &self.without_tools {
            out.rule(RuleVerdict::Deny, &format!("mcp({name}.{})", escaped(tool)), what, file);
        }
        match (self.is_trusted, out.is_project()) {
            (true, true) => out.skip(&format!("{what}: trust"), file, SkipReason::ProjectTrust),
            (true, false) if !self.only_tools.is_empty() => {
                for tool in &self.only_tools {
                    out.rule(RuleVerdict::Allow, &format!("mcp({name}.{})", escaped(tool)), what, file);
                }
            }
            (true, false) => out.rule(RuleVerdict::Allow, &format!("mcp({name}.*)"), what, file),
            _ => {}
        }
        out.servers.push((name, table));
    }

    fn table(&self, name: &str, needed: &mut Vec<String>) -> Result<Table, SkipReason> {
        ServerDefinition::check_name(name)?;
        if self.texts().any(|text| text.contains(char::is_control)) {
            return Err(SkipReason::ControlCharacter);
        }
        let mut table = Table::new();
        let list = |texts: &[String]| value(Array::from_iter(texts.iter().map(String::as_str)));
        match (&self.command, &self.url) {
            (Some(command), _) => {
                if let Some(at) = secret_argument(&self.arguments) {
                    return Err(SkipReason::SecretArgument(at));
                }
                if has_secret(command) {
                    return Err(SkipReason::Secret);
                }
                table.insert("command", value(command));
                if !self.arguments.is_empty() {
                    table.insert("args", list(&self.arguments));
                }
                let mut environment: Vec<String> = Vec::new();
                for (variable, content) in &self.environment {
                    if is_plain_value(variable, content) {
                        environment.push(format!("{variable}={content}"));
                    } else {
                        environment.push(variable.clone());
                        needed.push(variable.clone());
                    }
                }
                environment.extend(self.variables.iter().cloned());
                if !environment.is_empty() {
                    table.insert("env", list(&environment));
                }
            }
            (None, Some(url)) => {
                if has_secret(url) {
                    return Err(SkipReason::SecretAddress);
                }
                HttpServer::check_url(name, url)?;
                table.insert("url", value(url));
                let headers: Vec<String> = self.headers.iter().map(|h| header(name, h, needed)).collect();
                if !headers.is_empty() {
                    table.insert("headers", list(&headers));
                }
                if let Some(command) = &self.headers_command {
                    if has_secret(command) {
                        return Err(SkipReason::Secret);
                    }
                    table.insert("headers_command", value(command));
                }
                if let Some(id) = &self.client_id {
                    table.insert("oauth_client_id", value(id));
                }
            }
            (None, None) => return Err(SkipReason::NoCommand),
        }
        if self.is_disabled {
            table.insert("enabled", value(false));
        }
        if let Some(seconds) = self.timeout_seconds.filter(|seconds| (1..=3600).contains(seconds)) {
            table.insert("timeout_seconds", value(i64::try_from(seconds).unwrap_or(60)));
        }
        Ok(table)
    }

    /// All texts that are copied.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let pairs = self.environment.iter().chain(&self.headers);
        let single = [&self.command, &self.url, &self.headers_command, &self.client_id].into_iter().flatten();
        let tools = self.only_tools.iter().chain(&self.without_tools);
        let lists = self.arguments.iter().chain(&self.variables).chain(tools);
        pairs.flat_map(|(name, content)| [name, content]).chain(single).chain(lists).map(String::as_str)
    }
}

/// The name that placet has for a server: other programs allow blanks, dots and slashes in names.
pub(super) fn own_name(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    plain.trim_matches(['_', '-']).replace("__", "_")
}

/// A rule about tools of a server; `*` is each server, and each tool.
pub(super) fn server_rule(server: &str, tool: &str) -> String {
    let server = if server == "*" { "*".into() } else { own_name(server) };
    format!("mcp({server}.{})", escaped(tool))
}

/// The id in the table `oauth` of a server. What else the table has is listed.
pub(super) fn client_id(
    server: &Value,
    key: &str,
    what: &str,
    file: &Path,
    out: &mut ImportProposal,
) -> Option<String> {
    let login = server.get("oauth")?;
    for (name, _) in login.as_object().into_iter().flatten().filter(|(name, _)| *name != key) {
        let is_secret = super::plain_text::is_secret_name(&name.replace("Secret", "_secret"));
        let why = if is_secret { SkipReason::Secret } else { SkipReason::NoSetting };
        out.skip(&format!("{what}.oauth.{name}"), file, why);
    }
    login.get(key)?.as_str().map(String::from)
}

/// A header whose value is a variable, unless the value is plain.
fn header(server: &str, (name, content): &(String, String), needed: &mut Vec<String>) -> String {
    let scheme = ["Bearer ", "Basic ", "token "].into_iter().find(|scheme| content.starts_with(scheme));
    let bare = content.strip_prefix(scheme.unwrap_or("")).unwrap_or(content);
    if is_plain_value(name, bare) && (scheme.is_none() || is_variable(bare)) {
        return format!("{name}: {content}");
    }
    let last = if scheme.is_some() { "TOKEN".into() } else { variable_name(name) };
    let variable = format!("{}_{last}", variable_name(server));
    needed.push(variable.clone());
    format!("{name}: {}${{{variable}}}", scheme.unwrap_or(""))
}

fn variable_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

/// A text that a glob matches as it is, but for `*`.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "[]{}?\\!".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
