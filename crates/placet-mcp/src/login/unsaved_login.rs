//! Logins that could not be stored, such as on a full disk. An authorization server gives a token of renewal once, so a
//! login that is not stored is used as long as this process runs, and is revoked at its end if it can still not be stored.

use super::error::LoginError;
use super::oauth_http::OAuthHttp;
use super::stored_login::{LoginStore, LoginTokens, StoredLogin, UnsavedLogin};
use super::token_request::revoke;
use placet_http::PageClient;
use std::sync::Arc;

impl LoginStore {
    /// Uses a login that could not be stored as long as this process runs. `before` has the tokens that it replaces.
    pub(super) fn keep(&self, server: &str, login: StoredLogin, before: Option<&LoginTokens>) {
        let renewal = |tokens: &LoginTokens| tokens.refresh.clone();
        let is_repeatable = login.tokens.as_ref().and_then(renewal) == before.and_then(renewal);
        let over = self.load_file(server, &login.url).ok().flatten();
        let name = LoginStore::name(server, &login.url);
        let server = server.to_string();
        self.unsaved
            .all()
            .insert(name, UnsavedLogin { server, login, over, is_repeatable, is_reported: false });
    }

    /// The login of this process, unless another process has stored one since then.
    pub(super) fn kept(&self, server: &str, url: &str) -> Option<StoredLogin> {
        let name = LoginStore::name(server, url);
        let unsaved = self.unsaved.get(&name)?;
        if self.load_file(server, url).ok().flatten() == unsaved.over {
            return Some(unsaved.login);
        }
        self.unsaved.remove(&name);
        None
    }

    /// Tries again to store what could not be stored. Returns a sentence for each change that the person should know.
    pub async fn retry(&self) -> Vec<String> {
        let all: Vec<(String, UnsavedLogin)> = self.unsaved.all().clone().into_iter().collect();
        let mut said = Vec::new();
        for (name, unsaved) in all {
            let server = &unsaved.server;
            if self.kept(server, unsaved.url()).is_none() {
                continue;
            }
            let stored = match self.lock(server, unsaved.url()).await {
                Ok(_lock) => self.store(server, &unsaved.login).await,
                Err(error) => Err(LoginError::Save(error)),
            };
            match stored {
                Ok(_) if unsaved.is_reported => said.push(format!("the login at {server} is stored now")),
                Err(error) if !unsaved.is_reported => {
                    said.push(format!("{error}: the new login at {server} is used until placet ends"));
                    if let Some(unsaved) = self.unsaved.all().get_mut(&name) {
                        unsaved.is_reported = true;
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
        said
    }

    /// The process ends: what can still not be stored is revoked, because nobody could use it any more, and nobody else
    /// should. Returns a sentence for each.
    pub async fn end(&self, pages: &Arc<PageClient>) -> Vec<String> {
        drop(self.retry().await);
        let all = std::mem::take(&mut *self.unsaved.all());
        let mut said = Vec::new();
        for UnsavedLogin { server, login, is_repeatable, .. } in all.into_values() {
            let Some(tokens) = login.tokens.filter(|_| !is_repeatable) else { continue };
            let http = OAuthHttp::new(Arc::clone(pages), tokens.is_private);
            let is_revoked = revoke(&http, &tokens).await;
            if let Err(error) = &is_revoked {
                tracing::warn!("the login at the server `{server}` was not revoked: {error}");
            }
            let what = match is_revoked {
                Ok(true) => "was revoked",
                Ok(false) | Err(_) => "is lost; its authorization server did not revoke it",
            };
            said.push(format!(
                "the login at {server} could not be stored and {what}: `placet mcp login {server}` makes another one"
            ));
        }
        said
    }
}
