//! Questions without a screen: what is asked line by line, and the lines that answer.

use super::label::{exactly, foreign, label};
use crate::colors::theme::Theme;
use crate::input::enter_guard::HALF_SECOND;
use crate::lines::{margin_mark, verbatim};
use crate::turn_pane::TurnPaneAction;
use crate::turn_pane::question::{AnyQuestion, is_given_twice, left_out, second_words};
use crate::{picture, scrollback, token_counts};
use placet_agent::{ApprovalReply, PromptAsker, QuestionChoice as Answer, ReasonReader, is_command};
use placet_checks::{CheckRow, check_details, check_row_words};
use placet_text::text::sanitize;
use placet_tools::{CheckBoard, DisplayDetail, MatchedText, UserReply};
use ratatui::style::Style;
use std::time::Instant;

/// An answer to a question, and its name.
#[derive(Clone, Debug)]
pub(super) enum LinearChoice {
    Reply(ApprovalReply),
    Loop(bool),
    Own(Answer),
    /// No, and why.
    Because(String),
    Said(UserReply),
    Why,
    RunChecks,
    ShowChecks,
}

/// The result of a line that is typed at a question.
pub(super) enum LinearOutcome {
    /// The line is not an answer.
    No,
    /// The line was typed before the question could be read.
    TooSoon,
    /// The question stays open, and these lines are printed.
    Open(Vec<String>),
    Given(String, LinearChoice),
}

pub(super) struct LinearQuestion {
    pub(super) asked: AnyQuestion,
    choices: Vec<(String, LinearChoice)>,
    since: Instant,
    /// The person was typing a line when the question came up: that line is not an answer.
    interrupts: bool,
    /// This word allows the call, and nothing shorter.
    word: Option<String>,
    /// The answer that was given once and has to be repeated.
    confirmed: Option<char>,
}

impl LinearQuestion {
    /// The request to repeat an answer, the first time that it is given.
    fn second_look(&mut self, choice: &Answer, number: usize) -> Option<String> {
        let AnyQuestion::Choice(question) = &self.asked else { return None };
        let unseen = left_out(&question.detail);
        if !is_given_twice(choice, unseen.is_empty())
            || self.confirmed.replace(choice.key) == Some(choice.key)
        {
            return None;
        }
        Some(second_words(choice, &unseen, &format!("type {} and Enter", number + 1), "line"))
    }

    /// The same for a call that is not shown whole; `given` is the line that allows it.
    fn second_look_at_call(&mut self, reply: &ApprovalReply, given: &str) -> Option<String> {
        let key = match reply {
            ApprovalReply::Yes => 'y',
            ApprovalReply::Always => 'a',
            ApprovalReply::Pattern => 'p',
            _ => return None,
        };
        let AnyQuestion::Call(question) = &self.asked else { return None };
        let unseen = left_out(&question.preview.detail);
        if unseen.is_empty() || self.confirmed.replace(key) == Some(key) {
            return None;
        }
        Some(format!("{} not shown: type {given} and Enter again to allow it unseen", unseen.words))
    }

