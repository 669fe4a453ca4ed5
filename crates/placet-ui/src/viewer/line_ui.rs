//! A file without a screen: its lines with their numbers, twenty at a time.

use super::Viewer;
use super::source::styled;
use crate::line_ui::{LineUi, number};
use placet_text::text::sanitize;
use std::time::{Duration, Instant};

/// Lines read out at once.
const PAGE: usize = 20;
/// The lines of a large file are counted in the background; a request waits for them no longer than this.
const PATIENCE: Duration = Duration::from_secs(30);

impl Viewer<'_> {
    /// Begins at the line that was asked for.
    pub(super) fn converse(&mut self, talk: &mut dyn LineUi) {
        if let Some(failure) = self.wait() {
            talk.say(&failure);
        }
        let count = self.lines.text.line_count();
        let facts: String = self.facts.iter().map(|fact| format!(", {}", sanitize::line(fact))).collect();
        talk.say(&format!("{}: {count} lines{facts}", sanitize::name(&self.name)));
        let mut from = self.ahead.take().unwrap_or(0).min(count.saturating_sub(1));
        loop {
            let to = (from + PAGE).min(count);
            for line in from..to {
                let above = line.checked_sub(1).filter(|above| *above >= from);
                talk.say(&self.sentence(line, above));
            }
            let next = if to < count { "Enter continues, " } else { "end of file; " };
            let Some(answer) =
                talk.ask(&format!("{next}a number goes there, `/words` searches, `q` leaves: "))
            else {
                return;
            };
            let answer = answer.trim();
            from = match (answer, answer.strip_prefix('/'), number(answer, count)) {
                ("q", ..) => return,
                ("", ..) if to >= count => return,
                ("", ..) => to,
                (_, Some(words), _) => match self.find(words, from + 1, count) {
                    Some(line) => line,
                    None => {
                        talk.say(&format!("no match for `{}`", sanitize::line(words)));
                        from
                    }
                },
                (.., Some(line)) => line,
                _ => {
                    talk.say(&format!("no line `{}`; the last line is {count}", sanitize::line(answer)));
                    from
                }
            };
        }
    }

    /// Waits until all lines are known, and all seen lines. Returns why some lines are not known.
    fn wait(&mut self) -> Option<String> {
        let until = Instant::now() + PATIENCE;
        let mut failure = None;
        while (!self.lines.text.is_whole() || !self.windows.is_empty()) && Instant::now() < until {
            if !self.check_windows() && !self.lines.text.is_whole() {
                std::thread::sleep(Duration::from_millis(5));
                failure = failure.or_else(|| self.lines.text.failure());
            }
        }
        failure
    }

    /// `12, seen in turn 3: text`. Whether a line was seen is printed only where it differs from the line `above`.
    fn sentence(&self, line: usize, above: Option<usize>) -> String {
        let seen = |line: usize| {
            let is_seen = self.lines.seen.lines.covers(&(line..line + 1));
            is_seen.then(|| self.lines.seen.turns.of(line))
        };
        let words = match (seen(line), above.map(seen)) {
            (now, Some(before)) if now == before => String::new(),
            (Some(Some(turn)), _) => format!(", seen in turn {turn}"),
            (Some(None), _) => ", seen by the model".into(),
            (None, None) => String::new(),
            (None, Some(_)) => ", not seen".into(),
        };
        format!("{}{words}: {}", line + 1, styled(&self.lines.text.line(line), &[]))
    }

    /// The next line from `from` on that has these words, from the beginning again after the end.
    fn find(&self, words: &str, from: usize, count: usize) -> Option<usize> {
        let wanted = words.to_lowercase();
        let text = &self.lines.text;
        let found: Vec<usize> = (0..text.blocks())
            .flat_map(|block| {
                let first = text.first_line(block);
                text.lines(block).into_iter().enumerate().map(move |(at, line)| (first + at, line))
            })
            .filter(|(line, text)| *line < count && text.to_lowercase().contains(&wanted))
            .map(|(line, _)| line)
            .collect();
        found.iter().find(|line| **line >= from).or(found.first()).copied()
    }
}
