//! Lines that the person wrote while a turn runs: some are sent after the turn, others reach the model within it.
//!
//! The user interface adds and withdraws lines; the turn takes the lines that steer it. Both use one lock: a line is
//! either withdrawn or sent, never both, and the order of the lines never changes. Nothing is stored on disk.

use super::lock::lock;
use std::sync::{Arc, Mutex};

/// When a line is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendTiming {
    /// As a turn of its own, after the present turn.
    AfterTurn,
    /// Within the present turn, with its next request.
    NextRequest,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedMessage {
    pub text: String,
    pub sending: SendTiming,
}

/// A cheap handle; clones share the lines.
#[derive(Clone, Debug, Default)]
pub struct MessageQueue(Arc<Mutex<Vec<QueuedMessage>>>);

impl MessageQueue {
    pub fn push(&self, text: String, sending: SendTiming) {
        lock(&self.0).push(QueuedMessage { text, sending });
    }

    /// Removes and returns the newest line.
    pub fn take_back(&self) -> Option<String> {
        lock(&self.0).pop().map(|line| line.text)
    }

    /// Removes and returns the newest line whose place is before this one, with its place: the person edits it.
    pub fn take_before(&self, place: usize) -> Option<(usize, QueuedMessage)> {
        let mut lines = lock(&self.0);
        let at = place.min(lines.len()).checked_sub(1)?;
        Some((at, lines.remove(at)))
    }

    /// Puts a line that was taken to its place again, or to the end where lines before it were sent.
    pub fn put_back(&self, place: usize, line: QueuedMessage) {
        let mut lines = lock(&self.0);
        let at = place.min(lines.len());
        lines.insert(at, line);
    }

    /// Makes the newest line that waits for the end of the turn steer the turn instead; `whole` makes the text to send
    /// from the line. False if there is no such line. Shell commands always wait, because they are useless for the
    /// model.
    pub fn steer_newest(&self, whole: impl Fn(&str) -> String) -> bool {
        let mut lines = lock(&self.0);
        let waits =
            |line: &&mut QueuedMessage| line.sending == SendTiming::AfterTurn && !is_command(&line.text);
        let newest = lines.iter_mut().rev().find(waits);
        newest
            .map(|line| *line = QueuedMessage { text: whole(&line.text), sending: SendTiming::NextRequest })
            .is_some()
    }

    pub fn lines(&self) -> Vec<QueuedMessage> {
        lock(&self.0).clone()
    }

    /// The oldest line, to be sent now.
    pub fn next(&self) -> Option<String> {
        let mut lines = lock(&self.0);
        (!lines.is_empty()).then(|| lines.remove(0).text)
    }

    /// All lines that were not sent, oldest first.
    pub fn drain(&self) -> Vec<String> {
        lock(&self.0).drain(..).map(|line| line.text).collect()
    }

    pub(super) fn take_steering(&self) -> Vec<String> {
        let mut lines = lock(&self.0);
        let (steering, rest) =
            lines.drain(..).partition(|l: &QueuedMessage| l.sending == SendTiming::NextRequest);
        *lines = rest;
        steering.into_iter().map(|line: QueuedMessage| line.text).collect()
    }

    /// Puts lines that were taken and could not be sent back before all others.
    pub(super) fn give_back(&self, texts: Vec<String>) {
        let again = texts.into_iter().map(|text| QueuedMessage { text, sending: SendTiming::AfterTurn });
        lock(&self.0).splice(..0, again);
    }
}

/// True for a line that the shell itself executes.
pub fn is_command(text: &str) -> bool {
    text.trim_start().starts_with(['/', '!'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(lines: &[&str]) -> MessageQueue {
        let queue = MessageQueue::default();
        for line in lines {
            queue.push((*line).into(), SendTiming::AfterTurn);
        }
        queue
    }

    #[test]
    fn the_newest_line_is_taken_back_and_the_oldest_is_sent() {
        let queue = queue(&["one", "two", "three"]);
        assert_eq!(queue.take_back().as_deref(), Some("three"));
        assert_eq!(queue.next().as_deref(), Some("one"));
        assert_eq!(queue.drain(), ["two"]);
        assert_eq!((queue.next(), queue.take_back()), (None, None));
    }

    #[test]
    fn lines_that_steer_leave_in_their_order_and_commands_never_steer() {
        let queue = queue(&["one", "two", "/undo", "!ls"]);
        assert!(queue.steer_newest(str::to_string) && queue.steer_newest(str::to_string));
        assert!(!queue.steer_newest(str::to_string), "what is left are commands");
        assert_eq!(queue.take_steering(), ["one", "two"]);
        queue.give_back(vec!["one".into(), "two".into()]);
        assert_eq!(queue.drain(), ["one", "two", "/undo", "!ls"]);
    }
}
