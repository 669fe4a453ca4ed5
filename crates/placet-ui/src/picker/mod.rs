//! A list to choose from by typing: files, sessions, models, commands, lines of the history.
//!
//! Matching runs in the background, so no key waits for a long list. What is taken is handed back; doing something
//! with it is up to who opened the list.

mod letters;
mod line_ui;
mod manage;
mod owner;
mod rank;

#[cfg(test)]
mod tests;

pub use letters::matched_letters;
use owner::OwnedList;
pub use owner::{PickerOwner, PickerRefusal, PickerScope};
pub use rank::{PickerFeed, PickerItem, PickerMatches, PickerSender};

use super::full_screen::{FullScreenPane, PaneFlow};
use super::highlight::{HighlightDocId, SyntaxHighlighter};
use super::line_ui::LineUi;
use crate::Theme;
use crate::keymap::{KeyBinding, Keymap, Move, row};
use crate::list::{self, ListCursor, PreviewArea};
use crate::pager::bar;
use crate::text_field::{TextField, TextFieldKind};
use crate::worker::WorkerFailure;
use crate::wrap::wrap;
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

/// What is shown next to the list of the thing under the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PickerPreview {
    pub text: String,
    /// A path or a language, for colours; empty for none.
    pub language: String,
    /// Lines that are drawn as they are, in place of the text.
    pub drawn: Vec<Line<'static>>,
}

/// The preview of what is selected.
struct RenderedPreview {
    item: Arc<PickerItem>,
    lines: Vec<Line<'static>>,
    /// What the lines are, and who colours them.
    coloured: Option<(Vec<String>, HighlightDocId)>,
}

/// How many may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectionMode {
    One,
    Several,
}

/// Makes the preview of a thing.
type PickerPreviewer<'h> = Box<dyn Fn(&PickerItem) -> PickerPreview + 'h>;

pub struct Picker<'h> {
    title: String,
    feed: PickerFeed,
    previewer: Option<PickerPreviewer<'h>>,
    many: SelectionMode,
    /// Columns of the text where notes are one below the other.
    text_columns: Option<usize>,
    /// Notes that do not fit are shown below their items, where there is room for all of them.
    has_whole_notes: bool,
    /// The lists to choose from, and which is shown; none where there is one list only.
    scopes: Vec<PickerScope>,
    scope: usize,
    /// Of things that can be renamed and deleted.
    owned: Option<OwnedList<'h>>,
    keys: Keymap<PickerAction>,
    theme: Theme,
    query: TextField,
    ranked: PickerMatches,
    failure: Option<WorkerFailure>,
    cursor: ListCursor,
    /// The row that is selected first, until the list is there.
    begins_at: Option<usize>,
    marked: Vec<Arc<PickerItem>>,
    taken: Vec<String>,
    size: (u16, u16),
    tint: SyntaxHighlighter,
    shown: Option<RenderedPreview>,
    matcher: RefCell<Matcher>,
}

impl<'h> Picker<'h> {
    pub fn new(title: &str, feed: PickerFeed, theme: &Theme, keys: Keymap<PickerAction>) -> Picker<'h> {
        Picker {
            title: title.into(),
            feed,
            previewer: None,
            many: SelectionMode::One,
            text_columns: None,
            has_whole_notes: false,
            scopes: Vec::new(),
            scope: 0,
            owned: None,
            keys,
            theme: theme.clone(),
            query: TextField::new(TextFieldKind::Path),
            ranked: PickerMatches::default(),
            failure: None,
            cursor: ListCursor::default(),
            begins_at: None,
            marked: Vec::new(),
            taken: Vec::new(),
            size: (0, 0),
            tint: SyntaxHighlighter::new(theme),
            shown: None,
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
        self.query.set(query);
        self
    }

    #[must_use]
    pub fn with_preview(mut self, previewer: impl Fn(&PickerItem) -> PickerPreview + 'h) -> Picker<'h> {
        self.previewer = Some(Box::new(previewer));
        self
    }

    /// Another row than the first is selected when the list opens.
    #[must_use]
    pub fn beginning_at(mut self, row: usize) -> Picker<'h> {
        self.begins_at = Some(row);
        self
    }

