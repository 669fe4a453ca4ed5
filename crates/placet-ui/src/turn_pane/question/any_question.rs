//! Everything that a person is asked while a turn runs.

use super::change_list::ListSubject;
use placet_agent::{
    ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, LoopQuestion, ReasonReader, UserPrompt,
};
use placet_checks::unmet_words;
use placet_tools::{ChangeOverview, CheckBoard, DisplayDetail, FileDiff};

pub(in crate::turn_pane) enum AnyQuestion {
    Call(Box<ApprovalRequest>),
    Loop(LoopQuestion),
    Choice(Box<ChoiceQuestion>),
    Enquiry(UserPrompt),
}

impl AnyQuestion {
    /// The turn is over before an answer was given.
    pub(in crate::turn_pane) fn cancel(self) {
        match self {
            AnyQuestion::Call(question) => drop(question.reply.send(ApprovalReply::Cancel)),
            AnyQuestion::Loop(question) => drop(question.reply.send(false)),
            AnyQuestion::Choice(_) | AnyQuestion::Enquiry(_) => {}
        }
    }

    /// A no can have a reason, which the server gets.
    pub(in crate::turn_pane) fn tells_server(&self) -> bool {
        matches!(self, AnyQuestion::Choice(question) if matches!(question.reasons_for, ReasonReader::Server(_)))
    }

    /// Something of it is not here to be seen.
    pub(super) fn is_cut(&self) -> bool {
        match self {
            AnyQuestion::Call(question) => {
                matches!(&question.preview.detail, DisplayDetail::Diff(diff) if diff.left_out > 0)
            }
            _ => self.overview().is_some_and(|overview| {
                let asked = self.list_subject();
                let is_needed = |file: &FileDiff| {
                    overview.list.get(file.row).is_none_or(|row| asked.needs_difference(row, file))
                };
                overview.files.iter().any(|file| file.left_out.is_some() && is_needed(file))
            }),
        }
    }

    /// What a yes applies of the changes that are listed.
    pub(super) fn list_subject(&self) -> ListSubject {
        match self {
            AnyQuestion::Choice(question) if matches!(question.subject, ChoiceSubject::Protected { .. }) => {
                ListSubject::OnePath
            }
            _ => ListSubject::Everything,
        }
    }

    /// What the question shows of its subject.
    pub(super) fn detail(&self) -> Option<&DisplayDetail> {
        match self {
            AnyQuestion::Call(question) => Some(&question.preview.detail),
            AnyQuestion::Choice(question) => Some(&question.detail),
            AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => None,
        }
    }

    /// The changes that are to be applied.
    pub(super) fn overview(&self) -> Option<&ChangeOverview> {
        match self {
            AnyQuestion::Choice(question) => match &question.detail {
                DisplayDetail::Changes(overview) => Some(overview),
                _ => None,
            },
            _ => None,
        }
    }
}

impl AnyQuestion {
    pub(in crate::turn_pane) fn checks(&self) -> Option<&CheckBoard> {
        match self {
            AnyQuestion::Choice(question) => question.checks.as_deref(),
            _ => None,
        }
    }

    /// Why a yes is not possible yet: a required check did not pass on these changes.
    pub(in crate::turn_pane) fn unmet_checks(&self, run: &str, output: &str) -> Option<String> {
        unmet_words(&self.checks()?.rows(), run, output)
    }
}
