//! The token that the requests to one server have: read from the store, renewed before it expires and when the server
//! refuses it.

use super::error::LoginError;
use super::oauth_http::OAuthHttp;
use super::stored_login::{LoginStore, LoginTokens, StoredLogin, WantedLogin, now};
use super::token_request::renew;
use placet_http::{HttpResponse, PageClient};
use reqwest::Url;
use rmcp::transport::WWWAuthenticateParams;
use std::sync::Arc;
use tokio::sync::Mutex as AsyncMutex;

/// A token that expires within this many seconds is renewed before it is used.
const SOON: u64 = 30;
/// The longest header `WWW-Authenticate` that is used, in bytes.
const LONGEST_CHALLENGE: usize = 4_000;

pub(crate) struct BearerSource {
    server: String,
    url: Url,
    store: LoginStore,
    pages: Arc<PageClient>,
    tokens: AsyncMutex<Option<LoginTokens>>,
}

/// What the answer to a request says about its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There was none, or it does not count.
    Login(WantedLogin),
    /// It lacks rights.
    Scope(WantedLogin),
}

impl Refusal {
    /// `None` if the answer does not ask for a login.
    pub(crate) fn of(response: &HttpResponse, url: &Url) -> Option<Refusal> {
        let challenge = challenge(response);
        let params = challenge.as_deref().map(|text| WWWAuthenticateParams::parse(text, url));
        match response.status() {
            401 => Some(Refusal::Login(WantedLogin { challenge, scope: None })),
            403 => {
                let params = params.filter(WWWAuthenticateParams::is_insufficient_scope)?;
                Some(Refusal::Scope(WantedLogin { challenge, scope: params.scope }))
            }
            _ => None,
        }
    }
}

/// The header that says how to log in; of several, the one for tokens.
pub(super) fn challenge(response: &HttpResponse) -> Option<String> {
    let is_bearer =
        |text: &str| text.trim_start().get(..6).is_some_and(|word| word.eq_ignore_ascii_case("bearer"));
    let all = response
        .headers()
        .filter(|(name, text)| *name == "www-authenticate" && text.len() <= LONGEST_CHALLENGE);
    let all: Vec<&str> = all.map(|(_, text)| text).collect();
    let found = all.iter().find(|text| is_bearer(text)).or(all.first());
    found.map(|text| (*text).to_string())
}

impl BearerSource {
    /// Reads nothing yet.
    pub(crate) fn new(server: &str, url: Url, (store, pages): (LoginStore, Arc<PageClient>)) -> BearerSource {
        BearerSource { server: server.into(), url, store, pages, tokens: AsyncMutex::default() }
    }

    async fn load(&self) -> Result<Option<StoredLogin>, LoginError> {
        self.store.with_tokens(&self.server, self.url.as_str()).await
    }

    /// The token for the next request; `None` without a login.
    pub(crate) async fn token(&self) -> Result<Option<String>, LoginError> {
        let mut tokens = self.tokens.lock().await;
        if tokens.is_none() {
            *tokens = self.load().await?.and_then(|stored| stored.tokens);
        }
        let Some(current) = tokens.as_ref() else { return Ok(None) };
        let access = current.access.clone();
        let expires_soon = current.expires_at.is_some_and(|at| at <= now() + SOON);
        if expires_soon && current.refresh.is_some() {
            return self.renewed(&mut tokens, &access).await;
        }
        Ok(Some(access))
    }

    /// Another token, after the server refused a request with `used`. `None` if there is none.
    pub(crate) async fn after_refusal(&self, used: &str) -> Result<Option<String>, LoginError> {
        let mut tokens = self.tokens.lock().await;
        self.renewed(&mut tokens, used).await
    }

    /// One process renews, and the others use its tokens.
    async fn renewed(
        &self,
        tokens: &mut Option<LoginTokens>,
        used: &str,
    ) -> Result<Option<String>, LoginError> {
        let url = self.url.as_str();
        let _lock = self.store.lock(&self.server, url).await.map_err(LoginError::Store)?;
        let stored = self.load().await?.unwrap_or_default();
        *tokens = stored.tokens.clone();
        let Some(current) = tokens.as_ref() else { return Ok(None) };
        if current.access != used {
            return Ok(Some(current.access.clone()));
        }
        let Some(refresh) = &current.refresh else { return Ok(None) };
        let http = OAuthHttp::new(Arc::clone(&self.pages), current.is_private);
        let after = match renew(&http, current, refresh).await? {
            Some(new) => StoredLogin { tokens: Some(new), ..stored },
            None => StoredLogin { tokens: None, wanted: Some(WantedLogin::default()), ..stored },
        };
        let before = std::mem::replace(tokens, after.tokens.clone());
        if let Err(error) = self.store.store(&self.server, &after).await {
            // The stored token of renewal was used up: what came in exchange must not be lost.
            tracing::warn!("the login at the server `{}`: {error}", self.server);
            self.store.keep(&self.server, after, before.as_ref());
        }
        Ok(tokens.as_ref().map(|tokens| tokens.access.clone()))
    }

    /// Remembers what the server wants, for lists and for the next login.
    pub(crate) fn note(&self, wanted: WantedLogin) {
        if let Err(error) = self.store.note_wanted(&self.server, self.url.as_str(), wanted) {
            tracing::warn!("that the server `{}` needs a login is not stored: {error}", self.server);
        }
    }
}
