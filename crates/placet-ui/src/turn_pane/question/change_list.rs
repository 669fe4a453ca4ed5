//! The changes that are asked about: a row for each, which opens to its difference; and what of them was on the screen.
//!
//! At first as many differences are open as fit. Down goes through everything: it scrolls to the end of what is open,
//! and then opens what is closed. A difference counts as seen when each of its rows was drawn; those of git's own
//! files, which the rows below their repository explain, need not be. The difference of a commit must be where the files
//! that are listed do not show all of it, and where the question is about the repository: a yes applies the commit.

use super::change_rows::{ListLayout, least_rows, open_sign};
use super::confirmation::{UnseenParts, UnseenRows, not_shown};
use super::file_purpose::FilePurpose;
use crate::colors::theme::Theme;
use crate::review::{Differences, UnchangedText};
use crossterm::event::KeyCode;
use placet_text::text::RangeSet;
use placet_tools::{ChangeOverview, FileDiff};
use placet_workspace::ListedChange;
use ratatui::text::Line;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Range;

/// Rows of the list for which what is above the question makes way.
const LEAST_LIST: usize = 8;
/// A difference that is cut is opened only where it gets more rows than this.
const LEAST_CUT: usize = 3;

pub(super) struct ChangeList {
    differences: Differences,
    /// By row: whether it opens to something, and whether that has to be seen before all of the question was.
    kinds: Vec<RowKind>,
    /// Rows whose difference is open.
    open: BTreeSet<usize>,
    /// The person opened or closed one: from then on none opens because it fits.
    chosen: bool,
    cursor: usize,
    /// The first screen row that is shown, and how many are.
    scroll: usize,
    fits: usize,
    seen: Vec<RowSeen>,
    /// The columns at which rows were counted as seen.
    columns: usize,
    theme: Theme,
    laid_out: RefCell<Option<ListLayout>>,
    /// The width at which it was chosen what is open.
    fitted: Option<usize>,
    /// Rows that were taken from what is above the question.
    spare: usize,
}

#[derive(Clone, Copy, Default)]
struct RowKind {
    has_difference: bool,
    is_required: bool,
    purpose: FilePurpose,
    /// The difference has no fewer rows.
    least_rows: usize,
}

/// What a yes applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListSubject {
    /// All rows but those that are asked about by themselves.
    Everything,
    /// One file that runs later, or one repository with such files in its commits or its index.
    OnePath,
}

impl ListSubject {
    /// The difference of the file has to be seen before all of the question was.
    pub(super) fn needs_difference(self, row: &ListedChange, file: &FileDiff) -> bool {
        let is_of_commit = || row.commit.is_some();
        match self {
            // What a yes leaves out is asked about again, by itself.
            ListSubject::Everything if row.is_left_out => false,
            ListSubject::Everything => !row.is_of_git || is_of_commit() && !file.is_repeated,
            ListSubject::OnePath => !row.is_of_git || is_of_commit(),
        }
    }
}

/// A file of which no content changes: the row has its names and its modes.
fn is_told_by_row(file: &FileDiff, overview: &ChangeOverview) -> bool {
    let mut lines = file.patch.split(|byte| *byte == b'\n');
    let has_content = lines.any(|line| line.starts_with(b"@@ ") || line == b"GIT binary patch");
    let is_of_file = overview.list.get(file.row).is_some_and(|row| row.commit.is_none() && !row.is_of_git);
    is_of_file && file.left_out.is_none() && !has_content
}

/// What of one row was on the screen.
#[derive(Clone, Default)]
struct RowSeen {
    head: RangeSet,
    difference: RangeSet,
    /// All of it was, at some width.
    whole: bool,
}

/// What is on the screen of a list.
pub(super) struct ListWindow {
    pub(super) rows: Vec<Line<'static>>,
    /// Screen rows in all, without what is closed; how many of them are shown, and how many are further down.
    pub(super) total: usize,
    pub(super) fits: usize,
    pub(super) below: usize,
    /// Differences that are closed.
    pub(super) closed: usize,
}

