//! An open question in the pane: what is asked, how far it was looked at, and what is typed at it.

use super::any_question::AnyQuestion;
use super::body::QuestionBody;
use crate::ui::paste::PasteStore;
use crate::ui::text_field::TextField;

/// Where keys go while a question is open. Only Tab, Esc in the draft, and a paste change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ui::turn_pane) enum QuestionFocus {
    Question,
    Draft,
}

pub(in crate::ui::turn_pane) struct PaneQuestion {
    pub(super) asked: AnyQuestion,
    pub(super) body: QuestionBody,
    /// The key that was pressed once and has to be pressed again: rows were unseen, or there is no way back.
    pub(super) confirmed: Option<char>,
    /// The last key was no answer: the keys that are stand out.
    pub(super) reminds: bool,
    /// The answer to the model's question, or the word that allows a call, once its first key was pressed.
    pub(super) typing: Option<TextField>,
    /// Where the long pastes of an answer are.
    pub(super) pastes: PasteStore,
}

impl PaneQuestion {
    pub(in crate::ui::turn_pane) fn new(asked: AnyQuestion, pastes: PasteStore) -> PaneQuestion {
        let body = QuestionBody::default();
        PaneQuestion { asked, body, confirmed: None, reminds: false, typing: None, pastes }
    }

    /// What is being typed at the question.
    pub(in crate::ui::turn_pane) fn typed(&self) -> Option<&TextField> {
        self.typing.as_ref()
    }

    /// The answer to the model's own question, as far as it is typed. A word that allows a call is no such answer: it
    /// must be typed by hand.
    pub(in crate::ui::turn_pane) fn answer_field(&mut self) -> Option<&mut TextField> {
        self.typing.as_mut().filter(|_| matches!(self.asked, AnyQuestion::Enquiry(_)))
    }

    pub(in crate::ui::turn_pane) fn drawn(&mut self, rows: usize, fits: usize) {
        self.body.drawn(&self.asked, rows, fits);
    }

    pub(in crate::ui::turn_pane) fn cancel(self) {
        self.asked.cancel();
    }
}
