//! A response's body as the model gets it: by the type that the server names and by the bytes themselves.

use super::html::{MarkdownPage, markdown_of};
use encoding_rs::{Encoding, UTF_8};
use placet_media::{self as media, OversizePolicy};
use placet_text::conversation::{Image, Part};
use placet_text::text::count;
use reqwest::Url;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// How much of a text is read, in bytes.
pub(super) const LARGEST_TEXT: usize = 5_000_000;
/// The largest picture or PDF, in bytes: what a request to a model has room for.
pub(super) const LARGEST_FILE: usize = 22_000_000;

/// What the server said of a body, and the body.
pub(super) struct PageBody<'a> {
    pub(super) url: &'a Url,
    /// The value of `Content-Type`.
    pub(super) content_type: &'a str,
    pub(super) bytes: Vec<u8>,
    /// The body is longer than what was read.
    pub(super) is_cut: bool,
}

/// What the model and the person get.
pub(super) struct PageContent {
    pub(super) parts: Vec<Part>,
    /// The text, or what the file is.
    pub(super) shown: String,
    /// In a few words: `Markdown, 12 kB`.
    pub(super) kind: String,
    pub(super) notes: Vec<String>,
}

/// Why a body cannot be given to a model.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum PageBodyError {
    #[error("the answer is {kind}, {size}, and no text, picture or PDF")]
    Binary { kind: String, size: String },
    #[error("the picture cannot be read: {0}")]
    Picture(String),
    #[error("the file is larger than {LARGEST_FILE} bytes")]
    TooLarge,
    #[error("the call was stopped")]
    Stopped,
}

impl PageBody<'_> {
    /// How many bytes of a body of this type are read.
    pub(super) fn limit(content_type: &str) -> usize {
        let kind = media_type(content_type);
        if kind.starts_with("image/") || kind == "application/pdf" { LARGEST_FILE } else { LARGEST_TEXT }
    }

    pub(super) fn content(
        self,
        image_bytes: usize,
        stop: &CancellationToken,
    ) -> Result<PageContent, PageBodyError> {
        let name = self.url.path_segments().and_then(|mut all| all.next_back()).unwrap_or_default();
        if let Some(format) = media::sniff(&self.bytes, name) {
            if self.is_cut {
                return Err(PageBodyError::TooLarge);
            }
            return picture(format, self.url.as_str(), self.bytes, image_bytes);
        }
        if media::is_pdf(&self.bytes) {
            if self.is_cut {
                return Err(PageBodyError::TooLarge);
            }
            let pdf = Image::pdf(self.url.as_str(), Arc::from(self.bytes));
            let shown = pdf.describe();
            let kind = format!("PDF, {}", count::of(pdf.size, "byte"));
            return Ok(PageContent {
                parts: vec![Part::text(shown.clone()), Part::Image(pdf)],
                shown,
                kind,
                notes: Vec::new(),
            });
        }
        self.text(stop)
    }

    fn text(self, stop: &CancellationToken) -> Result<PageContent, PageBodyError> {
        let kind = media_type(self.content_type);
        let head = self.bytes.get(..self.bytes.len().min(1024)).unwrap_or_default();
        let size = count::of(self.bytes.len(), "byte");
        if !is_text_type(&kind) && head.contains(&0) {
            let kind = if kind.is_empty() { "of an unknown type".into() } else { format!("`{kind}`") };
            return Err(PageBodyError::Binary { kind, size });
        }
        let (text, encoding, has_errors) = encoding_of(self.content_type, head).decode(&self.bytes);
        let mut notes = Vec::new();
        if has_errors {
            notes.push(format!("some bytes are not valid {}", encoding.name()));
        }
        if self.is_cut {
            notes.push(format!("only the first {LARGEST_TEXT} bytes were read"));
        }
        if !is_html(&kind, &text) {
            let text = text.into_owned();
            let kind = if kind.is_empty() { "text".into() } else { kind };
            let kind = format!("{kind}, {size}");
            return Ok(PageContent { parts: vec![Part::text(text.clone())], shown: text, kind, notes });
        }
        let MarkdownPage { title, text, is_flat } =
            markdown_of(&text, self.url, stop).ok_or(PageBodyError::Stopped)?;
        if is_flat {
            notes.push(
                "its elements are too deep inside each other, or too many: only the text is shown".into(),
            );
        }
        if text.is_empty() {
            notes.push("the page has no text; it may need a browser that runs its scripts".into());
        }
        notes.extend(title.map(|title| format!("title: {title}")));
        let kind = format!("Markdown of {size} HTML");
        Ok(PageContent { parts: vec![Part::text(text.clone())], shown: text, kind, notes })
    }
}

