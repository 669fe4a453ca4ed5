//! A list to choose from by typing: files, sessions, models, commands, lines of the history.
//!
//! Matching runs in the background, so no key waits for a long list. What is taken is handed back; doing something
//! with it is up to who opened the list.

mod letters;
mod line_ui;
mod manage;
mod owner;
mod preview;
mod rank;
mod scopes;
mod search;

#[cfg(test)]
mod tests;

pub use letters::matched_letters;
use owner::OwnedList;
pub use owner::{PickerOwner, PickerRefusal};
pub use preview::PickerPreview;
use preview::PreviewColumn;
pub use rank::{PickerFeed, PickerItem, PickerMatches, PickerSender};
pub use scopes::PickerScope;
use scopes::ScopeList;
use search::PickerSearch;

use super::line_ui::LineUi;
use super::terminal::full_screen::{FullScreenPane, PaneFlow};
use crate::Theme;
use crate::keymap::{KeyBinding, Keymap, Move, row};
use crate::lines::wrap::wrap;
use crate::list::{self, PreviewArea};
use crate::pager::bar;
use crossterm::event::KeyEvent;
use nucleo_matcher::{Config, Matcher};
use placet_text::text::{visible, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use std::cell::RefCell;
use std::sync::Arc;

/// Columns in front of an item.
const LEAD: usize = 3;
/// Columns between an item and its note.
const GAP: usize = 2;
/// Columns in front of a note below its item.
const NOTE_INDENT: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickerAction {
    Move(Move),
    Mark,
    Take,
    Clear,
    More,
    Rename,
    Delete,
    Sort,
    Cancel,
}

pub const KEYS: &[KeyBinding<PickerAction>] = &[
    row(PickerAction::Move(Move::Down), "down", "Down Ctrl-N Ctrl-J", "the next one"),
    row(PickerAction::Move(Move::Up), "up", "Up Ctrl-P Ctrl-K", "the previous one"),
    row(PickerAction::Move(Move::PageDown), "page-down", "PageDown Ctrl-D", "a screen down"),
    row(PickerAction::Move(Move::PageUp), "page-up", "PageUp Ctrl-B", "a screen up"),
    row(PickerAction::Move(Move::Top), "first", "Home", "the first one"),
    row(PickerAction::Move(Move::Bottom), "last", "End", "the last one"),
    row(PickerAction::Mark, "mark", "Tab", "mark it, to choose several"),
    row(PickerAction::Take, "take", "Enter", "choose it, or all marked ones"),
    row(PickerAction::Clear, "clear", "Ctrl-U", "empty the line"),
    row(PickerAction::More, "more", "Ctrl-O", "show more than the list begins with, or less again"),
    row(PickerAction::Rename, "rename", "Alt-n", "of sessions: give it another name"),
    row(PickerAction::Delete, "delete", "Alt-x", "of sessions: delete it; asks first"),
    row(PickerAction::Sort, "sort", "Alt-s", "of sessions: the next order"),
    row(PickerAction::Cancel, "cancel", "Esc Ctrl-C Ctrl-G", "close and take nothing"),
];

/// How many may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionMode {
    One,
    Several,
}

/// Where the notes of items are.
#[derive(Default)]
struct NoteLayout {
    /// Columns of the text where notes are one below the other.
    text_columns: Option<usize>,
    /// Notes that do not fit are shown below their items, where there is room for all of them.
    are_whole: bool,
}

pub struct Picker<'h> {
    title: String,
    search: PickerSearch,
    preview: PreviewColumn<'h>,
    many: SelectionMode,
    notes: NoteLayout,
    scopes: ScopeList,
    /// Of things that can be renamed and deleted.
    owned: Option<OwnedList<'h>>,
    keys: Keymap<PickerAction>,
    theme: Theme,
    marked: Vec<Arc<PickerItem>>,
    taken: Vec<String>,
    size: (u16, u16),
    matcher: RefCell<Matcher>,
}

