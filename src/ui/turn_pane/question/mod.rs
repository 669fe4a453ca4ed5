//! A question to the person: shown whole, and answered only by a key that was meant for it.
//!
//! A key counts when the question has been drawn, when nothing was typed for half a second before it, and when it is
//! no paste. Letters that follow each other are a text, and go to the draft. What hides below the fold must be seen, or the answer given twice.

mod answer;
mod any_question;
mod body;
mod change_list;
mod change_rows;
mod check_rows;
mod confirmation;
mod key_row;
mod pane_question;
mod rows;
mod typed_letters;

pub(super) use answer::{QuestionKeyKind, QuestionOutcome};
pub(super) use any_question::AnyQuestion;
pub(super) use change_rows::{ListLayout, least_rows};
pub(super) use confirmation::{is_given_twice, left_out, second_words};
pub(super) use pane_question::{LookKey, PaneQuestion, QuestionFocus};
pub(super) use typed_letters::{TypedLetters, TypedText};
