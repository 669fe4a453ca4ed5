//! Password stores of the system, as programs: placet gives them the key on their standard input, and reads it with
//! `api_key_command` from then on. The key is in no argument, where other processes could see it.

use crate::provider::{ApiKey, ApiKeySource};
use crate::text::shell_word::quoted;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use thiserror::Error;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// How long a store may take: it may ask for its password in a window of its own.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyTool {
    SecretTool,
    Pass,
    Security,
}

#[derive(Debug, Error)]
pub(super) enum KeyToolError {
    #[error("`{0}` cannot be started: {1}")]
    Start(&'static str, std::io::Error),
    #[error("`{0}` took longer than {limit} s", limit = LIMIT.as_secs())]
    TimedOut(&'static str),
    /// With the last line of what it wrote to its standard error.
    #[error("`{program}` failed: {last}")]
    Failed { program: &'static str, last: String },
    #[error("the key was stored, but `{0}` does not print it")]
    NotReadBack(String),
}

impl KeyTool {
    /// Those that work here.
    pub(super) fn found() -> Vec<KeyTool> {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let has_bus = variable("DBUS_SESSION_BUS_ADDRESS").is_some()
            || variable("XDG_RUNTIME_DIR").is_some_and(|dir| dir.join("bus").exists());
        let home = crate::config::home_dir().unwrap_or_default();
        let pass = variable("PASSWORD_STORE_DIR").unwrap_or_else(|| home.join(".password-store"));
        [
            (KeyTool::SecretTool, has_bus),
            (KeyTool::Pass, pass.join(".gpg-id").exists()),
            (KeyTool::Security, cfg!(target_os = "macos")),
        ]
        .into_iter()
        .filter(|(tool, usable)| *usable && is_program(tool.program()))
        .map(|(tool, _)| tool)
        .collect()
    }

    pub(super) fn program(self) -> &'static str {
        match self {
            KeyTool::SecretTool => "secret-tool",
            KeyTool::Pass => "pass",
            KeyTool::Security => "security",
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            KeyTool::SecretTool => "the system's keyring",
            KeyTool::Pass => "the password store",
            KeyTool::Security => "the keychain",
        }
    }

    /// The command that prints the key.
    pub(super) fn read_command(self, provider: &str) -> String {
        let name = quoted(provider);
        match self {
            KeyTool::SecretTool => format!("secret-tool lookup service placet username {name}"),
            KeyTool::Pass => format!("pass show {}", quoted(&format!("placet/{provider}"))),
            KeyTool::Security => format!("security find-generic-password -s placet -a {name} -w"),
        }
    }

    /// Stores the key and reads it back. Dropping the future ends the program.
    pub(super) async fn store(self, provider: &str, key: &ApiKey) -> Result<(), KeyToolError> {
        let program = self.program();
        let secret = key.expose();
        let (arguments, input) = match self {
            KeyTool::SecretTool => (
                vec![
                    "store".into(),
                    format!("--label=placet: {provider}"),
                    "service".into(),
                    "placet".into(),
                    "username".into(),
                    provider.to_string(),
                ],
                secret.to_string(),
            ),
            KeyTool::Pass => (
                vec!["insert".into(), "--multiline".into(), "--force".into(), format!("placet/{provider}")],
                format!("{secret}\n"),
            ),
            // `security` reads commands from standard input, so the key is not an argument of a process.
            KeyTool::Security => {
                let in_quotes = |word: &str| word.replace('\\', "\\\\").replace('"', "\\\"");
                let line = format!(
                    "add-generic-password -U -s placet -a \"{}\" -w \"{}\"\n",
                    in_quotes(provider),
                    in_quotes(secret)
                );
                (vec!["-i".into()], line)
            }
        };
        run(program, &arguments, input, key).await?;
        let line = self.read_command(provider);
        let read = ApiKeySource::Command { line: line.clone(), deadline: LIMIT }.read().await;
        match read {
            Ok(Some(found)) if found == *key => Ok(()),
            _ => Err(KeyToolError::NotReadBack(line)),
        }
    }
}

async fn run(
    program: &'static str,
    arguments: &[String],
    input: String,
    key: &ApiKey,
) -> Result<(), KeyToolError> {
    let start = |e| KeyToolError::Start(program, e);
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(start)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read it says why itself.
        drop(stdin.write_all(input.as_bytes()).await);
    }
    let output = tokio::time::timeout(LIMIT, child.wait_with_output()).await;
    let output = output.map_err(|_| KeyToolError::TimedOut(program))?.map_err(start)?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last: String = last.chars().take(200).collect();
    let last = if last.is_empty() { output.status.to_string() } else { key.redact(&last) };
    Err(KeyToolError::Failed { program, last })
}

pub(in crate::cli) fn is_program(name: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_executable = |path: &Path| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(&paths).any(|dir| is_executable(&dir.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_provider_and_quotes_it() {
        assert_eq!(
            KeyTool::SecretTool.read_command("anthropic"),
            "secret-tool lookup service placet username anthropic"
        );
        assert_eq!(KeyTool::Pass.read_command("my own"), "pass show 'placet/my own'");
    }

    #[tokio::test]
    async fn what_a_store_says_of_the_key_is_hidden() {
        let key = ApiKey::new("sk-canary-123");
        let arguments = ["-c".to_string(), "read line; echo \"bad $line\" >&2; exit 1".to_string()];
        let error = run("sh", &arguments, "sk-canary-123\n".into(), &key).await.unwrap_err();
        assert_eq!(error.to_string(), "`sh` failed: bad [key]");
    }
}
