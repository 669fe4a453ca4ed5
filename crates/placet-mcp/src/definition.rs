//! What a server is: its name, and how it is started or reached. A value; the settings and a project's `.mcp.json` become
//! it.

use super::http::{HttpHeader, HttpHeaderError};
use placet_http as http;
use reqwest::Url;
use std::fmt;
use std::time::Duration;
use thiserror::Error;

/// The longest name of a server. It is a part of each tool's name, which providers cut at 64 characters.
const LONGEST_NAME: usize = 32;

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerDefinition {
    /// Letters, digits, `-` and single `_`.
    pub name: String,
    pub kind: ServerKind,
    /// What it says of its own tools counts.
    pub is_trusted: bool,
    pub is_enabled: bool,
    /// How long a start, a list and a call without a sign of life may take.
    pub timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerKind {
    Program(ServerProgram),
    Http(HttpServer),
}

/// A program that speaks over standard input and output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerProgram {
    pub command: String,
    pub arguments: Vec<String>,
    /// Variables that the server gets in addition to those of a command.
    pub environment: Vec<(String, String)>,
    /// Hosts that it may connect to.
    pub hosts: Vec<String>,
    /// It runs with all rights of placet, not in the view.
    pub is_outside: bool,
    /// Files below the home directory that are written there: `.notes/`, `.memory.json`.
    pub keep: Vec<String>,
    /// It is not started again when files have changed.
    pub keeps_running: bool,
}

/// A server at an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpServer {
    pub url: String,
    pub headers: Vec<HttpHeader>,
    /// Prints more headers. It runs when a connection is opened.
    pub headers_command: Option<String>,
    /// The id that placet has at the authorization server, if somebody registered it there.
    pub client_id: Option<String>,
    pub client_secret: Option<ClientSecret>,
}

/// The secret of a registered program.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientSecret(pub String);

impl fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DefinitionError {
    #[error(
        "`{0}` is not a name for a server: use letters, digits, `-` and single `_`, at most {LONGEST_NAME} characters"
    )]
    Name(String),
    #[error("the server `{0}` needs a `command` or a `url`")]
    NoCommand(String),
    #[error("the server `{0}` has a `command` and a `url`")]
    TwoKinds(String),
    #[error("`{key}` of the server `{server}` has no effect: it is for servers with a `{kind}`")]
    OtherKind { server: String, key: &'static str, kind: &'static str },
    #[error("the `url` of the server `{server}` {problem}")]
    Url { server: String, problem: &'static str },
    #[error("the headers of the server `{server}`: {error}")]
    Header { server: String, error: HttpHeaderError },
    #[error("the server `{server}` needs the environment variable {variable}, which is not set")]
    Variable { server: String, variable: String },
    #[error("`keep` of the server `{server}`: `{path}` is not a path below the home directory")]
    Keep { server: String, path: String },
    #[error("`{entry}` of the server `{server}` is neither NAME=VALUE nor NAME")]
    Environment { server: String, entry: String },
}

