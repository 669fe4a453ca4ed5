//! Keys: a word that never shows itself, and where it comes from. A command for one runs at the first request and
//! not at the start, because it may ask for a passphrase.

use super::{ProviderError, keyring};
use std::fmt;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};

/// A secret word. Neither `Debug` nor `Display` shows it.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Space around it, such as a file's last line break, does not belong to it.
    pub fn new(secret: &str) -> Key {
        Key(secret.trim().to_string())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `text` with the key blacked out, for whatever a server says about it.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < 4 { text.to_string() } else { text.replace(&self.0, "[key]") }
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([hidden])")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}

/// Where a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The server wants none.
    None,
    Value(Key),
    /// A line for `sh -c` whose first line of output is the key.
    Command {
        line: String,
        deadline: Duration,
    },
    /// The entry of the system's keyring with this user name.
    Keyring(String),
    /// There is none, and the server wants one; `variable` is what the person may set.
    Missing {
        variable: String,
    },
}

impl KeySource {
    /// A command with the usual deadline of ten seconds.
    pub fn command(line: impl Into<String>) -> KeySource {
        KeySource::Command { line: line.into(), deadline: Duration::from_secs(10) }
    }

    /// The key. Dropping the future kills the command.
    pub(super) async fn key(&self, provider: &str) -> Result<Option<Key>, ProviderError> {
        let key = match self {
            KeySource::None => return Ok(None),
            KeySource::Missing { variable } => {
                return Err(ProviderError::NoKey { provider: provider.into(), variable: variable.clone() });
            }
            KeySource::Value(key) => key.clone(),
            KeySource::Keyring(entry) => {
                keyring::read(entry).await.map_err(|message| ProviderError::KeyUnusable { message })?
            }
            KeySource::Command { line, deadline } => {
                run(line, *deadline).await.map_err(|message| ProviderError::KeyUnusable { message })?
            }
        };
        let unusable = |message: &str| ProviderError::KeyUnusable { message: message.into() };
        if key.is_empty() {
            return Err(unusable("it is empty"));
        }
        if !key.expose().bytes().all(|b| b.is_ascii_graphic()) {
            return Err(unusable("it holds a space, a control character or a letter beyond ASCII"));
        }
        Ok(Some(key))
    }
}

async fn run(line: &str, deadline: Duration) -> Result<Key, String> {
    let child = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|e| format!("the key command could not be started: {e}"))?;
    let _group = Group::of(&child);
    let output = match tokio::time::timeout(deadline, child.wait_with_output()).await {
        Err(_) => return Err(format!("the key command took longer than {deadline:?}")),
        Ok(Err(e)) => return Err(format!("the key command failed: {e}")),
        Ok(Ok(output)) => output,
    };
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let last = words.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
        let last: String = last.chars().take(200).collect();
        return Err(format!("the key command failed ({}): {last}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(Key::new(text.lines().next().unwrap_or_default()))
}

/// Kills what the command started, too, when the wait for it ends early.
struct Group(Option<rustix::process::Pid>);

impl Group {
    fn of(child: &Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(rustix::process::Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // Fails when all of them are gone already, which is what is wanted.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_never_shows_itself() {
        let key = Key::new("sk-secret-1\n");
        assert_eq!(format!("{key} {key:?}"), "[hidden] Key([hidden])");
        assert_eq!(format!("{:?}", KeySource::Value(key.clone())), "Value(Key([hidden]))");
        assert_eq!(key.redact("bad key sk-secret-1!"), "bad key [key]!");
    }

    #[tokio::test]
    async fn a_command_gives_its_first_line_or_a_reason() {
        let key = |line: &str, ms| {
            let source = KeySource::Command { line: line.into(), deadline: Duration::from_millis(ms) };
            async move { source.key("p").await.map_err(|e| e.to_string()) }
        };
        assert_eq!(key("echo abc; echo def", 10_000).await, Ok(Some(Key::new("abc"))));
        assert_eq!(key("true", 10_000).await, Err("no usable key: it is empty".into()));
        let failed = key("echo locked >&2; exit 3", 10_000).await.unwrap_err();
        assert_eq!(failed, "no usable key: the key command failed (exit status: 3): locked");
        let slow = key("sleep 30 & sleep 30", 50).await.unwrap_err();
        assert_eq!(slow, "no usable key: the key command took longer than 50ms");
        assert!(key("echo 'a b'", 10_000).await.is_err());
    }
}
