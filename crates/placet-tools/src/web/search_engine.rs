//! Search engines as data: how a query is sent, and where an answer has its results. A row with `model` is a model's
//! provider that searches by itself.

use super::model_search::{self, ModelSearch};
use super::search_answer::{FoundPage, SearchAnswer};
use placet_http::{HttpClient, HttpClientSettings, HttpError, HttpResponse, host_of};
use placet_provider::{ApiKey, ApiKeySource, ProviderError};
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::sync::LazyLock;
use std::time::Duration;
use thiserror::Error;

/// The longest answer of an engine, in bytes.
const LARGEST: usize = 2 << 20;
/// How much of an answer about an error is quoted, in bytes.
const ERROR_TEXT: usize = 500;
/// The longest title and the longest text of one result, in characters.
const TITLE: usize = 200;
const TEXT: usize = 1200;
/// The longest text with which a model answers, in characters.
const ANSWER: usize = 6000;
/// How long a search may take: a model searches, reads and writes.
const PATIENCE: Duration = Duration::from_secs(30);
const MODEL_PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Deserialize)]
struct EngineTable {
    engine: Vec<EngineRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineRow {
    name: String,
    url: Option<String>,
    #[serde(default)]
    path: String,
    method: EngineMethod,
    /// The model of `search.model` searches; the keys of an answer below are those of a search engine.
    model: Option<ModelSearch>,
    #[serde(default)]
    query: String,
    count: Option<String>,
    #[serde(default)]
    fields: toml::Table,
    key_header: Option<String>,
    #[serde(default)]
    key_prefix: String,
    key_variable: Option<String>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    found: FoundKeys,
}

/// Where the results are in an answer; empty where a model answers.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FoundKeys {
    list: String,
    title: String,
    link: String,
    text: Vec<String>,
    date: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EngineMethod {
    Get,
    Post,
}

/// The table is part of the program: a test reads it. A table that cannot be read has no engines.
static ENGINES: LazyLock<Vec<EngineRow>> = LazyLock::new(|| {
    let table: Result<EngineTable, _> = toml::from_str(include_str!("search_engines.toml"));
    table.map(|table| table.engine).unwrap_or_default()
});

/// Why a configured engine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SearchSetupError {
    #[error("`search.engine` is `{0}`, which is not a search engine")]
    Engine(String),
    #[error("the search engine {0} needs its address: set `search.url`")]
    NoAddress(String),
    #[error("the search of {0} needs a model: set `search.model`")]
    NoModel(String),
    #[error("`search.url` is not an address: {0}")]
    Address(String),
    #[error("the key of the search engine would be sent unencrypted to {0}")]
    Unencrypted(String),
}

/// Why there are no results.
#[derive(Debug, Error)]
pub(super) enum SearchError {
    #[error(transparent)]
    Key(#[from] ProviderError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("the search engine {engine} answered with status {status}{text}")]
    Status { engine: String, status: u16, text: String },
    #[error("the search engine {0} sent no list of results")]
    NoResults(String),
}

/// An engine with an address and a key.
#[derive(Debug)]
pub struct SearchEngine {
    row: &'static EngineRow,
    url: Url,
    /// The model that searches, for a row with a model.
    model: String,
    key: ApiKeySource,
    most: usize,
    client: HttpClient,
}

impl SearchEngine {
    /// The variable in which the key of an engine usually is.
    pub fn usual_variable(engine: &str) -> Option<&'static str> {
        ENGINES.iter().find(|row| row.name == engine)?.key_variable.as_deref()
    }

