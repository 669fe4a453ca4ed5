//! Why a server over HTTP did not take a message, or did not answer it.

use crate::login::LoginError;
use placet_http::HttpError;
use std::time::Duration;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HttpFailure {
    #[error("{0}")]
    Connection(#[from] HttpError),
    /// With the server's own words: hostile until they are rendered.
    #[error("it answered with HTTP {status}{words}")]
    Status { status: u16, words: String },
    #[error("it answered with HTTP {status}: it wants a key in `headers`, or another one")]
    KeyRefused { status: u16 },
    #[error("it answered with HTTP {status}: it needs a login, or a key in `headers`")]
    LoginNeeded { status: u16 },
    /// With the server's own word: hostile until it is rendered.
    #[error("your login does not give it the right `{scope}`")]
    ScopeNeeded { scope: String },
    #[error("{0}")]
    Login(String),
    #[error("it has ended the session")]
    SessionEnded,
    #[error("it redirects to `{0}`, which is not the host of its `url`")]
    Redirect(String),
    #[error("it redirects more than {0} times")]
    TooManyRedirects(usize),
    #[error("it answered with `{0}`, which is neither JSON nor an event stream")]
    ContentType(String),
    #[error("a message of it is longer than {} MB", .most >> 20)]
    MessageTooLong { most: usize },
    #[error("it sent more than {} MB in one answer", .most >> 20)]
    AnswerTooLong { most: usize },
    #[error("its answer is not a message of the protocol")]
    NotAMessage,
    #[error("its answer ended before the result")]
    CutShort,
    #[error("it did not take a message within {} s", .0.as_secs_f64())]
    NotTaken(Duration),
    #[error("the command of its `headers_command` {0}")]
    HeadersCommand(String),
    #[error("its `headers_command` printed a line that is not a header")]
    PrintedHeader,
    #[error("its address is not an http or https URL")]
    Address,
}

impl HttpFailure {
    pub(super) fn of_login(error: LoginError) -> HttpFailure {
        match error {
            LoginError::Store(_) | LoginError::Save(_) | LoginError::Keyring(_) => {
                HttpFailure::Login(error.to_string())
            }
            _ => HttpFailure::Login(format!("your login cannot be renewed: {error}")),
        }
    }

    /// True if a login is the remedy.
    pub fn needs_login(&self) -> bool {
        matches!(self, HttpFailure::LoginNeeded { .. } | HttpFailure::ScopeNeeded { .. })
    }

    /// True if the connection cannot be used any more, and another one can.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, HttpFailure::SessionEnded)
    }
}
