//! Keys at a question: which of them may answer, and what each of them answers.
//!
//! Separate from what the question looks like, so that the rules for keys can be read and tested by themselves.

use super::any_question::{AnyQuestion, PATCH, RUN_CHECKS};
use super::confirmation::is_given_twice;
use super::pane_question::PaneQuestion;
use super::typed_letters::{LetterUse, TypedLetters};
use crate::agent::{ApprovalReply, QuestionChoice, ReasonReader, UserPrompt};
use crate::tools::UserReply;
use crate::ui::input::guard::{KeyRole, is_plain};
use crate::ui::text_field::{TextField, TextFieldKind};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The key that begins a reason for a no.
pub(super) const REASON: char = 'b';

/// What is left of a word that begins a sentence, after its `b` was taken for the key: none of them is a word.
const TORN: [&str; 4] = ["ut", "ecause", "efore", "etter"];

/// What a key means to the question, before the guard decides whether the key counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ui::turn_pane) enum QuestionKeyKind {
    /// It decides something, if the guard lets it.
    Answer(KeyRole),
    /// The first letter of an answer that the person types as text.
    BeginsText,
    /// A letter of what is being typed at the question.
    Text,
    /// The key is not an answer: the pane shows again which keys are.
    Nothing,
}

pub(in crate::ui::turn_pane) enum QuestionOutcome {
    /// The key was not for the question.
    Not,
    Open,
    Closed,
    /// Refused, and the turn is to stop.
    Cancelled,
    /// Nothing is done, and this is the next message to the agent.
    Message(String),
}

impl PaneQuestion {
    /// The key is the one that has to be pressed again.
    pub(in crate::ui::turn_pane) fn is_pressed(&self, key: KeyEvent) -> bool {
        self.confirmed.is_some_and(|pressed| key.code == KeyCode::Char(pressed))
    }

    /// The key for yes was pressed where Enter has to follow it: Enter allows it, and no letter does.
    pub(in crate::ui::turn_pane) fn awaits_enter(&self) -> bool {
        self.awaits_enter
    }

    /// The call destroys data, or what is applied runs later: a letter may be the first of a text, so a letter alone does
    /// not allow it.
    pub(super) fn needs_enter(&self) -> bool {
        match &self.asked {
            AnyQuestion::Call(question) => question.destroys && question.typed.is_none(),
            AnyQuestion::Choice(question) => question.choices.iter().any(|choice| choice.wants_enter),
            AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => false,
        }
    }

    /// The letter is one of the keys that decide.
    pub(in crate::ui::turn_pane) fn offers(&self, letter: char) -> bool {
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        matches!(self.meaning(key), QuestionKeyKind::Answer(_)) && !self.wants_text() && self.typing.is_none()
    }

    /// What a letter chooses, as the row of keys names it.
    pub(in crate::ui::turn_pane) fn chosen_by(&self, key: KeyCode) -> Option<(char, String)> {
        let KeyCode::Char(letter) = key else { return None };
        let words = match (&self.asked, letter) {
            (AnyQuestion::Choice(question), _) => {
                question.choices.iter().find(|choice| choice.key == letter)?.words.clone()
            }
            (AnyQuestion::Call(_) | AnyQuestion::Loop(_), 'y') => "yes".into(),
            (AnyQuestion::Call(_) | AnyQuestion::Loop(_), 'n') => "no".into(),
            (AnyQuestion::Call(_), 'a' | 'p') => "always".into(),
            (AnyQuestion::Call(_), 'v') => "never".into(),
            _ => return None,
        };
        Some((letter, words))
    }