fn picture(
    format: media::PictureFormat,
    name: &str,
    bytes: Vec<u8>,
    most: usize,
) -> Result<PageContent, PageBodyError> {
    let loaded = media::load(format, name, bytes, most, OversizePolicy::ScaleDown)
        .map_err(|e| PageBodyError::Picture(e.to_string()))?;
    let shown = loaded.image.describe();
    let kind = format!("picture {}x{}", loaded.image.width, loaded.image.height);
    let parts = vec![Part::text(shown.clone()), Part::Image(loaded.image)];
    Ok(PageContent { parts, shown, kind, notes: loaded.notes })
}

/// `text/html; charset=utf-8` is `text/html`.
fn media_type(content_type: &str) -> String {
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_text_type(kind: &str) -> bool {
    kind.starts_with("text/")
        || kind.ends_with("json")
        || kind.ends_with("xml")
        || kind.ends_with("javascript")
        || kind.ends_with("yaml")
}

fn is_html(kind: &str, text: &str) -> bool {
    let begins = |mark: &str| {
        let head = text.trim_start();
        head.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark))
    };
    match kind {
        "text/html" | "application/xhtml+xml" => true,
        "" | "application/octet-stream" => begins("<!doctype html") || begins("<html"),
        _ => false,
    }
}

/// By a byte order mark (which `decode` reads), the header, and the beginning of an HTML page; otherwise UTF-8.
fn encoding_of(content_type: &str, head: &[u8]) -> &'static Encoding {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let named = |text: &str| {
        let (_, rest) = text.split_once("charset=")?;
        let label: String = rest
            .trim_start_matches(['"', '\''])
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || "-_:".contains(*c))
            .collect();
        Encoding::for_label(label.as_bytes())
    };
    named(&content_type.to_ascii_lowercase()).or_else(|| named(&head)).unwrap_or(UTF_8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(content_type: &str, bytes: &[u8]) -> Result<PageContent, PageBodyError> {
        let url = Url::parse("https://example.org/x").unwrap();
        PageBody { url: &url, content_type, bytes: bytes.to_vec(), is_cut: false }
            .content(3_750_000, &CancellationToken::new())
    }

    #[test]
    fn the_type_and_the_bytes_decide() {
        let shown = |kind: &str, bytes: &[u8]| content(kind, bytes).map(|found| found.shown).unwrap();
        assert_eq!(shown("text/html", b"<p>hi <b>you</b>"), "hi **you**");
        assert_eq!(shown("", b"<!DOCTYPE html><p>hi"), "hi");
        assert_eq!(shown("application/json", b"{\"a\": 1}"), "{\"a\": 1}");
        assert_eq!(shown("text/plain", b"<p>hi"), "<p>hi");
        assert!(matches!(content("application/zip", b"PK\0\0"), Err(PageBodyError::Binary { .. })));
        assert!(matches!(content("image/png", b"\x89PNG\r\n\x1a\nno"), Err(PageBodyError::Picture(_))));
    }

    #[test]
    fn a_charset_is_taken_from_the_header_or_the_page_and_a_wrong_one_is_reported() {
        let found = content("text/plain; charset=ISO-8859-1", b"caf\xe9").unwrap();
        assert_eq!((found.shown.as_str(), found.notes.len()), ("café", 0));
        let found = content("text/html", b"<meta charset=\"windows-1252\"><p>caf\xe9").unwrap();
        assert_eq!(found.shown, "café");
        let found = content("text/plain; charset=utf-8", b"caf\xe9").unwrap();
        assert_eq!(found.notes, ["some bytes are not valid UTF-8"]);
    }

    #[test]
    fn a_page_of_scripts_says_so() {
        let found = content("text/html", b"<div id=root></div><script>go()</script>").unwrap();
        assert_eq!(found.shown, "");
        assert!(found.notes.iter().any(|note| note.contains("runs its scripts")), "{:?}", found.notes);
    }
}
