//! The keys of the prompt that are placet's own, as handlers that rustyline calls while it reads a line.

use super::helper::ShellHelper;
use super::input::{PromptScreen, UnfinishedLine};
use super::typing_menu::{MenuStep, TypingMenu, bindings};
use crate::config::EditModeSetting;
use crate::permission::{Mode, ModeCell};
use crate::repl::attach::from_clipboard;
use crate::repl::user_context::UserContext;
use crate::ui::input::pty_proxy::PtyProxy;
use crate::ui::paste::PasteStore;
use crate::ui::{editor, margin_mark, reclaim, term};
use rustyline::history::MemHistory;
use rustyline::{
    CharSearch, Cmd, ConditionalEventHandler, EditMode, Editor, Event, EventContext, EventHandler, InputMode,
    KeyCode, KeyEvent, Modifiers, Movement, RepeatCount,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a handler leaves for the prompt, to which it makes rustyline return.
#[derive(Default)]
pub(super) struct KeyHandlerOutcome {
    /// The line as it came back from the person's own editor.
    pub(super) edited: Option<String>,
    pub(super) screen: Option<(PromptScreen, UnfinishedLine)>,
    /// The line for which the person is to be asked again, because the prompt says something else by now.
    pub(super) again: Option<UnfinishedLine>,
}

/// How a line is read: what the keys of the prompt need of it.
pub(super) struct KeyHandlerContext {
    /// Where rustyline reads; without it, it reads the terminal itself.
    pub(super) pump: Option<PtyProxy>,
    pub(super) pastes: PasteStore,
    pub(super) teller: Option<PromptPrinter>,
    pub(super) menu: TypingMenu,
    /// What handlers leave for the prompt.
    pub(super) left: Arc<Mutex<KeyHandlerOutcome>>,
}

/// Says something above the line while it is typed.
pub(super) type PromptPrinter = Arc<Mutex<dyn FnMut(String) + Send>>;

pub(super) fn print_above(teller: &PromptPrinter, text: String) {
    // What is below the line goes before the text is written over it; it is drawn again with the line.
    (*lock(teller))(format!("\x1b[J{text}"));
}

pub(super) fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Binds every key of the prompt that is placet's own.
pub(super) fn bind(
    editor: &mut Editor<ShellHelper, MemHistory>,
    app: &UserContext<'_>,
    KeyHandlerContext { pump, pastes, teller, menu, left }: &KeyHandlerContext,
) {
    let conditional = |handler: Box<dyn ConditionalEventHandler>| EventHandler::Conditional(handler);
    let cycle = CycleModeHandler { mode: app.mode.clone(), modes: app.modes.to_vec(), menu: menu.clone() };
    editor.bind_sequence(KeyEvent(KeyCode::BackTab, Modifiers::NONE), conditional(Box::new(cycle)));
    for newline in [KeyEvent(KeyCode::Enter, Modifiers::ALT), KeyEvent::ctrl('J')] {
        editor.bind_sequence(newline, EventHandler::Simple(Cmd::Newline));
    }
    let cleared: Arc<Mutex<Option<String>>> = Arc::default();
    let escape = EscapeKeyHandler {
        menu: menu.clone(),
        left: Arc::clone(left),
        cleared: Arc::clone(&cleared),
        pressed: Mutex::default(),
    };
    editor.bind_sequence(KeyEvent::ctrl('C'), conditional(Box::new(ClearLineHandler(Arc::clone(&cleared)))));
    editor.bind_sequence(
        KeyEvent(KeyCode::Up, Modifiers::NONE),
        conditional(Box::new(RecallLineHandler { cleared, menu: menu.clone() })),
    );
    for key in [KeyEvent(KeyCode::Backspace, Modifiers::NONE), KeyEvent::ctrl('H')] {
        let erase = BackspaceHandler { pastes: pastes.clone(), menu: menu.clone() };
        editor.bind_sequence(key, conditional(Box::new(erase)));
    }
    let refresh = RefreshHandler { pump: pump.clone(), menu: menu.clone(), left: Arc::clone(left) };
    editor.bind_sequence(KeyEvent(KeyCode::F(12), Modifiers::CTRL), conditional(Box::new(refresh)));
    for (event, handler) in bindings(menu) {
        editor.bind_sequence(event, handler);
    }
    editor.bind_sequence(KeyEvent(KeyCode::Esc, Modifiers::NONE), conditional(Box::new(escape)));
    let suspend = SuspendHandler { pump: pump.clone(), menu: menu.clone() };
    editor.bind_sequence(KeyEvent::ctrl('Z'), conditional(Box::new(suspend)));
    let own = app.config.settings().conversation.editor.clone();
    let edit = || {
        let (program, left) = (editor::program(own.as_deref()), Arc::clone(left));
        let (pump, pastes, menu) = (pump.clone(), pastes.clone(), menu.clone());
        Box::new(EditLineHandler { program, left, pump, pastes, menu })
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
    // In vi's command mode it searches.
    if app.config.settings().ui.edit_mode == EditModeSetting::Emacs {
        let help = Box::new(HelpKeyHandler(Arc::clone(left)));
        editor.bind_sequence(KeyEvent(KeyCode::Char('?'), Modifiers::NONE), conditional(help));
    }
}

/// `?` on an empty line shows the keys; anywhere else it is a question mark.
struct HelpKeyHandler(Arc<Mutex<KeyHandlerOutcome>>);

impl ConditionalEventHandler for HelpKeyHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if !ctx.line().is_empty() {
            return None;
        }
        lock(&self.0).screen = Some((PromptScreen::Keys, UnfinishedLine::default()));
        Some(Cmd::Interrupt)
    }
}

