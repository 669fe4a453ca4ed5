//! A piece of content: text, a picture, or one of placet's own notes. Pictures are bytes in memory; base64 exists only
//! while a request is encoded. A PDF is handled like a picture: it is stored by its hash, sent, or omitted.

use super::Note;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::sync::Arc;

const PDF: &str = "application/pdf";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Text of others: of the person, a file, a command. Never placet's own.
    Text {
        text: String,
    },
    Image(Image),
    /// placet's own: no text can become a note.
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

    /// The path of the file that the next part has, where the message attaches one.
    pub fn attached_path(&self) -> Option<&str> {
        match self.as_note()? {
            Note::AttachedFile { path } => Some(path),
            _ => None,
        }
    }

    /// The text that a model reads: a text unchanged, a note as sentences, nothing for a picture.
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

    /// Every text in it that did not come from placet itself: for the search for secrets.
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

/// The texts of `parts`, one after another with line breaks between; pictures and notes are omitted.
pub fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
}

/// The text that a model reads of `parts`, one after another with line breaks between; pictures are omitted.
pub fn words_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::words).collect::<Vec<_>>().join("\n")
}

/// A picture that was decoded once, or a PDF, which is only bytes here. `hash` (blake3, hex) identifies its bytes in
/// the session's blob store; serialised forms contain the hash and not the bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// `image/png`, `image/jpeg`, ...: the type of the bytes, whatever the name of the file.
    pub media_type: String,
    /// In pixels; 0 for a PDF.
    pub width: u32,
    pub height: u32,
    /// Its origin, for the person and for the note that replaces a picture that cannot be sent.
    pub name: String,
    pub hash: String,
    /// The changes that were made to it before: converted, scaled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The size of a PDF, whose bytes may not have been read; 0 for a picture, whose pixels determine its cost.
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

    /// A PDF, unchanged. Nothing parses it: neither whether it is complete, nor how many pages it has.
    pub fn pdf(name: &str, bytes: Arc<[u8]>) -> Image {
        let size = bytes.len() as u64;
        Image { size, ..Image::new(PDF, 0, 0, name, bytes) }
    }

    pub fn is_pdf(&self) -> bool {
        self.media_type == PDF
    }

    /// Its kind, as a word for a person.
    pub fn word(&self) -> &'static str {
        if self.is_pdf() { "PDF" } else { "picture" }
    }

    /// Its approximate cost: providers count a token for about 750 pixels. The pages of a PDF are not counted; a page
    /// of about 40 kB costs about 2,000 tokens.
    pub fn tokens(&self) -> u64 {
        if self.is_pdf() {
            return self.size.div_ceil(20).clamp(2_000, 200_000);
        }
        (u64::from(self.width) * u64::from(self.height)).div_ceil(750).clamp(100, 5000)
    }

    /// The line that replaces a picture that cannot be shown or sent.
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
