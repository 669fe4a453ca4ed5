//! The conversation without a screen: its entries numbered, ten at a time, each shown as a whole when it is asked for.

use super::TranscriptView;
use super::entry::{TranscriptContent, TranscriptEntry};
use super::render::{self, HighlightStatus};
use crate::line_ui::{LineUi, chosen, number, outcome_word, say_numbered};
use placet_text::text::{sanitize, width};
use std::ops::Range;

/// Entries listed at once.
const PAGE: usize = 10;
/// Columns of the first words of an entry.
const WORDS: usize = 100;

impl TranscriptView<'_> {
    /// Begins with the last entries, as the screen does.
    pub(super) fn converse(&mut self, talk: &mut dyn LineUi) {
        if let Some(note) = self.screen.note.take() {
            talk.say(&sanitize::line(&note));
        }
        let count = self.entries.all.len();
        let turns = self.entries.all.last().map_or(0, |entry| entry.turn);
        let s = if turns == 1 { "" } else { "s" };
        talk.say(&format!("transcript: {turns} turn{s}, {count} entries"));
        let mut shown = count.saturating_sub(PAGE)..count;
        self.list(talk, shown.clone());
        loop {
            let question = "a number shows an entry, `back`, `more`, `/words` searches, `copy N`, `view N`, Enter leaves: ";
            let Some(answer) = talk.ask(question) else { return };
            let answer = answer.trim();
            match answer.split_once(' ').unwrap_or((answer, "")) {
                ("", _) => return,
                ("back", "") => {
                    shown = shown.start.saturating_sub(PAGE)..shown.start.max(PAGE.min(count));
                    self.list(talk, shown.clone());
                }
                ("more", "") => {
                    let from = shown.end.min(count.saturating_sub(PAGE));
                    shown = from..(from + PAGE).min(count);
                    self.list(talk, shown.clone());
                }
                ("copy", word) => match chosen(&self.entries.all, word) {
                    Some(entry) => talk.say(&sanitize::line(&(self.hands.copy)(&entry.text()))),
                    None => talk.say(&none(word)),
                },
                ("view", word) => match chosen(&self.entries.all, word).map(TranscriptEntry::path) {
                    Some(Some(path)) => {
                        self.view = Some(path.into());
                        return;
                    }
                    Some(None) => talk.say("this entry is not a call with a path"),
                    None => talk.say(&none(word)),
                },
                _ => match (answer.strip_prefix('/'), number(answer, count)) {
                    (Some(words), _) => self.search(talk, words),
                    (None, Some(at)) => self.whole(talk, at),
                    (None, None) => talk.say(&none(answer)),
                },
            }
        }
    }

    fn list(&self, talk: &mut dyn LineUi, shown: Range<usize>) {
        let from = shown.start;
        say_numbered(talk, from, self.entries.all.get(shown).unwrap_or_default().iter().map(words));
    }

    fn search(&self, talk: &mut dyn LineUi, wanted: &str) {
        let wanted = wanted.to_lowercase();
        let contains = |entry: &TranscriptEntry<'_>| {
            let input = entry.input().unwrap_or_default();
            [entry.head(), entry.text(), input].iter().any(|text| text.to_lowercase().contains(&wanted))
        };
        let found: Vec<usize> =
            self.entries.all.iter().enumerate().filter(|(_, e)| contains(e)).map(|(at, _)| at).collect();
        let ies = if found.len() == 1 { "y has" } else { "ies have" };
        talk.say(&format!("{} entr{ies} {}", found.len(), sanitize::line(&wanted)));
        // People mostly search for the newest matches.
        for at in found.iter().skip(found.len().saturating_sub(PAGE)) {
            self.list(talk, *at..at + 1);
        }
    }

    fn whole(&self, talk: &mut dyn LineUi, at: usize) {
        let Some(entry) = self.entries.all.get(at) else { return };
        talk.say(&format!("{}: {}", at + 1, words(entry)));
        for line in render::body(entry, HighlightStatus::NotYet, &self.screen.theme, usize::MAX / 2) {
            let line = line.to_string();
            // Rules are drawn for eyes.
            let line =
                if line.contains("──") { line.trim_matches(['─', ' ']) } else { line.trim_end() };
            if !line.trim().is_empty() {
                talk.quote(line);
            }
        }
        talk.say(&format!("end of {}", at + 1));
    }
}

fn none(word: &str) -> String {
    format!("no entry `{}`", sanitize::line(word))
}

/// Whose it is, what it is, and how it ended.
fn words(entry: &TranscriptEntry<'_>) -> String {
    let head = sanitize::line(&entry.head()).into_owned();
    let first = entry.text();
    let first = width::cut(&sanitize::line(first.lines().next().unwrap_or("")), WORDS);
    let words = match entry.what {
        TranscriptContent::Person(_) => format!("turn {}, you: {first}", entry.turn),
        TranscriptContent::Answer(..) => format!("{head}: {first}"),
        TranscriptContent::Thinking(_) => format!("thinking: {first}"),
        TranscriptContent::Attached(_) => head,
        TranscriptContent::Call(..) => {
            let outcome = entry.outcome().map_or("stopped", outcome_word);
            format!("call {head}, {outcome}")
        }
    };
    match entry.note() {
        Some(note) => format!("{words}, {}", sanitize::line(&note)),
        None => words,
    }
}
