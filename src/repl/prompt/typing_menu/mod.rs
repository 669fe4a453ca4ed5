//! The menu under the line while `/` or `@` is typed: commands, their arguments, files.
//!
//! rustyline knows nothing of the rows: they are written with the hint, behind the line, and the cursor returns to the
//! row in which the line ends. So the rows are always below everything that rustyline draws, and one sequence at the
//! next prompt removes them, whatever the terminal did to them when its window changed. A list that needs the disk
//! fills itself from threads; when it has something new, the reader of keys has rustyline draw the line again.

mod colors;
mod completed;
mod draw;
mod hint;
mod keys;
mod layout;
mod menu_list;
mod menu_lists;
mod note;
mod open_menu;
mod place;
mod source;

pub(in crate::repl) use colors::ThemeForBackground;
pub(super) use completed::written_out;
pub(super) use hint::PromptHint;
pub(super) use keys::{MenuStep, bindings};
pub(in crate::repl) use source::MenuSources;

use crate::text::width;
use crate::ui::input::pty_proxy::PtyProxy;
use crate::ui::{Theme, term};
use colors::MenuColors;
use completed::completed;
use draw::MenuFrame;
use hint::NOTHING;
use layout::ScreenPlace;
use menu_list::MenuList;
use menu_lists::MenuLists;
use open_menu::{MenuEnter, OpenMenu};
use place::{MenuKind, MenuPlace, exists};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Enter and Tab wait this long for the matches of what was typed last.
const PATIENCE: Duration = Duration::from_millis(200);

/// What came of the last key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MenuCause {
    /// The line changed by hand.
    Typed,
    /// The menu was asked for.
    Asked,
    /// Nothing: the line is drawn again.
    #[default]
    Redrawn,
    /// Something that opens no menu: a paste, a line of the history.
    Other,
}

/// Cloned handles are the same menu.
#[derive(Clone)]
pub(super) struct TypingMenu(Arc<Mutex<MenuState>>);

struct MenuState {
    is_on: bool,
    pump: Option<PtyProxy>,
    colors: MenuColors,
    lists: MenuLists,
    prompt: String,
    cause: MenuCause,
    open: Option<OpenMenu>,
    /// A word whose menu was closed: what it is, and where it begins.
    dismissed: Option<(MenuKind, usize)>,
    /// What Tab or Enter puts in: where the word begins, and what is there then.
    accepted: Option<(usize, String)>,
    sends: bool,
    /// rustyline shows a prompt of its own, for a search.
    is_searching: bool,
    /// Rows are on the screen.
    is_painted: bool,
    /// The line as it was drawn last, where the cursor was at its end.
    drawn: Option<String>,
    /// What is said below the line while no menu is open there, until something is typed.
    note: Option<MenuNote>,
}

struct MenuNote {
    words: String,
    /// Where the line ends.
    end: ScreenPlace,
}

