//! `/rewind`: back to before a turn, with its files, its words, or both. What it would do is shown first.

use super::Shell;
use super::changes::label;
use crate::audit::AuditKind;
use crate::conversation::Message;
use crate::serve::changes::{figures, undo_entries};
use crate::text::{sanitize, width};
use crate::workspace::{JournalEntry, TransactionLabel, View};
use std::path::Path;

/// A turn of this conversation: where it begins, what was typed, and what it changed that is still applied.
struct RewindTurn {
    index: usize,
    said: String,
    entries: Vec<JournalEntry>,
}

/// What is to go back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RewindScope {
    Files,
    Conversation,
    Both,
}

impl Shell<'_> {
    /// Lists the turns, or goes back to before the N-th from the end.
    pub(super) fn rewind(&mut self, rest: &str) {
        // The conversation's own: an earlier session's turns are not in it.
        let own = self.conversation.agent.as_ref().map(|agent| agent.env().workspace.clone());
        let Some(view) = own.as_ref().and_then(|w| w.view().cloned()) else {
            self.note("no messages yet");
            return;
        };
        let turns = self.past(&view);
        if turns.is_empty() {
            self.note("no messages yet");
            return;
        }
        let mut words = rest.split_whitespace();
        let (number, what, others) = (words.next(), words.next(), words.next() == Some("rest"));
        let Some(number) = number else {
            self.list_turns(&view, &turns);
            return;
        };
        let from = number.parse::<usize>().ok().filter(|n| *n >= 1).and_then(|n| turns.len().checked_sub(n));
        let Some(from) = from else {
            self.error(&format!("no turn {number}"), Some("/rewind lists the turns"));
            return;
        };
        let what = match what {
            Some("files") => RewindScope::Files,
            Some("conversation") => RewindScope::Conversation,
            Some("both") => RewindScope::Both,
            _ => {
                let hint =
                    format!("/rewind {number} files, /rewind {number} conversation or /rewind {number} both");
                self.list_turns(&view, turns.get(from..).unwrap_or_default());
                self.error("choose what to rewind with these turns", Some(&hint));
                return;
            }
        };
        self.rewind_to(&view, turns.into_iter().skip(from).collect(), what, others);
    }

    fn past(&self, view: &View) -> Vec<RewindTurn> {
        let Some(agent) = &self.conversation.agent else { return Vec::new() };
        let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut standing: Vec<JournalEntry> = view.journal().turns().into_iter().flatten().collect();
        standing.sort_by_key(|entry| entry.id);
        let said = agent.transcript().messages().iter().enumerate().filter_map(|(index, m)| match m {
            Message::User { parts, .. } => Some((index, super::session::first_words(parts))),
            _ => None,
        });
        said.map(|(index, text)| {
            let turn = TransactionLabel::turn_of(&name, index, 0);
            let here =
                |e: &&JournalEntry| e.turn().is_some_and(|name| TransactionLabel::place_of(name) == turn);
            // Of several branches the newest: the one that is gone on with.
            let branch = standing.iter().rfind(here).and_then(JournalEntry::turn);
            let entries = standing.iter().filter(|e| branch.is_some() && e.turn() == branch);
            let entries = entries.cloned().collect();
            let said = text.lines().next().unwrap_or_default().to_string();
            RewindTurn { index, said, entries }
        })
        .collect()
    }

    fn list_turns(&self, view: &View, turns: &[RewindTurn]) {
        let line = |(back, turn): (usize, &RewindTurn)| {
            let (files, added, removed) = figures(view, &turn.entries);
            let s = if files == 1 { "" } else { "s" };
            let figures = match files {
                0 => "no files".to_string(),
                _ => format!("{files} file{s} +{added} -{removed}"),
            };
            let said = width::cut(&sanitize::line(&turn.said), 60);
            ratatui::text::Line::raw(format!("{:>3}  {said}  ({figures})", back + 1))
        };
        self.say_lines(turns.iter().rev().enumerate().take(20).map(line));
        self.hint("/rewind N files|conversation|both rewinds to before that turn");
    }

    fn rewind_to(&mut self, view: &View, turns: Vec<RewindTurn>, what: RewindScope, rest: bool) {
        let Some(index) = turns.first().map(|t| t.index) else { return };
        if what != RewindScope::Conversation {
            let entries: Vec<JournalEntry> = turns.into_iter().flat_map(|t| t.entries).collect();
            if !entries.is_empty() {
                let workspace = self.app.workspace().clone();
                let shown = |path: &Path| workspace.shortened(path);
                let told = undo_entries(
                    view,
                    &entries,
                    None,
                    (rest, "/rewind N files|both rest"),
                    &label(view, "/rewind"),
                    &shown,
                );
                let done = told.done;
                self.done(AuditKind::Undo, "/rewind", told);
                if !done {
                    // Words and files go back together or not at all.
                    return;
                }
            }
        }
        if what != RewindScope::Files
            && let Some(agent) = &mut self.conversation.agent
        {
            match agent.rewind(index) {
                Ok(()) => self.note("the conversation is rewound to before that turn; /tree shows the branch that you left, and the agent reads files again before it edits them"),
                Err(e) => self.error(&format!("the conversation could not be rewound: {e}"), None),
            }
        }
    }
}
