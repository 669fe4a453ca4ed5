//! An open question in the pane: what is asked, how far it was looked at, and which of its answers is marked.

use super::answer_use::QuestionStage;
use super::any_question::AnyQuestion;
use super::body::QuestionBody;
use super::change_list::{ChangeList, ListSubject};
use super::confirmation::UnseenParts;
use super::question_keys::QuestionKeys;
use crate::colors::theme::Theme;
use placet_text::conversation::CallId;
use placet_tools::CheckBoard;
use std::time::Duration;

pub(in crate::turn_pane) struct PaneQuestion {
    pub(super) asked: AnyQuestion,
    /// What it is about as text; of changes, the patch.
    pub(super) body: QuestionBody,
    /// What it is about as changes.
    pub(super) changes: Option<ChangeList>,
    /// The patch is shown and not the list of changes.
    pub(super) shows_patch: bool,
    pub(super) stage: QuestionStage,
    pub(super) keys: QuestionKeys,
    /// Why the last answer did nothing: a required check did not pass.
    pub(super) unmet: Option<String>,
    /// The pane has no room for one row of what the question is about: until it has, no answer consents.
    pub(super) is_too_small: bool,
    /// How many rows above that have what is asked and why.
    pub(super) head_rows: usize,
    /// A check was running when the question was last drawn.
    had_running_checks: bool,
}

impl PaneQuestion {
    pub(in crate::turn_pane) fn new(asked: AnyQuestion, theme: &Theme) -> PaneQuestion {
        let changes = asked.overview().map(|overview| ChangeList::new(overview, asked.list_subject(), theme));
        PaneQuestion {
            asked,
            changes,
            body: QuestionBody::default(),
            shows_patch: false,
            stage: QuestionStage::default(),
            keys: QuestionKeys::default(),
            unmet: None,
            is_too_small: false,
            head_rows: 0,
            had_running_checks: false,
        }
    }

    /// Shows another row of answers: none of them counts before it was read.
    pub(super) fn show(&mut self, stage: QuestionStage) {
        self.stage = stage;
        self.keys.asks_anew();
    }

    /// The person has not read what is on the screen since `at`.
    pub(in crate::turn_pane) fn touch(&mut self, at: Duration) {
        self.keys.touch(at);
    }

    /// From when on an Enter answers.
    pub(in crate::turn_pane) fn counts_from(&self) -> Option<Duration> {
        self.keys.guard().counts_from()
    }

    /// It is answered with text.
    pub(in crate::turn_pane) fn wants_text(&self) -> bool {
        matches!(self.asked, AnyQuestion::Enquiry(_)) || self.stage == QuestionStage::Word
    }

    pub(in crate::turn_pane) fn is_about_changes(&self) -> bool {
        self.changes.is_some()
    }

    /// The call that the question is about.
    pub(in crate::turn_pane) fn call(&self) -> Option<&CallId> {
        match &self.asked {
            AnyQuestion::Call(question) => Some(&question.id),
            AnyQuestion::Choice(_) | AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => None,
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

    /// Takes in colours that were worked out; true when something looks different.
    pub(in crate::turn_pane) fn take_in(&mut self) -> bool {
        self.changes.as_mut().is_some_and(ChangeList::poll)
    }

    /// True while colours are worked out.
    pub(in crate::turn_pane) fn is_busy(&self) -> bool {
        self.changes.as_ref().is_some_and(ChangeList::is_busy)
    }

    /// The result of a check was not read yet. Called before the frame that has it, so that the frame does not say that an
    /// Enter answers.
    pub(in crate::turn_pane) fn note_checks(&mut self, at: Duration) {
        let runs = self.has_running_checks();
        if std::mem::replace(&mut self.had_running_checks, runs) && !runs {
            self.keys.touch(at);
        }
    }

    /// `fits` of `rows` rows are on the screen at `at`. They count as seen only if `stands`: a picture of a moment was not
    /// read.
    pub(in crate::turn_pane) fn drawn(&mut self, (rows, fits): (usize, usize), stands: bool, at: Duration) {
        self.keys.drawn(at);
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

    /// True while a check runs: its seconds change.
    pub(in crate::turn_pane) fn has_running_checks(&self) -> bool {
        self.asked.checks().is_some_and(CheckBoard::is_busy)
    }

    pub(in crate::turn_pane) fn cancel(self) {
        self.asked.cancel();
    }
}
