//! Where a server is and how requests address it. Knows the form of an address and not the content of requests.

/// One server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// With or without a slash at the end; the path of the wire format comes after it.
    pub base_url: String,
    /// Replaces the path of the wire format.
    pub path: Option<String>,
    /// The query at the end of every address.
    pub query: Vec<(String, String)>,
    pub auth: AuthScheme,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
}

/// How the key is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AuthScheme {
    /// `Authorization: Bearer KEY`
    #[default]
    Bearer,
    /// A header of its own: `x-api-key`.
    Header(String),
}

impl Endpoint {
    /// The address of `path`, which may have a query of its own.
    pub(crate) fn url(&self, path: &str) -> String {
        self.url_beside(self.path.as_deref().unwrap_or(path))
    }

    /// Another address on the same server.
    pub(crate) fn url_beside(&self, path: &str) -> String {
        let (base, query) = split_query(&self.base_url);
        let mut url = join(base, path);
        if !query.is_empty() {
            let mark = if url.contains('?') { '&' } else { '?' };
            url.push_str(&format!("{mark}{query}"));
        }
        for (name, value) in &self.query {
            let mark = if url.contains('?') { '&' } else { '?' };
            url.push_str(&format!("{mark}{}={}", escaped(name), escaped(value)));
        }
        url
    }

    /// The address of `path` without the version of the API in front: what servers add to the API is there.
    pub(crate) fn url_at_root(&self, path: &str) -> String {
        let (base, _) = split_query(&self.base_url);
        let base = base.trim_end_matches('/');
        join(base.strip_suffix("/v1").unwrap_or(base), path)
    }

    /// The server's name and port, for messages.
    pub(crate) fn host(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        rest.split(['/', '?']).next().unwrap_or_default()
    }

    /// The headers, with the key in the header that this server expects.
    pub(crate) fn headers_with(&self, key: Option<&str>) -> Vec<(String, String)> {
        let mut headers = self.headers.clone();
        if let Some(key) = key {
            headers.push(match &self.auth {
                AuthScheme::Bearer => ("authorization".into(), format!("Bearer {key}")),
                AuthScheme::Header(name) => (name.clone(), key.into()),
            });
        }
        headers
    }
}

/// Why a base URL cannot be used. An address that can never answer is a mistake in the settings, not a broken
/// connection.
pub fn base_url_problem(base: &str) -> Option<&'static str> {
    if base.contains(char::is_whitespace) {
        return Some("a base URL cannot contain blanks");
    }
    let Ok(url) = reqwest::Url::parse(base) else { return Some("it is not a URL such as https://host/v1") };
    match url.scheme() {
        "http" | "https" if url.fragment().is_some() => Some("a base URL cannot contain `#`"),
        "http" | "https" => None,
        _ => Some("a base URL begins with http:// or https://"),
    }
}

/// The address and its query, which is put after the path of a request.
fn split_query(base: &str) -> (&str, &str) {
    base.split_once('?').unwrap_or((base, ""))
}

/// Paths of wire formats, which people copy together with the address.
const COPIED: [&str; 3] = ["/chat/completions", "/responses", "/v1/messages"];

/// The base URL and the path, with one slash between and `/v1` once: people write it with and without. A path that the
/// base URL already ends with is not doubled, and does not become part of the server's other addresses.
fn join(base: &str, path: &str) -> String {
    let base = base.trim_end_matches('/');
    let base = COPIED.iter().find_map(|copied| base.strip_suffix(copied)).unwrap_or(base);
    let base = base.trim_end_matches('/');
    let base = match path.starts_with("/v1/") {
        true => base.strip_suffix("/v1").unwrap_or(base),
        false => base,
    };
    format!("{base}{path}")
}

fn escaped(text: &str) -> String {
    // The unreserved characters of RFC 3986.
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'~');
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_are_taken_with_and_without_version_and_slash() {
        for base in
            ["https://a.example", "https://a.example/", "https://a.example/v1", "https://a.example/v1/"]
        {
            assert_eq!(join(base, "/v1/messages"), "https://a.example/v1/messages");
        }
        assert_eq!(join("http://b/v1/", "/chat/completions"), "http://b/v1/chat/completions");
    }

    #[test]
    fn an_address_that_was_copied_with_its_path_is_understood() {
        for (base, path, url) in [
            ("http://b/v1/chat/completions", "/chat/completions", "http://b/v1/chat/completions"),
            ("http://b/v1/chat/completions/", "/chat/completions", "http://b/v1/chat/completions"),
            ("http://b/v1/chat/completions", "/models", "http://b/v1/models"),
            ("http://b/v1/responses", "/responses", "http://b/v1/responses"),
            ("http://b/v1/messages", "/v1/messages", "http://b/v1/messages"),
            ("http://b/messages", "/v1/messages", "http://b/messages/v1/messages"),
        ] {
            assert_eq!(join(base, path), url);
        }
    }

    #[test]
    fn a_query_of_the_base_url_goes_after_the_path() {
        let at = |base: &str| Endpoint { base_url: base.into(), ..Endpoint::default() };
        let azure = at("http://h/v1/chat/completions?api-version=1");
        assert_eq!(azure.url("/chat/completions"), "http://h/v1/chat/completions?api-version=1");
        assert_eq!(azure.url("/m?alt=sse"), "http://h/v1/m?alt=sse&api-version=1");
        assert_eq!(at("http://h?x=1").host(), "h");
    }

    #[test]
    fn an_address_that_can_never_answer_is_refused() {
        for base in ["https://a.example/v1", "http://localhost:8080", "http://[::1]:1/v1?x=1"] {
            assert_eq!(base_url_problem(base), None, "{base}");
        }
        for base in
            ["", "localhost:8080", "a.example/v1", "ftp://h", "file:///v1", "http://h:99999", "http://h/v1#x"]
        {
            assert!(base_url_problem(base).is_some(), "{base}");
        }
    }

    #[test]
    fn a_path_of_its_own_and_a_query_are_put_where_they_belong() {
        let query = vec![("api-version".to_string(), "2025-01-01 preview&x".to_string())];
        let endpoint = Endpoint { base_url: "http://b/".into(), query, ..Endpoint::default() };
        assert_eq!(endpoint.host(), "b");
        assert_eq!(endpoint.url("/c"), "http://b/c?api-version=2025-01-01%20preview%26x");
        assert!(endpoint.url("/m:s?alt=sse").ends_with("/m:s?alt=sse&api-version=2025-01-01%20preview%26x"));
        let own = Endpoint { path: Some("/own".into()), ..endpoint };
        assert!(own.url("/c").starts_with("http://b/own?"));
    }
}