impl TypingMenu {
    /// A menu without a reader of our own would never open: nobody could tell a paste from a hand.
    pub(super) fn new(is_wanted: bool, pump: Option<PtyProxy>, theme: &Theme) -> TypingMenu {
        TypingMenu(Arc::new(Mutex::new(MenuState {
            is_on: is_wanted && pump.is_some(),
            pump,
            colors: MenuColors::new(theme),
            lists: MenuLists::new(),
            prompt: String::new(),
            cause: MenuCause::default(),
            open: None,
            dismissed: None,
            accepted: None,
            sends: false,
            is_searching: false,
            is_painted: false,
            drawn: None,
            note: None,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, MenuState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_theme(&self, theme: &Theme) {
        // The answer has come, or the person chose another theme.
        self.lock().colors = MenuColors::new(theme);
    }

    /// The next menu that is drawn after the terminal has answered has these colours.
    pub(super) fn recolor_with(&self, theme_for: ThemeForBackground) {
        self.lock().colors.change_with(theme_for);
    }

    /// A line begins, behind this prompt.
    pub(super) fn begin_line(&self, prompt: &str, sources: &MenuSources) {
        let mut state = self.lock();
        state.prompt = prompt.into();
        state.lists.begin(sources);
        state.cause = MenuCause::Other;
        state.drawn = None;
    }

    /// The columns of the prompt, and whether `line` behind it fills the last of its rows.
    pub(super) fn prompt_and_end(&self, line: &str, columns: usize) -> (usize, bool) {
        let state = self.lock();
        let end = ScreenPlace::after_prompt(&state.prompt, columns).after(line, columns);
        (width::of(&state.prompt), end.is_wrapped())
    }

    /// The line has ended, and the cursor is in the row below it.
    pub(super) fn end_line(&self) {
        let mut state = self.lock();
        state.close();
        state.lists.end();
        (state.dismissed, state.accepted, state.sends, state.note) = (None, None, false, None);
        if std::mem::take(&mut state.is_painted) {
            term::write_all(b"\x1b[J");
        }
    }

    /// Removes the rows from the screen before another program writes there. The cursor is in the line, at `before`.
    pub(super) fn erase(&self, before: &str) {
        let mut state = self.lock();
        let Some(end) = state.open.as_ref().map(|open| open.end).filter(|_| state.is_painted) else { return };
        let columns = usize::from(term::size().0);
        let at = ScreenPlace::after_prompt(&state.prompt, columns).after(before, columns);
        // The rows of the line below the cursor stay.
        let down = "\x1b[B".repeat(end.row.saturating_sub(at.row));
        term::write_all(format!("\x1b7{down}\r\n\x1b[J\x1b8").as_bytes());
        state.is_painted = false;
        state.close();
    }

    /// The line has changed, or is drawn again: the word for which a menu is open, which [`TypingMenu::show`] wants. A
    /// letter that was typed is on the screen when this returns.
    pub(super) fn echo(&self, line: &str, pos: usize) -> Option<MenuPlace> {
        let mut state = self.lock();
        let cause = std::mem::take(&mut state.cause);
        state.place_note(line, cause);
        if !state.is_on {
            return None;
        }
        let place = MenuPlace::of(line, pos).filter(|_| !state.is_searching);
        let key = place.as_ref().map(|place| (place.kind, place.start));
        if cause == MenuCause::Asked || state.dismissed != key {
            state.dismissed = None;
        }
        let opens = match cause {
            MenuCause::Typed | MenuCause::Asked => state.dismissed.is_none(),
            MenuCause::Redrawn => state.open.is_some(),
            MenuCause::Other => false,
        };
        let is_at_end = pos == line.len();
        let before = std::mem::replace(&mut state.drawn, is_at_end.then(|| line.to_string()));
        let before = before.filter(|_| is_at_end && cause == MenuCause::Typed);
        match place.filter(|_| opens) {
            Some(place) => {
                if let Some(before) = before {
                    state.echo(&before, line);
                }
                Some(place)
            }
            None => {
                state.close();
                None
            }
        }
    }

    /// Opens the menu of a word, or renews it: what is shown behind the line.
    pub(super) fn show(&self, place: MenuPlace, line: &str, pos: usize) -> Option<PromptHint> {
        self.lock().show(place, line, pos)
    }

    /// What is written behind the hint.
    pub(super) fn paint(&self) -> String {
        self.lock().paint()
    }

    /// What is written before the prompt: it removes the rows below. `is_own` where the prompt is placet's.
    pub(super) fn clear(&self, is_own: bool) -> &'static str {
        let mut state = self.lock();
        state.is_searching = !is_own;
        if !is_own {
            state.close();
        }
        if std::mem::take(&mut state.is_painted) { "\x1b[J" } else { "" }
    }

    /// A search in the history is on the screen.
    pub(super) fn is_searching(&self) -> bool {
        self.lock().is_searching
    }

    /// The cursor moved in the line. True where the line is to be drawn without the menu.
    pub(super) fn cursor_moved(&self) -> bool {
        let mut state = self.lock();
        state.open.is_some() && {
            state.close();
            true
        }
    }

    /// What Tab or Enter has chosen, once.
    pub(super) fn take_accepted(&self) -> Option<(usize, String)> {
        self.lock().accepted.take()
    }
}

impl MenuState {
    fn close(&mut self) {
        self.open = None;
        self.allow_refresh(false);
    }

    /// Writes a letter that was typed at the end of the line before the rows of the menu are worked out: rustyline then
    /// draws the line, with this letter, and the menu in one write. At the margin the terminal would wrap the letter, so
    /// nothing is written there.
    fn echo(&self, before: &str, line: &str) {
        let Some(letter) = line.strip_prefix(before).filter(|rest| rest.len() == 1) else { return };
        let columns = usize::from(term::size().0);
        let end = ScreenPlace::after_prompt(&self.prompt, columns).after(before, columns);
        if letter.bytes().all(|byte| byte.is_ascii_graphic()) && end.column + 1 < columns {
            term::write_all(letter.as_bytes());
        }
    }

    fn allow_refresh(&self, may: bool) {
        if let Some(pump) = &self.pump {
            pump.allow_refresh(may);
        }
    }

    fn show(&mut self, place: MenuPlace, line: &str, pos: usize) -> Option<PromptHint> {
        let before = self.open.take().filter(|open| open.place == place);
        let (matches, is_current) = self.lists.matches(&place, before.is_some(), self.pump.as_ref())?;
        let (mut selected, mut is_chosen, mut top) = (0, false, 0);
        if let Some(before) = before {
            (is_chosen, top) = (before.is_chosen, before.top);
            // The list may have got more rows before the chosen one.
            let chosen = before.rows.get(before.selected).filter(|_| is_chosen);
            selected = chosen.and_then(|row| matches.top.iter().position(|item| item == row)).unwrap_or(0);
        }
        let cwd = self.lists.cwd();
        let mut open = OpenMenu {
            exists: cwd.is_some_and(|cwd| exists(cwd, &place.typed)),
            place,
            total: matches.matched,
            rows: matches.top,
            is_current,
            selected,
            top,
            is_chosen,
            end: ScreenPlace::default(),
        };
        let hint = open.hint(line, pos);
        let columns = usize::from(term::size().0);
        let shown = if hint.shown == NOTHING { "" } else { &hint.shown };
        let start = ScreenPlace::after_prompt(&self.prompt, columns);
        open.end = start.after(line, columns).after(shown, columns);
        self.open = Some(open);
        self.allow_refresh(true);
        Some(hint)
    }

    fn paint(&mut self) -> String {
        let (columns, rows) = term::size();
        let (columns, rows) = (usize::from(columns), usize::from(rows));
        let Some(open) = self.open.as_mut().filter(|open| !open.rows.is_empty()) else {
            return self.paint_note((columns, rows));
        };
        let (count, _) = draw::room(open.rows.len(), open.total, open.end, rows);
        if count == 0 || self.is_searching {
            return String::new();
        }
        open.top = open.top.clamp((open.selected + 1).saturating_sub(count), open.selected);
        open.top = open.top.min(open.rows.len() - count);
        let frame = MenuFrame {
            kind: open.place.kind,
            query: &open.place.typed,
            rows: &open.rows,
            total: open.total,
            selected: open.is_marked().then_some(open.selected),
            top: open.top,
        };
        self.is_painted = true;
        frame.paint((self.colors.now(), &mut self.lists.matcher), open.end, (columns, rows))
    }

    /// The menu, where it is on the screen.
    fn shown(&mut self) -> Option<&mut OpenMenu> {
        let is_shown = self.is_painted && !self.is_searching;
        self.open.as_mut().filter(|open| is_shown && !open.rows.is_empty())
    }

    fn is_by_hand(&self) -> bool {
        self.pump.as_ref().is_some_and(PtyProxy::is_by_hand)
    }

    fn step(&mut self, down: bool) -> bool {
        let Some(open) = self.shown() else { return false };
        let count = open.rows.len();
        // From the last one to the first, and back; where none is marked, the first or the last.
        let from = if open.is_marked() || !down { open.selected } else { count - 1 };
        open.selected = if down { from + 1 } else { from + count - 1 } % count;
        open.is_chosen = true;
        self.cause = MenuCause::Redrawn;
        true
    }

    /// Waits for the matches of what was typed last, so that nothing else is chosen.
    fn settle(&mut self) {
        let (Some(open), Some(list)) = (&mut self.open, self.lists.filling()) else { return };
        if !open.is_current {
            list.wait(PATIENCE);
            if list.is_current {
                (open.rows, open.is_current) = (list.matches_below(&open.place.typed).top, true);
                (open.selected, open.is_chosen) = (0, false);
            }
        }
    }

    /// A list has other rows than those that are drawn, or the window changed.
    fn is_stale(&mut self) -> bool {
        let has_new = self.lists.filling().is_some_and(MenuList::poll);
        self.pump.as_ref().is_some_and(PtyProxy::take_resize) || has_new
    }

    /// Has rustyline put in the selected row. False where there is none.
    fn accept(&mut self) -> bool {
        self.settle();
        let Some(open) = self.open.as_ref().filter(|open| open.is_current) else { return false };
        let Some(item) = open.rows.get(open.selected) else { return false };
        let completed = completed(&open.place, item);
        self.accepted = Some((open.place.start, completed.text));
        // What follows has its own menu: the argument of a command, the files of a directory.
        self.cause = if completed.goes_on { MenuCause::Asked } else { MenuCause::Other };
        true
    }

    /// What Enter does with the line `line`.
    fn enter(&mut self, line: &str, pos: usize) -> MenuEnter {
        if self.shown().is_none() || !self.is_by_hand() {
            return MenuEnter::Send;
        }
        self.settle();
        self.open.as_ref().map_or(MenuEnter::Send, |open| open.enter(line, pos))
    }
}
