//! The result of a server as parts of a conversation. Its text is data: nothing in it is read for a meaning.

use crate::{CallSummary, DisplayDetail, OutputFacts, ToolOutput};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_mcp::{CallToolResult, ContentBlock, ResourceContents};
use placet_media::{self as media, OversizePolicy};
use placet_text::conversation::{CallOutcome, Image, Part, text_of};
use serde_json::Value;

/// The most pictures of one result.
const MOST_PICTURES: usize = 8;

/// Decodes pictures: call it where a thread may block. `most_bytes` is the largest picture that is sent.
pub(super) fn output(result: CallToolResult, title: &str, most_bytes: usize) -> ToolOutput {
    let has_failed = result.is_error == Some(true);
    let mut renderer = ResultRenderer { parts: Vec::new(), pictures: 0, most_bytes };
    for block in result.content {
        renderer.block(block);
    }
    if let Some(value) = result.structured_content {
        renderer.structured(&value);
    }
    if renderer.parts.is_empty() {
        renderer.text("[the server sent no content]".into());
    }
    let parts = renderer.parts;
    let text = text_of(&parts);
    let first = parts.iter().find_map(|part| part.as_image().cloned());
    let line = if has_failed { format!("{title}: the server reports an error") } else { title.to_string() };
    let detail = match first {
        Some(image) if text.trim().is_empty() => DisplayDetail::Image(image),
        _ => DisplayDetail::Text(for_screen(&parts)),
    };
    ToolOutput {
        outcome: if has_failed { CallOutcome::Failed } else { CallOutcome::Done },
        for_model: parts,
        for_person: CallSummary::new(line, detail),
        facts: OutputFacts::None,
        recorded: Vec::new(),
    }
}

/// The text of the parts, with a row in the place of each picture.
fn for_screen(parts: &[Part]) -> String {
    let shown = parts.iter().filter_map(|part| match part {
        Part::Image(Image { width, height, media_type, .. }) => {
            Some(format!("[picture, {width}x{height}, {media_type}]\n"))
        }
        part => part.as_text().map(String::from),
    });
    shown.collect::<Vec<_>>().join("\n")
}

struct ResultRenderer {
    parts: Vec<Part>,
    pictures: usize,
    most_bytes: usize,
}

impl ResultRenderer {
    fn block(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(text.text),
            ContentBlock::Image(image) => self.picture(&image.data, &image.mime_type, "from the server"),
            ContentBlock::Audio(audio) => {
                let size = audio.data.len() / 4 * 3;
                self.text(format!("[audio ({}, about {size} bytes) is not passed on]", audio.mime_type));
            }
            ContentBlock::Resource(embedded) => self.resource(embedded.resource),
            ContentBlock::ResourceLink(link) => {
                let about = link.description.map(|words| format!(": {words}")).unwrap_or_default();
                self.text(format!("[resource {} ({}){about}]", link.uri, link.name));
            }
            _ => self.text("[content of a kind that placet does not know]".into()),
        }
    }

    fn resource(&mut self, contents: ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                self.text(format!("[resource {uri}]\n{text}"));
            }
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.unwrap_or_default();
                self.text(format!("[resource {uri}]"));
                self.picture(&blob, &kind, &uri);
            }
            _ => self.text("[a resource of a kind that placet does not know]".into()),
        }
    }

    /// A picture is recognized by its bytes, whatever the server calls it.
    fn picture(&mut self, data: &str, called: &str, name: &str) {
        let left_out = |why: &str| format!("[data ({called}, {} characters of base64): {why}]", data.len());
        if self.pictures >= MOST_PICTURES {
            return self.text(left_out(&format!("only {MOST_PICTURES} pictures of a result are used")));
        }
        let decoded = STANDARD.decode(data.trim());
        let Ok(bytes) = decoded else { return self.text(left_out("it is not base64")) };
        let Some(kind) = media::sniff(bytes.get(..64).unwrap_or(&bytes), "") else {
            return self.text(left_out("not a picture, and not passed on"));
        };
        match media::load(kind, name, bytes, self.most_bytes, OversizePolicy::ScaleDown) {
            Ok(loaded) => {
                self.pictures += 1;
                self.image(loaded.image);
            }
            Err(error) => self.text(left_out(&error.to_string())),
        }
    }

    fn image(&mut self, image: Image) {
        self.parts.push(Part::Image(image));
    }

    /// Servers usually send the same value as text too, alone or as the only field of an object: then it is not repeated.
    fn structured(&mut self, value: &Value) {
        let inner =
            value.as_object().filter(|object| object.len() == 1).and_then(|object| object.values().next());
        let is_there = |text: &str| {
            let as_json = serde_json::from_str::<Value>(text).ok();
            let is =
                |value: &Value| as_json.as_ref() == Some(value) || value.as_str() == Some(text.trim_end());
            is(value) || inner.is_some_and(is)
        };
        if !self.parts.iter().filter_map(Part::as_text).any(is_there) {
            self.text(serde_json::to_string_pretty(value).unwrap_or_default());
        }
    }

    fn text(&mut self, mut text: String) {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        self.parts.push(Part::text(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(result: Value) -> ToolOutput {
        output(serde_json::from_value(result).unwrap(), "s: t", 1_000_000)
    }

    #[test]
    fn every_kind_of_content_is_passed_on_or_named() {
        const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
        let result = of(json!({"content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": DOT, "mimeType": "text/plain"},
            {"type": "image", "data": "no base64!", "mimeType": "image/png"},
            {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "a://b", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "a://c", "blob": "AAAA"}},
            {"type": "resource_link", "uri": "a://d", "name": "d"},
        ]}));
        assert_eq!(result.for_model.iter().filter(|p| p.as_image().is_some()).count(), 1);
        let DisplayDetail::Text(shown) = &result.for_person.detail else { panic!("text") };
        assert!(shown.contains("one\n\n[picture, 1x1, image/png]\n"), "{shown}");
        let text = text_of(&result.for_model);
        for expected in
            ["one\n", "it is not base64", "audio/wav", "[resource a://b]\ninside", "not a picture", "a://d"]
        {
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }

    #[test]
    fn structured_content_is_not_repeated() {
        let both =
            of(json!({"content": [{"type": "text", "text": "{\"a\":1}"}], "structuredContent": {"a": 1}}));
        assert_eq!(text_of(&both.for_model), "{\"a\":1}\n");
        let inside = of(
            json!({"content": [{"type": "text", "text": "done"}], "structuredContent": {"content": "done"}}),
        );
        assert_eq!(text_of(&inside.for_model), "done\n");
        let alone = of(json!({"content": [], "structuredContent": {"a": 1}}));
        assert!(text_of(&alone.for_model).contains("\"a\": 1"));
    }

    #[test]
    fn an_error_of_the_server_is_a_failed_call() {
        let failed = of(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert_eq!(failed.outcome, CallOutcome::Failed);
        assert!(text_of(&of(json!({"content": []})).for_model).contains("no content"));
    }
}
