//! One login: what the server asks for, the page that the person opens, and the exchange of the answer for tokens.

use super::bearer::challenge;
use super::browser_answer::{AnswerListener, BrowserAnswer};
use super::endpoint;
use super::error::LoginError;
use super::oauth_http::OAuthHttp;
use super::stored_login::{LoginPlace, LoginStore, LoginTokens, StoredLogin};
use super::token_request::{TokenAnswer, revoke};
use crate::definition::HttpServer;
use placet_http::{HttpResponse, PageClient, PageRefusal, WebRequest};
use reqwest::Url;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{AuthorizationMetadata, AuthorizationMetadataSource, OAuthClientConfig};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How long the server may take to say how to log in.
const PROBE: Duration = Duration::from_secs(20);
/// How much of its answer is read, in bytes.
const PROBE_BODY: usize = 64 << 10;
/// What placet is called where it is registered.
const CLIENT: &str = "placet";

/// What the person said about a login.
#[derive(Clone, Debug, Default)]
pub struct LoginOptions {
    /// Rights to ask for, in addition to those that the server names.
    pub scopes: Vec<String>,
    /// The port of the address to which the browser returns, for programs that are registered with a fixed one.
    pub port: Option<u16>,
    /// The process runs on, and can use a login that cannot be stored. Otherwise such a login is revoked.
    pub can_keep: bool,
}

/// A login that waits for the browser.
pub struct PendingLogin {
    server: String,
    stored: StoredLogin,
    store: LoginStore,
    http: OAuthHttp,
    manager: AuthorizationManager,
    listener: AnswerListener,
    page: Url,
    tokens: LoginTokens,
    can_keep: bool,
}

/// A login that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginDone {
    /// Hostile text.
    pub scopes: Vec<String>,
    pub can_be_renewed: bool,
    /// In seconds.
    pub expires_in: Option<u64>,
    pub(super) place: LoginPlace,
    /// Why it is not stored.
    pub(super) unsaved: Option<String>,
}

/// What the server says before a login.
struct Probe {
    is_private: bool,
    status: u16,
    challenge: Option<String>,
}

impl PendingLogin {
    /// Finds out where to log in, and registers placet there. Nothing secret is sent.
    pub async fn begin(
        (name, server): (&str, &HttpServer),
        (store, pages): (LoginStore, Arc<PageClient>),
        options: &LoginOptions,
    ) -> Result<PendingLogin, LoginError> {
        if server.has_key() {
            return Err(LoginError::HasKey);
        }
        let url = Url::parse(&server.url).map_err(|_| LoginError::Address)?;
        let before = store.load(name, url.as_str()).map_err(LoginError::Store)?.unwrap_or_default();
        let probe = probe(&pages, &url, server).await?;
        let wanted = before.wanted.clone().unwrap_or_default();
        if (200..300).contains(&probe.status) && before.wanted.is_none() && options.scopes.is_empty() {
            return Err(LoginError::NotNeeded);
        }
        let is_private = probe.is_private;
        let http = OAuthHttp::new(pages, is_private);
        let manager = AuthorizationManager::new_with_oauth_http_client(url.clone(), Arc::new(http.clone()));
        let mut manager = manager.await?;
        let said = wanted.challenge.filter(|_| wanted.scope.is_some()).or(probe.challenge);
        let found = manager.resolve_metadata_from_challenge(said.as_deref()).await?;
        let is_guess = found.source == AuthorizationMetadataSource::LegacyEndpointFallback;
        let metadata = found.metadata;
        let issuer = check_metadata(&metadata, is_guess, is_private)?;
        if let Some(earlier) = before.issuer.clone().filter(|earlier| *earlier != issuer) {
            return Err(LoginError::OtherIssuer { before: earlier, now: issuer });
        }
        manager.set_metadata(metadata.clone());
        let scopes = scopes(&manager, &before, wanted.scope.as_deref(), options).await;
        let listener = AnswerListener::bind(options.port).await?;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let config =
            client(&mut manager, &metadata, server, (&listener.address(), &scopes), is_guess).await?;
        let page = endpoint::checked(&manager.get_authorization_url(&scopes).await?, is_private)?;
        let resource = query_of(&page, "resource").unwrap_or_else(|| url.to_string());
        let tokens = LoginTokens::requested(
            (issuer.clone(), resource),
            (metadata.token_endpoint.clone(), text_of(&metadata, "revocation_endpoint")),
            (config.client_id, config.client_secret, has_secret_in_body(&metadata)),
            is_private,
        );
        let stored = StoredLogin { url: url.into(), issuer: Some(issuer), ..before };
        let (server, can_keep) = (name.into(), options.can_keep);
        Ok(PendingLogin { server, stored, store, http, manager, listener, page, tokens, can_keep })
    }