/// A row or its difference, in the list as it is open now.
struct ListSection {
    row: usize,
    is_head: bool,
    /// Where it is among the screen rows.
    at: Range<usize>,
}

impl ChangeList {
    pub(super) fn new(overview: &ChangeOverview, asked: ListSubject, theme: &Theme) -> ChangeList {
        // A patch that was cut off is not a valid patch.
        let whole = overview.files.iter().map(|file| match file.left_out {
            None => (&*file.patch, &*file.runs_later),
            Some(_) => (&[][..], &[][..]),
        });
        let is_required = |file: &FileDiff| {
            overview.list.get(file.row).is_some_and(|row| asked.needs_difference(row, file))
        };
        let mut kinds = vec![RowKind::default(); overview.list.len()];
        for file in overview.files.iter().filter(|file| !is_told_by_row(file, overview)) {
            if let Some(kind) = kinds.get_mut(file.row) {
                let least_rows = kind.least_rows + least_rows(file);
                let is_file = overview.list.get(file.row).is_some_and(|row| row.commit.is_none());
                let purpose = if is_file { FilePurpose::of(&file.name) } else { FilePurpose::Source };
                // A row of several files is required where one of them is.
                let is_required = kind.is_required || is_required(file);
                *kind = RowKind { has_difference: true, is_required, purpose, least_rows };
            }
        }
        // In a question about a repository, the commit for which it waits comes before its internal files.
        let marked = overview.files.iter().find(|file| !file.runs_later.is_empty()).map(|file| file.row);
        let marked = marked.filter(|_| asked == ListSubject::OnePath);
        ChangeList {
            differences: Differences::marked(whole, theme),
            kinds,
            open: BTreeSet::new(),
            chosen: false,
            cursor: marked.unwrap_or(0),
            scroll: 0,
            fits: 0,
            seen: vec![RowSeen::default(); overview.list.len()],
            columns: 0,
            theme: theme.clone(),
            laid_out: RefCell::default(),
            fitted: None,
            spare: 0,
        }
    }

    /// The rows that fit into `room`, at a width of `columns`; `spare` more rows may be taken where that opens more, and as
    /// far as the list has fewer than [`LEAST_LIST`] rows. Where nothing is hidden, the row that would say so is free.
    pub(super) fn window(
        &mut self,
        overview: &ChangeOverview,
        columns: usize,
        (room, spare): (usize, usize),
    ) -> ListWindow {
        let least = room.max(LEAST_LIST.min(room + spare));
        let (room, spare) = (least, room + spare - least);
        if self.columns != columns {
            // Laid out at another width, rows are other rows. What was wholly seen stays seen.
            self.seen.iter_mut().filter(|seen| !seen.whole).for_each(|seen| *seen = RowSeen::default());
            self.columns = columns;
        }
        let known = self.laid_out.borrow().as_ref().is_some_and(|known| known.columns == columns);
        if !known {
            *self.laid_out.borrow_mut() = Some(ListLayout::new(overview, &self.theme, columns));
        }
        if !self.chosen {
            self.open_what_fits(overview, room, spare);
        }
        let room = room + self.spare.min(spare);
        let parts = self.parts(overview);
        let total = parts.last().map_or(0, |part| part.at.end);
        let closed = (0..self.seen.len())
            .filter(|row| !self.open.contains(row) && self.kind(*row).is_required)
            .count();
        let free = usize::from(closed == 0 && total == room + 1);
        let fits = (room + free).max(1).min(total);
        self.fits = fits;
        self.scroll = self.scroll.min(total.saturating_sub(fits));
        let range = self.scroll..self.scroll + fits;
        let mut rows = Vec::with_capacity(fits);
        for part in &parts {
            let (from, to) = (part.at.start.max(range.start), part.at.end.min(range.end));
            if from >= to {
                continue;
            }
            let inside = from - part.at.start..to - part.at.start;
            let lines = self.lines(part, overview);
            rows.extend(lines.get(inside.clone()).unwrap_or_default().iter().cloned());
            if part.is_head && inside.start == 0 {
                let at = rows.len() - inside.len();
                if let Some(row) = rows.get_mut(at) {
                    self.mark(part.row, row);
                }
            }
        }
        let below = total - range.end;
        ListWindow { rows, total, fits, below, closed }
    }

