//! Notifies a person who looks elsewhere that a turn ended or a question waits: by a bell, a desktop notification of
//! the terminal, or the person's own command.
//!
//! One notification for each event, and none while the window is known to have the focus. Where a terminal does not
//! report the focus, placet assumes that the person looks at it while they type, and for the first ten seconds of a
//! turn.

use super::term;
use placet_agent::{PromptAsker, TurnEvent};
use placet_text::text::{sanitize, width};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Where the focus is unknown: how long no key must have been typed.
const AWAY: Duration = Duration::from_secs(10);

/// What `ui.notify` may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotifyMethod {
    Off,
    Bell,
    Osc9,
    Osc777,
    /// A line for `sh`, with the text in `PLACET_NOTICE`.
    Command(String),
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("`ui.notify` is `{}`; it may be off, bell, osc9, osc777 or `command LINE`", sanitize::line(.0))]
pub struct InvalidNotifyMethod(String);

impl NotifyMethod {
    pub fn parse(setting: &str) -> Result<NotifyMethod, InvalidNotifyMethod> {
        match setting.trim() {
            "off" => Ok(NotifyMethod::Off),
            "bell" => Ok(NotifyMethod::Bell),
            "osc9" => Ok(NotifyMethod::Osc9),
            "osc777" => Ok(NotifyMethod::Osc777),
            other => match other.strip_prefix("command ").map(str::trim) {
                Some(line) if !line.is_empty() => Ok(NotifyMethod::Command(line.into())),
                _ => Err(InvalidNotifyMethod(other.into())),
            },
        }
    }

