//! A question to the person: shown whole, and answered only by Enter.
//!
//! Letters are text. [`question_keys`] has the rules for keys, and no clock; [`answers`] has what can be answered, and which
//! answer is marked at first; [`answer`] does it. What hides below the fold must be seen, or is asked about once more.

mod answer;
mod answer_row;
mod answer_use;
mod answers;
mod any_question;
mod body;
mod change_list;
mod change_rows;
mod check_rows;
mod choice_list;
mod confirmation;
mod file_purpose;
mod pane_question;
mod question_keys;
mod rows;

pub(super) use answer::QuestionOutcome;
pub(super) use answer_row::LineState;
pub(super) use any_question::AnyQuestion;
pub(super) use change_rows::{ListLayout, least_rows};
pub(super) use confirmation::{is_given_twice, left_out, second_words};
pub(super) use pane_question::PaneQuestion;
pub(super) use question_keys::{QuestionEffect, QuestionInput, TextBegun};