    /// Puts the sign before a row of the list: of the row under the cursor, and of every row whose difference is closed.
    fn mark(&self, row: usize, line: &mut Line<'static>) {
        let (is_open, is_here) = (self.open.contains(&row), row == self.cursor);
        if !is_here && (is_open || !self.kind(row).has_difference) {
            return;
        }
        if let Some(sign) = line.spans.first_mut() {
            *sign = open_sign(is_open, is_here, &self.theme);
        }
        if is_here {
            let strong = self.theme.style("strong");
            line.spans.iter_mut().skip(1).for_each(|span| span.style = span.style.patch(strong));
        }
    }

    /// What [`ChangeList::window`] returned last is on the screen.
    pub(super) fn drawn(&mut self, overview: &ChangeOverview) {
        let range = self.scroll..self.scroll + self.fits;
        let mut shown = BTreeSet::new();
        for part in self.parts(overview) {
            let (from, to) = (part.at.start.max(range.start), part.at.end.min(range.end));
            let Some(seen) = self.seen.get_mut(part.row).filter(|_| from < to) else { continue };
            let rows = if part.is_head { &mut seen.head } else { &mut seen.difference };
            rows.insert(from - part.at.start..to - part.at.start);
            shown.insert(part.row);
        }
        // Only those: the differences that are closed are not laid out for it.
        for row in shown {
            let whole = self.unseen_rows(row, overview) == 0;
            if let Some(seen) = self.seen.get_mut(row) {
                seen.whole |= whole;
            }
        }
    }

    /// Everything was on the screen at some time.
    pub(super) fn is_seen(&self) -> bool {
        self.seen.iter().all(|seen| seen.whole)
    }

    /// Opens the first difference that was not wholly on the screen, or goes to it.
    pub(super) fn show_unseen(&mut self, overview: &ChangeOverview) {
        let Some(row) = self.seen.iter().position(|seen| !seen.whole) else { return };
        self.chosen = true;
        match self.kind(row).is_required {
            true => self.open(row, overview),
            false => {
                self.cursor = row;
                self.show_head(overview);
            }
        }
        // Where the beginning was on the screen, the rest is what is missing.
        let parts = self.parts(overview);
        let Some(part) = parts.iter().find(|part| !part.is_head && part.row == row) else { return };
        let Some(seen) = self.seen.get(row) else { return };
        let first = seen.difference.first_gap(&(0..part.at.len())).map(|gap| part.at.start + gap.start);
        // What is said about the second key takes rows of the list: where there are few, the head of the row makes way.
        if let Some(first) = first.filter(|first| *first + LEAST_LIST > self.scroll + self.fits) {
            self.scroll_to(first, overview);
        }
    }

    /// What was not, by file; at most `most` files are named.
    pub(super) fn unseen(&self, overview: &ChangeOverview, most: usize) -> UnseenParts {
        // A row of several files is named once, with the first of them.
        let mut first: Vec<Option<(usize, usize)>> = vec![None; self.seen.len()];
        for (at, file) in overview.files.iter().enumerate() {
            if let Some(row) = first.get_mut(file.row) {
                let is_whole = usize::from(file.left_out.is_none());
                *row = Some(row.map_or((at, 0), |(first, others)| (first, others + is_whole)));
            }
        }
        not_shown(overview, most, |file| {
            let row = overview.files.get(file).map_or(0, |file| file.row);
            let whole = self.seen.get(row).is_some_and(|seen| seen.whole);
            match first.get(row).copied().flatten() {
                Some((first, other_files)) if first == file && !whole => {
                    UnseenRows { rows: self.unseen_rows(row, overview), other_files }
                }
                _ => UnseenRows::default(),
            }
        })
    }

