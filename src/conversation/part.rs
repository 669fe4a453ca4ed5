//! A piece of content: text, a picture, or a note of placet's own. Pictures travel as bytes; base64 exists only while a request is encoded. A PDF
//! goes the way of a picture, because all that is done with it is the same: it is kept by its hash, sent, or left out.

use super::Note;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

const PDF: &str = "application/pdf";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Somebody else's words: the person's, a file's, a command's. Never placet's own.
    Text {
        text: String,
    },
    Image(Image),
    /// placet's own: no text can become one.
    Note(Note),
}

impl Part {
    pub fn text(text: impl Into<String>) -> Part {
        Part::Text { text: text.into() }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Part::Text { text } => Some(text),
            Part::Image(_) | Part::Note(_) => None,
        }
    }

    pub fn as_note(&self) -> Option<&Note> {
        match self {
            Part::Note(note) => Some(note),
            Part::Text { .. } | Part::Image(_) => None,
        }
    }

    /// What a model reads of it: a text as it is, a note in words, nothing of a picture.
    pub fn words(&self) -> Option<Cow<'_, str>> {
        match self {
            Part::Text { text } => Some(Cow::Borrowed(text)),
            Part::Note(note) => Some(note.words()),
            Part::Image(_) => None,
        }
    }

    pub fn as_image(&self) -> Option<&Image> {
        match self {
            Part::Text { .. } | Part::Note(_) => None,
            Part::Image(image) => Some(image),
        }
    }

    /// Every text in it that did not come from placet itself: for what looks for secrets.
    pub fn foreign_texts_mut(&mut self) -> Vec<&mut String> {
        match self {
            Part::Text { text } => vec![text],
            Part::Note(note) => note.foreign_texts_mut(),
            Part::Image(_) => Vec::new(),
        }
    }
}

impl From<Note> for Part {
    fn from(note: Note) -> Part {
        Part::Note(note)
    }
}

/// The texts of `parts`, one after another with line breaks between; pictures and notes are left out.
pub fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
}

/// What a model reads of `parts`, one after another with line breaks between; pictures are left out.
pub fn words_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::words).collect::<Vec<_>>().join("\n")
}

/// A picture that has really been decoded once, or a PDF, which is nothing but bytes here. `hash` (blake3, hex) names its bytes in the session's blob store;
/// serialised forms carry the hash and not the bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// `image/png`, `image/jpeg`, ...: what the bytes are, whatever the file was called.
    pub media_type: String,
    /// In pixels; 0 for a PDF.
    pub width: u32,
    pub height: u32,
    /// Where it came from, for the person and for the note that replaces it when it cannot be sent.
    pub name: String,
    pub hash: String,
    /// What was done to it before it came here: converted, scaled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Of a PDF its bytes, which may not have been read; 0 for a picture, whose pixels say what it costs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub size: u64,
    #[serde(skip)]
    pub bytes: Arc<[u8]>,
}

fn is_zero(size: &u64) -> bool {
    *size == 0
}

impl Image {
    pub fn new(media_type: &str, width: u32, height: u32, name: &str, bytes: Arc<[u8]>) -> Image {
        let hash = blake3::hash(&bytes).to_hex().to_string();
        Image {
            media_type: media_type.into(),
            width,
            height,
            name: name.into(),
            hash,
            notes: Vec::new(),
            size: 0,
            bytes,
        }
    }

    /// A PDF as it is. Nobody looks into it: not whether it is whole, and not how many pages it has.
    pub fn pdf(name: &str, bytes: Arc<[u8]>) -> Image {
        let size = bytes.len() as u64;
        Image { size, ..Image::new(PDF, 0, 0, name, bytes) }
    }

    pub fn is_pdf(&self) -> bool {
        self.media_type == PDF
    }

    /// What it is to a person.
    pub fn word(&self) -> &'static str {
        if self.is_pdf() { "PDF" } else { "picture" }
    }

    /// About what it costs: providers count a token for some 750 pixels. The pages of a PDF are not counted; a page of some
    /// 40 kB costs some 2,000 tokens.
    pub fn tokens(&self) -> u64 {
        if self.is_pdf() {
            return self.size.div_ceil(20).clamp(2_000, 200_000);
        }
        (u64::from(self.width) * u64::from(self.height)).div_ceil(750).clamp(100, 5000)
    }

    /// The line that stands for the picture where it cannot be shown or sent.
    pub fn describe(&self) -> String {
        if self.is_pdf() {
            return format!("{} ({}, {} bytes)", self.name, self.media_type, self.size);
        }
        // Its bytes may not have been read.
        if self.bytes.is_empty() {
            return format!("{} ({}, {}x{})", self.name, self.media_type, self.width, self.height);
        }
        format!(
            "{} ({}, {}x{}, {} bytes)",
            self.name,
            self.media_type,
            self.width,
            self.height,
            self.bytes.len()
        )
    }
}
