//! An open question in the pane: what is asked, how far it was looked at, and what is typed at it.

use super::any_question::{AnyQuestion, PATCH, RUN_CHECKS};
use super::body::QuestionBody;
use super::change_list::{ChangeList, ListSubject};
use super::confirmation::UnseenParts;
use crate::agent::ReasonReader;
use crate::conversation::CallId;
use crate::ui::paste::PasteStore;
use crate::ui::text_field::TextField;
use crate::ui::theme::Theme;
use crossterm::event::{KeyCode, KeyEvent};

/// Where keys go while a question is open. Only Tab, Esc in the draft, a paste and a text change it, and never where the
/// question is alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ui::turn_pane) enum QuestionFocus {
    Question,
    Draft,
    /// To the question: there is nobody for whom a draft could be typed.
    QuestionAlone,
}

/// A longer draft is no row of keys that were pressed quickly.
const MOST_KEYS: usize = 4;
/// Keys that other questions have.
const ANYWHERE: [char; 2] = ['y', 'n'];

/// What a key that answers nothing does to what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ui::turn_pane) enum LookKey {
    /// It moves, opens or closes.
    Moved,
    /// It shows something else, or runs checks.
    Changed,
    No,
}

pub(in crate::ui::turn_pane) struct PaneQuestion {
    pub(super) asked: AnyQuestion,
    /// What it is about as text; of changes, the patch.
    pub(super) body: QuestionBody,
    /// What it is about as changes.
    pub(super) changes: Option<ChangeList>,
    /// The patch is shown and not the list of changes.
    pub(super) shows_patch: bool,
    /// The key that was pressed once and must be pressed again: rows were not shown, or the answer cannot be undone.
    pub(super) confirmed: Option<char>,
    /// The key for yes was pressed, and Enter has to follow it.
    pub(super) awaits_enter: bool,
    /// Why the last key did nothing: a required check did not pass.
    pub(super) unmet: Option<String>,
    /// The pane has no room for one row of what the question is about: until it has, no key consents.
    pub(super) is_too_small: bool,
    /// How many rows above that have what is asked and why.
    pub(super) head_rows: usize,
    /// The last key was not an answer: the pane highlights the keys that are.
    pub(super) reminds: bool,
    /// A text was typed where none can be: the pane reports that it did nothing.
    pub(super) ignored_text: bool,
    /// The letter that answers if no other key follows it: the row of keys shows it as selected.
    pub(super) pending_letter: Option<char>,
    /// A key that would answer was pressed before keys counted.
    pub(super) too_early: Option<char>,
    /// The letter that has to be pressed again was pressed twice before that was on the screen.
    pub(super) was_repeated: bool,
    /// The draft began with letters that were typed at the question.
    pub(in crate::ui::turn_pane) began_draft: bool,
    /// The draft that Enter would have sent: all of it are keys of this question.
    pub(super) keys_in_draft: Option<String>,
    /// A check was running when the question was last drawn.
    pub(super) had_running_checks: bool,
    /// The answer to the model's question, or the word that allows a call, once its first key was pressed.
    pub(super) typing: Option<TextField>,
    /// What is typed is why not, for the agent.
    pub(super) types_reason: bool,
    /// Where the long pastes of an answer are.
    pub(super) pastes: PasteStore,
}

impl PaneQuestion {
    pub(in crate::ui::turn_pane) fn new(
        asked: AnyQuestion,
        pastes: PasteStore,
        theme: &Theme,
    ) -> PaneQuestion {
        let changes = asked.overview().map(|overview| ChangeList::new(overview, asked.list_subject(), theme));
        PaneQuestion {
            asked,
            changes,
            pastes,
            body: QuestionBody::default(),
            shows_patch: false,
            confirmed: None,
            awaits_enter: false,
            unmet: None,
            is_too_small: false,
            head_rows: 0,
            reminds: false,
            ignored_text: false,
            pending_letter: None,
            too_early: None,
            was_repeated: false,
            began_draft: false,
            keys_in_draft: None,
            had_running_checks: false,
            typing: None,
            types_reason: false,
        }
    }

    /// It is answered with text.
    pub(in crate::ui::turn_pane) fn wants_text(&self) -> bool {
        matches!(self.asked, AnyQuestion::Enquiry(_))
    }

    pub(in crate::ui::turn_pane) fn is_about_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// A server asks: Esc declines, and the turn continues.
    pub(in crate::ui::turn_pane) fn is_of_server(&self) -> bool {
        self.asked.is_of_server()
    }

    /// The call that the question is about.
    pub(in crate::ui::turn_pane) fn call(&self) -> Option<&CallId> {
        match &self.asked {
            AnyQuestion::Call(question) => Some(&question.id),
            AnyQuestion::Choice(_) | AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => None,
        }
    }

    /// A reason can be given with the no.
    pub(super) fn takes_reason(&self) -> bool {
        match &self.asked {
            AnyQuestion::Call(question) => question.takes_reason,
            AnyQuestion::Choice(question) => !matches!(question.reasons_for, ReasonReader::Nobody),
            AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => false,
        }
    }

    /// All of what it is about was on the screen at some time, as changes or as a patch.
    pub(super) fn is_all_seen(&self) -> bool {
        let list = self.changes.as_ref().is_some_and(ChangeList::is_seen);
        self.body.seen_end || list && !self.asked.is_cut()
    }

