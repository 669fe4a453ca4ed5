//! Search by a model's own provider: one request to the model, whose server searches by itself. The answer has a text and
//! the pages that it cites, in another shape for each provider.

use super::search_answer::{FoundPage, SearchAnswer};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The longest answer of the model, in tokens.
const MOST_TOKENS: u32 = 4096;
/// How often the model may search for one query.
const MOST_SEARCHES: u32 = 3;

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ModelSearch {
    Anthropic,
    Openai,
    Gemini,
}

/// The request for a query.
pub(super) fn body(kind: ModelSearch, model: &str, query: &str) -> Map<String, Value> {
    let words = format!("Search the web and answer in at most 200 words, with the sources: {query}");
    let body = match kind {
        ModelSearch::Anthropic => json!({
            "model": model,
            "max_tokens": MOST_TOKENS,
            "messages": [{"role": "user", "content": words}],
            "tools": [{"type": "web_search_20250305", "name": "web_search", "max_uses": MOST_SEARCHES}],
        }),
        ModelSearch::Openai => json!({
            "model": model,
            "max_output_tokens": MOST_TOKENS,
            "input": words,
            "tools": [{"type": "web_search"}],
            "tool_choice": "required",
            "include": ["web_search_call.action.sources"],
            "store": false,
        }),
        ModelSearch::Gemini => json!({
            "contents": [{"role": "user", "parts": [{"text": words}]}],
            "tools": [{"google_search": {}}],
            "generationConfig": {"maxOutputTokens": MOST_TOKENS},
        }),
    };
    body.as_object().cloned().unwrap_or_default()
}

/// What the answer has; `None` if it is not an answer of this provider.
pub(super) fn answer(kind: ModelSearch, value: &Value) -> Option<SearchAnswer> {
    let mut found = CitedPages::default();
    match kind {
        ModelSearch::Anthropic => anthropic(value, &mut found)?,
        ModelSearch::Openai => openai(value, &mut found)?,
        ModelSearch::Gemini => gemini(value, &mut found)?,
    }
    Some(SearchAnswer { text: Some(found.text).filter(|text| !text.trim().is_empty()), pages: found.pages })
}

/// The pages in the order in which they come, each once, and the text with their numbers.
#[derive(Debug, Default)]
struct CitedPages {
    text: String,
    pages: Vec<FoundPage>,
}

impl CitedPages {
    /// The number of a page, from 1. What is cited of it is added to its text.
    fn number(&mut self, url: &str, title: &str, cited: &str) -> usize {
        let at = self.pages.iter().position(|page| page.url == url).unwrap_or_else(|| {
            let (title, url) = (title.to_string(), url.to_string());
            self.pages.push(FoundPage { title, url, text: String::new(), date: None });
            self.pages.len() - 1
        });
        if let Some(page) = self.pages.get_mut(at) {
            if page.title.is_empty() {
                page.title = title.into();
            }
            if !cited.is_empty() && !page.text.contains(cited) {
                let between = if page.text.is_empty() { "" } else { " … " };
                page.text.push_str(between);
                page.text.push_str(cited);
            }
        }
        at + 1
    }