impl ServerDefinition {
    /// Checks a name. `__` separates it from a tool's name.
    pub fn check_name(name: &str) -> Result<(), DefinitionError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_right = !name.is_empty()
            && name.len() <= LONGEST_NAME
            && name.chars().all(plain)
            && name.chars().all(|c| c.is_ascii_graphic())
            && !name.contains("__")
            && !name.starts_with(['_', '-'])
            && !name.ends_with('_');
        if is_right { Ok(()) } else { Err(DefinitionError::Name(name.into())) }
    }

    /// Reads `NAME=VALUE`, or `NAME` for a variable of placet's own environment.
    pub fn environment_entry(
        server: &str,
        entry: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<(String, String), DefinitionError> {
        let (name, value) = match entry.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (entry, None),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(DefinitionError::Environment { server: server.into(), entry: name.into() });
        }
        let missing =
            |unset: UnsetVariable| DefinitionError::Variable { server: server.into(), variable: unset.0 };
        let value = match value {
            Some(value) => expand_variables(value, &variable).map_err(missing)?,
            None => variable(name).ok_or_else(|| missing(UnsetVariable(name.into())))?,
        };
        Ok((name.into(), value))
    }

    /// The program, if it is one.
    pub fn program(&self) -> Option<&ServerProgram> {
        match &self.kind {
            ServerKind::Program(program) => Some(program),
            ServerKind::Http(_) => None,
        }
    }

    /// The command or the address as a person reads it. It shows no value of a variable and of a header.
    pub fn shown(&self) -> String {
        match &self.kind {
            ServerKind::Program(program) => program.command_line(),
            ServerKind::Http(server) => server.shown(),
        }
    }

    /// What the stored list of tools belongs to: another program of the same name has another list.
    pub fn identity(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut texts = vec![&self.name];
        match &self.kind {
            ServerKind::Program(program) => {
                texts.push(&program.command);
                texts.extend(&program.arguments);
                texts.extend(program.environment.iter().map(|(name, _)| name));
            }
            ServerKind::Http(server) => {
                texts.push(&server.url);
                texts.extend(server.headers.iter().map(|header| &header.name));
            }
        }
        for text in texts {
            hasher.update(&text.len().to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

impl ServerProgram {
    /// The line for `sh`.
    pub fn command_line(&self) -> String {
        let words = std::iter::once(&self.command).chain(&self.arguments);
        words.map(|word| placet_text::text::shell_word::quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

impl HttpServer {
    /// Checks an address. A name or a password in it would be shown.
    pub fn check_url(server: &str, url: &str) -> Result<(), DefinitionError> {
        let wrong = |problem| DefinitionError::Url { server: server.into(), problem };
        let parsed = Url::parse(url).map_err(|_| wrong("is not a URL"))?;
        match parsed.scheme() {
            "http" | "https" => {}
            _ => return Err(wrong("is neither http nor https")),
        }
        if !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(wrong("has a name or a password in it: use `headers`"));
        }
        if parsed.fragment().is_some() { Err(wrong("has a `#` in it")) } else { Ok(()) }
    }

    /// The host, with its port if that is not the usual one.
    pub fn host(&self) -> String {
        let parsed = Url::parse(&self.url).ok();
        parsed.as_ref().map(http::host_of).unwrap_or_default()
    }

    /// The address to which a login is bound.
    pub fn login_address(&self) -> String {
        Url::parse(&self.url).map_or_else(|_| self.url.clone(), |url| url.to_string())
    }

    /// True if the settings have a key, so that no login is used.
    pub fn has_key(&self) -> bool {
        self.headers.iter().any(|header| header.name.eq_ignore_ascii_case("authorization"))
    }

    /// The address without its query, where keys often are.
    fn shown(&self) -> String {
        let Ok(mut url) = Url::parse(&self.url) else { return self.url.clone() };
        let has_query = url.query().is_some();
        url.set_query(None);
        if has_query { format!("{url}?...") } else { url.to_string() }
    }
}

/// A variable of this name is not set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the environment variable {0} is not set")]
pub struct UnsetVariable(pub String);

/// Replaces `${NAME}` and `${NAME:-otherwise}`.
pub fn expand_variables(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<String, UnsetVariable> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inner, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        let (name, otherwise) = match inner.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise.to_string())),
            None => (inner, None),
        };
        out.push_str(&variable(name).or(otherwise).ok_or_else(|| UnsetVariable(name.into()))?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_where_a_tool_begins() {
        for right in ["git", "my-server", "a_b", "S3"] {
            assert_eq!(ServerDefinition::check_name(right), Ok(()), "{right}");
        }
        for wrong in ["", "a__b", "_a", "a_", "a b", "é", "a.b", "-x", &"x".repeat(33)] {
            assert!(ServerDefinition::check_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_is_one_of_the_web_and_has_no_key_in_it() {
        let check = |url: &str| HttpServer::check_url("s", url).map_err(|e| e.to_string());
        assert_eq!(check("https://mcp.example.org/mcp?x=1"), Ok(()));
        assert_eq!(check("http://127.0.0.1:8000/"), Ok(()));
        for wrong in ["ftp://x/", "x", "https://me:secret@x/", "https://x/#a", "file:///etc/passwd"] {
            let error = check(wrong).unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
        let server = HttpServer { url: "https://x:8/a?key=canary".into(), ..HttpServer::default() };
        assert_eq!((server.shown().as_str(), server.host().as_str()), ("https://x:8/a?...", "x:8"));
    }

    #[test]
    fn variables_are_replaced_or_named() {
        let set = |name: &str| (name == "HOME").then(|| "/home/me".to_string());
        assert_eq!(expand_variables("a ${HOME}/b ${X:-c}", set), Ok("a /home/me/b c".into()));
        assert_eq!(expand_variables("${KEY}", set), Err(UnsetVariable("KEY".into())));
        assert_eq!(expand_variables("$HOME ${open", set), Ok("$HOME ${open".into()));
    }
}