    /// What was not shown, by file, of which `most` are named; empty where that is not known.
    pub(super) fn unseen(&self, most: usize) -> UnseenParts {
        match (&self.changes, self.asked.overview()) {
            (Some(list), Some(overview)) if !self.shows_patch => list.unseen(overview, most),
            _ => self.body.unseen(&self.asked, most),
        }
    }

    /// Opens what a yes to one path would apply unseen. In a question about everything the person goes there by keys: many
    /// files may be closed, and the list is what is read first.
    pub(super) fn show_unseen(&mut self) {
        let is_of_one = self.asked.list_subject() == ListSubject::OnePath;
        if let (Some(list), Some(overview)) = (&mut self.changes, self.asked.overview())
            && is_of_one
            && !self.shows_patch
        {
            list.show_unseen(overview);
        }
    }

    /// A key that scrolls, opens or closes, and answers nothing. Such keys always count.
    pub(in crate::ui::turn_pane) fn look_key(&mut self, key: KeyEvent) -> LookKey {
        if self.typing.is_some() && matches!(key.code, KeyCode::Char(_)) {
            return LookKey::No;
        }
        let code = key.code;
        let is_move = code == KeyCode::Char(' ') || !matches!(code, KeyCode::Char(_));
        let is_taken = self.takes_look_key(key);
        if is_taken {
            // The words about the second press are about the screen on which the first was: what is still not shown is
            // named again.
            (self.confirmed, self.awaits_enter) = (None, false);
        }
        match is_taken {
            false => LookKey::No,
            true if is_move => LookKey::Moved,
            // A letter may be the first of a text that was meant for the draft.
            true => LookKey::Changed,
        }
    }

    fn takes_look_key(&mut self, key: KeyEvent) -> bool {
        if let (KeyCode::Char(RUN_CHECKS), Some(checks)) = (key.code, self.asked.checks()) {
            self.unmet = None;
            checks.run();
            return true;
        }
        let (Some(list), Some(overview)) = (&mut self.changes, self.asked.overview()) else {
            return self.body.scroll_key(key);
        };
        match key.code {
            KeyCode::Char(PATCH) => {
                self.shows_patch = !self.shows_patch;
                true
            }
            _ if self.shows_patch => self.body.scroll_key(key),
            code => list.key(code, overview),
        }
    }

    /// Takes in colours that were worked out; true when something looks different.
    pub(in crate::ui::turn_pane) fn take_in(&mut self) -> bool {
        self.changes.as_mut().is_some_and(ChangeList::poll)
    }

    /// True while colours are worked out.
    pub(in crate::ui::turn_pane) fn is_busy(&self) -> bool {
        self.changes.as_ref().is_some_and(ChangeList::is_busy)
    }

    /// What is being typed at the question.
    pub(in crate::ui::turn_pane) fn typed(&self) -> Option<&TextField> {
        self.typing.as_ref()
    }

    /// What is typed for the model: an answer to its question, or why not. A word that allows a call is neither: it
    /// must be typed by hand.
    pub(in crate::ui::turn_pane) fn answer_field(&mut self) -> Option<&mut TextField> {
        let is_for_model = self.types_reason || matches!(self.asked, AnyQuestion::Enquiry(_));
        self.typing.as_mut().filter(|_| is_for_model)
    }

    /// What is typed is why not.
    pub(in crate::ui::turn_pane) fn is_reason(&self) -> bool {
        self.types_reason
    }

    /// The text goes on in another line; a word that allows a call has one line.
    pub(in crate::ui::turn_pane) fn continue_text(&mut self) {
        if let Some(field) = self.answer_field() {
            field.insert("\n");
        }
    }

    /// `fits` of `rows` rows are on the screen. They count as seen only if `stands`: a picture of a moment was not read.
    pub(in crate::ui::turn_pane) fn drawn(&mut self, rows: usize, fits: usize, stands: bool) {
        if self.is_too_small {
            return;
        }
        match (&mut self.changes, self.asked.overview()) {
            (Some(list), Some(overview)) if !self.shows_patch => {
                if stands {
                    list.drawn(overview);
                }
            }
            _ => self.body.drawn(&self.asked, rows, fits, stands),
        }
    }

    /// Asks whether `text` is meant as text: all of it may be keys, of this question and of one that a person expects next, as
    /// `a y` is. False where it was asked already.
    pub(in crate::ui::turn_pane) fn asks_about_keys(&mut self, text: &str) -> bool {
        let letters = || text.chars().filter(|letter| !letter.is_whitespace());
        let may_be_keys = letters().count() <= MOST_KEYS
            && letters().all(|letter| self.offers(letter) || ANYWHERE.contains(&letter))
            && letters().any(|letter| self.offers(letter));
        let asks = self.began_draft && may_be_keys && self.keys_in_draft.is_none();
        self.keys_in_draft = asks.then(|| text.into());
        asks
    }

    /// Whether it was asked, which is asked again after any other key.
    pub(in crate::ui::turn_pane) fn forget_keys_in_draft(&mut self) -> bool {
        self.keys_in_draft.take().is_some()
    }

    pub(in crate::ui::turn_pane) fn set_pending_letter(&mut self, letter: Option<char>) {
        self.pending_letter = letter;
    }

    pub(in crate::ui::turn_pane) fn cancel(self) {
        self.asked.cancel();
    }
}
