//! The one request that checks a key: for the list of models. It costs nothing, and the list is needed next.

use crate::provider::{HttpProvider, Provider, ProviderError, ServerFacts};
use std::time::Duration;

/// How long the server may take.
const LIMIT: Duration = Duration::from_secs(30);

/// The most models about which a server is asked.
const FEW: usize = 4;

/// A model, and what its server says of it: `window 8192 (/props)`; empty where it says nothing.
#[derive(Debug)]
pub(super) struct ListedModel {
    pub(super) id: String,
    pub(super) said: String,
}

#[derive(Debug)]
pub(super) enum CheckOutcome {
    Models(Vec<ListedModel>),
    /// The server answers and has no list, so that nothing is known of the key either.
    NoList(String),
    Failed(ProviderError),
}

/// Where anybody can read the list, `key_path` is what shows whether the key is right.
pub(super) async fn check(server: HttpProvider, key_path: Option<String>) -> CheckOutcome {
    if let Some(path) = key_path
        && let Err(error) = server.check_key(&path, LIMIT).await
    {
        return CheckOutcome::Failed(error);
    }
    match server.models(LIMIT).await {
        Ok(models) if models.is_empty() => CheckOutcome::NoList("the server lists no models".into()),
        Ok(models) => {
            // A server of one's own has few, and knows what they can.
            let is_short = models.len() <= FEW;
            let mut listed = Vec::new();
            for id in models {
                let said = if is_short {
                    server.facts(&id).await.unwrap_or_default()
                } else {
                    ServerFacts::default()
                };
                listed.push(ListedModel { id, said: said.words() });
            }
            CheckOutcome::Models(listed)
        }
        // Not found, not allowed, not implemented: servers that answer requests without telling their models.
        Err(ProviderError::BadRequest { status: status @ (404 | 405 | 501), .. }) => {
            CheckOutcome::NoList(format!("the server has no list of models (HTTP {status})"))
        }
        Err(ProviderError::Protocol(_)) => {
            CheckOutcome::NoList("the server has no list of models in a known form".into())
        }
        Err(error) => CheckOutcome::Failed(error),
    }
}

/// The error in plain words, and what to do.
pub(super) fn explained(error: &ProviderError) -> (String, &'static str) {
    let hint = match error {
        ProviderError::Auth { .. } => {
            "check that all of the key was copied, and that it belongs to this provider"
        }
        ProviderError::Network { .. } => {
            "check the address and your network; a proxy is read from HTTPS_PROXY"
        }
        ProviderError::NotRunning { .. } => "start the server on this machine, and check the address",
        ProviderError::Timeout(_) => "the server may be busy, or something on the way holds the connection",
        ProviderError::RateLimited { .. } | ProviderError::Overloaded { .. } => {
            "the server is busy or the account has no credit; the key may be right"
        }
        ProviderError::ServerFailure { .. } => "the key may be right; try again in a minute",
        ProviderError::PlainHttp { .. } => {
            "use https, or add the host to `network.plain_http_hosts` if you trust the network"
        }
        ProviderError::KeyUnusable { .. } => "run the command yourself to see what it prints",
        _ => "`placet doctor` shows proxies and certificates",
    };
    let words = match error {
        ProviderError::Timeout(limit) => format!("no answer within {} s", limit.as_secs()),
        other => other.to_string(),
    };
    (words, hint)
}