    /// The question, and the lines to print for it.
    pub(super) fn new(
        asked: AnyQuestion,
        theme: &Theme,
        now: Instant,
        interrupts: bool,
    ) -> (LinearQuestion, Vec<String>) {
        let (mut out, mut choices, mut word) = (Vec::new(), Vec::new(), None);
        let mut choice = |words: &str, choice: LinearChoice| choices.push((words.to_string(), choice));
        match &asked {
            AnyQuestion::Call(question) => {
                // The command is below, as it runs.
                let asked = match &question.preview.detail {
                    DisplayDetail::Command(_) => "allow this command?".into(),
                    _ => format!("allow? {}", question.preview.line),
                };
                out.push(label("question", &asked));
                out.push(label("because", &question.reason));
                out.extend(body(&question.preview.detail, theme));
                let unseen = left_out(&question.preview.detail);
                if !unseen.is_empty() {
                    out.push(label("not shown", &unseen.words));
                }
                word = question.typed.clone();
                choice("yes", LinearChoice::Reply(ApprovalReply::Yes));
                choice("no", LinearChoice::Reply(ApprovalReply::No(String::new())));
                for (grant, reply) in
                    [(&question.always, ApprovalReply::Always), (&question.pattern, ApprovalReply::Pattern)]
                {
                    if let Some(grant) = grant {
                        choice(&format!("always: {}", grant.describe()), LinearChoice::Reply(reply));
                    }
                }
                choice("never in this session", LinearChoice::Reply(ApprovalReply::Never));
                if !question.why.is_empty() {
                    choice("why it asks", LinearChoice::Why);
                }
                choice("no, and stop the turn", LinearChoice::Reply(ApprovalReply::Cancel));
            }
            AnyQuestion::Loop(question) => {
                let text = format!("{}; continue?", placet_agent::loop_words(&question.tool, question.times));
                out.push(label("question", &text));
                let spent = format!("this turn has cost {} so far", token_counts::tokens(&question.spent));
                out.push(label("note", &spent));
                choice("go on", LinearChoice::Loop(true));
                choice("stop", LinearChoice::Loop(false));
            }
            AnyQuestion::Enquiry(question) => {
                let lead = if question.asker == PromptAsker::Model { "the model asks: " } else { "" };
                let text = format!("question: {lead}{}", question.question.trim_end());
                out.extend(margin_mark::marked(&sanitize::block(&text)).lines().map(String::from));
                for words in &question.choices {
                    choice(words, LinearChoice::Said(UserReply::Words(words.clone())));
                }
                let back = match question.asker {
                    PromptAsker::Model => "leave it open",
                    PromptAsker::Placet(_) => "go back",
                    PromptAsker::Server => "decline",
                };
                choice(back, LinearChoice::Said(UserReply::Open));
            }
            AnyQuestion::Choice(question) => {
                out.push(label("question", &question.title));
                out.push(label("because", &question.reason));
                out.extend(body(&question.detail, theme));
                let unseen = left_out(&question.detail);
                if !unseen.is_empty() {
                    out.push(label("not shown", &unseen.words));
                }
                for one in &question.choices {
                    choice(&one.words, LinearChoice::Own(one.clone()));
                }
                if let Some(checks) = &question.checks {
                    out.extend(check_lines(checks));
                    choice("run checks", LinearChoice::RunChecks);
                    choice("show the checks", LinearChoice::ShowChecks);
                }
            }
        }
        out.extend(numbered(&choices));
        let how = match (&asked, &word) {
            (AnyQuestion::Enquiry(_), _) => "type a number, or the answer itself, and Enter".to_string(),
            (_, Some(word)) => format!("type `{word}` and Enter to allow it, or a number and Enter"),
            (AnyQuestion::Call(call), None) if call.takes_reason => {
                "type a number and Enter, or `no, because REASON` to tell the agent why".to_string()
            }
            (question, None) if question.tells_server() => {
                "type a number and Enter, or `no, because REASON` to tell the server why".to_string()
            }
            _ => "type a number and Enter".to_string(),
        };
        out.push(label("answer", &how));
        (LinearQuestion { asked, choices, since: now, interrupts, word, confirmed: None }, out)
    }

    /// A line is begun: a line that is begun before the question could be read is not an answer.
    pub(super) fn begun(&mut self, now: Instant) {
        self.interrupts |= now.saturating_duration_since(self.since) < HALF_SECOND;
    }

    /// The typed line is not an answer: lists the possible answers.
    pub(super) fn remind(&mut self) -> Vec<String> {
        self.confirmed = None;
        let why = "not an answer, and not sent: type one of these numbers and Enter";
        std::iter::once(label("note", why)).chain(numbered(&self.choices)).collect()
    }

