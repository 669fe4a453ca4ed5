//! What the terminal gets besides text: the window's title, where a prompt and an answer begin, who to call.
//!
//! All of it are sequences that a terminal which does not know them leaves out; none moves the cursor.

use super::titles::{first_words, title_of};
use super::user_context::UserContext;
use crate::agent::{TurnEnding, TurnStart};
use crate::config::LinksSetting;
use crate::ui::{LinkFinder, Notifier, NotifyMethod, Theme, links_are_supported, term};

/// Before the prompt, after it, when a line is sent, and after what came of it.
const PROMPT: &[u8] = b"\x1b]133;A\x1b\\";
pub(super) const PROMPT_END: &str = "\x1b]133;B\x1b\\";
const SENT: &[u8] = b"\x1b]133;C\x1b\\";

pub(super) struct TerminalStatus {
    pub(super) notifier: Notifier,
    pub(super) links: LinkFinder,
    titles: bool,
    marks: bool,
    /// A line was sent, and this is what came of it.
    code: Option<u8>,
}

impl TerminalStatus {
    /// From the settings and the environment; the sentence says what is wrong with them.
    pub(super) fn new(
        app: &UserContext<'_>,
        theme: &Theme,
        variable: impl Fn(&str) -> Option<String>,
    ) -> (TerminalStatus, Option<String>) {
        let settings = &app.config.settings().ui;
        let way = NotifyMethod::parse(&settings.notify);
        let wrong = way.as_ref().err().map(ToString::to_string);
        let tmux = variable("TMUX").is_some_and(|value| !value.is_empty());
        let notifier = Notifier::new(way.unwrap_or(NotifyMethod::Bell), tmux);
        let links = settings.links != LinksSetting::Never && links_are_supported(&variable);
        let links = if links { LinkFinder::new(app.cwd(), theme) } else { LinkFinder::none() };
        // A screen reader is not to read them, and these terminals might show them.
        let plain =
            matches!(variable("TERM").as_deref(), None | Some("" | "dumb" | "linux")) || settings.linear;
        let signals = TerminalStatus {
            notifier,
            links,
            titles: !plain && settings.title,
            marks: !plain && settings.marks,
            code: None,
        };
        (signals, wrong)
    }

    /// Links are found by the look of code.
    pub(super) fn recolor(&mut self, app: &UserContext<'_>, theme: &Theme) {
        if !self.links.is_none() {
            self.links = LinkFinder::new(app.cwd(), theme);
        }
    }

    pub(super) fn marks(&self) -> bool {
        self.marks
    }

    pub(super) fn title(&self, start: &TurnStart) {
        let text = match start {
            TurnStart::Say(parts) => first_words(parts),
            TurnStart::Call { text, .. } => text.clone(),
            TurnStart::Retry | TurnStart::SumUp { .. } => return,
        };
        if self.titles {
            term::title(&format!("placet: {}", title_of(&text)));
        }
    }

    /// A prompt comes next.
    pub(super) fn prompt(&mut self) {
        if !self.marks {
            return;
        }
        if let Some(code) = self.code.take() {
            term::write_all(format!("\x1b]133;D;{code}\x1b\\").as_bytes());
        }
        term::write_all(PROMPT);
    }

    /// A line was sent.
    pub(super) fn sent(&mut self) {
        self.notifier.typed();
        self.code = Some(0);
        if self.marks {
            term::write_all(SENT);
        }
    }

    pub(super) fn turn_ended(&mut self, ending: &TurnEnding) {
        self.code = Some(match ending {
            // 128 + SIGINT, as shells report it.
            TurnEnding::Done => 0,
            TurnEnding::Interrupted => 130,
            _ => 1,
        });
    }
}