    /// Takes in colours of code; true when something looks different.
    pub(super) fn poll(&mut self) -> bool {
        let news = self.differences.poll();
        if let (true, Some(known)) = (news, self.laid_out.get_mut()) {
            known.forget_differences();
        }
        news
    }

    pub(super) fn is_busy(&self) -> bool {
        self.differences.is_busy()
    }

    /// A key that moves, opens or closes; false where it does nothing.
    pub(super) fn key(&mut self, key: KeyCode, overview: &ChangeOverview) -> bool {
        let before = (self.cursor, self.scroll, self.open.clone());
        // One row stays in view, so that a reader finds the place.
        let page = self.fits.saturating_sub(1).max(1);
        match key {
            KeyCode::Down => self.down(overview),
            KeyCode::Up => self.up(overview),
            KeyCode::PageDown => self.page_down(page, overview),
            KeyCode::PageUp => {
                self.scroll = self.scroll.saturating_sub(page);
                self.cursor = self.row_at(self.scroll, overview);
            }
            KeyCode::Char(' ') => {
                self.chosen = true;
                if self.open.remove(&self.cursor) {
                    if let Some(layout) = self.laid_out.get_mut() {
                        layout.forget(self.cursor);
                    }
                } else if self.kind(self.cursor).has_difference {
                    self.open(self.cursor, overview);
                }
            }
            _ => {}
        }
        before != (self.cursor, self.scroll, self.open.clone())
    }

    /// One row on where the end of the difference is below the screen; else to the next row of the list; at the end of
    /// everything that is open, into what is closed.
    fn down(&mut self, overview: &ChangeOverview) {
        let parts = self.parts(overview);
        let end =
            parts.iter().filter(|part| part.row == self.cursor).map(|part| part.at.end).max().unwrap_or(0);
        if end > self.scroll + self.fits {
            self.scroll += 1;
        } else if self.cursor + 1 < self.seen.len() {
            self.cursor += 1;
            self.show_head(overview);
        } else {
            self.open_next(overview);
        }
    }

    fn up(&mut self, overview: &ChangeOverview) {
        let head = |row: usize| {
            let parts = self.parts(overview);
            parts.iter().find(|part| part.is_head && part.row == row).map_or(0, |part| part.at.start)
        };
        let above = self.cursor.checked_sub(1);
        match above.map(head) {
            _ if head(self.cursor) < self.scroll => self.scroll -= 1,
            Some(start) if start < self.scroll => self.scroll -= 1,
            Some(_) => self.cursor -= 1,
            None => self.scroll = self.scroll.saturating_sub(1),
        }
    }

    fn page_down(&mut self, page: usize, overview: &ChangeOverview) {
        if let Some(row) = self.passed_by(page, overview) {
            self.chosen = true;
            self.open(row, overview);
            return;
        }
        let before = self.scroll;
        self.scroll_to(self.scroll + page, overview);
        match self.scroll == before {
            true => self.open_next(overview),
            false => self.cursor = self.row_at(self.scroll, overview),
        }
    }

    /// The first closed difference that a page further would leave behind: everything above it was on the screen.
    fn passed_by(&self, page: usize, overview: &ChangeOverview) -> Option<usize> {
        let parts = self.parts(overview);
        let is_left_behind = |at: usize| (self.scroll..self.scroll + page).contains(&at);
        let closed = |row: usize| !self.open.contains(&row) && self.kind(row).is_required;
        let mut heads = parts.iter().filter(|part| part.is_head && is_left_behind(part.at.start));
        heads.find(|part| closed(part.row)).map(|part| part.row)
    }

