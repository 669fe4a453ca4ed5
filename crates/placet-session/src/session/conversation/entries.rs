//! The entries of a session as records, in their order: all of them, or a part.
//!
//! What cannot be read is left out and named; a number that is missing is an entry that is lost, even where no error
//! was seen. Where they lead is not asked here.

use super::earlier_format::{self, FIRST_WITH_NOTES, NoteExtractor};
use super::record::{SessionRecord, SessionStateKey};
use crate::session::database::store::SessionStore;
use placet_text::conversation::{AssistantMessage, CallResult, Message, Part, SessionId};
use rusqlite::params;
use serde::Deserialize;
use std::ops::Range;

pub(in crate::session) struct SessionEntry {
    pub(in crate::session) seq: i64,
    /// Milliseconds since 1970.
    pub(in crate::session) at: i64,
    pub(in crate::session) record: SessionRecord,
}

struct EntryRow {
    seq: i64,
    at: i64,
    format: i64,
    text: String,
}

impl SessionStore {
    /// The entries with these numbers. What is wrong with them is reported in `dropped`.
    pub(in crate::session) fn entries(
        &self,
        id: &SessionId,
        numbers: Range<i64>,
        dropped: &mut Vec<String>,
    ) -> Vec<SessionEntry> {
        let bodies = self.bodies(id, &numbers, dropped);
        // Entries are numbered without gaps.
        let written =
            self.state(id, SessionStateKey::Entries).ok().flatten().and_then(|n| n.parse::<i64>().ok());
        let newest = bodies.last().map_or(numbers.start - 1, |body| body.seq);
        let last = newest.max(written.unwrap_or(0)).min(numbers.end - 1);
        let missing = last - (numbers.start - 1) - i64::try_from(bodies.len()).unwrap_or(0);
        if missing > 0 {
            dropped.push(format!("{missing} entries are missing"));
        }
        let records = decoded(&bodies);
        let mut out = Vec::with_capacity(bodies.len());
        let mut notes = NoteExtractor::default();
        for (EntryRow { seq, at, format, .. }, mut record) in bodies.into_iter().zip(records) {
            if let (true, Ok(SessionRecord::Message { message })) = (format < FIRST_WITH_NOTES, &mut record) {
                notes.retype(message);
            }
            match record {
                Ok(record) => out.push(SessionEntry { seq, at, record }),
                Err(e) => dropped.push(format!("entry {seq} cannot be read: {e}")),
            }
        }
        out
    }

    /// In order; where the file is damaged, those before the damage.
    fn bodies(&self, id: &SessionId, numbers: &Range<i64>, dropped: &mut Vec<String>) -> Vec<EntryRow> {
        let conn = self.lock();
        let mut out = Vec::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut query = conn.prepare_cached(
                "SELECT seq, at, format, body FROM entry WHERE session = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq",
            )?;
            let mut rows = query.query(params![id.as_str(), numbers.start, numbers.end])?;
            while let Some(row) = rows.next()? {
                out.push(EntryRow {
                    seq: row.get(0)?,
                    at: row.get(1)?,
                    format: row.get(2)?,
                    text: row.get(3)?,
                });
            }
            Ok(())
        };
        if let Err(e) = read() {
            dropped.push(format!("the database is damaged; entries after {} are lost: {e}", out.len()));
        }
        out
    }
}

/// A message of a body that begins with its tags.
#[derive(Deserialize)]
struct TaggedMessage<M> {
    message: M,
}

#[derive(Deserialize)]
struct UserParts {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
struct StoredResults {
    results: Vec<CallResult>,
}

/// A body as a record. Nearly all of them are messages, and the general way reads each of their tags into a copy of all that
/// follows: here the tags are known by the beginning of the text.
fn record_of(text: &str) -> serde_json::Result<SessionRecord> {
    const ASSISTANT: &str = "{\"kind\":\"message\",\"message\":{\"role\":\"assistant\",";
    const RESULTS: &str = "{\"kind\":\"message\",\"message\":{\"role\":\"results\",";
    const USER: &str = "{\"kind\":\"message\",\"message\":{\"role\":\"user\",";
    let message = if text.starts_with(ASSISTANT) {
        let tagged = serde_json::from_str::<TaggedMessage<AssistantMessage>>(text);
        tagged.map(|tagged| Message::Assistant(tagged.message)).ok()
    } else if text.starts_with(USER) {
        let tagged = serde_json::from_str::<TaggedMessage<UserParts>>(text);
        tagged.map(|tagged| Message::User { parts: tagged.message.parts }).ok()
    } else if text.starts_with(RESULTS) {
        let tagged = serde_json::from_str::<TaggedMessage<StoredResults>>(text);
        tagged.map(|tagged| Message::Results { results: tagged.message.results }).ok()
    } else {
        None
    };
    // The general way also words the errors.
    message.map_or_else(|| serde_json::from_str(text), |message| Ok(SessionRecord::Message { message }))
}

/// Every body as a record, on all cores where there are many: a day of work is tens of thousands.
fn decoded(bodies: &[EntryRow]) -> Vec<serde_json::Result<SessionRecord>> {
    const MANY: usize = 2000;
    let one = |body: &EntryRow| match body.format < FIRST_WITH_NOTES {
        true => earlier_format::record(&body.text),
        false => record_of(&body.text),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if bodies.len() < MANY || cores == 1 {
        return bodies.iter().map(one).collect();
    }
    let parts: Vec<Vec<_>> = std::thread::scope(|scope| {
        let part = |chunk| {
            let work = move || Vec::from_iter(<[_]>::iter(chunk).map(one));
            std::thread::Builder::new().spawn_scoped(scope, work)
        };
        let workers: Vec<_> =
            bodies.chunks(bodies.len().div_ceil(cores)).filter_map(|c| part(c).ok()).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or_default()).collect()
    });
    let all: Vec<_> = parts.into_iter().flatten().collect();
    // If a thread ended early, the results would belong to the wrong entries.
    if all.len() == bodies.len() { all } else { bodies.iter().map(one).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::conversation::{AssistantBlock, Note};

    #[test]
    fn a_message_is_read_as_the_general_way_reads_it() {
        let blocks = vec![AssistantBlock::Text { text: "\"kind\":\"cost\" \u{1b}".into() }];
        let messages = [
            Message::user("{\"kind\":\"message\",\"message\":{\"role\":\"assistant\","),
            Message::User { parts: vec![Part::Note(Note::BeginningLeftOut), Part::text("x")] },
            Message::User { parts: Vec::new() },
            Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() }),
            Message::Results { results: Vec::new() },
        ];
        for message in messages {
            let record = SessionRecord::Message { message };
            let text = serde_json::to_string(&record).unwrap();
            assert_eq!(record_of(&text).unwrap(), record, "{text}");
        }
        for damaged in [
            "{\"kind\":\"message\",\"message\":{\"role\":\"user\",\"parts\":[{}]}}",
            "{\"kind\":\"message\",\"message\":{\"role\":\"assistant\",\"blocks\":3}}",
            "{\"kind\":\"message\",\"message\":{\"role\":\"user\",",
            "",
        ] {
            let general = serde_json::from_str::<SessionRecord>(damaged).unwrap_err().to_string();
            assert_eq!(record_of(damaged).unwrap_err().to_string(), general);
        }
    }
}
