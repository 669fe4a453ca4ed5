//! Reading a line: rustyline, its history, and what the keys of the prompt make of the line.

use super::helper::ShellHelper;
use super::input::{PromptScreen, UnfinishedLine};
use super::key_handlers::{KeyHandlerContext, KeyHandlerOutcome, PromptPrinter, bind, lock, print_above};
use super::mode_prompt::{ModePrompt, PromptStatus};
use super::typing_menu::{MenuSources, ThemeForBackground, TypingMenu};
use super::unsent::UnsentInput;
use crate::config::{EditModeSetting, MenusSetting};
use crate::repl::attach::dropped;
use crate::repl::error::ReplError;
use crate::repl::user_context::UserContext;
use crate::session::SessionStore;
use crate::ui::input::decode::TerminalInput;
use crate::ui::input::pty_proxy::PtyProxy;
use crate::ui::input::{self, LinePromptResult};
use crate::ui::paste::{self, PasteStore, TOO_LONG};
use crate::ui::{Theme, margin_mark, term};
use rustyline::config::{BellStyle, ColorMode, Configurer};
use rustyline::error::ReadlineError;
use rustyline::history::{History, MemHistory};
use rustyline::{CompletionType, Config, EditMode, Editor, ExternalPrinter, Prompt};
use std::io::IsTerminal;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What came of asking for a line.
pub(crate) enum PromptOutcome {
    Line(String),
    /// Ctrl-C on an empty line.
    Interrupted,
    /// The prompt says something else by now: the line is to be asked for again.
    Again(UnfinishedLine),
    /// A key that opens a screen.
    Open(PromptScreen, UnfinishedLine),
    /// Ctrl-D on an empty line, or the terminal is gone.
    Closed,
}

pub(crate) struct PromptEditor {
    editor: Editor<ShellHelper, MemHistory>,
    prompt: ModePrompt,
    keys: KeyHandlerContext,
    menu: TypingMenu,
    /// The text with which the next line starts.
    put_back: Option<UnfinishedLine>,
}

