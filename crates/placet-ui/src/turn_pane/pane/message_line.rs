//! The line that is typed in the pane, and the queue behind it.
//!
//! Up and Down on the line go through the queued messages, from the newest to the oldest, and back to what was typed. A message
//! that is on the line is not in the queue, so it is not sent while it is edited. It keeps its place.

use crate::paste::PasteStore;
use crate::text_field::{TextField, TextFieldKind};
use crossterm::event::{KeyCode, KeyEvent};
use placet_agent::{MessageQueue, QueuedMessage, SendTiming, is_command};
use placet_session::session::InputDraft;

/// A queued message that is on the line.
#[derive(Debug)]
struct EditedMessage {
    place: usize,
    sending: SendTiming,
    /// What was typed before it.
    typed: String,
}

pub(super) struct MessageLine {
    pub(super) field: TextField,
    pub(super) queue: MessageQueue,
    pub(super) pastes: PasteStore,
    edited: Option<EditedMessage>,
    /// What was cleared last.
    recall: Option<String>,
}

impl MessageLine {
    pub(super) fn new(queue: MessageQueue, pastes: PasteStore) -> MessageLine {
        MessageLine { field: TextField::new(TextFieldKind::Lines), queue, pastes, edited: None, recall: None }
    }

    /// The draft, for the prompt; and one that was cleared.
    pub(super) fn take_drafts(&mut self) -> (String, Option<String>) {
        (self.field.take(), self.recall.take())
    }

    /// What would be lost if this process ended now.
    pub(super) fn draft(&self) -> InputDraft {
        let queued = self.queue.lines().into_iter().map(|line| self.whole(&line.text)).collect();
        InputDraft { queued, typed: self.whole(self.field.text()) }
    }

    /// A text with its pastes.
    pub(super) fn whole(&self, text: &str) -> String {
        self.pastes.expanded(text).into_owned()
    }

    /// `text` was taken from the line and is not sent.
    pub(super) fn note_cleared(&mut self, text: String) {
        (self.recall, self.edited) = (Some(text), None);
    }

    /// The typed text, or the newest queued line, reaches the model with its next request. At the question about the changes of
    /// the turn no request follows: the text is sent after the turn.
    pub(super) fn steer(&mut self, ends_turn: bool) {
        if self.field.is_empty() {
            if !ends_turn {
                self.queue.steer_newest(|line| self.pastes.expanded(line).into_owned());
            }
            return;
        }
        let text = self.field.take();
        self.edited = None;
        if is_command(&text) || ends_turn {
            self.queue.push(text, SendTiming::AfterTurn);
        } else {
            self.queue.push(self.whole(&text), SendTiming::NextRequest);
        }
    }

    pub(super) fn edit(&mut self, key: KeyEvent) {
        let is_plain = key.modifiers.is_empty();
        match key.code {
            _ if self.field.is_end(key) && !self.field.is_empty() => {
                let text = self.field.take();
                self.queue_text(text);
            }
            KeyCode::Up if is_plain => self.edit_before(),
            KeyCode::Down if is_plain => self.edit_after(),
            _ => drop(self.field.key(key)),
        }
    }

    /// The message before the one on the line; from what was typed, the newest. Where nothing is queued, an empty line gets
    /// the line that was cleared last.
    pub(super) fn edit_before(&mut self) {
        let place = self.edited.as_ref().map_or(usize::MAX, |edited| edited.place);
        if self.edited.is_none() && self.queue.lines().is_empty() {
            if self.field.is_empty()
                && let Some(text) = self.recall.take()
            {
                self.field.set(&self.pastes.collapsed(text));
            }
            return;
        }
        if place == 0 {
            return;
        }
        let typed = self.put_on_line_back().unwrap_or_else(|| self.field.take());
        match self.queue.take_before(place) {
            Some((place, line)) => self.put_on_line(place, line, typed),
            None => self.field.set(&typed),
        }
    }

    /// The message after the one on the line, or what was typed before the first of them.
    fn edit_after(&mut self) {
        let Some(place) = self.edited.as_ref().map(|edited| edited.place) else { return };
        let Some(typed) = self.put_on_line_back() else { return };
        let next =
            if place + 1 < self.queue.lines().len() { self.queue.take_before(place + 2) } else { None };
        match next {
            Some((place, line)) => self.put_on_line(place, line, typed),
            None => self.field.set(&typed),
        }
    }

    fn put_on_line(&mut self, place: usize, line: QueuedMessage, typed: String) {
        self.field.set(&self.pastes.collapsed(line.text));
        self.edited = Some(EditedMessage { place, sending: line.sending, typed });
    }

    /// Puts the message on the line back to its place; returns what was typed before it. `None` where the line has none.
    fn put_on_line_back(&mut self) -> Option<String> {
        let EditedMessage { place, sending, typed } = self.edited.take()?;
        let text = self.field.take();
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
