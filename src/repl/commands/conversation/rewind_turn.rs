//! The turns to which a conversation can go back, and what each of them changed.

use crate::conversation::Message;
use crate::repl::titles::{first_words, review_reports, typed_words};
use crate::ui::review;
use crate::workspace::{ChangeCount, ChangeSet, FileChange, JournalEntry, LayerKind, TransactionLabel, View};
use std::collections::BTreeSet;

/// A turn of this conversation: where it begins, what was typed, and what it changed that is still applied.
pub(in crate::repl::commands) struct RewindTurn {
    pub(in crate::repl::commands) index: usize,
    /// The first line of it.
    pub(in crate::repl::commands) said: String,
    /// All of it.
    pub(in crate::repl::commands) text: String,
    /// The part of it that the person typed: it can be sent again.
    pub(in crate::repl::commands) typed: String,
    /// The report of a review that it brought the agent.
    pub(in crate::repl::commands) report: Option<String>,
    pub(in crate::repl::commands) entries: Vec<JournalEntry>,
    /// What it changed that is still pending.
    pub(in crate::repl::commands) pending: ChangeCount,
    /// The same of this turn and all later ones. Several turns may have changed one file.
    pub(in crate::repl::commands) pending_from_here: ChangeCount,
}

/// What is to go back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::repl::commands) enum RewindScope {
    Files,
    Conversation,
    Both,
}

impl RewindTurn {
    /// The transactions of several turns, the oldest first.
    pub(in crate::repl::commands) fn entries_of(turns: &[RewindTurn]) -> Vec<JournalEntry> {
        let mut entries: Vec<JournalEntry> =
            turns.iter().flat_map(|turn| turn.entries.iter().cloned()).collect();
        entries.sort_by_key(|entry| entry.id);
        entries
    }

    /// Every turn of the conversation, the first one first.
    pub(in crate::repl::commands) fn all(messages: &[Message], view: &View) -> Vec<RewindTurn> {
        let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let waiting = view.changes(LayerKind::Pending).unwrap_or_default();
        let mut standing: Vec<JournalEntry> = view.journal().turns().into_iter().flatten().collect();
        standing.sort_by_key(|entry| entry.id);
        let said = messages.iter().enumerate().filter_map(|(index, m)| match m {
            Message::User { parts, .. } => Some((index, parts)),
            _ => None,
        });
        let mut turns: Vec<(RewindTurn, String)> = Vec::new();
        turns.extend(said.map(|(index, parts)| {
            let text = first_words(parts);
            let turn = TransactionLabel::turn_of(&name, index, 0);
            let here =
                |e: &&JournalEntry| e.turn().is_some_and(|name| TransactionLabel::place_of(name) == turn);
            // Of several branches the newest: the one that is gone on with.
            let branch = standing.iter().rfind(here).and_then(JournalEntry::turn);
            let entries = standing.iter().filter(|e| branch.is_some() && e.turn() == branch);
            let entries = entries.cloned().collect();
            let first = || text.lines().next().unwrap_or_default().to_string();
            let said = review::summary(&text).unwrap_or_else(first);
            let (typed, report) = (typed_words(parts), review_reports(parts));
            let pending = pending_of(view, &waiting, &BTreeSet::from([turn.as_str()]));
            let pending_from_here = ChangeCount::default();
            let own = RewindTurn { index, said, text, typed, report, entries, pending, pending_from_here };
            (own, turn)
        }));
        let mut later = BTreeSet::new();
        for (own, turn) in turns.iter_mut().rev() {
            later.insert(turn.as_str());
            own.pending_from_here = pending_of(view, &waiting, &later);
        }
        turns.into_iter().map(|(turn, _)| turn).collect()
    }
}

/// The changes in `set` of which one of the turns at these places made a part.
fn pending_of(view: &View, set: &ChangeSet, turns: &BTreeSet<&str>) -> ChangeCount {
    let made = |change: &FileChange| {
        let mut origins = change.steps.iter().filter_map(|step| step.origin.as_ref());
        origins.any(|origin| turns.contains(TransactionLabel::place_of(&origin.turn)))
    };
    view.count_of(set, made)
}
