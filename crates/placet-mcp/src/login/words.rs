//! What a person reads about a login, on the command line and in the shell.

use super::error::LoginError;
use super::pending_login::{LoginDone, PendingLogin};
use super::stored_login::LoginPlace;
use crate::definition::HttpServer;
use placet_text::text::visible;

/// Names who asks for the login, so that a look-alike can be noticed.
pub fn login_request(name: &str, server: &HttpServer, pending: &PendingLogin) -> Vec<String> {
    let issuer = visible::line(pending.issuer()).into_owned();
    let host = server.host();
    let mut lines = vec![format!("the server {name} ({}) wants a login at {issuer}", visible::line(&host))];
    if pending.is_elsewhere() {
        lines.push("note: that is another host than the server's: log in only if you know it".into());
    }
    lines
}

/// The last line after a login.
pub fn login_summary(name: &str, done: &LoginDone) -> String {
    let mut parts = vec![format!("logged in to {name}")];
    if !done.scopes.is_empty() {
        parts.push(format!("rights: {}", visible::line(&done.scopes.join(" "))));
    }
    parts.push(match (done.can_be_renewed, done.expires_in) {
        (true, _) => "placet renews the login".into(),
        (false, Some(seconds)) => format!("for {} minutes", seconds.div_ceil(60)),
        (false, None) => "until the server ends the login".into(),
    });
    match (&done.place, &done.unsaved) {
        (LoginPlace::Keyring, _) => parts.push("in the system's keyring".into()),
        (LoginPlace::FileWithoutKeyring(why), _) => {
            parts.push(format!("in a file that only you can read, because {}", visible::line(why)));
        }
        (LoginPlace::Process, Some(why)) => parts.push(format!("until placet ends: {}", visible::line(why))),
        _ => {}
    }
    parts.join(" · ")
}

/// What to do about a login that failed.
pub fn login_hint(error: &LoginError, name: &str) -> Option<String> {
    match error {
        LoginError::OtherIssuer { .. } => {
            Some(format!("if you expect that, run `placet mcp logout {name}` first"))
        }
        LoginError::NoServer => Some("`headers` of the server's settings can have a key".into()),
        LoginError::Store(_) => Some(format!("`placet mcp logout {name}` removes the stored login")),
        LoginError::NotNeeded => Some(format!("`placet mcp test {name}` shows its tools")),
        LoginError::Listen(_) => Some("use another `--port`".into()),
        _ => None,
    }
}

/// What became of a login that was to be removed.
pub fn logout_line(name: &str, had_login: bool) -> String {
    let words = if had_login { "removed the login at" } else { "there was no login at" };
    format!("{words} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_is_not_where_it_is_expected_says_where_it_is_and_why() {
        let done = |place| LoginDone {
            scopes: Vec::new(),
            can_be_renewed: true,
            expires_in: None,
            place,
            unsaved: None,
        };
        let words = |place| login_summary("docs", &done(place));
        assert_eq!(words(LoginPlace::File), "logged in to docs · placet renews the login");
        let locked = "the keyring could not be changed: it is locked".to_string();
        assert_eq!(
            words(LoginPlace::FileWithoutKeyring(locked)),
            "logged in to docs · placet renews the login · in a file that only you can read, because the keyring \
             could not be changed: it is locked"
        );
    }
}
