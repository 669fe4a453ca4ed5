//! Where a summarized session is resumed: the entry at which the last summary lets a reader begin, and the totals of
//! the entries before it. A day of work is then resumed as fast as its last hour.
//!
//! The place is computed when a summary is saved, from the previous place, and only shortens the replay: entries stay
//! as they are, all of them are still read where somebody looks at them, and a session whose entries do not match the
//! place is read from the start.

use super::record::{LoadedSession, SessionRecord, SessionStateKey};
use super::replay::SessionReplay;
use crate::session::SessionError;
use crate::session::database::store::SessionStore;
use crate::session::request_cost::RequestCost;
use placet_text::conversation::{
    CallOutcome, ConversationSummary, Message, MessagePrefix, MessageSource, SessionId, TokenUsage,
    Transcript,
};
use rusqlite::params;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The totals of the entries before `first`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::session) struct ResumePoint {
    first: i64,
    messages: usize,
    /// How many of them are messages of the person.
    said: usize,
    summary: Option<ConversationSummary>,
    withheld: Vec<(String, String)>,
    usage: TokenUsage,
    /// By provider and model.
    spent: Vec<RequestCost>,
    last_prompt: u64,
    /// The entries of the round in which each tool last succeeded.
    rounds: BTreeMap<String, (i64, i64)>,
}

/// The messages before a place.
struct EarlierMessages {
    store: SessionStore,
    id: SessionId,
    place: ResumePoint,
}

impl MessageSource for EarlierMessages {
    fn messages(&self) -> Vec<Message> {
        let mut replay = SessionReplay::default();
        let entries = self.store.entries(&self.id, 1..self.place.first, &mut replay.loaded.dropped);
        entries.into_iter().for_each(|entry| replay.take(entry.seq, entry.at, entry.record));
        for told in &replay.loaded.dropped {
            tracing::warn!("the beginning of the conversation: {told}");
        }
        replay.loaded.transcript.truncate(0)
    }

    fn round(&self, tool: &str) -> Vec<Message> {
        let Some((answer, results)) = self.place.rounds.get(tool) else { return Vec::new() };
        let one = |entry: i64| self.store.entries(&self.id, entry..entry + 1, &mut Vec::new());
        let found = one(*answer).into_iter().chain(one(*results));
        found.filter_map(|entry| message_of(entry.record)).collect()
    }
}

fn message_of(record: SessionRecord) -> Option<Message> {
    match record {
        SessionRecord::Message { message } => Some(message),
        _ => None,
    }
}

impl SessionStore {
    fn place(&self, id: &SessionId) -> Option<ResumePoint> {
        let saved = self.state(id, SessionStateKey::Place).ok().flatten()?;
        serde_json::from_str(&saved).ok()
    }

    /// The replay from the session's place on; `None` where there is no place, or where the result would differ from a
    /// full replay.
    pub(in crate::session) fn replay_from_place(&self, id: &SessionId) -> Option<SessionReplay> {
        let place = self.place(id)?;
        let mut replay = SessionReplay::after(place.loaded(self, id));
        let entries = self.entries(id, place.first..i64::MAX, &mut replay.loaded.dropped);
        entries.into_iter().for_each(|entry| replay.take(entry.seq, entry.at, entry.record));
        let sent = replay.loaded.summaries.last().is_some_and(|s| s.upto >= place.messages);
        // After a rewind to exactly this point, the last request is before the place.
        let first = replay.loaded.transcript.since(place.messages).first();
        let asked = matches!(first, Some(Message::User { .. }));
        (!replay.is_beyond && sent && asked && replay.loaded.dropped.is_empty()).then_some(replay)
    }

