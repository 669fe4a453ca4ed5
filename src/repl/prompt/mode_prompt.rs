//! The prompt itself: the mode in it, live while text is typed, what waits, and how high the conversation is classified.

use crate::permission::{ClassificationLevel, Mode, ModeCell};
use crate::repl::terminal_status::PROMPT_END;
use crate::text::count;
use crate::ui::input::background::{self, QUESTION};
use crate::ui::turn_pane::mode_label;
use crate::ui::{Theme, ansi, margin_mark};
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
    styled: Vec<String>,
    /// What follows it and takes no room: only in what is written, never in what is measured.
    end: &'static str,
    /// The first prompt brings the question for the terminal's background.
    asking: AtomicBool,
    asked: Vec<String>,
}

impl ModePrompt {
    pub(super) fn new(mode: ModeCell, theme: &Theme) -> ModePrompt {
        let mut prompt = ModePrompt {
            mode,
            theme: theme.clone(),
            shown: None,
            raw: Vec::new(),
            styled: Vec::new(),
            end: "",
            asking: AtomicBool::new(false),
            asked: Vec::new(),
        };
        prompt.set_status(PromptStatus::default());
        prompt
    }

    pub(super) fn set_theme(&mut self, theme: &Theme) {
        self.theme = theme.clone();
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
        let styled = Mode::ALL.map(|m| {
            let span = |text: String, style: &str| ratatui::text::Span::styled(text, self.theme.style(style));
            let mut line = ratatui::text::Line::from(vec![
                margin_mark::lead(&self.theme),
                span("placet ".into(), "prompt"),
                span(format!("[{}]", m.letter()), mode_label(m)),
                span(attempt.clone(), "prompt"),
                span(waits.clone(), "question"),
                span(runs.clone(), "call.running"),
                span(classified.clone(), "warning"),
                span(" > ".into(), "prompt"),
            ]);
            // The ground of a line that was sent: where one types is seen at once, and the line keeps it.
            let words = line.spans.iter_mut().skip(1);
            words.for_each(|span| span.style = self.theme.on_said(span.style));
            ansi::line(&line) + self.end
        });
        self.styled = styled.to_vec();
        let with_question = |styled: &String| format!("{styled}{QUESTION}");
        self.asked = self.styled.iter().map(with_question).collect();
    }

    /// Asks the terminal for its background once the prompt is drawn: in the same write, behind it.
    pub(super) fn ask_background(&mut self) {
        self.asking.store(true, Ordering::Relaxed);
    }

    /// Tells the terminal where the prompt ends.
    pub(super) fn mark(&mut self) {
        self.end = PROMPT_END;
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
            return self.pick(&self.asked);
        }
        self.pick(&self.styled)
    }
}
