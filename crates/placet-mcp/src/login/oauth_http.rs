//! The requests of a login: each has a deadline, a largest answer, and hosts to which it may go. Redirects are not
//! followed: rmcp follows those of metadata within one host.

use super::endpoint;
use super::error::LoginError;
use placet_http::{HttpResponse, PageClient, WebRequest};
use reqwest::Url;
use rmcp::transport::{OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The largest answer, in bytes. Metadata have some kilobytes, and tokens less.
const LARGEST: usize = 256 << 10;
/// How long an answer may take, with its body.
const ANSWER: Duration = Duration::from_secs(20);

/// The way to the hosts of a login.
#[derive(Clone)]
pub(super) struct OAuthHttp {
    pages: Arc<PageClient>,
    /// The server is on this machine or in a private network: its authorization server may be there, too.
    is_private: bool,
    /// Why the last request of rmcp failed, which reports some of them as `Request failed` only.
    failure: Arc<Mutex<Option<LoginError>>>,
}

/// An answer that was read to its end.
pub(super) struct WholeAnswer {
    pub(super) response: HttpResponse,
    pub(super) body: String,
}

impl OAuthHttp {
    pub(super) fn new(pages: Arc<PageClient>, is_private: bool) -> OAuthHttp {
        OAuthHttp { pages, is_private, failure: Arc::default() }
    }

    /// Why the last request of rmcp got no answer, if it got none.
    pub(super) fn take_failure(&self) -> Option<LoginError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Sends a request and reads the answer.
    pub(super) async fn send(&self, request: WebRequest<'_>) -> Result<WholeAnswer, LoginError> {
        endpoint::checked(request.url.as_str(), self.is_private)?;
        let sending = async {
            let mut response = self.pages.send(request, self.is_private).await?;
            let body = response.whole(LARGEST).await?;
            Ok(WholeAnswer { response, body })
        };
        tokio::time::timeout(ANSWER, sending).await.unwrap_or(Err(LoginError::Silent(ANSWER)))
    }

    async fn execute(
        &self,
        request: OAuthHttpRequest,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let (parts, body) = request.request.into_parts();
        let url = Url::parse(&parts.uri.to_string())?;
        let mut headers = Vec::new();
        for (name, value) in &parts.headers {
            headers.push((name.to_string(), value.to_str()?.to_string()));
        }
        let sending = WebRequest { method: parts.method.as_str(), url: &url, headers: &headers, body: &body };
        let WholeAnswer { response, body } = self.send(sending).await.map_err(|error| {
            let words = error.to_string();
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            words
        })?;
        let mut answer = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            answer = answer.header(name, value);
        }
        Ok(answer.body(body.into_bytes())?)
    }
}

impl OAuthHttpClient for OAuthHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(OAuthHttp::execute(self, request))
    }
}