    /// The page that the person opens.
    pub fn page(&self) -> &Url {
        &self.page
    }

    /// Who is asked for the login.
    pub fn issuer(&self) -> &str {
        &self.tokens.issuer
    }

    /// True if the page is at another host than the server.
    pub fn is_elsewhere(&self) -> bool {
        let server = Url::parse(&self.stored.url).ok();
        server.as_ref().and_then(Url::host_str) != self.page.host_str()
    }

    /// Where the browser returns.
    pub fn return_address(&self) -> String {
        self.listener.address()
    }

    /// Waits for the browser, or for a line with the address to which it was sent, and stores the tokens.
    pub async fn finish(self, pasted: &mut mpsc::Receiver<String>) -> Result<LoginDone, LoginError> {
        let PendingLogin { server, stored, store, http, manager, listener, page, tokens, can_keep } = self;
        let state = query_of(&page, "state").unwrap_or_default();
        let BrowserAnswer { code, issuer } = listener.answer(&state, pasted).await?;
        http.take_failure();
        let exchanged = manager.exchange_code_for_token_with_issuer(&code, &state, issuer.as_deref()).await;
        let exchanged = exchanged.map_err(|error| match http.take_failure() {
            Some(failure) => LoginError::Token(failure.to_string()),
            None => error.into(),
        })?;
        let answer = serde_json::to_value(&exchanged).and_then(serde_json::from_value::<TokenAnswer>);
        let answer = answer.map_err(|_| LoginError::Token("its answer has none".into()))?.checked()?;
        let done = LoginDone {
            scopes: manager.get_current_scopes().await,
            can_be_renewed: answer.refresh_token.is_some(),
            expires_in: answer.expires_in,
            place: LoginPlace::File,
            unsaved: None,
        };
        let tokens = LoginTokens {
            expires_at: answer.expires_at(),
            scopes: done.scopes.clone(),
            access: answer.access_token,
            refresh: answer.refresh_token,
            ..tokens
        };
        let login = StoredLogin { wanted: None, tokens: Some(tokens.clone()), ..stored };
        let stored = match store.lock(&server, &login.url).await {
            Ok(_lock) => store.store(&server, &login).await,
            Err(error) => Err(LoginError::Save(error)),
        };
        match stored {
            Ok(place) => Ok(LoginDone { place, ..done }),
            Err(why) if can_keep => {
                store.keep(&server, login, None);
                Ok(LoginDone { place: LoginPlace::Process, unsaved: Some(why.to_string()), ..done })
            }
            Err(why) => {
                let is_revoked = revoke(&http, &tokens).await.unwrap_or(false);
                Err(LoginError::Lost { why: Box::new(why), is_revoked })
            }
        }
    }
}

/// Greets the server without a token. A server whose name has only private addresses may have its authorization server
/// there, too; no other may.
async fn probe(pages: &PageClient, url: &Url, server: &HttpServer) -> Result<Probe, LoginError> {
    let greeting = serde_json::json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": CLIENT, "version": env!("CARGO_PKG_VERSION") },
        },
    });
    let body = greeting.to_string();
    let mut headers = vec![
        ("content-type".to_string(), "application/json".to_string()),
        ("accept".to_string(), "application/json, text/event-stream".to_string()),
    ];
    headers.extend(server.headers.iter().map(|header| (header.name.clone(), header.value.clone())));
    let request = WebRequest { method: "POST", url, headers: &headers, body: body.as_bytes() };
    let asking = async {
        match pages.send(request, false).await {
            Err(PageRefusal::Private(_)) => Ok((pages.send(request, true).await?, true)),
            answer => Ok::<_, PageRefusal>((answer?, false)),
        }
    };
    let asked = tokio::time::timeout(PROBE, asking).await;
    let (mut response, is_private): (HttpResponse, bool) = asked.map_err(|_| LoginError::Silent(PROBE))??;
    let (status, challenge) = (response.status(), challenge(&response));
    if (200..300).contains(&status) {
        // A connection whose body was read can be used again. A stream may never end.
        drop(tokio::time::timeout(Duration::from_millis(200), response.text(PROBE_BODY)).await);
    }
    Ok(Probe { is_private, status, challenge })
}

