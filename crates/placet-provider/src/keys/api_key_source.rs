//! Keys: a word that never shows itself, and where it comes from. A command for one runs at the first request and
//! not at the start, because it may ask for a passphrase.

use super::api_key::ApiKey;
use crate::ProviderError;
use placet_config::keyring::Keyring;
use placet_process::command_output;
use std::time::Duration;

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
    pub(crate) async fn key(&self, provider: &str) -> Result<Option<ApiKey>, ProviderError> {
        let unusable = |message: &str| ProviderError::KeyUnusable { message: message.into() };
        let key = match self {
            ApiKeySource::None => return Ok(None),
            ApiKeySource::Missing { variable } => {
                return Err(ProviderError::NoKey { provider: provider.into(), variable: variable.clone() });
            }
            ApiKeySource::Value(key) => key.clone(),
            ApiKeySource::Keyring(entry) => {
                let read = Keyring::default().read(entry).await;
                ApiKey::new(&read.map_err(|e| unusable(&e.to_string()))?)
            }
            ApiKeySource::Command { line, deadline } => {
                let output = command_output(line, *deadline).await;
                let output = output.map_err(|e| unusable(&format!("the key command {e}")))?;
                ApiKey::new(output.lines().next().unwrap_or_default())
            }
        };
        match key.problem() {
            Some(problem) => Err(unusable(problem)),
            None => Ok(Some(key)),
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
