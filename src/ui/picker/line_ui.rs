//! A list without a screen: what matches, numbered, ten at a time.

use super::{Picker, PickerItem, SelectionMode};
use crate::text::sanitize;
use crate::ui::line_ui::{LineUi, number};
use std::time::{Duration, Instant};

/// Things told at once.
const PAGE: usize = 10;
/// A list that takes longer is told as far as it is known.
const PATIENCE: Duration = Duration::from_secs(10);

impl Picker<'_> {
    /// Tells the list and takes what is answered, until something is taken or nothing is wanted.
    pub(super) fn converse(&mut self, talk: &mut dyn LineUi) {
        self.ask();
        let mut from = 0;
        loop {
            self.wait();
            if let Some(failure) = self.failure.take() {
                talk.say(&failure.to_string());
            }
            self.tell_page(talk, from);
            let more = if from + PAGE < self.ranked.top.len() { ", `more`" } else { "" };
            let which = if self.many == SelectionMode::Several { "numbers" } else { "a number" };
            let question = format!("{which}, words to search{more}, or Enter to leave: ");
            let Some(answer) = talk.ask(&question) else { return };
            let answer = answer.trim();
            if answer.is_empty() {
                return;
            }
            if answer == "more" {
                from = if more.is_empty() { from } else { from + PAGE };
                continue;
            }
            match self.numbered(answer) {
                Some(Ok(taken)) => {
                    self.taken = taken;
                    return;
                }
                Some(Err(word)) => talk.say(&format!("no {word}; `/{word}` searches for it")),
                None => {
                    self.query.set(answer.strip_prefix('/').unwrap_or(answer));
                    self.ask();
                    from = 0;
                }
            }
        }
    }

    /// Until what matches is known.
    fn wait(&mut self) {
        let until = Instant::now() + PATIENCE;
        while (self.feed.is_busy() || !self.ranked.is_done) && Instant::now() < until {
            self.take_ranked();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn tell_page(&self, talk: &mut dyn LineUi, from: usize) {
        let (matched, total) = (self.ranked.matched, self.ranked.total);
        talk.say(&match (self.query.is_empty(), matched) {
            (true, _) => format!("{}: {total}", self.title),
            (false, 0) => {
                format!("{}: none of {total} matches {}", self.title, sanitize::line(self.query.text()))
            }
            (false, _) => {
                format!("{}: {matched} of {total} match {}", self.title, sanitize::line(self.query.text()))
            }
        });
        for (at, item) in self.ranked.top.iter().enumerate().skip(from).take(PAGE) {
            talk.say(&format!("{}: {}", at + 1, words(item)));
        }
    }

    /// What an answer of numbers takes; the error is the number that there is not. `None`: it is no number.
    fn numbered(&self, answer: &str) -> Option<Result<Vec<String>, String>> {
        let words: Vec<&str> = answer.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let all = words.iter().all(|word| word.bytes().all(|b| b.is_ascii_digit()));
        if !all || words.len() > 1 && self.many == SelectionMode::One {
            return None;
        }
        let item = |word: &&str| {
            let at = number(word, self.ranked.top.len());
            at.and_then(|at| self.ranked.top.get(at)).ok_or_else(|| (*word).to_string())
        };
        Some(words.iter().map(|word| item(word).map(|item| item.value().to_string())).collect())
    }
}

fn words(item: &PickerItem) -> String {
    let text = sanitize::name(&item.text).into_owned();
    match item.note.is_empty() {
        true => text,
        false => format!("{text}, {}", sanitize::line(&item.note)),
    }
}
