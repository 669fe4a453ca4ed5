//! The prompt: rustyline, with the mode in it, live while text is typed.

use super::helper::ShellHelper;
use super::host::Host;
use super::signals::PROMPT_END;
use super::{ReplError, editor};
use crate::permission::{Level, Mode, ModeCell};
use crate::session::{Drafts, Store};
use crate::ui::live::mode_label;
use crate::ui::{Theme, ansi};
use rustyline::config::{BellStyle, Configurer};
use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, EditMode, Editor, Event, EventContext,
    EventHandler, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What came of asking for a line.
pub(super) enum Asked {
    Line(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// Ctrl-D on an empty line, or the terminal is gone.
    Closed,
}

/// What [`Prompter::ask_word`] gives when the person pressed Ctrl-C or Ctrl-D instead.
pub(super) const STOPPED: &str = "\u{3}";

pub(super) struct Prompter {
    editor: Editor<ShellHelper, MemHistory>,
    prompt: ModePrompt,
    /// What came back from the person's own editor.
    edited: Arc<Mutex<Option<String>>>,
}

impl Prompter {
    pub(super) fn new(
        app: &dyn Host,
        theme: &Theme,
        store: Option<&Store>,
        drafts: Option<Arc<Drafts>>,
    ) -> Result<Prompter, ReplError> {
        let vi = app.config().text("ui.edit_mode") == Some("vi");
        let lines = usize::try_from(app.config().number("ui.history_lines").unwrap_or(1000)).unwrap_or(1000);
        let config = Config::builder()
            .edit_mode(if vi { EditMode::Vi } else { EditMode::Emacs })
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            // Without it a lone Escape would swallow the next key.
            .keyseq_timeout(Some(50))
            .bell_style(BellStyle::None)
            .max_history_size(lines.max(1))?
            .build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history)?;
        editor.set_auto_add_history(false);
        for line in store.and_then(|s| s.history(lines).ok()).unwrap_or_default() {
            editor.history_mut().add(&line.line)?;
        }
        editor.set_helper(Some(ShellHelper::new(app, theme, drafts)));
        let edited = Arc::default();
        bind(&mut editor, app, &edited);
        Ok(Prompter { editor, prompt: ModePrompt::new(app.mode().clone(), theme), edited })
    }

    /// Tells the terminal where the prompt ends.
    pub(super) fn mark(&mut self) {
        self.prompt.end = PROMPT_END;
        self.prompt.shown = None;
    }

    /// Asks for a line that begins as `draft`, with the cursor at its end.
    /// `pending` is how many changes wait, `level` how high the conversation is classified.
    pub(super) fn ask(&mut self, draft: &str, pending: usize, level: Level) -> Result<Asked, ReplError> {
        self.prompt.tell(pending, level);
        let mut draft = draft.to_string();
        loop {
            match self.editor.readline_with_initial(&self.prompt, (&draft, "")) {
                Ok(line) => return Ok(Asked::Line(line)),
                Err(ReadlineError::Interrupted) => {
                    match self.edited.lock().unwrap_or_else(PoisonError::into_inner).take() {
                        Some(text) => draft = text,
                        None => return Ok(Asked::Interrupted),
                    }
                }
                Err(ReadlineError::Eof) => return Ok(Asked::Closed),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Asks for a word of its own, without history or completion meaning anything.
    pub(super) fn ask_word(&mut self, question: &str) -> Result<String, ReplError> {
        match self.editor.readline(question) {
            Ok(line) => Ok(line),
            // No word at all, and none that means yes anywhere.
            Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(STOPPED.into()),
            Err(e) => Err(e.into()),
        }
    }

    /// Adds a line to the history, here and in the store. Losing one is no reason to stop.
    pub(super) fn remember(&mut self, line: &str, cwd: &Path, store: Option<&Store>) {
        drop(self.editor.history_mut().add(line));
        // The history on disk outlives the conversation: what looks like a secret does not go there.
        let kept = crate::text::secret::redact(line, &[]);
        if let Some(Err(e)) = store.map(|s| s.remember(&kept, cwd)) {
            tracing::warn!("a line was not added to the history: {e}");
        }
    }
}

/// `placet [r] > `, or `placet [a] ±3 CONFIDENTIAL > ` while changes wait in a classified conversation; of the same
/// width in every mode.
struct ModePrompt {
    mode: ModeCell,
    theme: Theme,
    shown: Option<(usize, Level)>,
    raw: Vec<String>,
    styled: Vec<String>,
    /// What follows it and takes no room: only in what is written, never in what is measured.
    end: &'static str,
}

impl ModePrompt {
    fn new(mode: ModeCell, theme: &Theme) -> ModePrompt {
        let mut prompt =
            ModePrompt { mode, theme: theme.clone(), shown: None, raw: Vec::new(), styled: Vec::new(), end: "" };
        prompt.tell(0, Level::Public);
        prompt
    }

    fn tell(&mut self, pending: usize, level: Level) {
        if self.shown.replace((pending, level)) == Some((pending, level)) {
            return;
        }
        let waits = if pending > 0 { format!(" ±{pending}") } else { String::new() };
        let classified = if level > Level::Public { format!(" {level}") } else { String::new() };
        self.raw = Mode::ALL.map(|m| format!("placet [{}]{waits}{classified} > ", m.letter())).to_vec();
        let styled = Mode::ALL.map(|m| {
            let span = |text: String, style: &str| ratatui::text::Span::styled(text, self.theme.style(style));
            ansi::line(&ratatui::text::Line::from(vec![
                span("placet ".into(), "prompt"),
                span(format!("[{}]", m.letter()), mode_label(m)),
                span(waits.clone(), "question"),
                span(classified.clone(), "warning"),
                span(" > ".into(), "prompt"),
            ])) + self.end
        });
        self.styled = styled.to_vec();
    }

    fn pick<'a>(&self, from: &'a [String]) -> &'a str {
        from.get(self.mode.load() as usize).map_or("> ", String::as_str)
    }
}

impl rustyline::Prompt for ModePrompt {
    fn raw(&self) -> &str {
        self.pick(&self.raw)
    }

