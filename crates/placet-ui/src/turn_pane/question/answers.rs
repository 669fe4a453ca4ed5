//! The answers that a question offers, in the order of its row, and which of them is marked at first.
//!
//! The row has what decides. What only shows something, and what few people need, is behind `More`. An answer that must not
//! be given by one Enter leads to a row of two answers, of which the harmless one is marked.

use super::answer_use::{Answer, AnswerUse, OnceMoreReason, QuestionStage};
use super::any_question::AnyQuestion;
use super::pane_question::PaneQuestion;
use placet_agent::{ApprovalReply, ApprovalRequest, ChoiceQuestion, ChoiceSubject, QuestionChoice};
use placet_checks::{CheckRow, OutputToShow};

fn answer(letter: char, words: impl Into<String>, does: AnswerUse) -> Answer {
    Answer { letter, words: words.into(), does }
}

impl PaneQuestion {
    /// The answers of the row that is shown.
    pub(super) fn answers(&self) -> Vec<Answer> {
        match &self.stage {
            QuestionStage::Answers => {
                let mut answers = self.main_answers();
                if !self.more_answers().is_empty() {
                    answers.push(answer('m', "more", AnswerUse::More));
                }
                answers
            }
            QuestionStage::More => {
                let mut answers = self.more_answers();
                answers.push(answer('b', "back", AnswerUse::Back));
                answers
            }
            QuestionStage::OnceMore(does, reason) => {
                let keep = if *reason == OnceMoreReason::Discards { "keep" } else { "back" };
                let again = self.main_answers().into_iter().chain(self.more_answers());
                let again = again.filter(|one| one.does == *does);
                again.chain([answer('b', keep, AnswerUse::Back)]).collect()
            }
            QuestionStage::Word => Vec::new(),
        }
    }

    fn main_answers(&self) -> Vec<Answer> {
        match &self.asked {
            AnyQuestion::Call(question) => {
                let always = question.always.as_ref().or(question.pattern.as_ref());
                let kept =
                    if question.always.is_some() { ApprovalReply::Always } else { ApprovalReply::Pattern };
                let always = always.map(|grant| {
                    answer('a', format!("yes, always for {}", grant.describe()), AnswerUse::Reply(kept))
                });
                let yes = answer('y', "yes", AnswerUse::Reply(ApprovalReply::Yes));
                let no = answer('n', "no", AnswerUse::Reply(ApprovalReply::No(String::new())));
                std::iter::once(yes).chain(always).chain([no]).collect()
            }
            AnyQuestion::Loop(_) => vec![
                answer('y', "yes", AnswerUse::Continue(true)),
                answer('n', "no", AnswerUse::Continue(false)),
            ],
            AnyQuestion::Choice(question) => {
                let own = |choice: &QuestionChoice| {
                    answer(choice.key, choice.words.clone(), AnswerUse::Choice(choice.clone()))
                };
                question.choices.iter().map(own).collect()
            }
            AnyQuestion::Enquiry(question) => {
                let number = |at: usize| u32::try_from(at + 1).ok().and_then(|n| char::from_digit(n, 10));
                let each = question.choices.iter().enumerate();
                each.map(|(at, words)| answer(number(at).unwrap_or(' '), words.clone(), AnswerUse::Words(at)))
                    .collect()
            }
        }
    }

    fn more_answers(&self) -> Vec<Answer> {
        match &self.asked {
            AnyQuestion::Call(question) => more_about_call(question),
            AnyQuestion::Choice(_) if self.changes.is_some() => {
                let rows = self.asked.checks().map(|checks| checks.rows()).unwrap_or_default();
                let run = rows.iter().any(CheckRow::can_run);
                let run = run.then(|| answer('t', "run checks", AnswerUse::RunChecks));
                let output = OutputToShow::first(&rows);
                let output = output.map(|_| answer('o', "output of checks", AnswerUse::CheckOutput));
                let patch = if self.shows_patch { "list" } else { "patch" };
                run.into_iter().chain(output).chain([answer('p', patch, AnswerUse::Patch)]).collect()
            }
            AnyQuestion::Choice(_) | AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => Vec::new(),
        }
    }

    /// The answer that is marked until the person moves the mark. `is_shown`: all of what is asked about was on the screen.
    pub(super) fn first_mark(&self, answers: &[Answer], is_shown: bool) -> usize {
        let at = |is: &dyn Fn(&Answer) -> bool| answers.iter().position(is);
        let harmless = |one: &Answer| !one.does.consents();
        match &self.stage {
            QuestionStage::OnceMore(..) | QuestionStage::Word => at(&|one| one.does == AnswerUse::Back),
            QuestionStage::More => at(&|one| one.does.only_shows()).or_else(|| at(&harmless)),
            QuestionStage::Answers => {
                let must_choose = match &self.asked {
                    AnyQuestion::Call(question) => question.needs_care || question.typed.is_some(),
                    AnyQuestion::Choice(question) => keeps_first(question),
                    AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => false,
                };
                match must_choose {
                    true => at(&|one| matches!(one.letter, 'n' | 'k')),
                    false if is_shown => Some(0),
                    false => at(&harmless),
                }
            }
        }
        .unwrap_or(0)
    }

    /// Why the answer is asked about once more before it is given.
    pub(super) fn once_more(&self, does: &AnswerUse) -> Option<OnceMoreReason> {
        match &self.stage {
            QuestionStage::OnceMore(asked, _) if asked == does => None,
            _ if does.discards() => Some(OnceMoreReason::Discards),
            _ if does.consents() && !self.is_all_seen() => Some(OnceMoreReason::Unseen),
            _ => None,
        }
    }
}

/// The file or repository runs later, and waits by its name.
fn keeps_first(question: &ChoiceQuestion) -> bool {
    matches!(question.subject, ChoiceSubject::Protected { .. })
}

fn more_about_call(question: &ApprovalRequest) -> Vec<Answer> {
    let why = (!question.why.is_empty()).then(|| answer('w', "why it asks", AnswerUse::Why));
    let never = question.takes_reason.then(|| answer('v', "never", AnswerUse::Reply(ApprovalReply::Never)));
    // Where both are offered, the narrower one is in the first row.
    let pattern = question.pattern.as_ref().filter(|_| question.always.is_some()).map(|grant| {
        let words = format!("yes, always for {}", grant.describe());
        answer('p', words, AnswerUse::Reply(ApprovalReply::Pattern))
    });
    why.into_iter().chain(never).chain(pattern).collect()
}