    /// What `key` is to this question.
    pub(in crate::ui::turn_pane) fn meaning(&self, key: KeyEvent) -> QuestionKeyKind {
        if let Some(typed) = &self.typing {
            return match typed.is_end(key) {
                true => QuestionKeyKind::Answer(KeyRole::EndOfText),
                false => QuestionKeyKind::Text,
            };
        }
        if has_modifier(key) {
            return QuestionKeyKind::Nothing;
        }
        if key.code == KeyCode::Char(REASON) && self.takes_reason() {
            return QuestionKeyKind::Answer(KeyRole::Letter);
        }
        if self.awaits_enter && key.modifiers.is_empty() && matches!(key.code, KeyCode::Enter | KeyCode::Esc)
        {
            return QuestionKeyKind::Answer(KeyRole::Confirm);
        }
        let is_letter = matches!(key.code, KeyCode::Char(_));
        let begins_text = is_letter && matches!(self.asked, AnyQuestion::Enquiry(_));
        if !is_plain(key) && !begins_text {
            return QuestionKeyKind::Nothing;
        }
        let answers = match (&self.asked, key.code) {
            (_, KeyCode::Esc) => true,
            (AnyQuestion::Enquiry(question), code) => match (chosen_of(question, code), code) {
                (Some(_), _) => true,
                (None, KeyCode::Char(c)) if c != ' ' => return QuestionKeyKind::BeginsText,
                _ => false,
            },
            (AnyQuestion::Choice(question), KeyCode::Char(c)) => {
                question.choices.iter().any(|one| one.key == c)
            }
            (AnyQuestion::Call(question), KeyCode::Char(c)) => match c {
                'y' | 'n' | 'v' => true,
                'a' => question.always.is_some(),
                'p' => question.pattern.is_some(),
                'w' => !question.why.is_empty(),
                _ => false,
            },
            (AnyQuestion::Loop(_), KeyCode::Char(c)) => matches!(c, 'y' | 'n'),
            _ => false,
        };
        match (answers, self.is_pressed(key)) {
            (false, _) => QuestionKeyKind::Nothing,
            (true, true) => QuestionKeyKind::Answer(KeyRole::Confirm),
            // Enter has to follow it, and a letter after it makes both a text.
            (true, false) if key.code == KeyCode::Char('y') && self.needs_enter() => {
                QuestionKeyKind::Answer(KeyRole::Answer)
            }
            (true, false) if is_letter => QuestionKeyKind::Answer(KeyRole::Letter),
            (true, false) => QuestionKeyKind::Answer(KeyRole::Answer),
        }
    }

    /// What a letter is that follows others, or that others may follow.
    pub(in crate::ui::turn_pane) fn letter_use(&self, key: KeyEvent) -> LetterUse {
        let KeyCode::Char(letter) = key.code else { return LetterUse::Neutral };
        // Somebody who reads what the second press would do says no, or asks for the review, at once.
        let decides = match &self.asked {
            AnyQuestion::Choice(question) => {
                let mut choices = question.choices.iter();
                choices.any(|choice| choice.key == letter && (choice.consents || choice.twice))
            }
            AnyQuestion::Call(_) | AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => false,
        };
        let differs = self.confirmed.is_some_and(|awaited| letter != awaited);
        match self.meaning(key) {
            _ if self.awaits_enter && letter != 'y' => LetterUse::OtherThanAwaited,
            _ if self.looks(key) => LetterUse::Look,
            _ if !letter.is_alphanumeric() => LetterUse::Neutral,
            QuestionKeyKind::Nothing => LetterUse::NoKey,
            _ if decides && differs => LetterUse::OtherThanAwaited,
            _ => LetterUse::Key,
        }
    }

    /// The letter shows something, and decides nothing.
    fn looks(&self, key: KeyEvent) -> bool {
        match (key.code, &self.asked) {
            (KeyCode::Char('w'), AnyQuestion::Call(question)) => !question.why.is_empty(),
            (KeyCode::Char(PATCH), _) => self.changes.is_some(),
            (KeyCode::Char(' '), _) => self.changes.is_some() && !self.shows_patch,
            _ => self.is_check_key(key),
        }
    }

    /// The key was no answer: what was about to be done is off, and the row of keys shows itself.
    pub(in crate::ui::turn_pane) fn remind(&mut self) {
        self.confirmed = None;
        self.awaits_enter = false;
        self.unmet = None;
        self.too_early = None;
        self.ignored_text = false;
        self.reminds = true;
    }

    /// The same for a text that cannot be a draft.
    pub(in crate::ui::turn_pane) fn ignore_text(&mut self) {
        self.remind();
        self.ignored_text = true;
    }

