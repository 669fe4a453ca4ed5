//! Which addresses a login may use.

use super::error::{LoginError, cut};
use reqwest::Url;

/// The longest address, in bytes. That of the login page is printed, and it is an argument of the browser's command.
const LONGEST: usize = 8_000;

/// An address that a server named: one of https, and of http only if the server itself is on this machine or in a
/// private network. A token or a code in clear text on the way would be anybody's.
pub(super) fn checked(named: &str, is_private: bool) -> Result<Url, LoginError> {
    if named.len() > LONGEST {
        return Err(LoginError::LongAddress(LONGEST));
    }
    let wrong = || LoginError::Endpoint(cut(named));
    let url = Url::parse(named).map_err(|_| wrong())?;
    let is_right = match url.scheme() {
        "https" => true,
        "http" => is_private,
        _ => false,
    };
    let is_plain = url.username().is_empty() && url.password().is_none() && url.has_host();
    if is_right && is_plain { Ok(url) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_sent_over_https_or_stays_in_the_private_network() {
        for (named, is_private, is_right) in [
            ("https://auth.example/authorize?x=1", false, true),
            ("http://auth.example/authorize", false, false),
            ("http://127.0.0.1:9/authorize", false, false),
            ("http://127.0.0.1:9/authorize", true, true),
            ("https://me:pw@auth.example/", false, false),
            ("javascript:alert(1)", true, false),
            ("file:///etc/passwd", true, false),
            ("auth", true, false),
        ] {
            assert_eq!(checked(named, is_private).is_ok(), is_right, "{named}");
        }
        let long = format!("https://auth.example/{}", "x".repeat(LONGEST));
        let error = checked(&long, false).unwrap_err().to_string();
        assert_eq!(error, "its authorization server has an address of more than 8000 bytes");
    }
}