/// Ctrl-X Ctrl-E, Ctrl-G: the line is asked for again with what the editor left; replacing it in place would
/// leave the cursor at its beginning.
struct EditLineHandler {
    program: String,
    left: Arc<Mutex<KeyHandlerOutcome>>,
    pump: Option<PtyProxy>,
    pastes: PasteStore,
    menu: TypingMenu,
}

impl ConditionalEventHandler for EditLineHandler {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if self.menu.is_searching() && event.get(0) == Some(&KeyEvent::ctrl('G')) {
            // It ends the search, and the line from before it comes back.
            return None;
        }
        self.menu.erase(before_cursor(ctx));
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

/// Backspace behind the placeholder of a paste takes the whole of it: a part of it means nothing.
struct BackspaceHandler {
    pastes: PasteStore,
    menu: TypingMenu,
}

impl ConditionalEventHandler for BackspaceHandler {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        self.menu.observe(event, ctx);
        // In vi's command mode it only moves.
        if ctx.mode() == EditMode::Vi && ctx.input_mode() == InputMode::Command {
            return None;
        }
        if !self.pastes.ends_with_placeholder(before_cursor(ctx)) {
            return None;
        }
        // rustyline takes the count of the key in place of the movement's: the placeholder's first letter is looked for.
        Some(Cmd::Kill(Movement::ViCharSearch(1, CharSearch::Backward(PasteStore::BEGINS))))
    }
}

/// Ctrl-V, Alt-V: the picture of the clipboard is mentioned in the line.
struct PastePictureHandler(Option<PromptPrinter>);

impl ConditionalEventHandler for PastePictureHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        let dir = std::env::temp_dir();
        let (mention, words) = match from_clipboard(&dir, |name| std::env::var(name).ok()) {
            Ok((mention, words)) => (Some(mention), words),
            Err(error) => (None, error.to_string()),
        };
        if let Some(teller) = &self.0 {
            print_above(teller, margin_mark::marked(&words));
        }
        Some(mention.map_or(Cmd::Noop, |text| Cmd::Insert(1, text)))
    }
}

/// A key that opens a screen: the shell shows the screen, then restores the line as it was.
struct OpenScreenHandler {
    screen: PromptScreen,
    left: Arc<Mutex<KeyHandlerOutcome>>,
}

impl ConditionalEventHandler for OpenScreenHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        lock(&self.left).screen = Some((self.screen, unfinished(ctx)));
        Some(Cmd::Interrupt)
    }
}