    /// `text` was typed at the question, and is for the draft: what its letters began is off, and what they showed is
    /// hidden again. The last letter made a text of it, and showed nothing.
    pub(in crate::ui::turn_pane) fn give_up_text(&mut self, text: &str) {
        (self.confirmed, self.unmet, self.too_early) = (None, None, None);
        self.awaits_enter = false;
        (self.typing, self.types_reason, self.reminds) = (None, false, false);
        let toggles = text.chars().rev().skip(1).filter(|c| *c == PATCH).count();
        if self.changes.is_some() && toggles % 2 == 1 {
            self.shows_patch = !self.shows_patch;
        }
    }

    /// All of the letters were the key that shows the patch.
    pub(in crate::ui::turn_pane) fn has_only_looked(&self, letters: &TypedLetters) -> bool {
        self.changes.is_some() && letters.is_only(PATCH)
    }

    /// `text` is the beginning of the person's own answer to a question that is answered with text.
    pub(in crate::ui::turn_pane) fn begin_text(&mut self, text: &str) {
        self.give_up_text("");
        let mut answer = TextField::new(TextFieldKind::Lines);
        answer.insert(text);
        self.typing = Some(answer);
    }

    /// The key would answer, and was pressed before keys count: without a word about it, a person takes the next key for
    /// the second one.
    pub(in crate::ui::turn_pane) fn is_too_early(&mut self, key: KeyEvent) {
        if let KeyCode::Char(key) = key.code {
            self.too_early = Some(key);
        }
    }

    /// A key that may answer was pressed; `is_repeat` where it waited to answer already.
    pub(in crate::ui::turn_pane) fn note_press(&mut self, key: KeyEvent, is_repeat: bool) {
        self.was_repeated = is_repeat || self.was_repeated && self.is_pressed(key);
    }

    /// A key was pressed once and has to be pressed again.
    pub(in crate::ui::turn_pane) fn wants_confirmation(&self) -> bool {
        self.confirmed.is_some() || self.awaits_enter
    }

    pub(in crate::ui::turn_pane) fn answer_key(
        slot: &mut Option<PaneQuestion>,
        key: KeyEvent,
    ) -> QuestionOutcome {
        let Some(open) = slot.as_mut() else { return QuestionOutcome::Not };
        if open.typing.is_some() {
            open.reminds = false;
            return PaneQuestion::type_key(slot, key);
        }
        if has_modifier(key) {
            return QuestionOutcome::Not;
        }
        open.reminds = false;
        (open.unmet, open.too_early) = (None, None);
        let awaited = std::mem::take(&mut open.awaits_enter);
        match key.code {
            KeyCode::Enter if awaited && !open.is_too_small => return PaneQuestion::consent(slot),
            KeyCode::Enter | KeyCode::Esc if awaited => return QuestionOutcome::Open,
            _ => {}
        }
        if key.code == KeyCode::Char(REASON) && open.takes_reason() {
            (open.typing, open.types_reason) = (Some(TextField::new(TextFieldKind::Lines)), true);
            open.confirmed = None;
            return QuestionOutcome::Open;
        }
        if let (KeyCode::Char('w'), AnyQuestion::Call(q)) = (key.code, &open.asked)
            && !q.why.is_empty()
        {
            open.body.toggle_why();
            return QuestionOutcome::Open;
        }
        if let AnyQuestion::Enquiry(question) = &open.asked {
            let chosen = chosen_of(question, key.code);
            return PaneQuestion::answer_enquiry(slot, key.code, chosen);
        }
        if let AnyQuestion::Choice(question) = &open.asked {
            let chosen = question.choices.iter().find(|c| KeyCode::Char(c.key) == key.code).cloned();
            return PaneQuestion::choose(slot, chosen, key.code == KeyCode::Esc);
        }
        let reply = match (key.code, &open.asked) {
            (KeyCode::Char('y'), _) => ApprovalReply::Yes,
            (KeyCode::Char('n'), _) => ApprovalReply::No(String::new()),
            (KeyCode::Char('a'), AnyQuestion::Call(q)) if q.always.is_some() => ApprovalReply::Always,
            (KeyCode::Char('p'), AnyQuestion::Call(q)) if q.pattern.is_some() => ApprovalReply::Pattern,
            (KeyCode::Char('v'), AnyQuestion::Call(_)) => ApprovalReply::Never,
            (KeyCode::Esc, _) => ApprovalReply::Cancel,
            _ => return QuestionOutcome::Not,
        };
        let consents = matches!(reply, ApprovalReply::Yes | ApprovalReply::Always | ApprovalReply::Pattern);
        if consents && open.is_too_small {
            return QuestionOutcome::Open;
        }
        let pressed = if let KeyCode::Char(c) = key.code { Some(c) } else { None };
        if consents && !open.is_all_seen() && open.confirmed != pressed {
            open.confirmed = pressed;
            return QuestionOutcome::Open;
        }
        if consents && matches!(&open.asked, AnyQuestion::Call(q) if q.typed.is_some()) {
            open.typing = Some(TextField::default());
            return QuestionOutcome::Open;
        }
        if consents && open.needs_enter() {
            (open.awaits_enter, open.confirmed) = (true, None);
            return QuestionOutcome::Open;
        }
        PaneQuestion::close(slot, reply)
    }

