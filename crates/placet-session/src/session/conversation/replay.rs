//! The entries of a session, replayed in order: the present conversation, and the branches that were left on the way.
//!
//! Entries are only ever added, and a rewind or a switch to another branch is an entry too. The replay gives the
//! present conversation, and every message that a rewind left, with its predecessor: the tree. Pictures are without
//! their bytes here: the bytes are read only for messages that still count.

use super::record::{LoadedSession, SessionRecord};
use placet_text::conversation::{ConversationSummary, Message};
use std::collections::HashMap;

/// The state after the entries that were replayed so far.
#[derive(Default)]
pub(in crate::session) struct SessionReplay {
    pub(in crate::session) loaded: LoadedSession,
    /// The entries of the messages that count, in order, from the first one that is played.
    pub(in crate::session) path: Vec<i64>,
    /// An entry refers to something before the first entry of this replay.
    pub(in crate::session) is_beyond: bool,
    /// Every message there ever was, in the order of the entries.
    pub(in crate::session) nodes: Vec<MessageNode>,
    left: HashMap<i64, AbandonedMessage>,
    /// The summaries of a branch's beginning when it was left, by the branch's last entry.
    summaries: HashMap<i64, Vec<ConversationSummary>>,
}

/// A message's place in the tree.
#[derive(Clone, Copy)]
pub(in crate::session) struct MessageNode {
    pub(in crate::session) entry: i64,
    pub(in crate::session) before: Option<i64>,
    /// Milliseconds since 1970.
    pub(in crate::session) at: i64,
}

struct AbandonedMessage {
    before: Option<i64>,
    message: Message,
}

impl SessionReplay {
    /// A replay that continues from `loaded`.
    pub(in crate::session) fn after(loaded: LoadedSession) -> SessionReplay {
        SessionReplay { loaded, ..SessionReplay::default() }
    }

    pub(in crate::session) fn take(&mut self, entry: i64, at: i64, record: SessionRecord) {
        let loaded = &mut self.loaded;
        match record {
            SessionRecord::Message { message } => match loaded.transcript.push(message) {
                Ok(()) => {
                    let before = self.path.last().copied();
                    self.nodes.push(MessageNode { entry, before, at });
                    self.path.push(entry);
                }
                Err(e) => loaded
                    .dropped
                    .push(format!("left out a message that does not fit the message before it: {e}")),
            },
            SessionRecord::Rewound { messages } => self.leave(messages),
            SessionRecord::Switched { entry } => self.switch(entry),
            // A summary that names messages which could not be read cannot replace them.
            SessionRecord::SummedUp { summary } if summary.upto > loaded.transcript.len() => loaded
                .dropped
                .push("left out a summary of missing messages: the whole conversation is sent".into()),
            SessionRecord::SummedUp { summary } => {
                // A summary of the same beginning: the person rewrote it.
                loaded.summaries.retain(|before| before.upto != summary.upto);
                loaded.summaries.push(summary);
                loaded.undone = None;
            }
            SessionRecord::SummaryUndone => {
                loaded.summaries.pop();
                loaded.undone = Some(loaded.transcript.len());
                // What is before the summary was not read.
                self.is_beyond |= loaded.transcript.begins() > 0;
            }
            SessionRecord::Withheld { hash, reason } => loaded.withheld.push((hash, reason)),
            SessionRecord::Cost { provider, model, usage, picos } => {
                loaded.pay((provider, model), usage, picos)
            }
        }
    }

    /// The message of an entry, in the present conversation or in a branch that was left.
    pub(in crate::session) fn message(&self, entry: i64) -> Option<&Message> {
        match self.path.binary_search(&entry) {
            Ok(at) => self.loaded.transcript.messages().get(at),
            Err(_) => self.left.get(&entry).map(|left| &left.message),
        }
    }

    /// Goes back to the first `messages`; the other messages become a branch that was left.
    fn leave(&mut self, messages: usize) {
        let Some(kept) = messages.checked_sub(self.loaded.transcript.begins()) else {
            self.is_beyond = true;
            return;
        };
        let Some(tip) = self.path.last().copied().filter(|_| kept < self.path.len()) else { return };
        self.summaries.insert(tip, self.loaded.summaries.clone());
        let entries = self.path.split_off(kept);
        let mut before = self.path.last().copied();
        for (entry, message) in entries.into_iter().zip(self.loaded.transcript.truncate(messages)) {
            self.left.insert(entry, AbandonedMessage { before, message });
            before = Some(entry);
        }
        self.loaded.summaries.retain(|summary| summary.upto <= messages);
    }

    /// Goes to `tip`, a message that was left.
    fn switch(&mut self, tip: i64) {
        let (mut way, mut at) = (Vec::new(), Some(tip));
        let begins = self.loaded.transcript.begins();
        let shared = loop {
            // A message that follows no replayed message follows the messages before the replay.
            let Some(entry) = at else { break begins };
            if let Ok(found) = self.path.binary_search(&entry) {
                break begins + found + 1;
            }
            let Some(left) = self.left.get(&entry) else {
                self.is_beyond = begins > 0;
                let lost = "cannot open a branch with missing messages: the branch before it is used";
                self.loaded.dropped.push(lost.into());
                return;
            };
            way.push(entry);
            at = left.before;
        };
        self.leave(shared);
        for entry in way.into_iter().rev() {
            let Some(left) = self.left.remove(&entry) else { continue };
            match self.loaded.transcript.push(left.message) {
                Ok(()) => self.path.push(entry),
                Err(e) => self.loaded.dropped.push(format!("left out a message of this branch: {e}")),
            }
        }
        if let Some(summaries) = self.summaries.get(&tip) {
            self.loaded.summaries.clone_from(summaries);
        }
    }
}
