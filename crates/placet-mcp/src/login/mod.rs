//! Login at a server over HTTP with OAuth, as the protocol describes it: where the server sends the person, what comes
//! back, and the tokens that are stored and renewed.
//!
//! rmcp finds the authorization server, registers placet and exchanges the code. Everything that it sends goes through
//! `oauth_http`, with limits. A token goes to the address of the settings, and to the authorization server that issued
//! it, and to no other host.

mod bearer;
mod browser_answer;
mod endpoint;
mod error;
mod oauth_http;
mod pending_login;
mod stored_login;
mod token_request;
mod unsaved_login;
mod words;

pub(super) use bearer::{BearerSource, Refusal};
pub use error::LoginError;
pub use pending_login::{LoginDone, LoginOptions, PendingLogin};
pub use stored_login::{LoginState, LoginStore};
pub use token_request::log_out;
pub use words::{login_hint, login_request, login_summary, logout_line};