    /// Yes, by the key for yes and Enter.
    fn consent(slot: &mut Option<PaneQuestion>) -> QuestionOutcome {
        let choices = slot.as_ref().and_then(|open| match &open.asked {
            AnyQuestion::Choice(question) => Some(&question.choices),
            AnyQuestion::Call(_) | AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_) => None,
        });
        let Some(choices) = choices else { return PaneQuestion::close(slot, ApprovalReply::Yes) };
        let key = choices.iter().find(|choice| choice.wants_enter).map(|choice| choice.key);
        if let (Some(key), Some(PaneQuestion { asked: AnyQuestion::Choice(question), .. })) =
            (key, slot.take())
        {
            let _ = question.reply.send(key);
        }
        QuestionOutcome::Closed
    }

    /// A key of a question with answers of its own; Esc answers nothing.
    fn choose(
        slot: &mut Option<PaneQuestion>,
        chosen: Option<QuestionChoice>,
        escape: bool,
    ) -> QuestionOutcome {
        let Some(open) = slot.as_mut() else { return QuestionOutcome::Not };
        if open.is_too_small && chosen.as_ref().is_some_and(|choice| choice.consents) {
            return QuestionOutcome::Open;
        }
        if chosen.as_ref().is_some_and(|choice| choice.consents && !choice.twice) {
            open.unmet = open.asked.unmet_checks(&RUN_CHECKS.to_string());
            if open.unmet.is_some() {
                open.confirmed = None;
                return QuestionOutcome::Open;
            }
        }
        match chosen {
            Some(choice)
                if is_given_twice(&choice, open.is_all_seen()) && open.confirmed != Some(choice.key) =>
            {
                open.confirmed = Some(choice.key);
                if !choice.twice {
                    open.show_unseen();
                }
                QuestionOutcome::Open
            }
            Some(choice) if choice.wants_enter => {
                (open.awaits_enter, open.confirmed) = (true, None);
                QuestionOutcome::Open
            }
            Some(choice) => {
                if let Some(PaneQuestion { asked: AnyQuestion::Choice(question), .. }) = slot.take() {
                    let _ = question.reply.send(choice.key);
                }
                QuestionOutcome::Closed
            }
            None if escape => {
                drop(slot.take());
                QuestionOutcome::Closed
            }
            None => QuestionOutcome::Not,
        }
    }

    /// A key of the model's own question: a choice, the first letter of an answer, or Esc, which leaves it open.
    fn answer_enquiry(
        slot: &mut Option<PaneQuestion>,
        key: KeyCode,
        chosen: Option<String>,
    ) -> QuestionOutcome {
        match (key, chosen) {
            (_, Some(words)) => PaneQuestion::answer(slot, UserReply::Words(words)),
            (KeyCode::Esc, None) => PaneQuestion::answer(slot, UserReply::Open),
            (KeyCode::Char(c), None) => {
                if let Some(open) = slot {
                    let mut answer = TextField::new(TextFieldKind::Lines);
                    answer.insert(c.encode_utf8(&mut [0; 4]));
                    open.typing = Some(answer);
                }
                QuestionOutcome::Open
            }
            _ => QuestionOutcome::Open,
        }
    }

    fn answer(slot: &mut Option<PaneQuestion>, said: UserReply) -> QuestionOutcome {
        if let Some(PaneQuestion { asked: AnyQuestion::Enquiry(question), .. }) = slot.take() {
            drop(question.reply.send(said));
        }
        QuestionOutcome::Closed
    }

    fn close(slot: &mut Option<PaneQuestion>, reply: ApprovalReply) -> QuestionOutcome {
        let cancelled = reply == ApprovalReply::Cancel;
        let consents = matches!(reply, ApprovalReply::Yes | ApprovalReply::Always | ApprovalReply::Pattern);
        let Some(open) = slot.take() else { return QuestionOutcome::Not };
        match open.asked {
            AnyQuestion::Call(question) => drop(question.reply.send(reply)),
            AnyQuestion::Loop(question) => drop(question.reply.send(consents)),
            AnyQuestion::Choice(_) | AnyQuestion::Enquiry(_) => {}
        }
        if cancelled { QuestionOutcome::Cancelled } else { QuestionOutcome::Closed }
    }

    /// No, and why.
    fn refuse(slot: &mut Option<PaneQuestion>, why: String) -> QuestionOutcome {
        match slot.take().map(|open| open.asked) {
            Some(AnyQuestion::Call(question)) => drop(question.reply.send(ApprovalReply::No(why))),
            Some(AnyQuestion::Choice(question)) => match question.reasons_for {
                ReasonReader::Server(reader) => drop(reader.send(why)),
                // Dropped without an answer: everything stays pending. The agent has to know what the words are about,
                // and a message that begins with `/` or `!` would be a command.
                ReasonReader::Agent | ReasonReader::Nobody => {
                    return QuestionOutcome::Message(format!("I have not applied these changes: {why}"));
                }
            },
            Some(AnyQuestion::Loop(_) | AnyQuestion::Enquiry(_)) | None => {}
        }
        QuestionOutcome::Closed
    }

    /// A key of the word that says yes. A wrong word is begun again, Esc goes back to the question.
    fn type_key(slot: &mut Option<PaneQuestion>, key: KeyEvent) -> QuestionOutcome {
        let Some(open) = slot.as_mut() else { return QuestionOutcome::Not };
        let wanted = match &open.asked {
            AnyQuestion::Call(q) => q.typed.clone(),
            AnyQuestion::Loop(_) | AnyQuestion::Choice(_) | AnyQuestion::Enquiry(_) => None,
        };
        let is_enquiry = matches!(open.asked, AnyQuestion::Enquiry(_));
        let Some(field) = open.typing.as_mut().filter(|_| key.code != KeyCode::Esc) else {
            (open.typing, open.types_reason) = (None, false);
            return QuestionOutcome::Open;
        };
        if !field.is_end(key) {
            field.key(key);
            // The key for a reason was the first letter of a word.
            if open.types_reason && field.text().strip_suffix(' ').is_some_and(|word| TORN.contains(&word)) {
                let whole = format!("{REASON}{}", field.text());
                field.set(&whole);
            }
            return QuestionOutcome::Open;
        }
        let typed = field.take();
        if open.types_reason {
            let words = open.pastes.expanded(typed.trim()).into_owned();
            return if words.is_empty() { QuestionOutcome::Open } else { PaneQuestion::refuse(slot, words) };
        }
        if is_enquiry && !typed.trim().is_empty() {
            let words = open.pastes.expanded(&typed).into_owned();
            return PaneQuestion::answer(slot, UserReply::Words(words));
        }
        if wanted.is_some_and(|wanted| wanted == typed) && !open.is_too_small {
            return PaneQuestion::close(slot, ApprovalReply::Yes);
        }
        QuestionOutcome::Open
    }
}

/// A modifier makes it another key than the letter alone.
fn has_modifier(key: KeyEvent) -> bool {
    !(key.modifiers - KeyModifiers::SHIFT).is_empty()
}

/// The choice that a digit means.
fn chosen_of(question: &UserPrompt, key: KeyCode) -> Option<String> {
    let KeyCode::Char(c) = key else { return None };
    let number = usize::try_from(c.to_digit(10)?).ok()?;
    question.choices.get(number.checked_sub(1)?).cloned()
}