impl<'h> Picker<'h> {
    pub fn new(title: &str, feed: PickerFeed, theme: &Theme, keys: Keymap<PickerAction>) -> Picker<'h> {
        Picker {
            title: title.into(),
            search: PickerSearch::new(feed),
            preview: PreviewColumn::new(theme),
            many: SelectionMode::One,
            notes: NoteLayout::default(),
            scopes: ScopeList::default(),
            owned: None,
            keys,
            theme: theme.clone(),
            marked: Vec::new(),
            taken: Vec::new(),
            size: (0, 0),
            matcher: RefCell::new(Matcher::new(Config::DEFAULT.match_paths())),
        }
    }

    #[must_use]
    pub fn several(mut self) -> Picker<'h> {
        self.many = SelectionMode::Several;
        self
    }

    #[must_use]
    pub fn with_query(mut self, query: &str) -> Picker<'h> {
        self.search.query.set(query);
        self
    }

    #[must_use]
    pub fn with_preview(mut self, previewer: impl Fn(&PickerItem) -> PickerPreview + 'h) -> Picker<'h> {
        self.preview.previewer = Some(Box::new(previewer));
        self
    }

    /// Another row than the first is selected when the list opens.
    #[must_use]
    pub fn beginning_at(mut self, row: usize) -> Picker<'h> {
        self.search.begins_at = Some(row);
        self
    }

    /// Several lists, of which the first is shown; a key goes to the next.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Vec<PickerScope>) -> Picker<'h> {
        self.scopes.all = scopes;
        self
    }

    /// Notes begin below one another: a longer text is cut.
    #[must_use]
    pub fn in_columns(mut self, text_columns: usize) -> Picker<'h> {
        self.notes.text_columns = Some(text_columns);
        self
    }

    /// Notes that do not fit next to their items are shown below them, broken at words: what is chosen has effects that
    /// only its note names.
    #[must_use]
    pub fn with_whole_notes(mut self) -> Picker<'h> {
        self.notes.are_whole = true;
        self
    }

    /// Finds what is not in the list by what is typed: ignored files, by their path.
    #[must_use]
    pub fn with_beyond(self, beyond: impl Fn(&str) -> Vec<PickerItem> + Send + 'static) -> Picker<'h> {
        self.search.feed.with_beyond(Box::new(beyond));
        self
    }

    /// What was taken; nothing where the list was cancelled.
    pub fn taken(mut self) -> Vec<String> {
        std::mem::take(&mut self.taken)
    }

    fn act(&mut self, act: PickerAction) -> PaneFlow {
        match act {
            PickerAction::Move(step) => self.search.cursor.go(step, self.search.ranked.top.len()),
            PickerAction::Clear => {
                self.search.query.take();
                self.search.ask();
            }
            PickerAction::Mark => self.mark(),
            PickerAction::More => self.show_next_scope(),
            PickerAction::Rename | PickerAction::Delete => self.begin(act),
            PickerAction::Sort => self.next_order(),
            PickerAction::Cancel => return PaneFlow::Close,
            PickerAction::Take => return self.take(),
        }
        PaneFlow::Stay
    }

    fn show_next_scope(&mut self) {
        if self.scopes.go_on() {
            self.show_scope();
        }
    }

    fn show_scope(&mut self) {
        if let Some(scope) = self.scopes.shown() {
            self.search.replace(PickerFeed::of(scope.items.clone()));
        }
    }

    fn mark(&mut self) {
        let Some(item) = self.search.current().filter(|_| self.many == SelectionMode::Several).cloned()
        else {
            return;
        };
        match self.marked.iter().position(|marked| *marked == item) {
            Some(at) => drop(self.marked.remove(at)),
            None => self.marked.push(item),
        }
        self.search.cursor.go(Move::Down, self.search.ranked.top.len());
    }

    /// Enter before the list has caught up with what was typed waits for it, so that nothing else is taken.
    fn take(&mut self) -> PaneFlow {
        let until = std::time::Instant::now() + std::time::Duration::from_millis(500);
        while self.marked.is_empty() && self.search.ranked.top.is_empty() && self.has_background_work() {
            self.search.take_ranked();
            if std::time::Instant::now() > until {
                break;
            }
            std::thread::yield_now();
        }
        let chosen = if self.marked.is_empty() {
            self.search.current().into_iter().collect()
        } else {
            self.marked.iter().collect::<Vec<_>>()
        };
        let taken: Vec<String> = chosen.into_iter().map(|item| item.value().to_string()).collect();
        if taken.is_empty() {
            return PaneFlow::Stay;
        }
        self.taken = taken;
        PaneFlow::Close
    }

    /// The places of the list and of the preview.
    fn areas(&self) -> (Rect, Option<PreviewArea>) {
        match self.preview.previewer {
            Some(_) => list::preview_areas(self.size),
            None => (Rect { width: self.size.0, ..list::areas(self.size).0 }, None),
        }
    }

    fn draw_query(&self, buffer: &mut Buffer) -> u16 {
        let columns = usize::from(buffer.area.width);
        let mut count = format!("{} of {}", self.search.ranked.matched, self.search.ranked.total);
        if !self.search.ranked.is_done {
            count.push('…');
        }
        if let Some(order) = self.order_name() {
            count = format!("{order}  {count}");
        }
        if !self.marked.is_empty() {
            count = format!("{} marked  {count}", self.marked.len());
        }
        let lead = width::of(&self.title) + 4;
        let (typed, at) = self.search.query.view(columns.saturating_sub(lead));
        let line = Line::from(vec![
            Span::styled(format!(" {} ", self.title), self.theme.style("title")),
            Span::styled("❯ ", self.theme.style("key")),
            Span::styled(typed.clone(), self.theme.style("strong")),
        ]);
        buffer.set_line(0, 0, &line, buffer.area.width);
        let used = lead + width::of(&typed);
        let wide = width::of(&count) + 1;
        if used + wide + 1 < columns {
            let x = u16::try_from(columns - wide).unwrap_or(0);
            buffer.set_stringn(x, 0, &count, wide, self.theme.style("status"));
        }
        u16::try_from(lead + at).unwrap_or(0).min(buffer.area.width.saturating_sub(1))
    }

    fn draw_item(&self, buffer: &mut Buffer, area: Rect, at: usize, item: &Arc<PickerItem>) {
        let room = usize::from(area.width).saturating_sub(3);
        let text = item.visible_text();
        let note = visible::guard_line(&item.note).into_owned();
        let (text, note) = match self.notes.text_columns {
            Some(columns) => {
                let columns = columns.min(room);
                let text = width::cut(&text, columns);
                let pad = " ".repeat(columns - width::of(&text));
                let note = width::cut(&note, room.saturating_sub(columns + 2));
                let fill = room.saturating_sub(columns + 2 + width::of(&note));
                (format!("{text}{pad}"), format!("{note}{}", " ".repeat(fill)))
            }
            None => (text, note),
        };
        let text_wide = width::of(&text).min(room);
        // The note is shown only where there is room for it, and never shortens the item itself.
        let note_room = room.saturating_sub(text_wide + 2);
        let text = width::cut_middle(&text, room);
        let note = if note_room >= 4 { width::cut(&note, note_room).to_string() } else { String::new() };
        let mark = match self.marked.contains(item) {
            true => Span::styled("+ ", self.theme.style("accepted")),
            false => Span::raw("  "),
        };
        let is_selected = at == self.search.cursor.selected;
        let letters =
            matched_letters(&text, self.search.query.text(), &self.theme, &mut self.matcher.borrow_mut());
        list::draw_row((buffer, &self.theme), area, is_selected, mark, letters, &note);
    }

    /// Draws all items with the rows of their notes. False, and nothing is drawn, where each item has one row.
    fn draw_with_notes(&self, buffer: &mut Buffer, area: Rect) -> bool {
        let room = usize::from(area.width).saturating_sub(LEAD);
        let fits = |item: &PickerItem| width::of(&item.text) + GAP + width::of(&item.note) <= room;
        if !self.notes.are_whole || self.search.ranked.top.iter().all(|item| fits(item)) {
            return false;
        }
        let rows = |item: &PickerItem| {
            let note = Line::styled(visible::guard_line(&item.note).into_owned(), self.theme.style("dim"));
            wrap(&note, room.saturating_sub(NOTE_INDENT).max(1))
        };
        let notes: Vec<Vec<Line<'static>>> = self.search.ranked.top.iter().map(|item| rows(item)).collect();
        if notes.iter().map(|rows| rows.len() + 1).sum::<usize>() > usize::from(area.height) {
            return false;
        }
        let mut y = area.y;
        for (at, (item, note)) in self.search.ranked.top.iter().zip(&notes).enumerate() {
            let alone = Arc::new(PickerItem { note: String::new(), ..PickerItem::clone(item) });
            self.draw_item(buffer, Rect { y, height: 1, ..area }, at, &alone);
            for row in note {
                y += 1;
                let x = area.x + u16::try_from(LEAD + NOTE_INDENT).unwrap_or(0);
                buffer.set_line(x, y, row, area.width);
            }
            y += 1;
        }
        true
    }

    /// The keys at the bottom: in short words where the row is narrow, and without those of tasks where it is narrower still.
    fn key_words(&self, columns: usize) -> String {
        let scope = self.scopes.next();
        let long = (scope.map(|scope| scope.name.as_str()), self.next_order_name());
        let short = (scope.map(|scope| scope.short_name.as_str()), long.1.map(|_| "sort"));
        let (mut parts, _) = self.key_parts(long);
        let mut words = self.joined_keys(&parts);
        if width::of(&words) <= columns {
            return words;
        }
        let (short_parts, always) = self.key_parts(short);
        parts = short_parts;
        words = self.joined_keys(&parts);
        while width::of(&words) > columns && parts.len() > always + 1 {
            parts.remove(parts.len() - 2);
            words = self.joined_keys(&parts);
        }
        words
    }

    /// The keys with their words, and how many of them come before those of tasks.
    fn key_parts<'w>(
        &self,
        (scope, order): (Option<&'w str>, Option<&'w str>),
    ) -> (Vec<(PickerAction, &'w str)>, usize) {
        let mut parts = vec![(PickerAction::Take, "choose")];
        if self.many == SelectionMode::Several {
            parts.push((PickerAction::Mark, "mark"));
        }
        parts.extend(scope.map(|name| (PickerAction::More, name)));
        let always = parts.len();
        if self.owned.is_some() {
            parts.extend([(PickerAction::Rename, "rename"), (PickerAction::Delete, "delete")]);
        }
        parts.extend(order.map(|name| (PickerAction::Sort, name)));
        parts.push((PickerAction::Cancel, "cancel"));
        (parts, always)
    }

    fn joined_keys(&self, parts: &[(PickerAction, &str)]) -> String {
        let words: Vec<String> =
            parts.iter().map(|(act, word)| format!("{} {word}", self.keys.key(*act))).collect();
        format!(" {}", words.join("  "))
    }
}

