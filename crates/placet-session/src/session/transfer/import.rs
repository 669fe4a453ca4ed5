//! A session from a file that `session export --format json` wrote, perhaps on another machine.
//!
//! The file is a stranger's until it has been read: its messages must follow from one another as in every conversation,
//! its pictures must be what their hash says, and what looks like a secret is left out. What the model had
//! seen of files is not in it, so files are read again.

use super::export::{ExportedScratchpad, FORMAT};
use crate::session::conversation::earlier_format::{NoteExtractor, retype_summary};
use crate::session::conversation::record::SessionRecord;
use crate::session::database::store::SessionStore;
use crate::session::scratchpad::{ScratchpadEntry, ScratchpadError, check_name};
use crate::session::{OpenSession, SessionError};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallFact, CallInput, ConversationSummary, Message, Note, Part,
    Transcript, TranscriptError,
};
use placet_text::text::{sanitize, secret};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// The first version of the export format in which notes are values.
const FIRST_WITH_NOTES: u64 = 3;

#[derive(Debug, Error)]
pub enum ImportError {
    #[error("not an exported session: {0}")]
    Form(#[from] serde_json::Error),
    #[error("unknown version {0} of the export format: update placet, or export the session again")]
    Version(u64),
    #[error("message {number} does not fit the message before it: {why}")]
    Order { number: usize, why: String },
    #[error("the conversation is empty, or ends in calls without results")]
    Incomplete,
    #[error("the picture {0} does not match its hash")]
    Picture(String),
    #[error(transparent)]
    Scratchpad(#[from] ScratchpadError),
    #[error(transparent)]
    Session(#[from] SessionError),
}

#[derive(Deserialize)]
struct ImportFile {
    session: ImportedSession,
    messages: Vec<Message>,
    #[serde(default)]
    summaries: Vec<ConversationSummary>,
    #[serde(default)]
    withheld: Vec<WithheldPicture>,
    #[serde(default)]
    scratchpads: BTreeMap<String, ExportedScratchpad>,
    #[serde(default)]
    pictures: HashMap<String, String>,
}

#[derive(Deserialize)]
struct ImportedSession {
    title: String,
}

#[derive(Deserialize)]
struct WithheldPicture {
    hash: String,
    reason: String,
}

impl SessionStore {
    /// Reads an export into a session of its own in `cwd`.
    pub fn import(&self, text: &str, cwd: &Path) -> Result<OpenSession, ImportError> {
        let mut value: Value = serde_json::from_str(text)?;
        let version = value.get("version").and_then(Value::as_u64).unwrap_or(FORMAT);
        if !(1..=FORMAT).contains(&version) {
            return Err(ImportError::Version(version));
        }
        let mut earlier = (version < FIRST_WITH_NOTES).then(NoteExtractor::default);
        if earlier.is_some() {
            let summaries = value.get_mut("summaries").and_then(Value::as_array_mut);
            summaries.into_iter().flatten().for_each(retype_summary);
        }
        let file: ImportFile = serde_json::from_value(value)?;
        let pictures = decoded(&file.pictures)?;
        let pads = scratchpads(file.scratchpads, &pictures)?;
        let mut transcript = Transcript::default();
        for (at, mut message) in file.messages.into_iter().enumerate() {
            match &mut earlier {
                Some(notes) => notes.retype(&mut message),
                None => in_their_place(&mut message, &pads),
            }
            without_secrets(&mut message);
            fill(&mut message, &pictures);
            let order = |e: TranscriptError| ImportError::Order { number: at + 1, why: e.to_string() };
            transcript.push(message).map_err(order)?;
        }
        if transcript.messages().is_empty() || !transcript.open_calls().is_empty() {
            return Err(ImportError::Incomplete);
        }
        let messages = transcript.messages();
        let mut records: Vec<SessionRecord> =
            messages.iter().map(|message| SessionRecord::Message { message: message.clone() }).collect();
        let fits = |summary: &ConversationSummary| {
            summary.upto <= messages.len() && !parts_a_call(messages, summary.upto)
        };
        records.extend(file.summaries.into_iter().filter(fits).map(|mut summary| {
            summary.notes.iter_mut().flat_map(Note::foreign_texts_mut).for_each(redact);
            SessionRecord::SummedUp { summary }
        }));
        records.extend(
            file.withheld.into_iter().map(|w| SessionRecord::Withheld { hash: w.hash, reason: w.reason }),
        );
        let title = secret::redact(&file.session.title, &[]).into_owned();
        let session = self.begin_with(cwd, &sanitize::line(&title), records)?;
        let saved = session.scratchpads()?;
        for (name, entry) in pads {
            saved.put(&name, entry)?;
        }
        Ok(session)
    }
}

/// The scratchpads of the file. A picture without its bytes is left out, as in the conversation.
fn scratchpads(
    pads: BTreeMap<String, ExportedScratchpad>,
    pictures: &HashMap<String, Arc<[u8]>>,
) -> Result<BTreeMap<String, ScratchpadEntry>, ImportError> {
    let mut out = BTreeMap::new();
    for (name, pad) in pads {
        check_name(&name)?;
        let entry = match pad {
            ExportedScratchpad::Text(mut text) => {
                redact(&mut text);
                Some(ScratchpadEntry::Text(text))
            }
            ExportedScratchpad::Image(mut image) => pictures.get(&image.hash).map(|bytes| {
                image.bytes = Arc::clone(bytes);
                ScratchpadEntry::Image(image)
            }),
        };
        out.extend(entry.map(|entry| (name, entry)));
    }
    Ok(out)
}

/// What a stranger's file may not claim: a note where placet puts none, and facts about jobs, which are another
/// machine's, and about scratchpads that are not in the file.
fn in_their_place(message: &mut Message, pads: &BTreeMap<String, ScratchpadEntry>) {
    let Message::Results { results } = message else { return };
    for result in results {
        result.facts.retain(|fact| match fact {
            CallFact::JobStarted { .. } | CallFact::JobEnded { .. } => false,
            CallFact::StoredIn { scratchpad } => pads.contains_key(scratchpad),
            _ => true,
        });
        for part in &mut result.parts {
            if let Part::Note(note) = part
                && !note.may_follow_results()
            {
                *part = Part::text(note.words());
            }
        }
    }
}

/// True where a cut before `upto` would leave results without their calls.
fn parts_a_call(messages: &[Message], upto: usize) -> bool {
    matches!(messages.get(upto), Some(Message::Results { .. }))
}

fn decoded(pictures: &HashMap<String, String>) -> Result<HashMap<String, Arc<[u8]>>, ImportError> {
    let mut out = HashMap::new();
    for (hash, url) in pictures {
        let wrong = || ImportError::Picture(sanitize::line(hash).into_owned());
        let (_, data) = url.split_once(";base64,").ok_or_else(wrong)?;
        let bytes = STANDARD.decode(data).map_err(|_| wrong())?;
        if blake3::hash(&bytes).to_hex().as_str() != hash {
            return Err(wrong());
        }
        out.insert(hash.clone(), bytes.into());
    }
    Ok(out)
}

/// Fills in the bytes; a picture whose bytes are not in the file becomes a text, and no blob has its hash.
fn fill(message: &mut Message, pictures: &HashMap<String, Arc<[u8]>>) {
    let fill = |parts: &mut Vec<Part>| {
        for part in parts {
            let Part::Image(image) = part else { continue };
            match pictures.get(&image.hash) {
                Some(bytes) => image.bytes = Arc::clone(bytes),
                None => {
                    *part = Part::Note(Note::PictureMissing { name: image.name.clone() });
                }
            }
        }
    };
    match message {
        Message::User { parts } => fill(parts),
        Message::Results { results } => results.iter_mut().for_each(|result| fill(&mut result.parts)),
        Message::Assistant(_) => {}
    }
}

fn redact(text: &mut String) {
    if let std::borrow::Cow::Owned(clean) = secret::redact(text, &[]) {
        *text = clean;
    }
}

fn without_secrets(message: &mut Message) {
    fn of(parts: &mut [Part]) {
        parts.iter_mut().flat_map(Part::foreign_texts_mut).for_each(redact);
    }
    match message {
        Message::User { parts } => of(parts),
        Message::Results { results } => results.iter_mut().for_each(|result| {
            of(&mut result.parts);
            redact(&mut result.shown);
        }),
        Message::Assistant(AssistantMessage { blocks, .. }) => {
            for block in blocks {
                match block {
                    AssistantBlock::Text { text } => redact(text),
                    AssistantBlock::Thinking(thinking) => {
                        let before = thinking.text.clone();
                        redact(&mut thinking.text);
                        // A proof is refused where the words are not those it was given for.
                        if thinking.text != before {
                            (thinking.signature, thinking.redacted) = (None, None);
                        }
                    }
                    AssistantBlock::Call(call) => redact_input(&mut call.input),
                }
            }
        }
    }
}

fn redact_input(input: &mut CallInput) {
    fn of(value: &mut Value) {
        match value {
            Value::String(text) => redact(text),
            Value::Array(items) => items.iter_mut().for_each(of),
            Value::Object(fields) => fields.values_mut().for_each(of),
            _ => {}
        }
    }
    match input {
        CallInput::Object(value) => of(value),
        CallInput::Malformed { raw, .. } => redact(raw),
    }
}
