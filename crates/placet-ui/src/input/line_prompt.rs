//! One line typed in answer to a question where no pane is: nothing is repainted.
//!
//! What was typed before the question was on the screen is dropped, and so is a line that came faster than a hand can
//! type: placet reports this and asks again.

use super::blocking_key_reader::BlockingKeyReader;
use super::decode::TerminalInput;
use super::enter_guard::HALF_SECOND;
use super::line_input::{LineInput, TypedLine};
use crate::lines::margin_mark;
use crate::terminal::{reclaim, term};
use crossterm::event::{KeyCode, KeyModifiers};
use std::time::{Duration, Instant};

/// How long nothing may happen before the loop looks again; nothing depends on it.
const LOOK: Duration = Duration::from_secs(60);

/// What an answer may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerRisk {
    /// Nothing changes by it: it may be typed as soon as the question is there, and by a program.
    Light,
    /// It is a secret: nothing of it is shown, and it may be pasted.
    Secret,
    /// It changes files: the person must have had the time to read the question.
    Consent,
}

/// Asks, and waits for Enter. `None`: Ctrl-C, Ctrl-D, or the terminal has gone.
pub(crate) fn line(question: &str, weight: AnswerRisk) -> Option<String> {
    let wait = if weight == AnswerRisk::Consent { HALF_SECOND } else { Duration::ZERO };
    reclaim::before_question();
    let mut keyboard = BlockingKeyReader::new().ok()?;
    let columns = usize::from(term::size().0);
    let question = &margin_mark::message(question, columns).replace('\n', "\r\n");
    let is_secret = weight == AnswerRisk::Secret;
    loop {
        // What waits now was typed before the question. A light question drops it before it is shown, so that no
        // answer can be lost which comes as soon as the question is seen; consent drops it after, and whatever comes
        // in between is too soon.
        if weight != AnswerRisk::Consent {
            keyboard.forget();
        }
        term::write_all(question.as_bytes());
        if weight == AnswerRisk::Consent {
            keyboard.forget();
        }
        let typing = if is_secret { LineInput::secret() } else { LineInput::default() };
        match answer(&mut keyboard, question, typing, Instant::now() + wait)? {
            LineAnswer::Meant(text) => return Some(text),
            LineAnswer::TooSoon => say("ignored: typed before you could read the question. Type it again"),
            LineAnswer::AtOnce(text) if weight != AnswerRisk::Consent => return Some(text),
            LineAnswer::Pasted if is_secret => {
                say("ignored: several lines are not a key. Paste the key again")
            }
            LineAnswer::AtOnce(_) | LineAnswer::Pasted => {
                say("ignored: a paste is not an answer. Type the answer")
            }
        }
    }
}

/// A line for the prompt of a terminal on which nothing can be edited. What was typed ahead is part of it.
pub fn prompt(question: &str, draft: &str) -> LinePromptResult {
    let Ok(mut keyboard) = BlockingKeyReader::new() else { return LinePromptResult::Closed };
    let mut typing = LineInput::begun(draft);
    term::write_all(format!("{question}{draft}").as_bytes());
    loop {
        match next(&mut keyboard, &mut typing) {
            Some((TypedLine::Line(text) | TypedLine::AtOnce(text) | TypedLine::Pasted(text), _)) => {
                term::write_all(b"\r\n");
                return LinePromptResult::Line(text);
            }
            Some((TypedLine::Stop(_), _)) => return LinePromptResult::Interrupted,
            None | Some((TypedLine::End, _)) => {
                term::write_all(b"\r\n");
                return LinePromptResult::Closed;
            }
            Some((TypedLine::Suspend(text), _)) => {
                reclaim::suspend();
                term::write_all(format!("\r\n{question}{text}").as_bytes());
                typing = LineInput::begun(&text);
            }
            Some((TypedLine::Begun(_), _)) => {}
        }
    }
}

/// What came of asking for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinePromptResult {
    Line(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D in an empty line, or the terminal has gone.
    Closed,
}

enum LineAnswer {
    Meant(String),
    TooSoon,
    AtOnce(String),
    Pasted,
}

/// The answer, unless the person stops. A line of which anything was typed before `readable` is too soon.
fn answer(
    keyboard: &mut BlockingKeyReader,
    question: &str,
    mut typing: LineInput,
    readable: Instant,
) -> Option<LineAnswer> {
    let mut soon = false;
    loop {
        let (typed, at) = next(keyboard, &mut typing)?;
        soon |= at < readable;
        if !matches!(typed, TypedLine::Begun(_) | TypedLine::Stop(_) | TypedLine::Suspend(_)) {
            term::write_all(b"\r\n");
        }
        match typed {
            TypedLine::Line(_) if soon => return Some(LineAnswer::TooSoon),
            TypedLine::Line(text) => return Some(LineAnswer::Meant(text)),
            TypedLine::AtOnce(text) => return Some(LineAnswer::AtOnce(text)),
            TypedLine::Pasted(_) => return Some(LineAnswer::Pasted),
            TypedLine::Stop(_) | TypedLine::End => return None,
            TypedLine::Suspend(_) => {
                reclaim::suspend();
                reclaim::before_question();
                term::write_all(format!("\r\n{question}").as_bytes());
            }
            TypedLine::Begun(_) => {}
        }
    }
}

/// What comes of the next key, and when that was read. `None`: the terminal has gone.
fn next(keyboard: &mut BlockingKeyReader, typing: &mut LineInput) -> Option<(TypedLine, Instant)> {
    loop {
        let left = typing.due().map_or(LOOK, |due| due.saturating_duration_since(Instant::now()));
        let token = keyboard.next_token(left).ok()?;
        let now = Instant::now();
        // A key that is read now came later than an Enter whose time is over.
        if let Some(typed) = typing.take_due_line(now) {
            if let Some(token) = token {
                keyboard.put_back(token);
            }
            return Some((typed, now));
        }
        let Some(token) = token else { continue };
        let input = token.input.unwrap_or(TerminalInput::Ignored);
        let (echo, typed) = typing.take(&input, now);
        term::write_all(echo.as_bytes());
        if let Some(typed) = typed {
            return Some((typed, now));
        }
    }
}

/// True when Ctrl-C or Esc is pressed within `most`, or the terminal has gone. Other keys are dropped: nothing asks for
/// them.
pub(crate) fn is_interrupted(most: Duration) -> bool {
    let end = Instant::now() + most;
    let Ok(mut keyboard) = BlockingKeyReader::new() else { return true };
    loop {
        match keyboard.next(end.saturating_duration_since(Instant::now())) {
            Ok(None) => return false,
            Err(_) => return true,
            Ok(Some(TerminalInput::Key(key))) => {
                let is_stop = key.code == KeyCode::Esc
                    || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
                if is_stop {
                    return true;
                }
            }
            Ok(Some(_)) => {}
        }
    }
}

fn say(line: &str) {
    term::write_all(format!("{}\r\n", margin_mark::marked(line)).as_bytes());
}