impl FullScreenPane for Picker<'_> {
    fn key(&mut self, key: KeyEvent) -> PaneFlow {
        if let Some(flow) = self.task_key(key) {
            return flow;
        }
        if let Some(act) = self.keys.action(key) {
            return self.act(act);
        }
        if self.search.query.key(key) {
            self.search.ask();
        }
        PaneFlow::Stay
    }

    fn paste(&mut self, text: &str) {
        if self.task_paste(text) {
            return;
        }
        self.search.query.insert(text);
        self.search.ask();
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if self.size == (0, 0) {
            self.search.ask();
        }
        self.size = (columns, rows);
        self.search.cursor.resize_list(self.areas().0.height, self.search.ranked.top.len());
    }

    fn run_line_ui(&mut self, talk: &mut dyn LineUi) {
        self.converse(talk);
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let area = buffer.area;
        let cursor = self.draw_query(buffer);
        let (list, preview) = self.areas();
        if !self.draw_with_notes(buffer, list) {
            let items = self.search.ranked.top.iter().enumerate().skip(self.search.cursor.top);
            for (row, (at, item)) in list.rows().zip(items) {
                self.draw_item(buffer, row, at, item);
            }
        }
        if self.search.ranked.top.is_empty() && self.search.ranked.is_done && list.height > 0 {
            let words = match &self.search.failure {
                Some(failure) => format!("  {failure}"),
                None if self.search.query.is_empty() => "  nothing to choose from".into(),
                None => "  nothing matches".into(),
            };
            buffer.set_stringn(0, 2, words, usize::from(area.width), self.theme.style("hint"));
        }
        if let Some(preview) = preview {
            self.preview.draw(buffer, preview, &self.theme);
        }
        if area.height > 2 {
            let words = self.key_words(usize::from(area.width));
            bar(buffer, area.height - 1, &self.theme, &Line::styled(words, self.theme.style("hint")), "");
        }
        match self.draw_task(buffer) {
            Some(cursor) => cursor,
            None => Some((cursor, 0)),
        }
    }

    fn tick(&mut self) -> bool {
        let ranked = self.search.take_ranked();
        let has_preview = self.areas().1.is_some();
        let preview = has_preview && self.preview.show(self.search.current().cloned());
        self.preview.tint.poll() || ranked || preview
    }

    fn has_background_work(&self) -> bool {
        self.search.is_busy() || self.preview.tint.is_busy()
    }
}