    fn styled(&self) -> &str {
        self.pick(&self.styled)
    }
}

fn bind(editor: &mut Editor<ShellHelper, MemHistory>, app: &dyn Host, edited: &Arc<Mutex<Option<String>>>) {
    let conditional = |handler: Box<dyn ConditionalEventHandler>| EventHandler::Conditional(handler);
    let cycle = Cycle { mode: app.mode().clone(), modes: app.modes().to_vec() };
    editor.bind_sequence(KeyEvent(KeyCode::BackTab, Modifiers::NONE), conditional(Box::new(cycle)));
    for newline in [KeyEvent(KeyCode::Enter, Modifiers::ALT), KeyEvent::ctrl('J')] {
        editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
    }
    let cleared: Arc<Mutex<Option<String>>> = Arc::default();
    editor.bind_sequence(KeyEvent::ctrl('C'), conditional(Box::new(ClearFirst(Arc::clone(&cleared)))));
    editor.bind_sequence(KeyEvent(KeyCode::Up, Modifiers::NONE), conditional(Box::new(Recall(cleared))));
    editor.bind_sequence(KeyEvent::ctrl('Z'), conditional(Box::new(Suspend)));
    let own = app.config().text("editor").map(String::from);
    let edit = || Box::new(editor::Edit::new(own.clone(), Arc::clone(edited)));
    editor.bind_sequence(Event::KeySeq(vec![KeyEvent::ctrl('X'), KeyEvent::ctrl('E')]), conditional(edit()));
    editor.bind_sequence(KeyEvent::ctrl('G'), conditional(edit()));
}

/// Shift+Tab: the next mode, text and cursor untouched.
struct Cycle {
    mode: ModeCell,
    modes: Vec<Mode>,
}

impl ConditionalEventHandler for Cycle {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        self.mode.store(self.mode.load().next(&self.modes));
        Some(Cmd::Repaint)
    }
}

/// Ctrl-C clears a draft first, and keeps it for Up.
struct ClearFirst(Arc<Mutex<Option<String>>>);

impl ConditionalEventHandler for ClearFirst {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if ctx.line().is_empty() {
            return Some(Cmd::Interrupt);
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ctx.line().to_string());
        Some(Cmd::Kill(Movement::WholeBuffer))
    }
}

/// Up on an empty line brings back what Ctrl-C cleared, and only then goes into the history.
struct Recall(Arc<Mutex<Option<String>>>);

impl ConditionalEventHandler for Recall {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if !ctx.line().is_empty() {
            return None;
        }
        let cleared = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Cmd::Insert(1, cleared))
    }
}

/// rustyline's own would leave the person's shell without echo.
struct Suspend;

impl ConditionalEventHandler for Suspend {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        crate::ui::term::suspend();
        Some(Cmd::Repaint)
    }
}
