//! Why a login did not succeed. Parts of it are the words of servers: hostile until they are rendered.

use placet_config::keyring::KeyringError;
use placet_http::{HttpError, PageRefusal};
use rmcp::transport::AuthError;
use std::io;
use std::time::Duration;
use thiserror::Error;

/// How much of a server's words an error has, in characters.
const WORDS: usize = 300;

#[derive(Debug, Error)]
pub enum LoginError {
    #[error("it does not ask for a login")]
    NotNeeded,
    #[error("it has a key in `headers`: remove the header `Authorization` to log in instead")]
    HasKey,
    #[error("its address is not an http or https URL")]
    Address,
    #[error("it does not say where to log in: it may want a key in `headers`")]
    NoServer,
    #[error("its authorization server does not say that it supports PKCE with S256")]
    NoPkce,
    #[error(
        "its authorization server does not register programs: set `oauth_client_id` to an id that it gave you"
    )]
    NoRegistration,
    #[error("its authorization server did not register placet: {0}")]
    Registration(String),
    #[error("the address `{0}` of its authorization server is not one of https")]
    Endpoint(String),
    #[error("its authorization server is `{now}`, and was `{before}` at the last login")]
    OtherIssuer { before: String, now: String },
    #[error("`{expected}` says that it is the authorization server `{received}`")]
    FalseIssuer { expected: String, received: String },
    #[error("{0}")]
    Metadata(String),
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(io::Error),
    #[error("no answer of the browser came within {} minutes", .0.as_secs() / 60)]
    TimedOut(Duration),
    #[error("the authorization server refused the login: {0}")]
    Denied(String),
    #[error("that is not the address to which the authorization server sent the browser")]
    Pasted,
    #[error("the authorization server did not give a token: {0}")]
    Token(String),
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    #[error(transparent)]
    Connection(#[from] HttpError),
    #[error("`{0}` is this machine or in a private network, and the server is not")]
    Private(String),
    #[error("cannot use the stored login: {0}")]
    Store(io::Error),
    #[error("cannot store the login: {0}")]
    Save(io::Error),
    #[error("{why}; {}", after_loss(*.is_revoked))]
    Lost { why: Box<LoginError>, is_revoked: bool },
    #[error("cannot use the stored login: {0}")]
    Keyring(#[from] KeyringError),
    #[error("its authorization server has an address of more than {0} bytes")]
    LongAddress(usize),
}

/// What became of a login that nobody can use.
fn after_loss(is_revoked: bool) -> &'static str {
    match is_revoked {
        true => "the new login was revoked",
        false => "the new login is lost, and its authorization server did not revoke it",
    }
}

/// The beginning of what a server wrote, on one line.
pub(super) fn cut(words: &str) -> String {
    words.lines().next().unwrap_or_default().chars().take(WORDS).collect()
}

impl From<PageRefusal> for LoginError {
    fn from(refusal: PageRefusal) -> LoginError {
        match refusal {
            PageRefusal::Private(host) => LoginError::Private(host),
            PageRefusal::Failed(error) => LoginError::Connection(error),
        }
    }
}

impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> LoginError {
        match error {
            AuthError::PkceUnsupported => LoginError::NoPkce,
            AuthError::NoAuthorizationSupport => LoginError::NoServer,
            AuthError::RegistrationFailed(words) => LoginError::Registration(cut(&words)),
            AuthError::TokenExchangeFailed(words) | AuthError::AuthorizationFailed(words) => {
                LoginError::Token(cut(words.strip_prefix("Other error: ").unwrap_or(&words)))
            }
            AuthError::AuthorizationServerMismatch { expected_issuer, received_issuer } => {
                LoginError::FalseIssuer { expected: cut(&expected_issuer), received: cut(&received_issuer) }
            }
            AuthError::DiscoveryRequestFailed { url, source } => {
                LoginError::Metadata(cut(&format!("cannot read `{url}`: {source}")))
            }
            AuthError::ProtectedResourceMetadataInvalid { url, reason } => {
                LoginError::Metadata(cut(&format!("`{url}` does not describe this server: {reason}")))
            }
            AuthError::AuthorizationServersUnavailable { authorization_servers, .. } => {
                let named = authorization_servers.join(", ");
                LoginError::Metadata(cut(&format!(
                    "no authorization server that it names answers as one: {named}"
                )))
            }
            other => LoginError::Metadata(cut(&other.to_string())),
        }
    }
}