    /// Computes the place again, after a summary was saved.
    pub(in crate::session) fn find_place(&self, id: &SessionId) -> Result<(), SessionError> {
        let (replay, old) = match (self.replay_from_place(id), self.place(id)) {
            (Some(replay), Some(old)) => (replay, old),
            _ => (self.replay(id)?, ResumePoint::default()),
        };
        if !replay.loaded.dropped.is_empty() {
            return Ok(());
        }
        let Some(first) = first_needed(&replay) else { return Ok(()) };
        let mut dropped = Vec::new();
        let entries = self.entries(id, old.first.max(1)..first, &mut dropped);
        let mut before = SessionReplay::after(old.loaded(self, id));
        entries.into_iter().for_each(|entry| before.take(entry.seq, entry.at, entry.record));
        if before.is_beyond || !dropped.is_empty() || !before.loaded.dropped.is_empty() {
            return Ok(());
        }
        let saved = serde_json::to_string(&old.moved(first, &before))?;
        self.lock()
            .prepare_cached("INSERT OR REPLACE INTO state (session, key, value) VALUES (?1, ?2, ?3)")?
            .execute(params![id.as_str(), SessionStateKey::Place.key(), saved])?;
        Ok(())
    }
}

impl ResumePoint {
    /// The state as if everything before the place had been read.
    fn loaded(&self, store: &SessionStore, id: &SessionId) -> LoadedSession {
        let transcript = match self.messages {
            0 => Transcript::default(),
            count => {
                let before = EarlierMessages { store: store.clone(), id: id.clone(), place: self.clone() };
                Transcript::after(MessagePrefix::new(count, self.said, Arc::new(before)))
            }
        };
        LoadedSession {
            transcript,
            withheld: self.withheld.clone(),
            summaries: self.summary.iter().cloned().collect(),
            usage: self.usage,
            spent: self.spent.clone(),
            last_prompt: self.last_prompt,
            ..LoadedSession::default()
        }
    }

    /// The place at the entry `first`, for which `before` was replayed from this place on.
    fn moved(mut self, first: i64, before: &SessionReplay) -> ResumePoint {
        let loaded = &before.loaded;
        let messages = loaded.transcript.since(loaded.transcript.begins());
        for (at, pair) in messages.windows(2).enumerate() {
            let [Message::Assistant(answer), Message::Results { results }] = pair else { continue };
            let entries = (before.path.get(at).copied(), before.path.get(at + 1).copied());
            let (Some(asked), Some(done)) = entries else { continue };
            let went_through = results.iter().filter(|result| result.outcome == CallOutcome::Done);
            for call in went_through.filter_map(|r| answer.calls().find(|call| call.id == r.id)) {
                self.rounds.insert(call.name.clone(), (asked, done));
            }
        }
        let mut spent: BTreeMap<(String, String), RequestCost> = BTreeMap::new();
        for one in &loaded.spent {
            let key = (one.provider.clone(), one.model.clone());
            let names =
                || RequestCost { provider: key.0.clone(), model: key.1.clone(), ..RequestCost::default() };
            spent.entry(key.clone()).or_insert_with(names).add(one);
        }
        ResumePoint {
            first,
            messages: loaded.transcript.len(),
            said: loaded.transcript.user_message_count(),
            summary: loaded.summaries.last().cloned(),
            withheld: loaded.withheld.clone(),
            usage: loaded.usage,
            spent: spent.into_values().collect(),
            last_prompt: loaded.last_prompt,
            rounds: self.rounds,
        }
    }
}

/// The entry of the first message that a request needs: where the turn begins that the last summary ends in.
fn first_needed(replay: &SessionReplay) -> Option<i64> {
    let summary = replay.loaded.summaries.last()?;
    let begins = replay.loaded.transcript.begins();
    let messages = replay.loaded.transcript.since(begins);
    let mut at = summary.upto.checked_sub(begins)?.min(messages.len().checked_sub(1)?);
    // A message that the person sends while a turn runs follows results and begins no turn.
    let begins_turn = |at: usize| {
        let follows_results =
            at.checked_sub(1).is_some_and(|b| matches!(messages.get(b), Some(Message::Results { .. })));
        matches!(messages.get(at), Some(Message::User { .. })) && !follows_results
    };
    while !begins_turn(at) {
        at = at.checked_sub(1)?;
    }
    replay.path.get(at).copied()
}