impl PromptEditor {
    pub(crate) fn new(
        app: &UserContext<'_>,
        theme: &Theme,
        store: Option<&SessionStore>,
        unsent: &UnsentInput,
    ) -> Result<PromptEditor, ReplError> {
        let vi = app.config.settings().ui.edit_mode == EditModeSetting::Vi;
        let lines = app.config.settings().ui.history_lines;
        let mut config = Config::builder()
            .edit_mode(if vi { EditMode::Vi } else { EditMode::Emacs })
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            // Without it a lone Escape would swallow the next key.
            .keyseq_timeout(Some(50))
            .bell_style(BellStyle::None)
            // What is coloured is up to the theme, also where NO_COLOR is set.
            .color_mode(colour_mode())
            .max_history_size(lines.max(1))?;
        // A line with its menu is one write, which the terminal gets whole. The marks of a synchronized update would be two
        // writes more for each key.
        config.enable_synchronized_output(false);
        let config = config.build();
        let history = MemHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history)?;
        editor.set_auto_add_history(false);
        for line in store.and_then(|s| s.history(lines).ok()).unwrap_or_default() {
            editor.history_mut().add_owned(unsent.pastes.collapsed(line.line))?;
        }
        let teller = create_printer(&mut editor);
        let (pump, pastes) = (pump(&teller, &unsent.pastes), unsent.pastes.clone());
        if pump.is_some() {
            // Our own reader has waited, and passes on whole sequences.
            editor.set_keyseq_timeout(Some(5));
        }
        let ui = &app.config.settings().ui;
        let is_wanted = ui.menus == MenusSetting::Typing && !ui.linear;
        let menu = TypingMenu::new(is_wanted, pump.clone(), theme);
        let helper = ShellHelper::new(
            (app.cwd(), app.guidance, app.tools.servers),
            theme,
            unsent.clone(),
            (pump.clone(), menu.clone(), ui.wrap),
        );
        editor.set_helper(Some(helper));
        let keys = KeyHandlerContext { pump, pastes, teller, menu: menu.clone(), left: Arc::default() };
        bind(&mut editor, app, &keys);
        let prompt = ModePrompt::new(app.mode.clone(), theme);
        Ok(PromptEditor { editor, prompt, keys, menu, put_back: None })
    }

    /// Says lines above the one that is typed.
    pub(crate) fn printer(&self) -> Option<impl Fn(String) + Send + use<>> {
        let teller = self.keys.teller.clone()?;
        Some(move |text| print_above(&teller, text))
    }

    /// Has the shell ask for the line again, with the status of that moment.
    pub(crate) fn renewer(&self) -> impl Fn() + Send + use<> {
        let pump = self.keys.pump.clone();
        move || pump.iter().for_each(PtyProxy::renew_prompt)
    }

    /// True when keys come through a reader of our own, which knows more of them than rustyline does.
    pub(crate) fn knows_keys(&self) -> bool {
        self.keys.pump.is_some()
    }

    /// Reads a line where keys come from.
    fn read(&mut self, draft: &UnfinishedLine) -> rustyline::Result<String> {
        // rustyline can edit nothing there, and would wait for a line end that no key sends.
        if term::is_dumb() {
            let own = self.prompt.raw();
            return match input::prompt(own, &format!("{}{}", draft.before, draft.after)) {
                LinePromptResult::Line(line) => Ok(line),
                LinePromptResult::Interrupted => Err(ReadlineError::Interrupted),
                LinePromptResult::Closed => Err(ReadlineError::Eof),
            };
        }
        let PromptEditor { editor, prompt: own, keys, .. } = self;
        let mut read = || editor.readline_with_initial(own, (&draft.before, &draft.after));
        let line = match &keys.pump {
            Some(pump) => pump.during(read)?,
            None => read(),
        };
        self.prompt.set_awaits_colours(false);
        self.look_as_prompt();
        line
    }

    /// A line that was sent has the ground of its prompt.
    fn look_as_prompt(&mut self) {
        let said = self.prompt.said();
        if let Some(helper) = self.editor.helper_mut() {
            helper.set_said(said);
        }
    }

    /// Asks the terminal for its background with the next prompt. `theme_for` gives the colours for the answer: the menu
    /// of the same prompt has them already.
    pub(crate) fn ask_background(&mut self, theme_for: ThemeForBackground) {
        self.prompt.ask_background();
        self.look_as_prompt();
        self.menu.recolor_with(theme_for);
    }

    /// Tells the terminal where the prompt ends.
    pub(crate) fn mark(&mut self) {
        self.prompt.mark();
    }

    /// Asks for a line that begins as `draft`, with the cursor at its end.
    pub(crate) fn ask(
        &mut self,
        draft: &str,
        status: PromptStatus,
        sources: &MenuSources,
    ) -> Result<PromptOutcome, ReplError> {
        self.prompt.set_status(status);
        let mut draft = match self.put_back.take() {
            // What came back from a turn comes before the line that was left for it.
            Some(typed) if !draft.is_empty() => {
                UnfinishedLine { before: format!("{draft}\n{}", typed.before), after: typed.after }
            }
            Some(typed) => typed,
            None => UnfinishedLine::new(draft),
        };
        draft.before = self.keys.pastes.collapsed(draft.before);
        loop {
            self.menu.begin_line(self.prompt.raw(), sources);
            let read = self.read(&draft);
            self.menu.end_line();
            match read {
                Ok(line) => return Ok(PromptOutcome::Line(line)),
                Err(ReadlineError::Interrupted) => {
                    // Our key handlers interrupt rustyline, too: what they left distinguishes them from
                    // Ctrl-C.
                    let left = std::mem::take(&mut *lock(&self.keys.left));
                    match left {
                        KeyHandlerOutcome { edited: Some(before), .. } => {
                            draft = UnfinishedLine::new(self.keys.pastes.collapsed(before));
                        }
                        KeyHandlerOutcome { screen: Some((screen, typed)), .. } => {
                            self.erase(&typed);
                            return Ok(PromptOutcome::Open(screen, typed));
                        }
                        KeyHandlerOutcome { again: Some(typed), .. } => {
                            self.erase(&typed);
                            return Ok(PromptOutcome::Again(typed));
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
    pub(crate) fn set_theme(&mut self, theme: &Theme) {
        self.prompt.set_theme(theme);
        if let Some(helper) = self.editor.helper_mut() {
            helper.set_theme(theme);
        }
        self.look_as_prompt();
    }

    /// Starts the next prompt with this text, and with the cursor at its earlier position.
    pub(crate) fn restore_line(&mut self, typed: UnfinishedLine) {
        self.put_back = Some(typed);
    }

    /// Clears the unfinished line from the screen, so that it is not shown twice. A line that was wrapped stays: only
    /// the terminal knows how many rows it takes.
    fn erase(&self, typed: &UnfinishedLine) {
        let line = format!("{}{}{}", self.prompt.raw(), typed.before, typed.after);
        let wide = crate::text::width::of(&line);
        if !line.contains('\n') && wide < usize::from(term::size().0) {
            // rustyline left the cursor in the row below the line.
            term::write_all(b"\r\x1b[A\x1b[J");
        }
    }

    /// Adds a line to the history, here and in the store. Losing a line is not a reason to stop.
    pub(crate) fn remember(&mut self, line: &str, cwd: &Path, store: Option<&SessionStore>) {
        drop(self.editor.history_mut().add(line));
        // The history on disk outlives the conversation: what looks like a secret does not go there.
        let line = self.keys.pastes.for_history(line);
        let kept = crate::text::secret::redact(&line, &[]);
        if let Some(Err(e)) = store.map(|s| s.remember(&kept, cwd)) {
            tracing::warn!("a line was not added to the history: {e}");
        }
    }
}

/// rustyline itself would draw neither styles nor the menu where NO_COLOR is set.
fn colour_mode() -> ColorMode {
    if std::io::stdout().is_terminal() { ColorMode::Forced } else { ColorMode::Enabled }
}

/// A reader of the terminal for rustyline. What is wrong with a paste is reported above the line.
fn pump(teller: &Option<PromptPrinter>, pastes: &PasteStore) -> Option<PtyProxy> {
    let (pastes, teller) = (pastes.clone(), teller.clone()?);
    let take = move |input: TerminalInput| {
        let why = match input {
            TerminalInput::Paste(text) => match dropped(&text).map_or_else(|| pastes.collapse(&text), Ok) {
                Ok(text) => return Some(text),
                Err(error) => error.to_string(),
            },
            TerminalInput::PasteRefused(bytes) => paste::refused(bytes, TOO_LONG),
            _ => return None,
        };
        print_above(&teller, margin_mark::marked(&why));
        None
    };
    PtyProxy::open(Arc::new(take)).map_err(|e| tracing::warn!("keys are read directly: {e}")).ok()
}

fn create_printer(editor: &mut Editor<ShellHelper, MemHistory>) -> Option<PromptPrinter> {
    let mut printer = editor.create_external_printer().ok()?;
    Some(Arc::new(Mutex::new(move |text: String| drop(printer.print(text + "\n")))))
}
