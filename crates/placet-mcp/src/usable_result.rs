//! A result that is not as the protocol wants it: what can be used of it is used, and the rest is named, so that nothing is
//! lost without a word.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, ServerResult};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The mark of what a prompt makes the model say.
pub(super) const AS_ANSWERED: &str = "[as if the model had answered:]";

/// Above this size, in bytes, content that nobody knows is only named: it may be a film.
const LONGEST_UNKNOWN: usize = 2_000;

/// The content of an answer, which belongs below `key`. Never empty without a reason: a value of no known form is structured content.
pub(super) fn of_answer(key: &str, result: &ServerResult) -> CallToolResult {
    let value = match result {
        ServerResult::CustomResult(custom) => custom.0.clone(),
        other => serde_json::to_value(other).unwrap_or_default(),
    };
    let content = match (&value, value.get(key)) {
        (_, Some(content)) => Some(content),
        (Value::Array(_) | Value::String(_), _) => Some(&value),
        _ => None,
    };
    let blocks = match content {
        Some(Value::Array(blocks)) => blocks.iter().flat_map(entry).collect(),
        Some(Value::Null) | None => Vec::new(),
        Some(one) => entry(one),
    };
    let mut of = CallToolResult::success(blocks);
    of.is_error = value.get("isError").map(|says| says == true || says == "true");
    of.structured_content = match value.get("structuredContent") {
        Some(structured) => Some(structured.clone()),
        None if content.is_some() || is_nothing(&value) => None,
        None => Some(value),
    };
    of
}

/// What says nothing: no value, and an object with at most what is about the answer.
fn is_nothing(value: &Value) -> bool {
    let is_about = |key: &String| key == "_meta" || key == "isError" || key == "resultType";
    value.is_null() || value.as_object().is_some_and(|object| object.keys().all(is_about))
}

/// A block, the contents of a resource, or a message of a prompt.
fn entry(value: &Value) -> Vec<ContentBlock> {
    let Some(role) = value.get("role").filter(|_| value.get("content").is_some()) else {
        return vec![block(value)];
    };
    let said = match value.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().map(block).collect(),
        Some(one) => vec![block(one)],
        None => Vec::new(),
    };
    let mark = (role != "user").then(|| ContentBlock::text(AS_ANSWERED));
    mark.into_iter().chain(said).collect()
}

fn block(value: &Value) -> ContentBlock {
    if let Some(block) = read::<ContentBlock>(value) {
        return block;
    }
    if let Some(contents) = read::<ResourceContents>(value) {
        return ContentBlock::resource(contents);
    }
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let kind = text("type").unwrap_or_default();
    match kind {
        "text" | "" if let Some(words) = text("text").or(value.as_str()) => ContentBlock::text(words),
        "image" if let Some(data) = text("data") => {
            ContentBlock::image(data, text("mimeType").unwrap_or_default())
        }
        "resource" if let Some(words) = value.pointer("/resource/text").and_then(Value::as_str) => {
            ContentBlock::text(words)
        }
        _ => unknown(kind, value),
    }
}

/// Content without a form that placet knows, by its type: whole if it is short.
fn unknown(kind: &str, value: &Value) -> ContentBlock {
    let of_type =
        if kind.is_empty() { "without a type".into() } else { format!("of the type {}", Value::from(kind)) };
    let json = value.to_string();
    ContentBlock::text(match json.len() {
        0..=LONGEST_UNKNOWN => format!("[content {of_type}, which placet cannot read]\n{json}"),
        bytes => format!("[content {of_type}, which placet cannot read: {bytes} bytes]"),
    })
}

fn read<T: DeserializeOwned>(value: &Value) -> Option<T> {
    serde_json::from_value(value.clone()).ok()
}

/// A page of a list.
pub(super) struct ListPage<T> {
    pub(super) entries: Vec<T>,
    /// How many entries cannot be read.
    pub(super) unreadable: usize,
    /// Where the next page begins.
    pub(super) next: Option<String>,
}

