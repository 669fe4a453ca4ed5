//! What went wrong, as a sentence, a hint and an exit code.

use crate::agent::TurnEnding;
use crate::app::AppError;
use crate::conversation::CallOutcome;
use crate::session::SessionError;
use crate::text::placet_mark::MarkEscaper;
use crate::text::visible;
use crate::ui::{margin_mark, term};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// The documented exit codes.
pub(super) const DONE: u8 = 0;
pub(super) const ERROR: u8 = 1;
pub(super) const USAGE: u8 = 2;
pub(super) const REFUSED: u8 = 3;
pub(super) const PROVIDER: u8 = 4;
/// What was asked for is done, but not all of that could be written down or printed.
pub(super) const INCOMPLETE: u8 = 5;
pub(super) const INTERRUPTED: u8 = 130;

/// The command that reverts what was applied.
pub(super) const UNDO: &str = "placet undo";

#[derive(Debug, PartialEq, Eq)]
pub struct CliError {
    pub message: String,
    pub hint: Option<String>,
    pub code: u8,
}

impl CliError {
    pub fn new(message: impl Display) -> CliError {
        CliError { message: message.to_string(), hint: None, code: ERROR }
    }

    pub fn usage(message: impl Display) -> CliError {
        CliError { code: USAGE, ..CliError::new(message) }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> CliError {
        self.hint = Some(hint.into());
        self
    }

    /// Tells it on standard error, where nothing else may have been promised, and returns the code.
    pub fn report(&self) -> ExitCode {
        let clean = visible::guard(&self.message).into_owned();
        let hint = self.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        warn(&format!("error: {clean}{}", hint.unwrap_or_default()));
        ExitCode::from(self.code)
    }
}

impl From<AppError> for CliError {
    fn from(error: AppError) -> CliError {
        let hint = error.hint();
        let code = if error.is_usage() { USAGE } else { ERROR };
        CliError { message: error.to_string(), hint, code }
    }
}

impl From<crate::repl::ReplError> for CliError {
    fn from(error: crate::repl::ReplError) -> CliError {
        match error {
            crate::repl::ReplError::User(e) => {
                let code = if e.usage { USAGE } else { ERROR };
                CliError { message: e.message, hint: e.hint, code }
            }
            crate::repl::ReplError::Session(e) => e.into(),
            other => CliError::new(other),
        }
    }
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> CliError {
        let hint = match &error {
            SessionError::Missing(_) => Some("`placet session list` lists the sessions".to_string()),
            SessionError::Ambiguous { .. } => Some("use a longer prefix".to_string()),
            SessionError::Elsewhere { .. } => {
                Some("close the session there, or start a new session".to_string())
            }
            SessionError::Newer { .. } => {
                Some("update placet, or set XDG_STATE_HOME to another directory".to_string())
            }
            _ => None,
        };
        CliError { hint, ..CliError::new(error) }
    }
}

/// A closed pipe is not an error: the reader had enough.
pub(super) fn written(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(CliError::new(format!("standard output cannot be written: {e}"))),
        Ok(()) => Ok(()),
    }
}

/// Writes all of `text` to standard output; a terminal gets nothing that it acts on, and no row that begins with what
/// looks like the mark of placet's own lines.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let text =
        if io::stdout().is_terminal() { in_margin(&harmless(text)).into() } else { Cow::Borrowed(text) };
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Writes lines with styles that [`crate::ui::ansi::line`] made: nothing else in them acts on a terminal.
pub(super) fn print_styled(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Like [`print`], with control characters neutralised when a person reads it.
pub(super) fn print_foreign(text: &str) -> Result<(), CliError> {
    if io::stdout().is_terminal() { print(&visible::guard(text)) } else { print(text) }
}

/// Rows of a list, in which rendered names may be. On a terminal a row that does not fit is broken at words.
pub(super) fn print_list(text: &str) -> Result<(), CliError> {
    match io::stdout().is_terminal() {
        true => print(&margin_mark::list_rows(&visible::guard(text), usize::from(term::size().0))),
        false => print(text),
    }
}

/// Placet's own words about what was done, in which rendered names may be: to a person with the mark.
pub(super) fn print_own(words: &str) -> Result<(), CliError> {
    match io::stdout().is_terminal() {
        true => print(&margin_mark::message(&visible::guard(words), usize::from(term::size().0))),
        false => print(words),
    }
}

/// Says something on standard error: to a person with the mark of what placet says itself.
pub(super) fn warn(words: &str) {
    // There is nobody left to tell when this fails.
    drop(writeln!(io::stderr().lock(), "{}", margin_mark::for_stderr(&harmless(words))));
}

/// Somebody else's text on standard error: as it is for a program, and rendered for a person.
pub(super) fn pass_on(text: &str) {
    match io::stderr().is_terminal() {
        true => pass_on_rendered(&visible::block(text)),
        false => drop(writeln!(io::stderr().lock(), "{text}")),
    }
}

/// The same for rows that were rendered before. On a terminal none of them begins like a line of placet's own.
pub(super) fn pass_on_rendered(text: &str) {
    let text = harmless(text);
    let text = if io::stderr().is_terminal() { in_margin(&text).into() } else { text };
    drop(writeln!(io::stderr().lock(), "{text}"));
}

fn in_margin(text: &str) -> String {
    MarkEscaper::new(usize::from(term::size().0)).feed(text)
}

/// A last guard for placet's own words, in which a path or an error of somebody else may be.
fn harmless(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c != '\n' && visible::acts(c);
    if text.contains(acts) { visible::guard(text) } else { text.into() }
}

/// The exit code for a turn that ended so, in which calls were refused or not.
pub(super) fn code_for(ending: &TurnEnding, trouble: Option<CallOutcome>) -> u8 {
    match ending {
        TurnEnding::Interrupted => INTERRUPTED,
        TurnEnding::Failed(_) | TurnEnding::NoAnswer(_) | TurnEnding::TextCall(_) => PROVIDER,
        TurnEnding::Unsaved(_)
        | TurnEnding::TooManyRounds(_)
        | TurnEnding::Stuck { .. }
        | TurnEnding::RepeatedText { .. } => ERROR,
        TurnEnding::OverBudget { .. } | TurnEnding::Blocked { .. } => REFUSED,
        _ if trouble == Some(CallOutcome::Denied) => REFUSED,
        _ if trouble.is_some() => ERROR,
        TurnEnding::Done | TurnEnding::CutAtLimit | TurnEnding::Refused => DONE,
    }
}