    pub fn new(
        engine: &str,
        (address, model): (Option<&str>, Option<&str>),
        key: ApiKeySource,
        most: usize,
        client: HttpClientSettings,
    ) -> Result<SearchEngine, SearchSetupError> {
        let row = ENGINES.iter().find(|row| row.name == engine);
        let row = row.ok_or_else(|| SearchSetupError::Engine(engine.into()))?;
        let address = match (address, &row.url) {
            (Some(own), None) => format!("{}/{}", own.trim().trim_end_matches('/'), row.path),
            (Some(own), Some(_)) => own.trim().to_string(),
            (None, Some(usual)) => usual.clone(),
            (None, None) => return Err(SearchSetupError::NoAddress(engine.into())),
        };
        let model = model.unwrap_or_default().trim().to_string();
        let address = match (row.model, model.is_empty()) {
            (Some(_), true) => return Err(SearchSetupError::NoModel(engine.into())),
            (Some(ModelSearch::Gemini), false) => {
                format!("{}/{model}:generateContent", address.trim_end_matches('/'))
            }
            _ => address,
        };
        let url = Url::parse(&address).map_err(|e| SearchSetupError::Address(e.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(SearchSetupError::Address("only http and https can be used".into()));
        }
        let host = url.host_str().unwrap_or_default();
        let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        if url.scheme() == "http" && !is_here && !matches!(key, ApiKeySource::None) {
            return Err(SearchSetupError::Unencrypted(host.into()));
        }
        Ok(SearchEngine { row, url, model, key, most: most.clamp(1, 20), client: HttpClient::new(client) })
    }

    pub fn name(&self) -> &str {
        &self.row.name
    }

    /// The host that gets the queries, as rules name it.
    pub fn host(&self) -> String {
        host_of(&self.url)
    }

    /// How long a search may take.
    pub(super) fn patience(&self) -> Duration {
        if self.row.model.is_some() { MODEL_PATIENCE } else { PATIENCE }
    }

    /// True if the engine needs a key and has none.
    pub fn missing_variable(&self) -> Option<&str> {
        match &self.key {
            ApiKeySource::Missing { variable } => Some(variable),
            _ => None,
        }
    }

    /// Asks the engine. The caller limits the time.
    pub(super) async fn search(&self, query: &str) -> Result<SearchAnswer, SearchError> {
        let key = self.key.read().await?;
        let mut headers = self.row.headers.clone();
        if let (Some(key), Some(header)) = (&key, &self.row.key_header) {
            headers.push((header.clone(), format!("{}{}", self.row.key_prefix, key.expose())));
        }
        let mut response = match self.row.method {
            EngineMethod::Get => self.client.get(self.address(query).as_str(), &headers).await?,
            EngineMethod::Post => {
                let body = serde_json::Value::Object(self.body(query)).to_string().into_bytes();
                self.client.post_json(self.url.as_str(), &headers, body).await?
            }
        };
        if response.status() != 200 {
            return Err(self.refused(&mut response, key.as_ref()).await);
        }
        let text = response.whole(LARGEST).await?;
        let no_results = || SearchError::NoResults(self.row.name.clone());
        let value: Value = serde_json::from_str(&text).map_err(|_| no_results())?;
        if let Some(kind) = self.row.model {
            let answer = model_search::answer(kind, &value).ok_or_else(no_results)?;
            return Ok(self.within_limits(answer));
        }
        let list = self.row.found.list.split('.').try_fold(&value, |value, key| value.get(key));
        // Brave leaves the list out where nothing was found.
        let list = match list.and_then(Value::as_array) {
            Some(list) => list.as_slice(),
            None if value.is_object() && self.row.found.list.contains('.') => &[],
            None => return Err(no_results()),
        };
        let pages = list.iter().filter_map(|entry| self.found(entry)).take(self.most).collect();
        Ok(SearchAnswer { text: None, pages })
    }

    /// The text of a model keeps its lines. Pages keep their numbers, and one with an address that is none of the web
    /// loses the address.
    fn within_limits(&self, answer: SearchAnswer) -> SearchAnswer {
        let text = answer.text.map(|text| match text.char_indices().nth(ANSWER) {
            None => text,
            Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        });
        let is_of_the_web =
            |url: &str| Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
        let pages = answer.pages.into_iter().take(self.most).map(|page| FoundPage {
            title: one_line(&page.title, TITLE),
            url: if is_of_the_web(&page.url) { page.url } else { String::new() },
            text: one_line(&page.text, TEXT),
            date: page.date.map(|date| one_line(&date, 40)).filter(|date| !date.is_empty()),
        });
        SearchAnswer { text, pages: pages.collect() }
    }

    async fn refused(&self, response: &mut HttpResponse, key: Option<&ApiKey>) -> SearchError {
        let status = response.status();
        let text = response.text(ERROR_TEXT).await;
        let text = key.map_or_else(|| text.clone(), |key| key.redact(&text));
        let text = one_line(&text, ERROR_TEXT);
        let text = if text.is_empty() { text } else { format!(": {text}") };
        SearchError::Status { engine: self.row.name.clone(), status, text }
    }

    fn address(&self, query: &str) -> Url {
        let mut url = self.url.clone();
        {
            let mut pairs = url.query_pairs_mut();
            pairs.append_pair(&self.row.query, query);
            if let Some(count) = &self.row.count {
                pairs.append_pair(count, &self.most.to_string());
            }
            for (name, value) in &self.row.fields {
                pairs.append_pair(name, value.as_str().unwrap_or_default());
            }
        }
        url
    }

    fn body(&self, query: &str) -> Map<String, Value> {
        if let Some(kind) = self.row.model {
            return model_search::body(kind, &self.model, query);
        }
        let mut body = Map::new();
        body.insert(self.row.query.clone(), query.into());
        if let Some(count) = &self.row.count {
            body.insert(count.clone(), self.most.into());
        }
        for (name, value) in &self.row.fields {
            body.insert(name.clone(), serde_json::to_value(value).unwrap_or_default());
        }
        body
    }

    /// A result with an address of the web.
    fn found(&self, entry: &Value) -> Option<FoundPage> {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let url = Url::parse(text(&self.row.found.link)?)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))?;
        let mut texts: Vec<&str> = Vec::new();
        for key in &self.row.found.text {
            match entry.get(key) {
                Some(Value::String(text)) => texts.push(text),
                Some(Value::Array(list)) => texts.extend(list.iter().filter_map(Value::as_str)),
                _ => {}
            }
        }
        Some(FoundPage {
            title: one_line(&plain(text(&self.row.found.title).unwrap_or_default()), TITLE),
            url: url.into(),
            text: one_line(&plain(&texts.join(" … ")), TEXT),
            date: text(&self.row.found.date).map(|date| one_line(date, 40)).filter(|date| !date.is_empty()),
        })
    }
}

