//! An answer of a question: its words, the letter that moves the mark to it, and what it does.

use placet_agent::{ApprovalReply, QuestionChoice};

/// Which row of answers is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum QuestionStage {
    #[default]
    Answers,
    More,
    /// This answer was chosen and is asked about once more.
    OnceMore(AnswerUse, OnceMoreReason),
    /// A word has to be typed.
    Word,
}

/// Why an answer is asked about once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnceMoreReason {
    /// Not all of what it is about was on the screen.
    Unseen,
    /// It throws something away.
    Discards,
}

/// What an answer does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AnswerUse {
    Choice(QuestionChoice),
    Reply(ApprovalReply),
    Continue(bool),
    /// The choice of words with this number.
    Words(usize),
    More,
    Back,
    RunChecks,
    CheckOutput,
    Patch,
    Why,
}

impl AnswerUse {
    /// It changes something: all of the question must have been on the screen, or it is asked once more.
    pub(super) fn consents(&self) -> bool {
        match self {
            AnswerUse::Choice(choice) => choice.consents,
            AnswerUse::Reply(reply) => {
                matches!(reply, ApprovalReply::Yes | ApprovalReply::Always | ApprovalReply::Pattern)
            }
            _ => false,
        }
    }

    pub(super) fn discards(&self) -> bool {
        matches!(self, AnswerUse::Choice(choice) if choice.twice)
    }

    /// It decides nothing.
    pub(super) fn only_shows(&self) -> bool {
        use AnswerUse::{CheckOutput, Patch, RunChecks, Why};
        matches!(self, RunChecks | CheckOutput | Patch | Why)
    }
}

/// An answer in the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Alt and this letter move the mark to it.
    pub(super) letter: char,
    pub(super) words: String,
    pub(super) does: AnswerUse,
}
