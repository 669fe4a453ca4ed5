//! What becomes of a question: the answer that Enter takes, the text that is sent to it, and leaving it.
//!
//! [`super::question_keys`] decides which key does which of them.

use super::answer_use::{Answer, AnswerUse, OnceMoreReason, QuestionStage};
use super::any_question::AnyQuestion;
use super::pane_question::PaneQuestion;
use super::question_keys::{QuestionEffect, QuestionInput, TextBegun};
use crate::text_field::TextField;
use crossterm::event::KeyCode;
use placet_agent::{ApprovalReply, ReasonReader, UserPrompt};
use placet_checks::OutputToShow;
use placet_tools::UserReply;
use std::time::Duration;

/// What a key or a text did to the question.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::turn_pane) enum QuestionOutcome {
    Open,
    Closed,
    /// It is closed, and changes are applied now.
    Applies,
    /// It is open, and the person wants to see this.
    Show(OutputToShow),
    /// It is closed, nothing is done, and this is the next message to the agent.
    Message(String),
    /// The text is not for this question.
    NotForIt(String),
}

impl PaneQuestion {
    /// What a key does at the question. The line is the one below it.
    pub(in crate::turn_pane) fn key(&mut self, line: &mut TextField, input: QuestionInput) -> QuestionEffect {
        let letters: Vec<char> = self.answers().iter().map(|answer| answer.letter).collect();
        self.unmet = None;
        // The choices of an open question are rows.
        let is_list = matches!(self.asked, AnyQuestion::Enquiry(_)) && !letters.is_empty() && line.is_empty();
        let mut input = input;
        if is_list && input.key.modifiers.is_empty() {
            input.key.code = match input.key.code {
                KeyCode::Up => KeyCode::Left,
                KeyCode::Down => KeyCode::Right,
                code => code,
            };
        }
        self.keys.key(line, &letters, input)
    }

    /// A paste is text of the line; a word that allows a call has to be typed.
    pub(in crate::turn_pane) fn paste(&mut self, line: &mut TextField, text: &str, at: Duration) {
        match self.stage {
            QuestionStage::Word => self.keys.touch(at),
            _ => self.keys.paste(line, text, at),
        }
    }

    /// Moves in the rows, or opens and closes one; false where the key can do nothing there.
    pub(in crate::turn_pane) fn look(&mut self, key: KeyCode) -> bool {
        match (&mut self.changes, self.asked.overview()) {
            (Some(list), Some(overview)) if !self.shows_patch => list.key(key, overview),
            _ => self.body.scroll_key(key),
        }
    }

    /// Takes the answer with this number.
    pub(in crate::turn_pane) fn take(slot: &mut Option<PaneQuestion>, at: usize) -> QuestionOutcome {
        let Some(open) = slot.as_mut() else { return QuestionOutcome::Open };
        let Some(Answer { does, .. }) = open.answers().into_iter().nth(at) else {
            return QuestionOutcome::Open;
        };
        if open.is_too_small && does.consents() {
            return QuestionOutcome::Open;
        }
        if matches!(&does, AnswerUse::Choice(choice) if choice.consents && !choice.twice) {
            open.unmet = open.asked.unmet_checks("More", "More");
            if open.unmet.is_some() {
                return QuestionOutcome::Open;
            }
        }
        if let Some(reason) = open.once_more(&does) {
            open.ask_once_more(does, reason);
            return QuestionOutcome::Open;
        }
        match does {
            AnswerUse::More => open.show(QuestionStage::More),
            AnswerUse::Back => open.show(QuestionStage::Answers),
            AnswerUse::RunChecks => {
                open.asked.checks().into_iter().for_each(|checks| checks.run());
                open.show(QuestionStage::Answers);
            }
            AnswerUse::CheckOutput => {
                open.show(QuestionStage::Answers);
                let output = open.asked.checks().and_then(|checks| OutputToShow::first(&checks.rows()));
                return output.map_or(QuestionOutcome::Open, QuestionOutcome::Show);
            }
            AnswerUse::Patch => {
                open.shows_patch = !open.shows_patch;
                open.show(QuestionStage::Answers);
            }
            AnswerUse::Why => {
                open.body.toggle_why();
                open.show(QuestionStage::Answers);
            }
            does if does.consents() && open.word().is_some() => open.show(QuestionStage::Word),
            does => return PaneQuestion::give(slot, does),
        }
        QuestionOutcome::Open
    }

    /// Asks whether this answer is meant, and shows what was not shown.
    fn ask_once_more(&mut self, does: AnswerUse, reason: OnceMoreReason) {
        self.show(QuestionStage::OnceMore(does, reason));
        if reason == OnceMoreReason::Unseen {
            self.show_unseen();
        }
    }

