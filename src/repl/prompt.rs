//! The prompt: rustyline, with the mode in it, live while text is typed.

use super::ReplError;
use super::app_context::AppContext;
use super::helper::ShellHelper;
use super::pasted_pictures::{dropped, from_clipboard};
use super::terminal_status::PROMPT_END;
use crate::config::EditModeSetting;
use crate::permission::{ClassificationLevel, Mode, ModeCell};
use crate::session::{DraftFile, SessionStore};
use crate::ui::input::decode::TerminalInput;
use crate::ui::input::pty_proxy::PtyProxy;
use crate::ui::input::{self, LinePromptResult};
use crate::ui::line_ui;
use crate::ui::line_ui::{LineUi, TerminalLineUi};
use crate::ui::paste::{self, PasteStore, TOO_LONG};
use crate::ui::turn_pane::mode_label;
use crate::ui::{Theme, ansi, editor, margin_mark, term};
use rustyline::config::{BellStyle, Configurer};
use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, EditMode, Editor, Event, EventContext,
    EventHandler, ExternalPrinter, KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What came of asking for a line.
pub(super) enum PromptOutcome {
    Line(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// A key that opens a screen.
    Open(PromptScreen, UnfinishedLine),
    /// Ctrl-D on an empty line, or the terminal is gone.
    Closed,
}

/// A screen that a key at the prompt opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptScreen {
    Transcript,
    /// What is pending.
    Review,
    /// Files, or commands where one is being typed.
    Picker,
}

/// A line that is not finished: what is before the cursor, and what after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct UnfinishedLine {
    pub(super) before: String,
    pub(super) after: String,
}

/// What a handler leaves for [`PromptEditor::ask`], which it makes rustyline return to.
#[derive(Default)]
struct KeyHandlerOutcome {
    /// The line as it came back from the person's own editor.
    edited: Option<String>,
    screen: Option<(PromptScreen, UnfinishedLine)>,
}

/// What [`PromptEditor::ask_word`] gives when the person pressed Ctrl-C or Ctrl-D instead.
pub(super) const STOPPED: &str = "\u{3}";

pub(super) struct PromptEditor {
    editor: Editor<ShellHelper, MemHistory>,
    prompt: ModePrompt,
    left: Arc<Mutex<KeyHandlerOutcome>>,
    /// The line goes on as this.
    put_back: Option<UnfinishedLine>,
    /// Where rustyline reads; without it, it reads the terminal itself.
    pump: Option<PtyProxy>,
    pastes: PasteStore,
    teller: Option<PromptPrinter>,
}

