//! Entries of formats before the fifth, in which placet's own notes were texts among the person's texts.
//!
//! A note is recognized in such a message only by its place: placet put its notes after the person's text and
//! attachments, in a fixed order, and before them only the report of a review. A text anywhere else is a text, whatever
//! it contains; the output of a tool, and what a summary had copied from there, are never searched. A text becomes a
//! note only where the note's text is the very same bytes: a model reads of an old conversation what it read before.

use super::record::SessionRecord;
use placet_permission::Mode;
use placet_text::conversation::{InstructionsVersion, Message, Note, Part};
use serde_json::Value;

/// The first format in which notes are values.
pub(in crate::session) const FIRST_WITH_NOTES: i64 = 5;

const SUMMARY: &str = "[placet: what came before, summed up; the person still has all of it]\n";
const FIRST: &str = "[placet: the project's instructions]\n";
const CHANGED: &str = "[placet: the project's instructions, changed; this replaces the earlier text]\n";
const REVIEWED: &str = "The person reviewed your changes.";

/// Reads the body of an entry of an earlier format; its notes are still texts.
pub(in crate::session) fn record(body: &str) -> serde_json::Result<SessionRecord> {
    let mut value: Value = serde_json::from_str(body)?;
    if let Some(summary) = value.get_mut("summary") {
        retype_summary(summary);
    }
    serde_json::from_value(value)
}

/// The summary's own text, without what it had copied: the instructions and the current mode are sent again.
pub(in crate::session) fn retype_summary(summary: &mut Value) {
    let Some(notes) = summary.get_mut("notes").and_then(Value::as_array_mut) else { return };
    notes.truncate(1);
    for note in notes {
        let Some(text) = note.as_str() else { continue };
        let text = text.strip_prefix(SUMMARY).unwrap_or(text).to_string();
        *note = serde_json::to_value(Note::Summary { text }).unwrap_or(Value::Null);
    }
}

/// Reads messages in order and extracts placet's notes from their places.
#[derive(Debug, Default)]
pub(in crate::session) struct NoteExtractor {
    /// A message after results was sent while a turn ran, and has no notes.
    follows_results: bool,
}

impl NoteExtractor {
    pub(in crate::session) fn retype(&mut self, message: &mut Message) {
        let follows = std::mem::replace(&mut self.follows_results, false);
        match message {
            Message::User { parts } if !follows => retype(parts),
            Message::Results { .. } => self.follows_results = true,
            Message::User { .. } | Message::Assistant(_) => {}
        }
    }
}

fn retype(parts: &mut [Part]) {
    let has_more = parts.len() > 1;
    let is_review = parts.first_mut().is_some_and(|first| has_more && become_note(first, review));
    // The person's own words.
    let mut at = usize::from(is_review) + 1;
    while let Some(part) = parts.get_mut(at) {
        if !become_note(part, attached) {
            break;
        }
        // The attachments: one text, and the pictures after it.
        at += 2;
        while matches!(parts.get(at), Some(Part::Image(_))) {
            at += 1;
        }
    }
    for kind in [instructions, mode, jobs_ended, jobs_lost] {
        if let Some(part) = parts.get_mut(at)
            && become_note(part, kind)
        {
            at += 1;
        }
    }
}

fn become_note(part: &mut Part, kind: fn(&str) -> Option<Note>) -> bool {
    let note = part.as_text().and_then(|text| kind(text).filter(|note| note.words() == text));
    match note {
        Some(note) => *part = Part::Note(note),
        None => return false,
    }
    true
}

fn review(text: &str) -> Option<Note> {
    let mut reports = serde_json::Deserializer::from_str(text).into_iter::<Value>().peekable();
    reports.peek()?;
    let is_report = |report: Result<Value, serde_json::Error>| {
        report.is_ok_and(|r| {
            r.get("review").and_then(Value::as_str).is_some_and(|words| words.starts_with(REVIEWED))
        })
    };
    reports.all(is_report).then(|| Note::Review { report: text.into(), brief: "review".into() })
}

fn attached(text: &str) -> Option<Note> {
    let what = text.strip_prefix("[placet: the person attached ")?.strip_suffix(']')?;
    match what.strip_prefix("the scratchpad `").and_then(|rest| rest.strip_suffix('`')) {
        Some(name) => Some(Note::AttachedScratchpad { name: name.into() }),
        None => Some(Note::AttachedFile { path: what.into() }),
    }
}

fn instructions(text: &str) -> Option<Note> {
    let of = |edition: InstructionsVersion| {
        move |text: &str| Note::Instructions { text: text.into(), edition, sources: Vec::new() }
    };
    let given = text.strip_prefix(FIRST).map(of(InstructionsVersion::First));
    let given = given.or_else(|| text.strip_prefix(CHANGED).map(of(InstructionsVersion::Changed)));
    Some(given.unwrap_or(Note::InstructionsGone))
}

/// Stored as text only: a later mode may have been sent after a result, and the mode is sent again.
fn mode(text: &str) -> Option<Note> {
    let words = |mode: Mode| Note::Mode { mode: mode.name().into(), meaning: meaning(mode).into() };
    Mode::ALL.into_iter().any(|mode| words(mode).words() == text).then(|| Note::Earlier { text: text.into() })
}

/// What the modes meant at that time: the texts of today may change.
fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::None => "no tool may run",
        Mode::Read => "files may be read and commands run, in a copy: whatever they change is thrown away",
        Mode::Ask => {
            "files may be changed and commands run, in a copy: nothing lands before the person applies it"
        }
        Mode::Write => {
            "changes in the workspace are applied after each call, with a brake on losses; anything outside asks"
        }
        Mode::Unrestricted => {
            "everything may run, without a sandbox; only destructive commands and protected files ask"
        }
    }
}

fn jobs_ended(text: &str) -> Option<Note> {
    let rest = text.strip_prefix("[placet: job ")?;
    rest.starts_with(|c: char| c.is_ascii_digit()).then(|| Note::Earlier { text: text.into() })
}

/// A sentence only: an entry of that time records no running jobs that this note could remove.
fn jobs_lost(text: &str) -> Option<Note> {
    let jobs = text
        .strip_prefix("[placet: the background commands ")?
        .strip_suffix(" are out of reach: placet was left meanwhile]")?;
    let are_numbers = jobs.split(", ").all(|job| job.parse::<u32>().is_ok());
    are_numbers.then(|| Note::Earlier { text: text.into() })
}

#[cfg(test)]
#[path = "earlier_format_tests.rs"]
mod tests;
