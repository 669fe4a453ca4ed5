//! A list without a screen: what matches, numbered, ten at a time.

use super::{Picker, PickerItem, SelectionMode};
use crate::line_ui::{LineUi, chosen, say_numbered};
use placet_text::text::sanitize;
use std::time::{Duration, Instant};

/// A number that no item of the list has.
struct UnknownItemNumber(String);

/// Things listed at once.
const PAGE: usize = 10;
/// A list that takes longer is listed as far as it is known.
const PATIENCE: Duration = Duration::from_secs(10);

impl Picker<'_> {
    /// Lists what there is and takes what is answered, until something is taken or nothing is wanted.
    pub(super) fn converse(&mut self, talk: &mut dyn LineUi) {
        self.search.ask();
        let mut from = 0;
        loop {
            self.wait();
            if let Some(failure) = self.search.failure.take() {
                talk.say(&failure.to_string());
            }
            self.list_page(talk, from);
            let more = if from + PAGE < self.search.ranked.top.len() { ", `more`" } else { "" };
            let which = if self.many == SelectionMode::Several { "numbers" } else { "a number" };
            let scope =
                self.scopes.next().map(|scope| format!(", `all` for {}", scope.name)).unwrap_or_default();
            let question = format!("{which}, words to search{more}{scope}, or Enter to leave: ");
            let Some(answer) = talk.ask(&question) else { return };
            let answer = answer.trim();
            if answer.is_empty() {
                return;
            }
            if answer == "more" {
                from = if more.is_empty() { from } else { from + PAGE };
                continue;
            }
            if answer == "all" && !scope.is_empty() {
                self.scopes.next();
                from = 0;
                continue;
            }
            match self.numbered(answer) {
                Some(Ok(taken)) => {
                    self.taken = taken;
                    return;
                }
                Some(Err(UnknownItemNumber(word))) => {
                    talk.say(&format!("no {word}; `/{word}` searches for it"))
                }
                None => {
                    self.search.query.set(answer.strip_prefix('/').unwrap_or(answer));
                    self.search.ask();
                    from = 0;
                }
            }
        }
    }

    /// Until what matches is known.
    fn wait(&mut self) {
        let until = Instant::now() + PATIENCE;
        while (self.search.is_busy()) && Instant::now() < until {
            self.search.take_ranked();
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn list_page(&self, talk: &mut dyn LineUi, from: usize) {
        let (matched, total) = (self.search.ranked.matched, self.search.ranked.total);
        let wanted = sanitize::line(self.search.query.text());
        let counted = match (self.search.query.is_empty(), matched) {
            (true, _) => total.to_string(),
            (false, 0) => format!("none of {total} matches {wanted}"),
            (false, _) => format!("{matched} of {total} match {wanted}"),
        };
        talk.say(&format!("{}: {counted}", self.title));
        let page = self.search.ranked.top.iter().skip(from).take(PAGE);
        say_numbered(talk, from, page.map(|item| words(item)));
    }

    /// The items that an answer of numbers selects. `None` when the answer is not a number.
    fn numbered(&self, answer: &str) -> Option<Result<Vec<String>, UnknownItemNumber>> {
        let words: Vec<&str> = answer.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let all = words.iter().all(|word| word.bytes().all(|b| b.is_ascii_digit()));
        if !all || words.len() > 1 && self.many == SelectionMode::One {
            return None;
        }
        let item = |word: &&str| {
            chosen(&self.search.ranked.top, word).ok_or_else(|| UnknownItemNumber((*word).into()))
        };
        Some(words.iter().map(|word| item(word).map(|item| item.value().to_string())).collect())
    }
}

fn words(item: &PickerItem) -> String {
    let text = item.visible_text();
    match item.note.is_empty() {
        true => text,
        false => format!("{text}, {}", sanitize::line(&item.note)),
    }
}
