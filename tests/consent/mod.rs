//! The questions, the review, and what is never applied without an answer.

mod applied_changes;
mod apply_question;
mod choice_keys;
mod hostile_answers;
mod hostile_imitation;
mod hostile_losses;
mod hostile_protected;
mod hostile_visible;
mod ordinary_commands;
mod question_again;
mod question_keys;
mod question_moments;
mod review;
mod review_conflicts;
mod review_lists;
mod review_rounds;
pub(crate) mod typed_sentences;