/// Every address of the metadata must be one that may be used. Returns who the authorization server is.
fn check_metadata(
    metadata: &AuthorizationMetadata,
    is_guess: bool,
    is_private: bool,
) -> Result<String, LoginError> {
    let page = endpoint::checked(&metadata.authorization_endpoint, is_private)?;
    endpoint::checked(&metadata.token_endpoint, is_private)?;
    let more = [metadata.registration_endpoint.clone(), text_of(metadata, "revocation_endpoint")];
    for named in more.into_iter().flatten() {
        endpoint::checked(&named, is_private)?;
    }
    let methods = metadata.code_challenge_methods_supported.as_deref();
    // Servers of the first revision publish nothing.
    let has_pkce = is_guess || methods.is_some_and(|methods| methods.iter().any(|method| method == "S256"));
    if !has_pkce {
        return Err(LoginError::NoPkce);
    }
    Ok(metadata.issuer.clone().unwrap_or_else(|| page.origin().ascii_serialization()))
}

/// What to ask for: the rights that the login lacked together with those it had, or those that the server names.
async fn scopes(
    manager: &AuthorizationManager,
    before: &StoredLogin,
    lacked: Option<&str>,
    options: &LoginOptions,
) -> Vec<String> {
    let mut all = match lacked {
        None => manager.select_initial_scopes(&[]).await,
        Some(lacked) => {
            let had = before.tokens.as_ref().map(|tokens| tokens.scopes.clone()).unwrap_or_default();
            had.into_iter().chain(lacked.split_whitespace().map(String::from)).collect()
        }
    };
    all.extend(options.scopes.iter().cloned());
    let mut seen = std::collections::HashSet::new();
    all.retain(|scope| seen.insert(scope.clone()));
    all
}

/// The id of placet at the authorization server: from the settings, or from a registration.
async fn client(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    server: &HttpServer,
    (address, scopes): (&str, &[&str]),
    is_guess: bool,
) -> Result<OAuthClientConfig, LoginError> {
    let takes_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
    let takes_documents = takes_documents.and_then(serde_json::Value::as_bool).unwrap_or(false);
    let own = server.client_id.as_ref().filter(|id| takes_documents || !id.starts_with("https://"));
    let Some(id) = own else {
        if metadata.registration_endpoint.is_none() {
            return Err(LoginError::NoRegistration);
        }
        return manager.register_client(CLIENT, address, scopes).await.map_err(|error| match is_guess {
            true => LoginError::NoServer,
            false => error.into(),
        });
    };
    let mut config = OAuthClientConfig::new(id, address);
    if let Some(secret) = &server.client_secret {
        config = config.with_client_secret(&secret.0);
    }
    manager.configure_client(config.clone())?;
    Ok(config)
}

/// rmcp sends a secret in the body exactly then.
fn has_secret_in_body(metadata: &AuthorizationMetadata) -> bool {
    let methods = metadata.additional_fields.get("token_endpoint_auth_methods_supported");
    let has = |wanted: &str| {
        let all = methods.and_then(serde_json::Value::as_array);
        all.is_some_and(|all| all.iter().any(|method| method.as_str() == Some(wanted)))
    };
    has("client_secret_post") && !has("client_secret_basic")
}

fn text_of(metadata: &AuthorizationMetadata, field: &str) -> Option<String> {
    metadata.additional_fields.get(field)?.as_str().map(String::from)
}

fn query_of(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
