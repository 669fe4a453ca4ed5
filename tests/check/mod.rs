//! Checks of pending changes.

mod checks;
mod checks_edit;
mod checks_question;
mod checks_states;
mod checks_until;
