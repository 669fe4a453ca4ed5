//! The prompt itself: the mode in it, live while text is typed, what waits, and how high the conversation is classified.

use crate::permission::{ClassificationLevel, Mode, ModeCell};
use crate::repl::terminal_status::PROMPT_END;
use crate::text::count;
use crate::ui::input::background::{self, QUESTION};
use crate::ui::turn_pane::mode_label;
use crate::ui::{Theme, ansi, margin_mark};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the prompt says besides the mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PromptStatus {
    /// How many changes wait.
    pub(crate) pending: usize,
    /// How many background commands run.
    pub(crate) jobs: usize,
    /// How high the conversation is classified.
    pub(crate) level: ClassificationLevel,
    pub(crate) attempt: Option<TryMark>,
}

/// The try that the conversation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TryMark {
    pub(crate) name: String,
    /// Files with pending changes that were changed in the workspace since.
    pub(crate) outdated: usize,
}

impl TryMark {
    fn text(&self) -> String {
        match self.outdated {
            0 => format!(" {}", self.name),
            files => format!(" {} ({} changed since)", self.name, count::of(files, "file")),
        }
    }
}

/// `◆ placet [r] > `, or `◆ placet [a] ±3 &1 CONFIDENTIAL > ` while changes wait and a job runs in a classified
/// conversation; of the same width in every mode. `&` is what a shell writes behind a command of the background.
pub(super) struct ModePrompt {
    mode: ModeCell,
    theme: Theme,
    shown: Option<PromptStatus>,
    raw: Vec<String>,
    /// What it says besides the mode.
    parts: PromptParts,
    /// By mode.
    styled: [OnceLock<String>; Mode::ALL.len()],
    /// What follows it and takes no room: only in what is written, never in what is measured.
    end: &'static str,
    /// The first prompt brings the question for the terminal's background.
    asking: AtomicBool,
    asked: OnceLock<String>,
    /// The terminal's background is not known yet: the prompt has no ground, which would be another one than that of the
    /// prompts after it.
    awaits_colours: bool,
}

#[derive(Debug, Default)]
struct PromptParts {
    attempt: String,
    waits: String,
    runs: String,
    classified: String,
}

impl ModePrompt {
    pub(super) fn new(mode: ModeCell, theme: &Theme) -> ModePrompt {
        let mut prompt = ModePrompt {
            mode,
            theme: theme.clone(),
            shown: None,
            raw: Vec::new(),
            parts: PromptParts::default(),
            styled: Default::default(),
            end: "",
            asking: AtomicBool::new(false),
            asked: OnceLock::new(),
            awaits_colours: false,
        };
        prompt.set_status(PromptStatus::default());
        prompt
    }

    pub(super) fn set_theme(&mut self, theme: &Theme) {
        self.theme = theme.clone();
        self.styled = Default::default();
        if let Some(status) = self.shown.take() {
            self.set_status(status);
        }
    }

    pub(super) fn set_status(&mut self, status: PromptStatus) {
        if self.shown.as_ref() == Some(&status) {
            return;
        }
        let PromptStatus { pending, jobs, level, .. } = status;
        let attempt = status.attempt.as_ref().map(TryMark::text).unwrap_or_default();
        self.shown = Some(status);
        let waits = if pending > 0 { format!(" ±{pending}") } else { String::new() };
        let runs = if jobs > 0 { format!(" &{jobs}") } else { String::new() };
        let classified =
            if level > ClassificationLevel::Public { format!(" {level}") } else { String::new() };
        self.raw = Mode::ALL
            .map(|m| {
                format!("{}placet [{}]{attempt}{waits}{runs}{classified} > ", margin_mark::LEAD, m.letter())
            })
            .to_vec();
        self.parts = PromptParts { attempt, waits, runs, classified };
        self.styled = Default::default();
    }

    /// Built when it is drawn: of five modes one or two are.
    fn styled_for(&self, mode: Mode) -> String {
        let PromptParts { attempt, waits, runs, classified } = &self.parts;
        let mut spans = vec![margin_mark::lead(&self.theme)];
        for (text, label) in [
            ("placet ", "prompt"),
            (format!("[{}]", mode.letter()).as_str(), mode_label(mode)),
            (attempt.as_str(), "prompt"),
            (waits.as_str(), "question"),
            (runs.as_str(), "call.running"),
            (classified.as_str(), "warning"),
            (" > ", "prompt"),
        ] {
            if text.is_empty() {
                continue;
            }
            // The ground of a line that was sent: where one types is seen at once, and the line keeps it.
            let style = match (self.has_no_ground(), label.starts_with("mode.")) {
                (true, _) => self.theme.style(label),
                (false, true) => self.theme.mark_on_said(self.theme.style(label)),
                (false, false) => self.theme.on_said(self.theme.style(label)),
            };
            spans.push(Span::styled(text.to_string(), style));
        }
        ansi::line(&Line::from(spans)) + self.end
    }

    /// Asks the terminal for its background once the prompt is drawn: in the same write, behind it.
    pub(super) fn ask_background(&mut self) {
        self.asking.store(true, Ordering::Relaxed);
        self.set_awaits_colours(true);
    }

    fn has_no_ground(&self) -> bool {
        self.awaits_colours && self.theme.is_for_any_background()
    }

    /// How a line that was sent looks behind it.
    pub(super) fn said(&self) -> Style {
        let said = self.theme.style("said");
        if self.has_no_ground() { Style { fg: None, bg: None, ..said } } else { said }
    }

    /// True until the terminal had the time to answer.
    pub(super) fn set_awaits_colours(&mut self, awaits: bool) {
        if self.awaits_colours != awaits {
            (self.awaits_colours, self.styled) = (awaits, Default::default());
        }
    }

    /// Tells the terminal where the prompt ends.
    pub(super) fn mark(&mut self) {
        self.end = PROMPT_END;
        self.styled = Default::default();
        self.shown = None;
    }

    fn pick<'a>(&self, from: &'a [String]) -> &'a str {
        from.get(self.mode.load() as usize).map_or("> ", String::as_str)
    }
}

impl rustyline::Prompt for ModePrompt {
    fn raw(&self) -> &str {
        self.pick(&self.raw)
    }

    /// rustyline writes what it gets here, and measures only the raw text.
    fn styled(&self) -> &str {
        if self.asking.swap(false, Ordering::Relaxed) {
            background::asked();
            return self.asked.get_or_init(|| self.styled_for(self.mode.load()) + QUESTION);
        }
        let mode = self.mode.load();
        self.styled.get(mode as usize).map_or("> ", |styled| styled.get_or_init(|| self.styled_for(mode)))
    }
}
