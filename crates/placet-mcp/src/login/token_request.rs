//! Requests with tokens in them, to the addresses that issued these: renewal and revocation.

use super::error::{LoginError, cut};
use super::oauth_http::{OAuthHttp, WholeAnswer};
use super::stored_login::{LoginStore, LoginTokens, now};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_http::{PageClient, WebRequest};
use reqwest::Url;
use serde::Deserialize;
use std::sync::Arc;

/// What a token endpoint answers. rmcp's value has the same names.
#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    pub(super) access_token: String,
    token_type: String,
    pub(super) refresh_token: Option<String>,
    pub(super) expires_in: Option<u64>,
    pub(super) scope: Option<String>,
}

/// The answer to a request that was refused.
#[derive(Deserialize)]
struct TokenRefusal {
    error: String,
    error_description: Option<String>,
}

impl TokenAnswer {
    /// placet supports only bearer tokens: anyone who has one may use it.
    pub(super) fn checked(self) -> Result<TokenAnswer, LoginError> {
        let is_plain = |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        if !self.token_type.eq_ignore_ascii_case("bearer") {
            return Err(LoginError::Token(format!("its type is `{}`, not `Bearer`", cut(&self.token_type))));
        }
        match is_plain(&self.access_token) {
            true => Ok(self),
            false => Err(LoginError::Token("it has characters that a header cannot have".into())),
        }
    }

    pub(super) fn expires_at(&self) -> Option<u64> {
        self.expires_in.map(|seconds| now().saturating_add(seconds))
    }
}

/// `name=value` pairs as a form has them.
fn form(pairs: &[(&str, &str)]) -> String {
    // The parser of addresses has the encoder of forms.
    let Ok(mut url) = Url::parse("http://form/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_string()
}

async fn post<'a>(
    http: &OAuthHttp,
    (endpoint, tokens): (&'a str, &'a LoginTokens),
    mut pairs: Vec<(&'a str, &'a str)>,
) -> Result<WholeAnswer, LoginError> {
    let url = super::endpoint::checked(endpoint, tokens.is_private)?;
    let mut headers = vec![
        ("content-type".to_string(), "application/x-www-form-urlencoded".to_string()),
        ("accept".to_string(), "application/json".to_string()),
    ];
    match &tokens.client_secret {
        Some(secret) if !tokens.has_secret_in_body => {
            // Both are encoded as in a form before they are joined: RFC 6749, section 2.3.1.
            let encoded = |text: &str| form(&[("", text)]).trim_start_matches('=').to_string();
            let both = format!("{}:{}", encoded(&tokens.client_id), encoded(secret));
            headers.push(("authorization".into(), format!("Basic {}", STANDARD.encode(both))));
        }
        Some(secret) => {
            pairs.extend([("client_id", tokens.client_id.as_str()), ("client_secret", secret.as_str())])
        }
        None => pairs.push(("client_id", tokens.client_id.as_str())),
    }
    let body = form(&pairs);
    http.send(WebRequest { method: "POST", url: &url, headers: &headers, body: body.as_bytes() }).await
}

/// Exchanges the token of renewal for new tokens, where the old ones came from. `None` if it does not count any more.
pub(super) async fn renew(
    http: &OAuthHttp,
    tokens: &LoginTokens,
    refresh: &str,
) -> Result<Option<LoginTokens>, LoginError> {
    let pairs = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh),
        ("resource", tokens.resource.as_str()),
    ];
    let WholeAnswer { response, body } = post(http, (&tokens.token_endpoint, tokens), pairs).await?;
    if response.status() != 200 {
        let refusal: Option<TokenRefusal> = serde_json::from_str(&body).ok();
        return match refusal {
            Some(refusal) if refusal.error == "invalid_grant" => Ok(None),
            Some(refusal) => Err(LoginError::Token(cut(&refusal.error_description.unwrap_or(refusal.error)))),
            None => Err(LoginError::Token(format!("HTTP {}", response.status()))),
        };
    }
    let answer: TokenAnswer =
        serde_json::from_str(&body).map_err(|_| LoginError::Token("its answer has none".into()))?;
    let answer = answer.checked()?;
    Ok(Some(LoginTokens {
        expires_at: answer.expires_at(),
        scopes: answer.scope.map_or_else(
            || tokens.scopes.clone(),
            |scope| scope.split_whitespace().map(String::from).collect(),
        ),
        access: answer.access_token,
        refresh: answer.refresh_token.or_else(|| tokens.refresh.clone()),
        ..tokens.clone()
    }))
}

/// Reports to the authorization server that nobody uses these tokens any more. True if it confirms that: RFC 7009.
pub(super) async fn revoke(http: &OAuthHttp, tokens: &LoginTokens) -> Result<bool, LoginError> {
    let Some(endpoint) = tokens.revocation_endpoint.as_deref() else { return Ok(false) };
    let (token, kind) = match &tokens.refresh {
        Some(refresh) => (refresh.as_str(), "refresh_token"),
        None => (tokens.access.as_str(), "access_token"),
    };
    let pairs = vec![("token", token), ("token_type_hint", kind)];
    Ok(post(http, (endpoint, tokens), pairs).await?.response.status() == 200)
}

/// Removes the stored login, and reports that to the authorization server if it wants to know. False if there was none.
pub async fn log_out(
    (store, pages): (&LoginStore, Arc<PageClient>),
    (server, url): (&str, &str),
) -> Result<bool, LoginError> {
    let stored = store.with_tokens(server, url).await;
    store.remove(server, url).await?;
    let was_unusable = stored.is_err();
    let Some(tokens) = stored.ok().flatten().and_then(|stored| stored.tokens) else {
        return Ok(was_unusable);
    };
    // What is not revoked expires; the tokens are gone from here in any case.
    if let Err(error) = revoke(&OAuthHttp::new(pages, tokens.is_private), &tokens).await {
        tracing::warn!("the login at the server `{server}` was not revoked: {error}");
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_hides_nothing_in_a_value() {
        assert_eq!(form(&[("a", "x&b=y z"), ("c", "ä+")]), "a=x%26b%3Dy+z&c=%C3%A4%2B");
    }

    #[test]
    fn a_token_of_another_type_or_with_line_ends_is_none() {
        let answer = |kind: &str, token: &str| {
            let json = serde_json::json!({ "access_token": token, "token_type": kind });
            serde_json::from_value::<TokenAnswer>(json).unwrap().checked()
        };
        assert!(answer("bearer", "abc").is_ok());
        for (kind, token) in [("mac", "abc"), ("Bearer", "a\r\nX-Evil: 1"), ("Bearer", "")] {
            let Err(error) = answer(kind, token) else { panic!("{kind} {token}") };
            assert!(!error.to_string().contains("Evil"), "{error}");
        }
    }
}
