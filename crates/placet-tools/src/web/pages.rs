//! What `fetch_url` gets pages with: one client for the whole program, and the hosts that may be private. The search
//! engine of `search_web`.

use super::search_engine::SearchEngine;
use placet_http::{PageClient, PageRefusal};
use reqwest::Url;
use std::sync::Arc;
use std::time::Duration;

/// How long the whole answer to a request may take, if nothing else is set.
const PATIENCE: Duration = Duration::from_secs(60);

/// The default gets public pages with the default settings of a client.
#[derive(Debug)]
pub struct WebPages {
    pub(super) client: PageClient,
    /// Hosts of this machine and of private networks that the person has named, with or without a port.
    private_hosts: Vec<String>,
    pub(super) search: Option<Arc<SearchEngine>>,
    /// How long the whole answer may take.
    pub(super) patience: Duration,
}

impl Default for WebPages {
    fn default() -> WebPages {
        WebPages::new(PageClient::default(), [""; 0])
    }
}

impl WebPages {
    pub fn new(client: PageClient, private_hosts: impl IntoIterator<Item = impl AsRef<str>>) -> WebPages {
        let normal = |host: &str| host.trim().trim_end_matches('.').to_ascii_lowercase();
        WebPages {
            client,
            private_hosts: private_hosts.into_iter().map(|host| normal(host.as_ref())).collect(),
            search: None,
            patience: PATIENCE,
        }
    }

    /// The same with another limit for the time of an answer.
    #[must_use]
    pub fn patient_for(self, patience: Duration) -> WebPages {
        WebPages { patience, ..self }
    }

    /// The same with a search engine.
    #[must_use]
    pub fn searching(self, search: Option<SearchEngine>) -> WebPages {
        WebPages { search: search.map(Arc::new), ..self }
    }

    /// Refuses what is private by its name alone, unless the person has named it.
    pub(super) fn check(&self, url: &Url) -> Result<(), PageRefusal> {
        if self.is_named(url) { Ok(()) } else { PageClient::check_name(url) }
    }

    pub(super) fn is_named(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        let with_port = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
        self.private_hosts.iter().any(|named| *named == host || *named == with_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_http::HttpClientSettings;

    #[test]
    fn a_private_host_is_named_with_or_without_a_port() {
        let client = PageClient::new(HttpClientSettings::default());
        let pages = WebPages::new(client, ["Wiki.corp", "localhost:8080"]);
        let is_named = |url: &str| pages.is_named(&Url::parse(url).unwrap());
        assert!(is_named("http://wiki.corp/x") && is_named("https://WIKI.corp:8443/"));
        assert!(is_named("http://localhost:8080/") && !is_named("http://localhost/"));
        assert!(!is_named("http://a.wiki.corp/"));
    }
}