fn one_line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        None => line,
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
    }
}

/// Engines mark the words of the query with tags.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        let tag = after.split_once('>').filter(|(tag, _)| {
            matches!(tag.trim_matches('/').trim(), "strong" | "b" | "em" | "i" | "mark" | "br" | "span" | "p")
        });
        match tag {
            Some((_, after)) => rest = after,
            None => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    for (entity, c) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        out = out.replace(entity, c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(
        name: &str,
        address: Option<&str>,
        key: ApiKeySource,
    ) -> Result<SearchEngine, SearchSetupError> {
        SearchEngine::new(name, (address, Some("m")), key, 5, HttpClientSettings::default())
    }

    #[test]
    fn every_row_of_the_table_is_an_engine() {
        let names: Vec<&str> = ENGINES.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["searxng", "brave", "tavily", "exa", "anthropic", "openai", "gemini"]);
        for row in ENGINES.iter() {
            assert_eq!(row.key_header.is_some(), row.key_variable.is_some(), "{}", row.name);
            assert!(engine(&row.name, Some("https://h.example/"), ApiKeySource::None).is_ok());
        }
    }

    #[test]
    fn a_key_goes_to_no_stranger() {
        let key = || ApiKeySource::Value(ApiKey::new("k"));
        assert!(matches!(
            engine("brave", Some("http://h.example"), key()),
            Err(SearchSetupError::Unencrypted(_))
        ));
        assert!(engine("brave", Some("http://127.0.0.1:1"), key()).is_ok());
        assert!(matches!(engine("searxng", None, key()), Err(SearchSetupError::NoAddress(_))));
        assert!(matches!(engine("searxng", Some("file:///x"), key()), Err(SearchSetupError::Address(_))));
        assert!(matches!(engine("x", None, key()), Err(SearchSetupError::Engine(_))));
    }

    #[test]
    fn a_query_is_a_value_and_never_a_part_of_the_address() {
        let brave = engine("brave", None, ApiKeySource::None).unwrap();
        let url = brave.address("a&count=99#x y");
        assert_eq!(url.host_str(), Some("api.search.brave.com"));
        assert_eq!(url.query(), Some("q=a%26count%3D99%23x+y&count=5"));
        assert_eq!(plain("a <strong>b</strong> &lt;c&gt; <script>x"), "a b <c> <script>x");
    }
}
