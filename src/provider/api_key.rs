//! Keys: a word that never shows itself, and where it comes from. A command for one runs at the first request and
//! not at the start, because it may ask for a passphrase.

pub use super::key_value::ApiKey;
use super::{ProviderError, keyring};
use crate::process::ChildPid;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

/// Where a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiKeySource {
    /// The server wants none.
    None,
    Value(ApiKey),
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

impl ApiKeySource {
    /// A command with the usual deadline of ten seconds.
    pub fn command(line: impl Into<String>) -> ApiKeySource {
        ApiKeySource::Command { line: line.into(), deadline: Duration::from_secs(10) }
    }

    /// The present key of the source, for a person who configures the source.
    pub async fn read(&self) -> Result<Option<ApiKey>, ProviderError> {
        self.key("").await
    }

    /// The key. Dropping the future kills the command.
    pub(super) async fn key(&self, provider: &str) -> Result<Option<ApiKey>, ProviderError> {
        let unusable = |message: &str| ProviderError::KeyUnusable { message: message.into() };
        let key = match self {
            ApiKeySource::None => return Ok(None),
            ApiKeySource::Missing { variable } => {
                return Err(ProviderError::NoKey { provider: provider.into(), variable: variable.clone() });
            }
            ApiKeySource::Value(key) => key.clone(),
            ApiKeySource::Keyring(entry) => {
                keyring::read(entry).await.map_err(|e| unusable(&e.to_string()))?
            }
            ApiKeySource::Command { line, deadline } => {
                run(line, *deadline).await.map_err(|e| unusable(&e.to_string()))?
            }
        };
        match key.problem() {
            Some(problem) => Err(unusable(problem)),
            None => Ok(Some(key)),
        }
    }
}

/// Why the command gave no key.
#[derive(Debug, Error)]
enum KeyCommandError {
    #[error("the key command could not be started: {0}")]
    Start(std::io::Error),
    #[error("the key command took longer than {} seconds", .0.as_secs_f64())]
    TimedOut(Duration),
    #[error("the key command failed: {0}")]
    Io(std::io::Error),
    /// With the last line of what the command wrote to its standard error.
    #[error("the key command failed ({status}): {last}")]
    Failed { status: ExitStatus, last: String },
}

async fn run(line: &str, deadline: Duration) -> Result<ApiKey, KeyCommandError> {
    let child = Command::new("sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(KeyCommandError::Start)?;
    let mut group = ChildGroup(child);
    let (status, stdout, stderr) = match tokio::time::timeout(deadline, group.output()).await {
        Err(_) => return Err(KeyCommandError::TimedOut(deadline)),
        Ok(Err(e)) => return Err(KeyCommandError::Io(e)),
        Ok(Ok(output)) => output,
    };
    if !status.success() {
        let words = String::from_utf8_lossy(&stderr);
        let last = words.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default();
        let last = last.chars().take(200).collect();
        return Err(KeyCommandError::Failed { status, last });
    }
    let text = String::from_utf8_lossy(&stdout);
    Ok(ApiKey::new(text.lines().next().unwrap_or_default()))
}

/// A child that leads a group of its own. When the wait for it ends early, all of the group is killed; never after the
/// child was reaped, because its number may be another's then.
struct ChildGroup(Child);

/// The most that is read of either output, in bytes.
const OUTPUT: u64 = 1 << 20;

impl ChildGroup {
    /// Reads both outputs to their ends, up to [`OUTPUT`], and waits for the child.
    async fn output(&mut self) -> std::io::Result<(ExitStatus, Vec<u8>, Vec<u8>)> {
        let (out, err) = (self.0.stdout.take(), self.0.stderr.take());
        // Both at once: the child would wait forever if it filled the pipe that is not being read.
        let (out, err) = tokio::try_join!(read_all(out), read_all(err))?;
        Ok((self.0.wait().await?, out, err))
    }
}

async fn read_all(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        from.take(OUTPUT).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        // No id means that it was reaped.
        if let Some(Ok(leader)) = self.0.id().map(ChildPid::checked) {
            // Fails when all of them are gone already, which is what is wanted.
            let _ = leader.signal_group(rustix::process::Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_never_shows_itself() {
        let key = ApiKey::new("sk-secret-1\n");
        assert_eq!(format!("{key} {key:?}"), "[hidden] Key([hidden])");
        assert_eq!(format!("{:?}", ApiKeySource::Value(key.clone())), "Value(Key([hidden]))");
        assert_eq!(key.redact("bad key sk-secret-1!"), "bad key [key]!");
        assert_eq!(
            key.redact("sk-secret-1sk-secret-1 sk-secret-... sk-other"),
            "[key][key] [key]... sk-other"
        );
        assert_eq!(ApiKey::new("abcd").redact("xabcd\u{e9}abc"), "x[key]\u{e9}abc");
    }

    #[tokio::test]
    async fn a_command_gives_its_first_line_or_a_reason() {
        let key = |line: &str, ms| {
            let source = ApiKeySource::Command { line: line.into(), deadline: Duration::from_millis(ms) };
            async move { source.key("p").await.map_err(|e| e.to_string()) }
        };
        assert_eq!(key("echo abc; echo def", 10_000).await, Ok(Some(ApiKey::new("abc"))));
        assert_eq!(key("true", 10_000).await, Err("no usable key: it is empty".into()));
        let failed = key("echo locked >&2; exit 3", 10_000).await.unwrap_err();
        assert_eq!(failed, "no usable key: the key command failed (exit status: 3): locked");
        let slow = key("sleep 30 & sleep 30", 50).await.unwrap_err();
        assert_eq!(slow, "no usable key: the key command took longer than 0.05 seconds");
        assert!(key("echo 'a b'", 10_000).await.is_err());
    }
}