    fn open_next(&mut self, overview: &ChangeOverview) {
        let is_closed = |row: &usize| !self.open.contains(row) && self.kind(*row).is_required;
        let after = (self.cursor..self.seen.len()).find(is_closed);
        let Some(row) = after.or_else(|| (0..self.cursor).find(is_closed)) else { return };
        self.chosen = true;
        self.open(row, overview);
    }

    /// Opens a difference with its row at the top, or as far up as it goes.
    fn open(&mut self, row: usize, overview: &ChangeOverview) {
        self.cursor = row;
        self.open.insert(row);
        let parts = self.parts(overview);
        let of_row = parts.iter().filter(|part| part.row == row);
        let (from, to) =
            of_row.fold((usize::MAX, 0), |(a, b), part| (a.min(part.at.start), b.max(part.at.end)));
        if to > self.scroll + self.fits {
            self.scroll_to(from, overview);
        }
        self.show_head(overview);
    }

    fn show_head(&mut self, overview: &ChangeOverview) {
        let parts = self.parts(overview);
        let head = parts.iter().find(|part| part.is_head && part.row == self.cursor);
        let Some(at) = head.map(|part| part.at.clone()) else { return };
        let lowest = at.end.saturating_sub(self.fits);
        self.scroll = self.scroll.clamp(lowest.min(at.start), at.start.max(lowest));
    }

    fn scroll_to(&mut self, at: usize, overview: &ChangeOverview) {
        let total = self.parts(overview).last().map_or(0, |part| part.at.end);
        self.scroll = at.min(total.saturating_sub(self.fits));
    }

    fn row_at(&self, at: usize, overview: &ChangeOverview) -> usize {
        let parts = self.parts(overview);
        parts.iter().find(|part| part.at.contains(&at)).map_or(0, |part| part.row)
    }

    /// Opens as many differences as fit: source before tests before what tools write, and small ones before large ones. For
    /// that, lines that did not change make way first, then what is above the question, then the unchanged ends of long
    /// lines. Of the ways to show the same number of differences, the one is taken that hides least. Where not one fits, the
    /// first of them is opened to be scrolled. That is chosen once for a width: with more room later, more are opened, and
    /// without a key none is closed again.
    fn open_what_fits(&mut self, overview: &ChangeOverview, room: usize, spare: usize) {
        let heads =
            (0..self.seen.len()).map(|row| self.with_layout(|l| l.heads.get(row).map_or(0, Vec::len)));
        let used: usize = heads.sum();
        let mut required: Vec<usize> =
            (0..self.seen.len()).filter(|row| self.kind(*row).is_required).collect();
        required.sort_by_key(|row| (self.kind(*row).purpose, self.kind(*row).least_rows));
        if self.fitted == Some(self.columns) {
            let room = room + self.spare.min(spare);
            let opened = self.open.iter().map(|row| self.difference_rows(*row, overview)).sum::<usize>();
            let closed: Vec<usize> = required.into_iter().filter(|row| !self.open.contains(row)).collect();
            let more = self.fitting(&closed, overview, (used + opened, room));
            self.open.extend(more);
            return;
        }
        use UnchangedText::{All, Hidden, Lines};
        let layouts = [room, room + spare].map(|room| [All, Lines(1), Lines(0)].map(|shown| (shown, room)));
        let mut most: Option<(UnchangedText, usize, BTreeSet<usize>)> = None;
        for (unchanged, room) in layouts.into_iter().flatten().chain([(Hidden, room + spare)]) {
            self.set_unchanged(unchanged);
            let mut open = self.fitting(&required, overview, (used, room + 1));
            let shows_all = open.len() == required.len();
            if !shows_all {
                open = self.fitting(&required, overview, (used, room));
            }
            if most.as_ref().is_none_or(|(.., known)| open.len() > known.len()) {
                most = Some((unchanged, room, open));
            }
            if shows_all {
                break;
            }
        }
        let (unchanged, room_taken, open) = most.unwrap_or((All, room, BTreeSet::new()));
        self.set_unchanged(unchanged);
        (self.open, self.spare, self.fitted) = (open, room_taken - room, Some(self.columns));
        if let (true, Some(first)) = (self.open.is_empty() && used + LEAST_CUT < room, required.first()) {
            self.open.insert(*first);
        }
    }

