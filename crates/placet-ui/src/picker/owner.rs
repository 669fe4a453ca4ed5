//! A list whose things belong to somebody: what can be done with them besides choosing one.

use crate::picker::scopes::PickerScope;
use crate::text_field::TextField;
use thiserror::Error;

/// Why something was not done, as the person reads it.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct PickerRefusal(pub String);

/// Who owns the things of a list. All words are for a person.
pub trait PickerOwner {
    /// What the field of a new name begins with.
    fn name_of(&self, value: &str) -> String;
    fn rename(&self, value: &str, name: &str) -> Result<(), PickerRefusal>;
    /// Whether it is to be deleted, and what goes with it.
    fn delete_question(&self, value: &str) -> Result<String, PickerRefusal>;
    fn delete(&self, value: &str) -> Result<(), PickerRefusal>;
    /// The names of the orders, the usual one first: `newest first`.
    fn orders(&self) -> &'static [&'static str];
    /// The lists as they are now, in the order of this number.
    fn scopes(&self, order: usize) -> Vec<PickerScope>;
}

/// What the keys are for at the moment, where it is not the list.
#[derive(Debug)]
pub(super) enum PickerTask {
    Naming {
        value: String,
        field: TextField,
        /// The old name is selected: what is typed replaces it.
        is_selected: bool,
    },
    Deleting {
        value: String,
        question: String,
    },
    /// What came of the last task, until the next key.
    Told(String),
}

/// The parts of the list that only a list with an owner has.
pub(super) struct OwnedList<'h> {
    pub(super) owner: Box<dyn PickerOwner + 'h>,
    pub(super) order: usize,
    pub(super) task: Option<PickerTask>,
}