impl PromptEditor {
    pub(super) fn new(
        app: &dyn AppContext,
        theme: &Theme,
        store: Option<&SessionStore>,
        drafts: Option<Arc<DraftFile>>,
        pastes: PasteStore,
    ) -> Result<PromptEditor, ReplError> {
        let vi = app.config().settings().ui.edit_mode == EditModeSetting::Vi;
        let lines = app.config().settings().ui.history_lines;
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
            editor.history_mut().add_owned(pastes.collapsed(line.line))?;
        }
        let teller = create_printer(&mut editor);
        let pump = pump(&teller, &pastes);
        if pump.is_some() {
            // Our own reader has waited, and passes on whole sequences.
            editor.set_keyseq_timeout(Some(5));
        }
        editor.set_helper(Some(ShellHelper::new(app, theme, drafts, pastes.clone(), pump.clone())));
        let left = Arc::default();
        let reading =
            KeyHandlerContext { pump: pump.clone(), pastes: pastes.clone(), teller: teller.clone() };
        bind(&mut editor, app, &left, &reading);
        let prompt = ModePrompt::new(app.mode().clone(), theme);
        Ok(PromptEditor { editor, prompt, left, put_back: None, pump, pastes, teller })
    }

    /// Says lines above the one that is typed.
    pub(super) fn printer(&self) -> Option<impl Fn(String) + Send + use<>> {
        let teller = self.teller.clone()?;
        Some(move |text| print_above(&teller, text))
    }

    /// True when keys come through a reader of our own, which knows more of them than rustyline does.
    pub(super) fn knows_keys(&self) -> bool {
        self.pump.is_some()
    }

    /// Reads a line where keys come from.
    fn read(&mut self, draft: &UnfinishedLine) -> rustyline::Result<String> {
        // rustyline can edit nothing there, and would wait for a line end that no key sends.
        if term::is_dumb() {
            let own = self.prompt.pick(&self.prompt.raw);
            return match input::prompt(own, &format!("{}{}", draft.before, draft.after)) {
                LinePromptResult::Line(line) => Ok(line),
                LinePromptResult::Interrupted => Err(ReadlineError::Interrupted),
                LinePromptResult::Closed => Err(ReadlineError::Eof),
            };
        }
        let PromptEditor { editor, prompt: own, pump, .. } = self;
        let mut read = || editor.readline_with_initial(own, (&draft.before, &draft.after));
        match pump {
            Some(pump) => pump.during(read)?,
            None => read(),
        }
    }

    /// Tells the terminal where the prompt ends.
    pub(super) fn mark(&mut self) {
        self.prompt.end = PROMPT_END;
        self.prompt.shown = None;
    }

    /// Asks for a line that begins as `draft`, with the cursor at its end.
    /// `pending` is how many changes wait, `level` how high the conversation is classified.
    pub(super) fn ask(
        &mut self,
        draft: &str,
        pending: usize,
        level: ClassificationLevel,
    ) -> Result<PromptOutcome, ReplError> {
        self.prompt.set_status(pending, level);
        let fresh = || UnfinishedLine { before: draft.to_string(), after: String::new() };
        let mut draft = match self.put_back.take() {
            // What came back from a turn comes before the line that was left for it.
            Some(typed) if !draft.is_empty() => {
                UnfinishedLine { before: format!("{draft}\n{}", typed.before), after: typed.after }
            }
            Some(typed) => typed,
            None => fresh(),
        };
        draft.before = self.pastes.collapsed(draft.before);
        loop {
            match self.read(&draft) {
                Ok(line) => return Ok(PromptOutcome::Line(line)),
                Err(ReadlineError::Interrupted) => {
                    // Our key handlers interrupt rustyline, too: what they left distinguishes them from
                    // Ctrl-C.
                    let left = std::mem::take(&mut *lock(&self.left));
                    match left {
                        KeyHandlerOutcome { edited: Some(before), .. } => {
                            draft = UnfinishedLine {
                                before: self.pastes.collapsed(before),
                                after: String::new(),
                            };
                        }
                        KeyHandlerOutcome { screen: Some((screen, typed)), .. } => {
                            self.erase(&typed);
                            return Ok(PromptOutcome::Open(screen, typed));
                        }
                        _ => return Ok(PromptOutcome::Interrupted),
                    }
                }
                Err(ReadlineError::Eof) => return Ok(PromptOutcome::Closed),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Prompt and hints look like this from the next line on.
    pub(super) fn set_theme(&mut self, theme: &Theme) {
        self.prompt.set_theme(theme);
        if let Some(helper) = self.editor.helper_mut() {
            helper.set_theme(theme);
        }
    }

    /// The next line that is asked for goes on as this, with the cursor where it stood.
    pub(super) fn restore_line(&mut self, typed: UnfinishedLine) {
        self.put_back = Some(typed);
    }

    /// Takes the unfinished line off the screen, so that it does not stand there twice. One that was wrapped stays:
    /// how many rows it took is the terminal's knowledge.
    fn erase(&self, typed: &UnfinishedLine) {
        let line = format!("{}{}{}", self.prompt.pick(&self.prompt.raw), typed.before, typed.after);
        let wide = crate::text::width::of(&line);
        if !line.contains('\n') && wide < usize::from(term::size().0) {
            // rustyline left the cursor in the row below the line.
            term::write_all(b"\r\x1b[A\x1b[J");
        }
    }

    /// Asks for a word of its own, without history or completion meaning anything.
    pub(super) fn ask_word(&mut self, question: &str) -> String {
        line_ui::consent(question).unwrap_or_else(|| STOPPED.into())
    }

    /// The same where the answer changes nothing yet.
    pub(super) fn ask_mark(&mut self, question: &str) -> String {
        TerminalLineUi.ask(question).unwrap_or_else(|| STOPPED.into())
    }

    /// Adds a line to the history, here and in the store. Losing one is no reason to stop.
    pub(super) fn remember(&mut self, line: &str, cwd: &Path, store: Option<&SessionStore>) {
        drop(self.editor.history_mut().add(line));
        // The history on disk outlives the conversation: what looks like a secret does not go there.
        let line = self.pastes.for_history(line);
        let kept = crate::text::secret::redact(&line, &[]);
        if let Some(Err(e)) = store.map(|s| s.remember(&kept, cwd)) {
            tracing::warn!("a line was not added to the history: {e}");
        }
    }
}

/// `◆ placet [r] > `, or `◆ placet [a] ±3 CONFIDENTIAL > ` while changes wait in a classified conversation; of the same
/// width in every mode.
struct ModePrompt {
    mode: ModeCell,
    theme: Theme,
    shown: Option<(usize, ClassificationLevel)>,
    raw: Vec<String>,
    styled: Vec<String>,
    /// What follows it and takes no room: only in what is written, never in what is measured.
    end: &'static str,
}

impl ModePrompt {
    fn new(mode: ModeCell, theme: &Theme) -> ModePrompt {
        let mut prompt = ModePrompt {
            mode,
            theme: theme.clone(),
            shown: None,
            raw: Vec::new(),
            styled: Vec::new(),
            end: "",
        };
        prompt.set_status(0, ClassificationLevel::Public);
        prompt
    }

    fn set_theme(&mut self, theme: &Theme) {
        self.theme = theme.clone();
        if let Some((pending, level)) = self.shown.take() {
            self.set_status(pending, level);
        }
    }

    fn set_status(&mut self, pending: usize, level: ClassificationLevel) {
        if self.shown.replace((pending, level)) == Some((pending, level)) {
            return;
        }
        let waits = if pending > 0 { format!(" ±{pending}") } else { String::new() };
        let classified =
            if level > ClassificationLevel::Public { format!(" {level}") } else { String::new() };
        self.raw = Mode::ALL
            .map(|m| format!("{}placet [{}]{waits}{classified} > ", margin_mark::LEAD, m.letter()))
            .to_vec();
        let styled = Mode::ALL.map(|m| {
            let span = |text: String, style: &str| ratatui::text::Span::styled(text, self.theme.style(style));
            ansi::line(&ratatui::text::Line::from(vec![
                margin_mark::lead(&self.theme),
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

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reader of the terminal for rustyline. What is wrong with a paste is reported above the line.
fn pump(teller: &Option<PromptPrinter>, pastes: &PasteStore) -> Option<PtyProxy> {
    let (pastes, teller) = (pastes.clone(), teller.clone()?);
    let take = move |input: TerminalInput| {
        let why = match input {
            TerminalInput::Paste(text) => match dropped(&text).map_or_else(|| pastes.collapse(&text), Ok) {
                Ok(text) => return Some(text),
                Err(why) => why,
            },
            TerminalInput::PasteRefused(bytes) => paste::refused(bytes, TOO_LONG),
            _ => return None,
        };
        print_above(&teller, margin_mark::marked(&why));
        None
    };
    PtyProxy::open(Arc::new(take)).map_err(|e| tracing::warn!("keys are read directly: {e}")).ok()
}

fn bind(
    editor: &mut Editor<ShellHelper, MemHistory>,
    app: &dyn AppContext,
    left: &Arc<Mutex<KeyHandlerOutcome>>,
    reading: &KeyHandlerContext,
) {
    let KeyHandlerContext { pump, pastes, teller } = reading;
    let conditional = |handler: Box<dyn ConditionalEventHandler>| EventHandler::Conditional(handler);
    let cycle = CycleModeHandler { mode: app.mode().clone(), modes: app.modes().to_vec() };
    editor.bind_sequence(KeyEvent(KeyCode::BackTab, Modifiers::NONE), conditional(Box::new(cycle)));
    for newline in [KeyEvent(KeyCode::Enter, Modifiers::ALT), KeyEvent::ctrl('J')] {
        editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
    }
    let cleared: Arc<Mutex<Option<String>>> = Arc::default();
    editor.bind_sequence(KeyEvent::ctrl('C'), conditional(Box::new(ClearLineHandler(Arc::clone(&cleared)))));
    editor.bind_sequence(
        KeyEvent(KeyCode::Up, Modifiers::NONE),
        conditional(Box::new(RecallLineHandler(cleared))),
    );
    editor.bind_sequence(KeyEvent::ctrl('Z'), conditional(Box::new(SuspendHandler(pump.clone()))));
    let own = app.config().settings().conversation.editor.clone();
    let edit = || {
        let (program, left) = (editor::program(own.as_deref()), Arc::clone(left));
        Box::new(EditLineHandler { program, left, pump: pump.clone(), pastes: pastes.clone() })
    };
    editor.bind_sequence(Event::KeySeq(vec![KeyEvent::ctrl('X'), KeyEvent::ctrl('E')]), conditional(edit()));
    editor.bind_sequence(KeyEvent::ctrl('G'), conditional(edit()));
    for key in [KeyEvent::ctrl('V'), KeyEvent(KeyCode::Char('v'), Modifiers::ALT)] {
        editor.bind_sequence(key, conditional(Box::new(PastePictureHandler(teller.clone()))));
    }
    let open = |screen| Box::new(OpenScreenHandler { screen, left: Arc::clone(left) });
    editor.bind_sequence(KeyEvent::ctrl('T'), conditional(open(PromptScreen::Transcript)));
    let review = KeyEvent(KeyCode::Char('r'), Modifiers::ALT);
    editor.bind_sequence(review, conditional(open(PromptScreen::Review)));
    editor.bind_sequence(KeyEvent::ctrl('P'), conditional(open(PromptScreen::Picker)));
}

/// Ctrl-X Ctrl-E, Ctrl-G: the line is asked for again with what the editor left; replacing it in place would
/// leave the cursor at its beginning.
struct EditLineHandler {
    program: String,
    left: Arc<Mutex<KeyHandlerOutcome>>,
    pump: Option<PtyProxy>,
    pastes: PasteStore,
}

impl ConditionalEventHandler for EditLineHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        // Bracketed paste is a mode of this prompt; the editor sets its own.
        term::write_all(b"\x1b[?2004l");
        // Pastes are there to be edited.
        let line = self.pastes.expanded(ctx.line());
        let text = with_terminal(&self.pump, || {
            term::with_original_mode(|| editor::edit(&self.program, &line, ".md"))
        });
        term::write_all(b"\x1b[?2004h");
        match text {
            // What is in the file counts, not how the editor ended.
            Ok(text) => {
                lock(&self.left).edited = Some(text.trim_end_matches('\n').to_string());
                Some(Cmd::Interrupt)
            }
            // The draft stays as it is.
            Err(_) => Some(Cmd::Repaint),
        }
    }
}

/// Runs `work` while nobody else reads the terminal.
fn with_terminal<T>(pump: &Option<PtyProxy>, work: impl FnOnce() -> T) -> T {
    match pump {
        Some(pump) => pump.pause(work),
        None => work(),
    }
}

/// How a line is read: what the keys of the prompt need of it.
struct KeyHandlerContext {
    pump: Option<PtyProxy>,
    pastes: PasteStore,
    teller: Option<PromptPrinter>,
}

/// Says something above the line while it is typed.
type PromptPrinter = Arc<Mutex<dyn FnMut(String) + Send>>;

fn create_printer(editor: &mut Editor<ShellHelper, MemHistory>) -> Option<PromptPrinter> {
    let mut printer = editor.create_external_printer().ok()?;
    Some(Arc::new(Mutex::new(move |text: String| drop(printer.print(text + "\n")))))
}

fn print_above(teller: &PromptPrinter, text: String) {
    let mut teller = teller.lock().unwrap_or_else(PoisonError::into_inner);
    (*teller)(text);
}

/// Ctrl-V, Alt-V: the picture of the clipboard is mentioned in the line.
struct PastePictureHandler(Option<PromptPrinter>);

impl ConditionalEventHandler for PastePictureHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        let dir = std::env::temp_dir();
        let (mention, words) = match from_clipboard(&dir, |name| std::env::var(name).ok()) {
            Ok((mention, words)) => (Some(mention), words),
            Err(why) => (None, why),
        };
        if let Some(teller) = &self.0 {
            print_above(teller, margin_mark::marked(&words));
        }
        Some(mention.map_or(Cmd::Noop, |text| Cmd::Insert(1, text)))
    }
}

/// A key that opens a screen: the shell shows it, and the line goes on afterwards as it was.
struct OpenScreenHandler {
    screen: PromptScreen,
    left: Arc<Mutex<KeyHandlerOutcome>>,
}

impl ConditionalEventHandler for OpenScreenHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        let (before, after) = ctx.line().split_at_checked(ctx.pos()).unwrap_or((ctx.line(), ""));
        let typed = UnfinishedLine { before: before.into(), after: after.into() };
        lock(&self.left).screen = Some((self.screen, typed));
        Some(Cmd::Interrupt)
    }
}

/// Shift+Tab: the next mode, text and cursor untouched.
struct CycleModeHandler {
    mode: ModeCell,
    modes: Vec<Mode>,
}

impl ConditionalEventHandler for CycleModeHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        self.mode.store(self.mode.load().next(&self.modes));
        Some(Cmd::Repaint)
    }
}

/// Ctrl-C clears a draft first, and keeps it for Up.
struct ClearLineHandler(Arc<Mutex<Option<String>>>);

impl ConditionalEventHandler for ClearLineHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if ctx.line().is_empty() {
            return Some(Cmd::Interrupt);
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ctx.line().to_string());
        Some(Cmd::Kill(Movement::WholeBuffer))
    }
}

/// Up on an empty line brings back what Ctrl-C cleared, and only then goes into the history.
struct RecallLineHandler(Arc<Mutex<Option<String>>>);

impl ConditionalEventHandler for RecallLineHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if !ctx.line().is_empty() {
            return None;
        }
        let cleared = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(Cmd::Insert(1, cleared))
    }
}

/// rustyline's own would leave the person's shell without echo.
struct SuspendHandler(Option<PtyProxy>);

impl ConditionalEventHandler for SuspendHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        with_terminal(&self.0, term::suspend);
        Some(Cmd::Repaint)
    }
}
