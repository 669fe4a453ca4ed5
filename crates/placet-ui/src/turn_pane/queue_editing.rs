//! Up and Down on the line: the queued messages, from the newest to the oldest, and back to what was typed.
//!
//! A message that is on the line is not in the queue, so it is not sent while it is edited. It keeps its place.

use super::pane::{EditedMessage, TurnPane};
use placet_agent::{QueuedMessage, SendTiming};

impl TurnPane {
    /// The message before the one on the line; from what was typed, the newest. Where nothing is queued, an empty line gets
    /// the line that was cleared last.
    pub(super) fn edit_before(&mut self) {
        let place = self.edited.as_ref().map_or(usize::MAX, |edited| edited.place);
        if self.edited.is_none() && self.queue.lines().is_empty() {
            if self.composer.is_empty()
                && let Some(text) = self.recall.take()
            {
                self.composer.set(&self.pastes.collapsed(text));
            }
            return;
        }
        if place == 0 {
            return;
        }
        let typed = self.put_on_line_back().unwrap_or_else(|| self.composer.take());
        match self.queue.take_before(place) {
            Some((place, line)) => self.put_on_line(place, line, typed),
            None => self.composer.set(&typed),
        }
    }

    /// The message after the one on the line, or what was typed before the first of them.
    pub(super) fn edit_after(&mut self) {
        let Some(place) = self.edited.as_ref().map(|edited| edited.place) else { return };
        let Some(typed) = self.put_on_line_back() else { return };
        let next =
            if place + 1 < self.queue.lines().len() { self.queue.take_before(place + 2) } else { None };
        match next {
            Some((place, line)) => self.put_on_line(place, line, typed),
            None => self.composer.set(&typed),
        }
    }

    fn put_on_line(&mut self, place: usize, line: QueuedMessage, typed: String) {
        self.composer.set(&self.pastes.collapsed(line.text));
        self.edited = Some(EditedMessage { place, sending: line.sending, typed });
    }

    /// Puts the message on the line back to its place; returns what was typed before it. `None` where the line has none.
    fn put_on_line_back(&mut self) -> Option<String> {
        let EditedMessage { place, sending, typed } = self.edited.take()?;
        let text = self.composer.take();
        if !text.trim().is_empty() {
            self.queue.put_back(place, QueuedMessage { text, sending });
        }
        Some(typed)
    }

    /// Queues a text that was sent: a message that was edited at its place.
    pub(super) fn queue_text(&mut self, text: String) {
        match self.edited.take() {
            Some(EditedMessage { place, sending, .. }) => {
                self.queue.put_back(place, QueuedMessage { text, sending })
            }
            None => self.queue.push(text, SendTiming::AfterTurn),
        }
    }
}