    fn cite(&mut self, numbers: &[usize]) {
        for (at, number) in numbers.iter().enumerate() {
            if !numbers.iter().take(at).any(|before| before == number) {
                self.text.push_str(&format!(" [{number}]"));
            }
        }
    }
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Blocks: the results of a search, and texts with their citations.
fn anthropic(value: &Value, found: &mut CitedPages) -> Option<()> {
    for block in value.get("content")?.as_array()? {
        match word(block, "type") {
            // In the place of a list is an error, if the search failed.
            "web_search_tool_result" => {
                for page in list(block, "content") {
                    let at = found.number(word(page, "url"), word(page, "title"), "");
                    if let Some(page_found) = found.pages.get_mut(at - 1) {
                        page_found.date = page.get("page_age").and_then(Value::as_str).map(String::from);
                    }
                }
            }
            "text" => {
                found.text.push_str(word(block, "text"));
                let citations = list(block, "citations").iter();
                let numbers: Vec<usize> = citations
                    .map(|c| found.number(word(c, "url"), word(c, "title"), word(c, "cited_text")))
                    .collect();
                found.cite(&numbers);
            }
            _ => {}
        }
    }
    Some(())
}

/// Items: the call with its sources, and the message with annotations of its text.
fn openai(value: &Value, found: &mut CitedPages) -> Option<()> {
    let output = value.get("output")?.as_array()?;
    for part in output.iter().flat_map(|item| list(item, "content")) {
        found.text.push_str(word(part, "text"));
        let cited = list(part, "annotations").iter().filter(|a| word(a, "type") == "url_citation");
        let numbers: Vec<usize> = cited.map(|a| found.number(word(a, "url"), word(a, "title"), "")).collect();
        found.cite(&numbers);
    }
    // Sources that the text does not cite come after those that it does.
    for source in
        output.iter().filter_map(|item| item.get("action")).flat_map(|action| list(action, "sources"))
    {
        found.number(word(source, "url"), word(source, "title"), "");
    }
    Some(())
}

/// The text, its pages, and which of its pieces each page supports.
fn gemini(value: &Value, found: &mut CitedPages) -> Option<()> {
    let candidate = value.get("candidates")?.as_array()?.first()?;
    let parts = candidate.get("content").map(|content| list(content, "parts")).unwrap_or_default();
    // What the model thought is not its answer.
    for part in parts.iter().filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true)) {
        found.text.push_str(word(part, "text"));
    }
    let Some(metadata) = candidate.get("groundingMetadata") else { return Some(()) };
    let pages: Vec<&Value> =
        list(metadata, "groundingChunks").iter().filter_map(|chunk| chunk.get("web")).collect();
    for page in &pages {
        found.number(word(page, "uri"), word(page, "title"), "");
    }
    for support in list(metadata, "groundingSupports") {
        let cited = support.get("segment").map(|segment| word(segment, "text")).unwrap_or_default();
        for at in list(support, "groundingChunkIndices").iter().filter_map(Value::as_u64) {
            if let Some(page) = usize::try_from(at).ok().and_then(|at| pages.get(at)) {
                found.number(word(page, "uri"), word(page, "title"), cited);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_three_providers_have_a_text_and_their_pages() {
        let anthropic = json!({"type": "message", "content": [
            {"type": "text", "text": "I will search."},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "rust"}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
                {"type": "web_search_result", "url": "https://a.example/", "title": "A", "encrypted_content": "x", "page_age": "May 1"},
                {"type": "web_search_result", "url": "https://b.example/", "title": "B", "encrypted_content": "y"}]},
            {"type": "text", "text": " Rust is fast.", "citations": [
                {"type": "web_search_result_location", "url": "https://b.example/", "title": "B", "encrypted_index": "z", "cited_text": "fast"},
                {"type": "web_search_result_location", "url": "https://b.example/", "title": "B", "encrypted_index": "w", "cited_text": "fast"}]}],
            "stop_reason": "end_turn", "usage": {"server_tool_use": {"web_search_requests": 1}}});
        let openai = json!({"output": [
            {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "rust",
                "sources": [{"type": "url", "url": "https://c.example/"}, {"type": "url", "url": "https://b.example/"}]}},
            {"type": "message", "content": [{"type": "output_text", "text": "Rust is fast.", "annotations": [
                {"type": "url_citation", "start_index": 0, "end_index": 13, "url": "https://b.example/", "title": "B"}]}]}]});
        let gemini = json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}, {"text": "Rust is fast."}]},
            "groundingMetadata": {"webSearchQueries": ["rust"],
                "groundingChunks": [{"web": {"uri": "https://b.example/", "title": "B"}}],
                "groundingSupports": [{"segment": {"endIndex": 13, "text": "Rust is fast."}, "groundingChunkIndices": [0, 7]}]}}]});
        for (kind, value, text, urls) in [
            (
                ModelSearch::Anthropic,
                anthropic,
                "I will search. Rust is fast. [2]",
                &["https://a.example/", "https://b.example/"][..],
            ),
            (ModelSearch::Openai, openai, "Rust is fast. [1]", &["https://b.example/", "https://c.example/"]),
            (ModelSearch::Gemini, gemini, "Rust is fast.", &["https://b.example/"]),
        ] {
            let found = answer(kind, &value).unwrap();
            let found_urls: Vec<&str> = found.pages.iter().map(|page| page.url.as_str()).collect();
            assert_eq!((found.text.as_deref(), found_urls.as_slice()), (Some(text), urls), "{kind:?}");
            assert_eq!(answer(kind, &json!({"error": {}})), None, "{kind:?}");
        }
        let failed = json!({"content": [{"type": "web_search_tool_result", "content":
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}}]});
        assert_eq!(answer(ModelSearch::Anthropic, &failed).unwrap().pages, []);
    }
}