impl<T: DeserializeOwned> ListPage<T> {
    /// The list below `key` in an answer. `None` if the answer is something else.
    pub(super) fn of_answer(result: &ServerResult, key: &str) -> Option<ListPage<T>> {
        let value = match result {
            ServerResult::CustomResult(custom) => custom.0.clone(),
            ServerResult::EmptyResult(_) => Value::Object(Map::new()),
            other => serde_json::to_value(other).ok()?,
        };
        let all = match value.get(key) {
            Some(Value::Array(entries)) => entries.as_slice(),
            None if is_nothing(&value) => &[],
            _ => return None,
        };
        let entries: Vec<T> = all.iter().filter_map(read).collect();
        let next = value.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
        Some(ListPage { unreadable: all.len() - entries.len(), entries, next: next.map(String::from) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{CustomResult, Tool};
    use serde_json::json;

    fn of(key: &str, value: Value) -> CallToolResult {
        of_answer(key, &ServerResult::CustomResult(CustomResult(value)))
    }

    fn words(result: &CallToolResult) -> String {
        let text = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::Resource(of) => serde_json::to_string(&of.resource).unwrap(),
            other => format!("<{}>", serde_json::to_value(other).unwrap()["type"].as_str().unwrap()),
        };
        result.content.iter().map(text).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn what_can_be_used_is_used_and_the_rest_is_named() {
        let text = json!({"type": "text", "text": "usable"});
        let image = json!({"type": "image", "data": "AAAA"});
        for (value, wanted) in [
            (
                json!({"content": [text, {"type": "chart", "data": [1]}]}),
                "usable|[content of the type \"chart\", which placet cannot read]\n{\"type\":\"chart\",\"data\":[1]}",
            ),
            (json!({"content": [text, image]}), "usable|<image>"),
            (
                json!({"content": [text, {"type": "text", "text": 5}]}),
                "usable|[content of the type \"text\", which placet cannot read]\n{\"type\":\"text\",\"text\":5}",
            ),
            (
                json!({"content": [{"text": "usable"}, "more", 3]}),
                "usable|more|[content without a type, which placet cannot read]\n3",
            ),
            (json!({"content": text}), "usable"),
            (json!({"content": "usable"}), "usable"),
            (json!([text]), "usable"),
            (json!("usable"), "usable"),
            (json!({"content": [text], "_meta": 3, "isError": "no"}), "usable"),
            (
                json!({"content": [{"type": "text", "text": "usable", "annotations": {"priority": "high"}}]}),
                "usable",
            ),
            (json!({"content": [{"type": "resource", "resource": {"text": "usable"}}]}), "usable"),
            (
                json!({"content": [{"type": "\u{1b}\n", "data": "x".repeat(5000)}]}),
                "[content of the type \"\\u001b\\n\", which placet cannot read: 5029 bytes]",
            ),
            (json!({}), ""),
            (json!(null), ""),
            (json!({"_meta": {}}), ""),
        ] {
            let result = of("content", value.clone());
            assert_eq!((words(&result).as_str(), result.structured_content), (wanted, None), "{value}");
        }
        for value in [json!({"toolResult": "usable"}), json!(5), json!(true)] {
            assert_eq!(of("content", value.clone()).structured_content, Some(value));
        }
        let failed = of("content", json!({"content": [3], "isError": true, "structuredContent": [1]}));
        assert_eq!((failed.is_error, failed.structured_content), (Some(true), Some(json!([1]))));
    }

    /// No word of a server is lost, whatever is around it.
    #[test]
    fn no_text_is_lost_in_any_place_of_any_kind_of_answer() {
        let kinds = ["text", "image", "audio", "resource", "resource_link", "tool_use", "", "x"];
        for key in ["content", "contents", "messages"] {
            for kind in kinds {
                for place in ["text", "data", "uri", "words"] {
                    let odd = json!({"type": kind, place: "usable", "n": 1});
                    for value in [
                        json!({key: [odd]}),
                        json!({key: odd}),
                        json!([odd]),
                        json!({key: [{"role": "assistant", "content": odd}]}),
                        json!({key: [{"role": 1, "content": [odd]}]}),
                        json!({"other": [odd]}),
                    ] {
                        let result = of(key, value.clone());
                        let all = serde_json::to_string(&result).unwrap();
                        assert!(all.contains("usable"), "{value}: {all}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_entry_of_a_list_that_cannot_be_read_takes_no_other_with_it() {
        let good = json!({"name": "a", "inputSchema": {"type": "object"}});
        let list = json!({"tools": [good, {"name": "b"}, {"name": 3, "inputSchema": {}}, null, "c", good], "nextCursor": ""});
        let page =
            ListPage::<Tool>::of_answer(&ServerResult::CustomResult(CustomResult(list)), "tools").unwrap();
        assert_eq!((page.entries.len(), page.unreadable, page.next), (2, 4, None));
        let page =
            |value| ListPage::<Tool>::of_answer(&ServerResult::CustomResult(CustomResult(value)), "tools");
        assert!(page(json!({})).is_some_and(|page| page.entries.is_empty()));
        assert!(page(json!({"tools": "x"})).is_none() && page(json!({"prompts": []})).is_none());
    }
}
