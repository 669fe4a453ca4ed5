//! Questions one after the other on one screen, with the answers so far above them: `placet setup`.
//!
//! A [`Wizard`] decides which question comes next and works in the background; here a question is drawn, or printed
//! line by line and answered with typed lines. Both ways drive the same wizard, so neither can ask something else.

mod line_ui;
mod pane;
mod search;

#[cfg(test)]
mod tests;

pub use pane::WizardPane;

/// One item of a list. Both texts may come from a server: they are rendered when they are drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WizardChoice {
    pub text: String,
    pub note: String,
    /// Other words by which a search finds the item; they are not shown.
    pub found_by: &'static str,
}

impl WizardChoice {
    pub fn new(text: impl Into<String>, note: impl Into<String>) -> WizardChoice {
        WizardChoice { text: text.into(), note: note.into(), found_by: "" }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WizardQuestion {
    Choice {
        items: Vec<WizardChoice>,
        /// Selected before a key is pressed.
        selected: usize,
        typing: ChoiceTyping,
    },
    /// A line of text. A suggestion is in the field until the person types or pastes: it is never a part of their text.
    Text { text: String, prefill: TextPrefill },
    /// A line that is never shown.
    Secret,
    /// Background work runs; Esc stops it.
    Wait,
}

/// What the text is that a field begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPrefill {
    /// Enter takes it, a letter or a paste replaces it, and the keys that move and delete edit it.
    Suggestion,
    /// What the person typed before: every key edits it.
    Typed,
}

/// The effect of letters in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceTyping {
    /// Letters search the list.
    Search,
    /// The same, and a text that is not in the list can be taken.
    SearchOrName,
    /// No effect: choosing an item changes files, and a stray key must not choose.
    Consent,
}

/// In the lines of a page: the key that takes an answer, as the person has set it.
pub const TAKE_KEY: &str = "{take}";

/// A question with what a person must know to answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WizardPage {
    pub title: String,
    /// Lines below the title, each with the label of its style; they are rendered when they are drawn.
    pub lines: Vec<(String, &'static str)>,
    pub question: WizardQuestion,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WizardAnswer {
    /// The place in the list.
    Item(usize),
    Text(String),
}

pub trait Wizard {
    /// The purpose of the questions.
    fn title(&self) -> String;

    /// The answers so far, each with a name. Secrets are not in it.
    fn answered(&self) -> Vec<(&'static str, String)>;

    fn page(&self) -> &WizardPage;

    fn answer(&mut self, answer: WizardAnswer);

    /// Text that was pasted where no text is asked for; true when it was used.
    fn paste(&mut self, text: &str) -> bool;

    /// Goes back to the previous question, or stops the background work. At the first question, leaves the wizard.
    fn back(&mut self);

    /// Leaves at once without a change.
    fn cancel(&mut self);

    /// Receives the results of background work; true when they change the page.
    fn poll(&mut self) -> bool;

    fn is_closed(&self) -> bool;
}