    /// The result of a line.
    pub(super) fn answer(&mut self, text: &str, now: Instant) -> LinearOutcome {
        let of_word = self.word.as_deref() == Some(text);
        let number = text.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let (words, choice) = match (of_word, number.and_then(|at| self.choices.get(at))) {
            (true, _) => ("yes".to_string(), LinearChoice::Reply(ApprovalReply::Yes)),
            (false, Some(choice)) => choice.clone(),
            (false, None) if matches!(self.asked, AnyQuestion::Enquiry(_)) && !is_command(text) => {
                (text.to_string(), LinearChoice::Said(UserReply::Words(text.into())))
            }
            (false, None) => match (text.strip_prefix("no, because "), &self.asked) {
                (Some(why), AnyQuestion::Call(call)) if call.takes_reason && !why.trim().is_empty() => {
                    let reply = ApprovalReply::No(why.trim().into());
                    (text.to_string(), LinearChoice::Reply(reply))
                }
                (Some(why), question) if question.tells_server() && !why.trim().is_empty() => {
                    (text.to_string(), LinearChoice::Because(why.trim().into()))
                }
                _ => return LinearOutcome::No,
            },
        };
        let too_soon = now.saturating_duration_since(self.since) < HALF_SECOND;
        if std::mem::take(&mut self.interrupts) || too_soon {
            return LinearOutcome::TooSoon;
        }
        let consents = matches!(
            choice,
            LinearChoice::Reply(ApprovalReply::Yes | ApprovalReply::Always | ApprovalReply::Pattern)
        );
        if let (true, Some(word), false) = (consents, &self.word, of_word) {
            let words = format!("type `{word}` and Enter to allow it");
            return LinearOutcome::Open(vec![label("question", &words)]);
        }
        if let (LinearChoice::RunChecks | LinearChoice::ShowChecks, Some(checks)) =
            (&choice, self.asked.checks())
        {
            if let LinearChoice::RunChecks = choice {
                checks.run();
            }
            let details = checks
                .rows()
                .iter()
                .filter_map(CheckRow::result)
                .flat_map(|r| check_details(r))
                .collect::<Vec<_>>();
            let mut lines = check_lines(checks);
            lines.extend(details.iter().map(|line| foreign("check", line.trim_start())));
            return LinearOutcome::Open(lines);
        }
        if let LinearChoice::Own(choice) = &choice
            && choice.consents
            && !choice.twice
            && let Some(unmet) =
                self.asked.unmet_checks("the answer `run checks`", "the answer `show the checks`")
        {
            return LinearOutcome::Open(vec![label("note", &unmet)]);
        }
        if let (LinearChoice::Own(choice), Some(number)) = (&choice, number)
            && let Some(words) = self.second_look(choice, number)
        {
            return LinearOutcome::Open(vec![label("question", &words)]);
        }
        if let LinearChoice::Reply(reply) = &choice
            && let Some(words) = self.second_look_at_call(reply, text)
        {
            return LinearOutcome::Open(vec![label("question", &words)]);
        }
        if let (LinearChoice::Why, AnyQuestion::Call(question)) = (&choice, &self.asked) {
            let clean = sanitize::block(&question.why).into_owned();
            return LinearOutcome::Open(clean.lines().map(|l| label("why", l)).collect());
        }
        LinearOutcome::Given(words, choice)
    }

    /// Sends the answer to the sender of the question.
    pub(super) fn reply(self, choice: LinearChoice) -> Option<TurnPaneAction> {
        let cancels = matches!(choice, LinearChoice::Reply(ApprovalReply::Cancel));
        match (self.asked, choice) {
            (AnyQuestion::Call(question), LinearChoice::Reply(reply)) => drop(question.reply.send(reply)),
            (AnyQuestion::Loop(question), LinearChoice::Loop(on)) => drop(question.reply.send(on)),
            (AnyQuestion::Choice(asked), LinearChoice::Own(own)) => drop(asked.reply.send(own.key)),
            (AnyQuestion::Choice(asked), LinearChoice::Because(why)) => {
                if let ReasonReader::Server(reader) = asked.reasons_for {
                    drop(reader.send(why));
                }
            }
            (AnyQuestion::Enquiry(question), LinearChoice::Said(said)) => drop(question.reply.send(said)),
            _ => {}
        }
        cancels.then_some(TurnPaneAction::Stop)
    }
}

/// What is known of the checks now.
fn check_lines(checks: &CheckBoard) -> Vec<String> {
    let now = Some(Instant::now());
    checks.rows().iter().map(|row| label("check", &check_row_words(row, now))).collect()
}

/// The answers with their numbers.
fn numbered(choices: &[(String, LinearChoice)]) -> Vec<String> {
    choices.iter().enumerate().map(|(at, (words, _))| label(&(at + 1).to_string(), words)).collect()
}

fn body(detail: &DisplayDetail, theme: &Theme) -> Vec<String> {
    match detail {
        DisplayDetail::Diff(diff) => exactly(&verbatim::diff(diff.text.as_bytes(), theme)),
        DisplayDetail::Changes(_) => exactly(&scrollback::detail(detail, theme, usize::MAX)),
        DisplayDetail::Text(text)
        | DisplayDetail::Report(text)
        | DisplayDetail::Matches(MatchedText { text, .. }) => {
            exactly(&verbatim::lines(text, Style::default(), theme))
        }
        DisplayDetail::Command(command) => {
            exactly(&verbatim::lines(&command.words(), Style::default(), theme))
        }
        DisplayDetail::Image(image) => vec![label("picture", &picture::chip(image))],
        DisplayDetail::None => Vec::new(),
    }
}