    /// The first of these rows whose differences have room. A test is not open while source is closed.
    fn fitting(
        &self,
        required: &[usize],
        overview: &ChangeOverview,
        (mut used, room): (usize, usize),
    ) -> BTreeSet<usize> {
        let mut fitting = BTreeSet::new();
        let mut closed: Option<FilePurpose> = None;
        for row in required {
            let purpose = self.kind(*row).purpose;
            if closed.is_some_and(|closed| closed < purpose) {
                break;
            }
            // A difference that is certainly too long is not laid out to find that.
            let may_fit = used < room && used + self.kind(*row).least_rows <= room;
            let rows = if may_fit { self.difference_rows(*row, overview) } else { room + 1 };
            if used + rows <= room {
                used += rows;
                fitting.insert(*row);
            } else {
                closed.get_or_insert(purpose);
            }
        }
        fitting
    }

    fn set_unchanged(&mut self, unchanged: UnchangedText) {
        let Some(layout) = self.laid_out.get_mut() else { return };
        if !layout.set_unchanged(unchanged) {
            return;
        }
        // Rows are other rows now.
        for seen in self.seen.iter_mut().filter(|seen| !seen.whole) {
            seen.difference = RangeSet::default();
        }
    }

    fn parts(&self, overview: &ChangeOverview) -> Vec<ListSection> {
        let (mut parts, mut at) = (Vec::new(), 0);
        for row in 0..self.seen.len() {
            let head = self.with_layout(|layout| layout.heads.get(row).map_or(0, Vec::len));
            parts.push(ListSection { row, is_head: true, at: at..at + head });
            at += head;
            if self.open.contains(&row) {
                let rows = self.difference_rows(row, overview);
                parts.push(ListSection { row, is_head: false, at: at..at + rows });
                at += rows;
            }
        }
        parts
    }

    fn lines(&self, part: &ListSection, overview: &ChangeOverview) -> std::rc::Rc<Vec<Line<'static>>> {
        let layout = self.laid_out.borrow();
        let Some(layout) = &*layout else { return std::rc::Rc::default() };
        match part.is_head {
            true => std::rc::Rc::new(layout.heads.get(part.row).cloned().unwrap_or_default()),
            false => layout.difference(part.row, overview, &self.differences, &self.theme),
        }
    }

    fn difference_rows(&self, row: usize, overview: &ChangeOverview) -> usize {
        self.with_layout(|layout| match self.open.contains(&row) {
            true => layout.difference(row, overview, &self.differences, &self.theme).len(),
            false => layout.length(row, overview, &self.differences, &self.theme),
        })
    }

    fn with_layout(&self, of: impl FnOnce(&ListLayout) -> usize) -> usize {
        self.laid_out.borrow().as_ref().map_or(0, of)
    }

    fn kind(&self, row: usize) -> RowKind {
        self.kinds.get(row).copied().unwrap_or_default()
    }

    fn unseen_rows(&self, row: usize, overview: &ChangeOverview) -> usize {
        let Some(seen) = self.seen.get(row).filter(|seen| !seen.whole) else { return 0 };
        let head = self.with_layout(|layout| layout.heads.get(row).map_or(0, Vec::len));
        let missing = RangeSet::of(0..head).without(&seen.head).len();
        if !self.kind(row).is_required {
            return missing;
        }
        let rows = self.difference_rows(row, overview);
        missing + RangeSet::of(0..rows).without(&seen.difference).len()
    }
}
