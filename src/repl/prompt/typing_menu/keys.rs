//! The keys of the menu. Each is what it was before where no menu is on the screen.

use super::open_menu::MenuEnter;
use super::place::MenuPlace;
use super::{MenuCause, TypingMenu};
use rustyline::{
    Cmd, ConditionalEventHandler, EditMode, Event, EventContext, EventHandler, InputMode, KeyCode, KeyEvent,
    Modifiers, RepeatCount,
};

/// Where the selection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::repl::prompt) enum MenuStep {
    Up,
    Down,
}

/// What a key does in the menu, if it does anything there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MenuKey {
    Tab,
    Enter,
    Down,
    /// Every key that nobody else has bound.
    Other,
}

struct MenuKeyHandler {
    menu: TypingMenu,
    key: MenuKey,
}

/// What is to be bound. Up, Esc and Ctrl+F12 have a meaning without the menu, too: they are bound with it.
pub(in crate::repl::prompt) fn bindings(menu: &TypingMenu) -> Vec<(Event, EventHandler)> {
    let key = |code, modifiers| Event::from(KeyEvent(code, modifiers));
    let all = [
        (key(KeyCode::Tab, Modifiers::NONE), MenuKey::Tab),
        (key(KeyCode::Enter, Modifiers::NONE), MenuKey::Enter),
        (key(KeyCode::Down, Modifiers::NONE), MenuKey::Down),
        (Event::Any, MenuKey::Other),
    ];
    let bound = |(event, key)| {
        let handler = MenuKeyHandler { menu: menu.clone(), key };
        (event, EventHandler::Conditional(Box::new(handler) as Box<dyn ConditionalEventHandler>))
    };
    all.into_iter().map(bound).collect()
}

impl ConditionalEventHandler for MenuKeyHandler {
    fn handle(&self, event: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        match self.key {
            MenuKey::Tab => self.menu.tab(ctx.line(), ctx.pos()),
            MenuKey::Enter => self.menu.enter(ctx.line(), ctx.pos()),
            MenuKey::Down => self.menu.step(MenuStep::Down).then_some(Cmd::Repaint),
            MenuKey::Other => {
                self.menu.observe(event, ctx);
                None
            }
        }
    }
}

impl TypingMenu {
    /// False where no menu is on the screen.
    pub(in crate::repl::prompt) fn step(&self, step: MenuStep) -> bool {
        let mut state = self.lock();
        let moved = state.step(step == MenuStep::Down);
        if !moved {
            // Up and Down bring a line of the history.
            state.cause = MenuCause::Other;
        }
        moved
    }

    /// Esc closes the menu of this word; false where none is on the screen. In vi mode Esc has its own meaning, too.
    pub(in crate::repl::prompt) fn dismiss(&self) -> bool {
        let mut state = self.lock();
        let Some(key) = state.shown().map(|open| (open.place.kind, open.place.start)) else { return false };
        state.dismissed = Some(key);
        state.cause = MenuCause::Redrawn;
        state.close();
        true
    }

    fn tab(&self, line: &str, pos: usize) -> Option<Cmd> {
        let mut state = self.lock();
        if !state.is_by_hand() || state.is_searching {
            state.cause = MenuCause::Other;
            drop(state);
            // rustyline lists what it has below the line.
            self.erase(line.get(..pos).unwrap_or_default());
            return None;
        }
        if state.shown().is_some() {
            return Some(if state.accept() { Cmd::Complete } else { Cmd::Noop });
        }
        if state.is_on && MenuPlace::of(line, pos).is_some() {
            state.cause = MenuCause::Asked;
            return Some(Cmd::Repaint);
        }
        state.cause = MenuCause::Other;
        None
    }

    fn enter(&self, line: &str, pos: usize) -> Option<Cmd> {
        let mut state = self.lock();
        let enter = state.enter(line, pos);
        if enter == MenuEnter::Send || !state.accept() {
            state.cause = MenuCause::Other;
            // The line is drawn once more as it stays in the scrollback.
            state.close();
            return None;
        }
        let pump = state.pump.clone()?;
        if enter == MenuEnter::CompleteAndSend {
            (state.sends, state.cause) = (true, MenuCause::Other);
            pump.press_next();
        } else {
            pump.continue_line();
        }
        Some(Cmd::Complete)
    }

    /// A list has something new, or the line that Enter completed is to be sent.
    pub(in crate::repl::prompt) fn refresh(&self) -> Cmd {
        let mut state = self.lock();
        if std::mem::take(&mut state.sends) {
            return Cmd::AcceptOrInsertLine { accept_in_the_middle: true };
        }
        // A key that waited for the newest rows has drawn them already.
        if state.open.is_none() || !state.is_stale() {
            return Cmd::Noop;
        }
        state.cause = MenuCause::Redrawn;
        Cmd::Repaint
    }

    pub(in crate::repl::prompt) fn observe(&self, event: &Event, ctx: &EventContext) {
        let is_insert = ctx.mode() == EditMode::Emacs || ctx.input_mode() != InputMode::Command;
        let typed = match event.get(0) {
            Some(KeyEvent(KeyCode::Char(_), modifiers)) => *modifiers == Modifiers::NONE,
            Some(KeyEvent(KeyCode::Backspace | KeyCode::Delete | KeyCode::Right, _)) => true,
            _ => false,
        };
        // Ctrl-H, Ctrl-W and Ctrl-U take back what was typed.
        let erased = matches!(event.get(0), Some(KeyEvent(KeyCode::Char('H' | 'W' | 'U'), Modifiers::CTRL)));
        let by_hand = is_insert && (typed || erased);
        self.lock().cause = if by_hand { MenuCause::Typed } else { MenuCause::Other };
    }
}