    /// The word that has to be typed to allow the call.
    pub(super) fn word(&self) -> Option<&str> {
        match &self.asked {
            AnyQuestion::Call(question) => question.typed.as_deref(),
            _ => None,
        }
    }

    /// Gives an answer that is meant.
    fn give(slot: &mut Option<PaneQuestion>, does: AnswerUse) -> QuestionOutcome {
        let Some(open) = slot.take() else { return QuestionOutcome::Open };
        let applies = open.changes.is_some() && does.consents() && !does.discards();
        match (open.asked, does) {
            (AnyQuestion::Call(question), AnswerUse::Reply(reply)) => drop(question.reply.send(reply)),
            (AnyQuestion::Loop(question), AnswerUse::Continue(on)) => drop(question.reply.send(on)),
            (AnyQuestion::Choice(question), AnswerUse::Choice(choice)) => {
                let _ = question.reply.send(choice.key);
            }
            (AnyQuestion::Enquiry(question), AnswerUse::Words(at)) => {
                let words = question.choices.get(at).cloned().unwrap_or_default();
                drop(question.reply.send(UserReply::Words(words)));
            }
            _ => {}
        }
        if applies { QuestionOutcome::Applies } else { QuestionOutcome::Closed }
    }

    /// A text with Enter: the reply to the question, where it takes one and the text was begun at it.
    pub(in crate::turn_pane) fn reply(
        slot: &mut Option<PaneQuestion>,
        text: String,
        begun: TextBegun,
    ) -> QuestionOutcome {
        let Some(open) = slot.as_mut() else { return QuestionOutcome::NotForIt(text) };
        if open.stage == QuestionStage::Word {
            let is_meant = open.word() == Some(text.as_str()) && !open.is_too_small;
            return match is_meant {
                true => PaneQuestion::give(slot, AnswerUse::Reply(ApprovalReply::Yes)),
                false => QuestionOutcome::Open,
            };
        }
        if begun == TextBegun::BeforeQuestion || !open.takes_text() {
            return QuestionOutcome::NotForIt(text);
        }
        let Some(open) = slot.take() else { return QuestionOutcome::NotForIt(text) };
        match open.asked {
            AnyQuestion::Call(question) => drop(question.reply.send(ApprovalReply::No(text))),
            AnyQuestion::Enquiry(question) => {
                let words = chosen_by_number(&question, &text).unwrap_or(text);
                drop(question.reply.send(UserReply::Words(words)));
            }
            AnyQuestion::Choice(question) => match question.reasons_for {
                ReasonReader::Server(reader) => drop(reader.send(text)),
                // Dropped without an answer: everything stays pending. The agent has to know what the words are about.
                ReasonReader::Agent | ReasonReader::Nobody => {
                    return QuestionOutcome::Message(format!("I have not applied these changes: {text}"));
                }
            },
            AnyQuestion::Loop(_) => {}
        }
        QuestionOutcome::Closed
    }

    /// It asks for words that may begin as a command does: with the path of a file.
    pub(in crate::turn_pane) fn asks_for_words(&self) -> bool {
        let is_enquiry = matches!(self.asked, AnyQuestion::Enquiry(_)) || self.asked.tells_server();
        is_enquiry || self.stage == QuestionStage::Word
    }

    /// A text that is begun at the question is a reply to it.
    pub(in crate::turn_pane) fn takes_text(&self) -> bool {
        match &self.asked {
            AnyQuestion::Call(question) => question.takes_reason,
            AnyQuestion::Choice(question) => !matches!(question.reasons_for, ReasonReader::Nobody),
            AnyQuestion::Enquiry(_) => true,
            AnyQuestion::Loop(_) => false,
        }
    }

    /// Leaves a row of further answers, or the question: nothing is done.
    pub(in crate::turn_pane) fn leave(slot: &mut Option<PaneQuestion>) -> QuestionOutcome {
        let Some(open) = slot.as_mut() else { return QuestionOutcome::Open };
        if open.stage != QuestionStage::Answers {
            open.show(QuestionStage::Answers);
            return QuestionOutcome::Open;
        }
        match slot.take().map(|open| open.asked) {
            Some(AnyQuestion::Call(question)) => drop(question.reply.send(ApprovalReply::No(String::new()))),
            Some(AnyQuestion::Loop(question)) => drop(question.reply.send(false)),
            Some(AnyQuestion::Enquiry(question)) => drop(question.reply.send(UserReply::Open)),
            // Without an answer everything stays pending, and the asker does the harmless thing.
            Some(AnyQuestion::Choice(_)) | None => {}
        }
        QuestionOutcome::Closed
    }
}

/// The choice whose number was typed.
fn chosen_by_number(question: &UserPrompt, text: &str) -> Option<String> {
    let number = text.trim().parse::<usize>().ok()?;
    question.choices.get(number.checked_sub(1)?).cloned()
}