    /// What is written to the terminal to say `text`.
    fn sequence(&self, text: &str, tmux: bool) -> String {
        let osc = |body: String| {
            let plain = format!("\x1b]{body}\x1b\\");
            // tmux drops sequences that it does not know; this wrapper passes the sequence on.
            if tmux { format!("\x1bPtmux;{}\x1b\\", plain.replace('\x1b', "\x1b\x1b")) } else { plain }
        };
        match self {
            NotifyMethod::Off | NotifyMethod::Command(_) => String::new(),
            NotifyMethod::Bell => "\x07".into(),
            NotifyMethod::Osc9 => osc(format!("9;{text}")),
            NotifyMethod::Osc777 => osc(format!("777;notify;placet;{text}")),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum TerminalFocus {
    /// The terminal never reported the focus.
    Unknown,
    Here,
    Away,
}

/// The notifier of a whole shell; clones share what is known of the focus.
#[derive(Clone, Debug)]
pub struct Notifier {
    way: NotifyMethod,
    tmux: bool,
    focus: Arc<AtomicU8>,
}

impl Notifier {
    pub fn new(way: NotifyMethod, tmux: bool) -> Notifier {
        Notifier { way, tmux, focus: Arc::new(AtomicU8::new(TerminalFocus::Unknown as u8)) }
    }

    /// Whether the terminal is to be asked about the focus.
    pub fn is_on(&self) -> bool {
        self.way != NotifyMethod::Off
    }

    pub fn focus_gained(&self) {
        self.focus.store(TerminalFocus::Here as u8, Ordering::Relaxed);
    }

    pub fn focus_lost(&self) {
        self.focus.store(TerminalFocus::Away as u8, Ordering::Relaxed);
    }

    /// A key was typed: the person is at the terminal.
    pub fn typed(&self) {
        if self.focus.load(Ordering::Relaxed) == TerminalFocus::Away as u8 {
            self.focus_gained();
        }
    }

    /// Notifies the person of `event` if the event is important enough; no key was typed since `quiet_since`.
    pub fn on_event(&self, event: &TurnEvent, quiet_since: Instant, now: Instant) {
        let Some(text) = words(event) else { return };
        if !self.is_wanted(quiet_since, now) {
            return;
        }
        term::write_all(self.way.sequence(&text, self.tmux).as_bytes());
        if let NotifyMethod::Command(line) = &self.way {
            run(line.clone(), text);
        }
    }

    fn is_wanted(&self, quiet_since: Instant, now: Instant) -> bool {
        match self.focus.load(Ordering::Relaxed) {
            at if at == TerminalFocus::Away as u8 => true,
            at if at == TerminalFocus::Here as u8 => false,
            _ => now.saturating_duration_since(quiet_since) > AWAY,
        }
    }
}

/// The text for an event that needs the person.
fn words(event: &TurnEvent) -> Option<String> {
    let text = match event {
        TurnEvent::Question(question) => format!("placet asks: {}", question.preview.line),
        TurnEvent::LoopQuestion(question) => {
            format!("placet asks: {}; continue?", placet_agent::loop_words(&question.tool, question.times))
        }
        TurnEvent::Choice(question) => format!("placet asks: {}", question.title),
        TurnEvent::Enquiry(question) => match question.asker {
            PromptAsker::Placet(_) => question.question.clone(),
            PromptAsker::Model => format!("the agent asks: {}", question.question),
            PromptAsker::Server => "a server asks for input".into(),
        },
        TurnEvent::Ended(ending) => match ending.words() {
            None => "placet is done".into(),
            Some((words, _)) => format!("placet stopped: {words}"),
        },
        _ => return None,
    };
    Some(width::cut(&sanitize::line(&text), 120).replace(';', ","))
}

/// In a thread of its own: placet does not wait for the command.
fn run(line: String, text: String) {
    let work = move || {
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).env("PLACET_NOTICE", text);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Err(e) = command.status() {
            tracing::warn!("the notification command did not start: {e}");
        }
    };
    drop(std::thread::Builder::new().name("notify".into()).spawn(work));
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_agent::TurnEnding;

    #[test]
    fn a_way_is_a_word_or_a_command() {
        assert_eq!(NotifyMethod::parse("bell"), Ok(NotifyMethod::Bell));
        assert_eq!(NotifyMethod::parse(" off "), Ok(NotifyMethod::Off));
        assert_eq!(
            NotifyMethod::parse("command say 'hi there'"),
            Ok(NotifyMethod::Command("say 'hi there'".into()))
        );
        for wrong in ["", "loud", "command ", "command"] {
            assert!(
                NotifyMethod::parse(wrong).is_err_and(|e| e.to_string().contains("may be off, bell")),
                "{wrong:?}"
            );
        }
    }

    #[test]
    fn tmux_passes_on_what_it_does_not_know() {
        assert_eq!(NotifyMethod::Osc9.sequence("done", false), "\x1b]9;done\x1b\\");
        assert_eq!(NotifyMethod::Osc9.sequence("done", true), "\x1bPtmux;\x1b\x1b]9;done\x1b\x1b\\\x1b\\");
        assert_eq!(NotifyMethod::Osc777.sequence("done", false), "\x1b]777;notify;placet;done\x1b\\");
        assert_eq!(NotifyMethod::Bell.sequence("done", true), "\x07");
        assert_eq!(NotifyMethod::Off.sequence("done", false), "");
    }

    #[test]
    fn nobody_is_called_who_is_looking() {
        let notifier = Notifier::new(NotifyMethod::Bell, false);
        let began = Instant::now();
        let later = |seconds| began + Duration::from_secs(seconds);
        // The terminal reports no focus: a notification comes only after a while without a key.
        assert!(!notifier.is_wanted(began, later(9)));
        assert!(notifier.is_wanted(began, later(11)));
        assert!(!notifier.is_wanted(later(8), later(11)));
        notifier.focus_gained();
        assert!(!notifier.is_wanted(began, later(60)));
        notifier.focus_lost();
        assert!(notifier.is_wanted(began, later(1)));
        notifier.typed();
        assert!(!notifier.is_wanted(began, later(60)));
    }

    #[test]
    fn what_is_told_is_one_clean_line() {
        let ended = TurnEvent::Ended(TurnEnding::Unsaved("disk\x1b]0;x\x07 full; really".into()));
        let text = words(&ended).unwrap();
        assert!(!text.contains(['\x1b', '\x07', ';', '\n']) && text.contains("full"), "{text}");
        assert_eq!(words(&TurnEvent::Ended(TurnEnding::Done)).as_deref(), Some("placet is done"));
        assert_eq!(words(&TurnEvent::Requested), None);
    }
}
