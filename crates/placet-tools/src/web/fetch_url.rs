//! fetch_url: one page, by GET.
//!
//! A redirect within the host is followed. One that leads to another host ends the call: the person was asked about
//! this host only.

use super::answer_wait::{in_time, until_stopped};
use super::page::{PageBody, PageContent};
use super::pages::WebPages;
use crate::arguments::ToolSchema;
use crate::{
    CallPreview, CallSummary, DisplayDetail, OutputFacts, Plan, ReadScope, RunContext, RunFuture, Tool,
    ToolContext, ToolError, ToolOutput, TouchedPaths,
};
use placet_http::{HttpResponse, PageRefusal};
use placet_permission::{Access, Permit};
use placet_text::conversation::{CallOutcome, Part, ToolSpec};
use placet_text::text::visible;
use reqwest::Url;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How many redirects are followed.
const MOST_REDIRECTS: usize = 5;
/// How much of a server's page about an error the model gets, in bytes.
const ERROR_PAGE: usize = 2000;
/// Some sites answer with Markdown when it is asked for.
const ACCEPT: &str = "text/markdown, text/html;q=0.9, text/plain;q=0.9, */*;q=0.5";

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    url: String,
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

pub(crate) struct FetchUrl(ToolSchema);

impl Default for FetchUrl {
    fn default() -> FetchUrl {
        FetchUrl(ToolSchema::of::<Args>("fetch_url", include_str!("../../prompts/tools/fetch_url.md")))
    }
}

impl Tool for FetchUrl {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, _: &Value) -> TouchedPaths {
        TouchedPaths::default()
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let url = page_url(args.url.trim())?;
        // Before the person is asked about the host: their yes would not be enough.
        env.pages.check(&url).map_err(|error| refused(error, &url))?;
        Ok(Box::new(FetchPlan { url }))
    }
}