    /// Several lists, of which the first is shown; a key goes to the next.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Vec<PickerScope>) -> Picker<'h> {
        self.scopes = scopes;
        self
    }

    /// Notes begin below one another: a longer text is cut.
    #[must_use]
    pub fn in_columns(mut self, text_columns: usize) -> Picker<'h> {
        self.text_columns = Some(text_columns);
        self
    }

    /// Notes that do not fit next to their items are shown below them, broken at words: what is chosen has effects that
    /// only its note names.
    #[must_use]
    pub fn with_whole_notes(mut self) -> Picker<'h> {
        self.has_whole_notes = true;
        self
    }

    /// Finds what is not in the list by what is typed: ignored files, by their path.
    #[must_use]
    pub fn with_beyond(self, beyond: impl Fn(&str) -> Vec<PickerItem> + Send + 'static) -> Picker<'h> {
        self.feed.with_beyond(Box::new(beyond));
        self
    }

    /// What was taken; nothing where the list was cancelled.
    pub fn taken(mut self) -> Vec<String> {
        std::mem::take(&mut self.taken)
    }

    fn current(&self) -> Option<&Arc<PickerItem>> {
        self.ranked.top.get(self.cursor.selected)
    }

    fn ask(&mut self) {
        self.feed.ask(self.query.text());
        self.cursor.select(0, 0);
    }

    fn act(&mut self, act: PickerAction) -> PaneFlow {
        match act {
            PickerAction::Move(step) => self.cursor.go(step, self.ranked.top.len()),
            PickerAction::Clear => {
                self.query.take();
                self.ask();
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
        if self.scopes.len() < 2 {
            return;
        }
        self.scope = (self.scope + 1) % self.scopes.len();
        self.show_scope();
    }

    fn show_scope(&mut self) {
        if let Some(scope) = self.scopes.get(self.scope) {
            self.feed = PickerFeed::of(scope.items.clone());
            self.ranked = PickerMatches::default();
            self.ask();
        }
    }

    /// What the key for more shows next.
    fn next_scope(&self) -> Option<&PickerScope> {
        let next = (self.scope + 1) % self.scopes.len().max(1);
        self.scopes.get(next).filter(|_| self.scopes.len() > 1)
    }

    fn mark(&mut self) {
        let Some(item) = self.current().filter(|_| self.many == SelectionMode::Several).cloned() else {
            return;
        };
        match self.marked.iter().position(|marked| *marked == item) {
            Some(at) => drop(self.marked.remove(at)),
            None => self.marked.push(item),
        }
        self.cursor.go(Move::Down, self.ranked.top.len());
    }

    /// Enter before the list has caught up with what was typed waits for it, so that nothing else is taken.
    fn take(&mut self) -> PaneFlow {
        let until = std::time::Instant::now() + std::time::Duration::from_millis(500);
        while self.marked.is_empty() && self.ranked.top.is_empty() && self.has_background_work() {
            self.take_ranked();
            if std::time::Instant::now() > until {
                break;
            }
            std::thread::yield_now();
        }
        let chosen = if self.marked.is_empty() {
            self.current().into_iter().collect()
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

    fn take_ranked(&mut self) -> bool {
        match self.feed.poll() {
            Some(Ok(ranked)) => self.ranked = ranked,
            Some(Err(failure)) => (self.failure, self.ranked.is_done) = (Some(failure), true),
            None => return false,
        }
        let rows = self.ranked.top.len();
        let first = self.begins_at.take_if(|row| self.query.is_empty() && *row < rows);
        self.cursor.select(first.unwrap_or(self.cursor.selected), rows);
        true
    }

    /// The places of the list and of the preview.
    fn areas(&self) -> (Rect, Option<PreviewArea>) {
        match self.previewer {
            Some(_) => list::preview_areas(self.size),
            None => (Rect { width: self.size.0, ..list::areas(self.size).0 }, None),
        }
    }

    fn has_preview(&self) -> bool {
        self.areas().1.is_some()
    }

    /// Makes the preview of what is selected now.
    fn preview(&mut self) -> bool {
        let Some(previewer) = self.previewer.as_ref().filter(|_| self.has_preview()) else { return false };
        let current = self.ranked.top.get(self.cursor.selected).cloned();
        if self.shown.as_ref().map(|shown| &shown.item) == current.as_ref() {
            return false;
        }
        if let Some((_, doc)) = self.shown.take().and_then(|shown| shown.coloured) {
            self.tint.remove(doc);
        }
        self.shown = current.map(|item| {
            let preview = previewer(&item);
            let text: Vec<String> = preview.text.split_terminator('\n').take(200).map(String::from).collect();
            let plain = || text.iter().map(|line| super::viewer::styled(line, &[])).collect();
            let lines = if preview.drawn.is_empty() { plain() } else { preview.drawn };
            let has_colours = !preview.language.is_empty();
            let doc = has_colours.then(|| self.tint.add(preview.text.as_str().into(), &preview.language));
            RenderedPreview { item, lines, coloured: doc.map(|doc| (text, doc)) }
        });
        true
    }

    fn draw_query(&self, buffer: &mut Buffer) -> u16 {
        let columns = usize::from(buffer.area.width);
        let mut count = format!("{} of {}", self.ranked.matched, self.ranked.total);
        if !self.ranked.is_done {
            count.push('…');
        }
        if let Some(order) = self.order_name() {
            count = format!("{order}  {count}");
        }
        if !self.marked.is_empty() {
            count = format!("{} marked  {count}", self.marked.len());
        }
        let lead = width::of(&self.title) + 4;
        let (typed, at) = self.query.view(columns.saturating_sub(lead));
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
        let (text, note) = match self.text_columns {
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
        let is_selected = at == self.cursor.selected;
        let letters = matched_letters(&text, self.query.text(), &self.theme, &mut self.matcher.borrow_mut());
        list::draw_row((buffer, &self.theme), area, is_selected, mark, letters, &note);
    }

    /// Draws all items with the rows of their notes. False, and nothing is drawn, where each item has one row.
    fn draw_with_notes(&self, buffer: &mut Buffer, area: Rect) -> bool {
        let room = usize::from(area.width).saturating_sub(LEAD);
        let fits = |item: &PickerItem| width::of(&item.text) + GAP + width::of(&item.note) <= room;
        if !self.has_whole_notes || self.ranked.top.iter().all(|item| fits(item)) {
            return false;
        }
        let rows = |item: &PickerItem| {
            let note = Line::styled(visible::guard_line(&item.note).into_owned(), self.theme.style("dim"));
            wrap(&note, room.saturating_sub(NOTE_INDENT).max(1))
        };
        let notes: Vec<Vec<Line<'static>>> = self.ranked.top.iter().map(|item| rows(item)).collect();
        if notes.iter().map(|rows| rows.len() + 1).sum::<usize>() > usize::from(area.height) {
            return false;
        }
        let mut y = area.y;
        for (at, (item, note)) in self.ranked.top.iter().zip(&notes).enumerate() {
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
        let scope = self.next_scope();
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

    fn draw_preview(&self, buffer: &mut Buffer, area: PreviewArea) {
        area.draw_border(buffer, &self.theme);
        let area = area.inside();
        let Some(shown) = &self.shown else { return };
        if let Some((_, doc)) = &shown.coloured {
            self.tint.want(*doc, 0..usize::from(area.height));
        }
        for (at, line) in shown.lines.iter().enumerate().take(usize::from(area.height)) {
            let coloured = shown.coloured.as_ref().and_then(|(text, doc)| {
                Some(super::viewer::styled(text.get(at)?, self.tint.line(*doc, at)?))
            });
            let y = area.y + u16::try_from(at).unwrap_or(0);
            buffer.set_line(area.x, y, coloured.as_ref().unwrap_or(line), area.width);
        }
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
        if self.query.key(key) {
            self.ask();
        }
        PaneFlow::Stay
    }

    fn paste(&mut self, text: &str) {
        if self.task_paste(text) {
            return;
        }
        self.query.insert(text);
        self.ask();
    }

    fn resize(&mut self, columns: u16, rows: u16) {
        if self.size == (0, 0) {
            self.ask();
        }
        self.size = (columns, rows);
        self.cursor.resize_list(self.areas().0.height, self.ranked.top.len());
    }

    fn run_line_ui(&mut self, talk: &mut dyn LineUi) {
        self.converse(talk);
    }

    fn draw(&self, buffer: &mut Buffer) -> Option<(u16, u16)> {
        let area = buffer.area;
        let cursor = self.draw_query(buffer);
        let (list, preview) = self.areas();
        if !self.draw_with_notes(buffer, list) {
            let items = self.ranked.top.iter().enumerate().skip(self.cursor.top);
            for (row, (at, item)) in list.rows().zip(items) {
                self.draw_item(buffer, row, at, item);
            }
        }
        if self.ranked.top.is_empty() && self.ranked.is_done && list.height > 0 {
            let words = match &self.failure {
                Some(failure) => format!("  {failure}"),
                None if self.query.is_empty() => "  nothing to choose from".into(),
                None => "  nothing matches".into(),
            };
            buffer.set_stringn(0, 2, words, usize::from(area.width), self.theme.style("hint"));
        }
        if let Some(preview) = preview {
            self.draw_preview(buffer, preview);
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
        let ranked = self.take_ranked();
        let preview = self.preview();
        self.tint.poll() || ranked || preview
    }

    fn has_background_work(&self) -> bool {
        self.feed.is_busy() || !self.ranked.is_done || self.tint.is_busy()
    }
}