/// Ctrl+F12, which only the reader of keys sends: the prompt or the menu says something else by now.
struct RefreshHandler {
    pump: Option<PtyProxy>,
    menu: TypingMenu,
    left: Arc<Mutex<KeyHandlerOutcome>>,
}

impl ConditionalEventHandler for RefreshHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if !self.pump.as_ref().is_some_and(PtyProxy::takes_prompt) {
            return Some(self.menu.refresh());
        }
        lock(&self.left).again = Some(unfinished(ctx));
        Some(Cmd::Interrupt)
    }
}

/// Shift+Tab: the next mode, text and cursor untouched. Below the line stands what the mode means, until the next letter.
struct CycleModeHandler {
    mode: ModeCell,
    modes: Vec<Mode>,
    menu: TypingMenu,
}

impl ConditionalEventHandler for CycleModeHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        self.mode.store(self.mode.load().next(&self.modes));
        let mode = self.mode.load();
        self.menu.say_below(&format!("{mode}: {}", mode.meaning()));
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
        *lock(&self.0) = Some(ctx.line().to_string());
        Some(Cmd::Kill(Movement::WholeBuffer))
    }
}

/// Up goes up in the menu. On an empty line it brings back what Ctrl-C cleared, and only then goes into the history.
struct RecallLineHandler {
    cleared: Arc<Mutex<Option<String>>>,
    menu: TypingMenu,
}

impl ConditionalEventHandler for RecallLineHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if self.menu.step(MenuStep::Up) {
            return Some(Cmd::Repaint);
        }
        if !ctx.line().is_empty() {
            return None;
        }
        let cleared = lock(&self.cleared).take()?;
        Some(Cmd::Insert(1, cleared))
    }
}

/// rustyline's own would leave the person's shell without echo.
struct SuspendHandler {
    pump: Option<PtyProxy>,
    menu: TypingMenu,
}

impl ConditionalEventHandler for SuspendHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        self.menu.erase(before_cursor(ctx));
        with_terminal(&self.pump, reclaim::suspend);
        Some(Cmd::Repaint)
    }
}

/// Esc closes the menu, and ends a search with the line that was found. Pressed twice it clears the line, and keeps it for
/// Up; on an empty line it opens the list of turns. In vi mode it leads to the command mode, as everywhere, and closes the
/// menu on its way.
struct EscapeKeyHandler {
    menu: TypingMenu,
    left: Arc<Mutex<KeyHandlerOutcome>>,
    cleared: Arc<Mutex<Option<String>>>,
    pressed: Mutex<Option<Instant>>,
}

/// How long the second Esc may take.
const TWICE: Duration = Duration::from_millis(800);

impl ConditionalEventHandler for EscapeKeyHandler {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        if self.menu.is_searching() {
            // As in readline. rustyline's own key would bring back the line from before the search; Ctrl-G does that.
            return Some(Cmd::Repaint);
        }
        let closed = self.menu.dismiss();
        if ctx.mode() != EditMode::Emacs {
            return None;
        }
        let now = Instant::now();
        let before = lock(&self.pressed).replace(now);
        if closed {
            // That Esc has done what it was for.
            lock(&self.pressed).take();
            return Some(Cmd::Repaint);
        }
        if before.is_none_or(|before| now.duration_since(before) > TWICE) {
            return None;
        }
        lock(&self.pressed).take();
        if ctx.line().is_empty() {
            lock(&self.left).screen = Some((PromptScreen::Rewind, UnfinishedLine::default()));
            return Some(Cmd::Interrupt);
        }
        *lock(&self.cleared) = Some(ctx.line().to_string());
        Some(Cmd::Kill(Movement::WholeBuffer))
    }
}

fn unfinished(ctx: &EventContext<'_>) -> UnfinishedLine {
    let (before, after) = ctx.line().split_at_checked(ctx.pos()).unwrap_or((ctx.line(), ""));
    UnfinishedLine { before: before.into(), after: after.into() }
}

fn before_cursor<'c>(ctx: &'c EventContext<'_>) -> &'c str {
    ctx.line().get(..ctx.pos()).unwrap_or_default()
}