fn page_url(text: &str) -> Result<Url, ToolError> {
    let not_a_page = |why: &str| {
        ToolError::hint(format!("`{text}` {why}"), "give a whole URL, such as https://docs.rs/serde")
    };
    let mut url = Url::parse(text).map_err(|e| not_a_page(&format!("is not a URL: {e}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(not_a_page("is not a page of the web: only http and https can be fetched"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(not_a_page("has a name or a password in it, which are never sent"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The host as rules and questions name it: with its port if that is not the usual one. The ports of this machine are
/// different programs.
fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port().or_else(|| url.port_or_known_default().filter(|_| host == "localhost")) {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    }
}

struct FetchPlan {
    url: Url,
}

impl Plan for FetchPlan {
    fn reach(&self) -> Vec<Access> {
        vec![Access::Fetch { host: host_of(&self.url) }]
    }

    fn title(&self) -> String {
        format!("fetch {}", self.url)
    }

    fn prepare(&mut self, _: &ToolContext, _: ReadScope) -> Result<CallPreview, ToolError> {
        Ok(CallPreview { line: self.title(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, _: Permit, ctx: RunContext) -> RunFuture {
        Box::pin(async move {
            let title = self.title();
            let pages = Arc::clone(&ctx.env.pages);
            let image_bytes = ctx.env.limits.image_bytes;
            let work = async {
                let late = ("the page did not arrive", "use another source");
                let page = in_time(pages.patience, late, self.fetch(&pages)).await?;
                // Pictures are decoded and pages parsed: that is work for a thread of its own, which the end of the process
                // waits for. It ends soon after nobody waits for its page any more, for whatever reason.
                let stop = CancellationToken::new();
                let _when_given_up = stop.clone().drop_guard();
                tokio::task::spawn_blocking(move || page.output(image_bytes, &stop))
                    .await
                    .unwrap_or_else(|e| Err(ToolError::new(format!("the tool failed: {e}"))))
            };
            until_stopped(&ctx, &title, work).await
        })
    }
}

impl FetchPlan {
    async fn fetch(&self, pages: &WebPages) -> Result<FetchedPage, ToolError> {
        let mut url = self.url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let response = pages.client.get(&url, ACCEPT, pages.is_named(&url)).await;
            let mut response = response.map_err(|error| refused(error, &url))?;
            let status = response.status();
            if let (301..=308, Some(to)) = (status, response.header("location")) {
                let next = page_url(url.join(to).as_ref().map_or(to, Url::as_str))?;
                let is_weaker = url.scheme() == "https" && next.scheme() == "http";
                if host_of(&next) != host_of(&self.url) || is_weaker {
                    return Err(ToolError::hint(
                        format!("`{url}` redirects to `{next}`, which is not the same host"),
                        "fetch that URL if it is what you want; the person may be asked about its host",
                    ));
                }
                url = next;
                continue;
            }
            let content_type = response.header("content-type").unwrap_or_default().to_string();
            let limit = if status < 400 { PageBody::limit(&content_type) } else { ERROR_PAGE };
            let (bytes, is_cut) = body(&mut response, limit).await?;
            let from = self.url.clone();
            let page = FetchedPage { from, url, status, content_type, bytes, is_cut };
            return Ok(page);
        }
        Err(ToolError::new(format!("`{}` redirects more than {MOST_REDIRECTS} times", self.url)))
    }
}

fn refused(error: PageRefusal, url: &Url) -> ToolError {
    match error {
        PageRefusal::Private(_) => {
            let host = host_of(url);
            let hint = format!(
                "the person can start placet with --set 'network.private_hosts=[\"{host}\"]' --allow 'fetch({host})'"
            );
            ToolError::hint(error.to_string(), hint)
        }
        PageRefusal::Failed(error) => ToolError::new(error.to_string()),
    }
}

/// The body up to `most` bytes, and whether there is more.
async fn body(response: &mut HttpResponse, most: usize) -> Result<(Vec<u8>, bool), ToolError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|e| ToolError::new(e.to_string()))? {
        let room = most - bytes.len();
        bytes.extend_from_slice(chunk.get(..room.min(chunk.len())).unwrap_or_default());
        if chunk.len() > room {
            return Ok((bytes, true));
        }
    }
    Ok((bytes, false))
}

/// An answer with its body.
struct FetchedPage {
    from: Url,
    url: Url,
    status: u16,
    content_type: String,
    bytes: Vec<u8>,
    is_cut: bool,
}

impl FetchedPage {
    fn output(self, image_bytes: usize, stop: &CancellationToken) -> Result<ToolOutput, ToolError> {
        let FetchedPage { from, url, status, content_type, bytes, is_cut } = self;
        let body = PageBody { url: &url, content_type: &content_type, bytes, is_cut };
        let content = body.content(image_bytes, stop);
        if status >= 400 {
            let said = content.map(|content| content.shown).unwrap_or_default();
            let mut message = format!("`{url}` answered with status {status}");
            if !said.trim().is_empty() {
                let _ = write!(message, ": {}", visible::guard(said.trim()));
            }
            return Err(ToolError::new(message));
        }
        let PageContent { mut parts, shown, kind, notes } = content.map_err(|e| {
            ToolError::hint(e.to_string(), "a command can get it, with the host in its list of hosts")
        })?;
        let mut head = format!("{url}: {kind}");
        if url != from {
            let _ = write!(head, " (redirected from {from})");
        }
        for note in &notes {
            let _ = write!(head, "\n{note}");
        }
        parts.insert(0, Part::text(head));
        let line = format!("fetch {from}: {kind}");
        let detail = if shown.is_empty() { DisplayDetail::None } else { DisplayDetail::Text(shown) };
        Ok(ToolOutput {
            outcome: CallOutcome::Done,
            for_model: parts,
            for_person: CallSummary::new(line, detail),
            facts: OutputFacts::None,
            recorded: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_addresses_of_pages_are_urls() {
        assert_eq!(page_url("https://docs.rs/serde#x").unwrap().as_str(), "https://docs.rs/serde");
        for wrong in
            ["docs.rs", "file:///etc/passwd", "data:text/html,x", "https://a:b@c.org/", "javascript:1", ""]
        {
            assert!(page_url(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_host_has_its_port_where_that_matters() {
        let host = |url: &str| host_of(&Url::parse(url).unwrap());
        assert_eq!(host("https://docs.rs/x"), "docs.rs");
        assert_eq!(host("https://docs.rs:8443/x"), "docs.rs:8443");
        assert_eq!(host("http://localhost/x"), "localhost:80");
        assert_eq!(host("http://DOCS.rs/x"), "docs.rs");
    }
}
