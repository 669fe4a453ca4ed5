//! How the changes that are asked about look: a row with its counts and a bar, and its difference below it.

use crate::colors::theme::Theme;
use crate::lines::wrap::wrap;
use crate::lines::{margin_mark, verbatim};
use crate::review::{Differences, UnchangedText};
use crate::scrollback;
use placet_text::text::{visible, width};
use placet_tools::{ChangeOverview, FileDiff};
use placet_workspace::ListedChange;
use ratatui::text::{Line, Span};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// In front of a difference.
const INDENT: &str = "    ";
/// The longest bar.
const BAR: usize = 10;
/// Names are followed by their counts in one column as long as they are no longer than this part of the width.
const NAMES: (usize, usize) = (3, 5);

/// All rows at one width. A difference is laid out when it is first needed.
pub(in crate::turn_pane) struct ListLayout {
    pub(super) columns: usize,
    unchanged: UnchangedText,
    pub(in crate::turn_pane) heads: Vec<Vec<Line<'static>>>,
    differences: Vec<OnceCell<Rc<Vec<Line<'static>>>>>,
    /// How many rows each difference has, where it was laid out.
    lengths: Vec<Cell<Option<usize>>>,
}

impl ListLayout {
    pub(in crate::turn_pane) fn new(overview: &ChangeOverview, theme: &Theme, columns: usize) -> ListLayout {
        let widest = columns * NAMES.0 / NAMES.1;
        let names = overview.list.iter().filter(|row| row.lines.is_some()).map(|row| width::of(&row.text));
        let names = names.filter(|wide| *wide <= widest).max().unwrap_or(0);
        let counts = overview.list.iter().filter_map(|row| row.lines).map(|(a, r)| counts(a, r));
        let counts = counts.map(|(plus, minus)| plus.len() + minus.len()).max().unwrap_or(0);
        let most = overview.list.iter().filter_map(|row| row.lines).map(|(a, r)| a + r).max().unwrap_or(0);
        let head = |row: &ListedChange| head_rows(row, HeadColumns { names, counts, most }, columns, theme);
        ListLayout {
            columns,
            unchanged: UnchangedText::All,
            heads: overview.list.iter().map(head).collect(),
            differences: overview.list.iter().map(|_| OnceCell::new()).collect(),
            lengths: vec![Cell::new(None); overview.list.len()],
        }
    }

    /// Lays the differences out again where that is something else; false where it is the same.
    pub(in crate::turn_pane) fn set_unchanged(&mut self, unchanged: UnchangedText) -> bool {
        if self.unchanged == unchanged {
            return false;
        }
        self.unchanged = unchanged;
        self.forget_differences();
        self.lengths.iter_mut().for_each(|length| *length = Cell::new(None));
        true
    }

    /// The rows of the difference of a row of the list.
    pub(in crate::turn_pane) fn difference(
        &self,
        row: usize,
        overview: &ChangeOverview,
        differences: &Differences,
        theme: &Theme,
    ) -> Rc<Vec<Line<'static>>> {
        let Some(known) = self.differences.get(row) else { return Rc::default() };
        let rows = known.get_or_init(|| Rc::new(self.lay_out(row, overview, differences, theme)));
        Rc::clone(rows)
    }

    fn lay_out(
        &self,
        row: usize,
        overview: &ChangeOverview,
        differences: &Differences,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let files = overview.files.iter().enumerate().filter(|(_, file)| file.row == row);
        let files: Vec<(usize, &FileDiff)> = files.collect();
        let several = files.len() > 1;
        // The row above has the name of a commit, also where a part of it could not be read.
        let head = overview.list.get(row).map(|listed| listed.text.trim_start());
        let is_named = |file: &FileDiff| several && head != Some(file.name.as_str());
        files.iter().flat_map(|(at, file)| self.file(*at, file, is_named(file), differences, theme)).collect()
    }

    /// How many rows the difference has. Does not keep the rows: those of all differences take many times the memory of
    /// the differences.
    pub(in crate::turn_pane) fn length(
        &self,
        row: usize,
        overview: &ChangeOverview,
        differences: &Differences,
        theme: &Theme,
    ) -> usize {
        if let Some(rows) = self.differences.get(row).and_then(OnceCell::get) {
            return rows.len();
        }
        let Some(known) = self.lengths.get(row) else { return 0 };
        let length = known.get().unwrap_or_else(|| self.lay_out(row, overview, differences, theme).len());
        known.set(Some(length));
        length
    }

    /// The difference of the row was closed.
    pub(super) fn forget(&mut self, row: usize) {
        if let Some(known) = self.differences.get_mut(row) {
            *known = OnceCell::new();
        }
    }

    /// Their colours are others now.
    pub(in crate::turn_pane) fn forget_differences(&mut self) {
        self.differences.iter_mut().for_each(|known| *known = OnceCell::new());
    }

    fn file(
        &self,
        at: usize,
        file: &FileDiff,
        is_named: bool,
        differences: &Differences,
        theme: &Theme,
    ) -> Vec<Line<'static>> {
        let wrap = |line: &Line<'static>| verbatim::wrap(line, self.columns, theme);
        let mut rows = Vec::new();
        if is_named {
            let name = visible::guard_line(&file.name).into_owned();
            rows.extend(wrap(&Line::styled(format!("    {name}"), theme.style("title"))));
        }
        let drawn = file.left_out.is_none().then(|| {
            differences.rows(at, theme, (self.columns.saturating_sub(INDENT.len()), self.unchanged))
        });
        match drawn.flatten() {
            Some(lines) => rows.extend(lines.into_iter().map(|mut line| {
                line.spans.insert(0, Span::raw(INDENT));
                line
            })),
            None => rows.extend(verbatim::diff_for_person(&file.patch, theme).iter().flat_map(wrap)),
        }
        rows.extend(scrollback::left_out(file, theme).iter().flat_map(wrap));
        rows
    }
}

/// The sign before a row, in another style where the cursor is on it.
pub(super) fn open_sign(is_open: bool, is_here: bool, theme: &Theme) -> Span<'static> {
    let style = theme.style(if is_here { "prompt" } else { "hint" });
    Span::styled(if is_open { "▾ " } else { "▸ " }, style)
}

/// The difference of the file has no fewer rows: each changed line has one, a removed and an added one may share it.
pub(in crate::turn_pane) fn least_rows(file: &FileDiff) -> usize {
    let lines = || file.patch.split(|byte| *byte == b'\n');
    let count = |sign: u8| lines().filter(|line| line.first() == Some(&sign)).count();
    // Two of these lines are the names of the file.
    count(b'+').max(count(b'-')).saturating_sub(1)
}

/// What the rows of a list have in common.
#[derive(Clone, Copy)]
struct HeadColumns {
    /// The width of the names that are followed by their counts in one column.
    names: usize,
    /// The width of the widest counts, without the blank between them.
    counts: usize,
    /// The most lines that a row adds and removes.
    most: usize,
}

fn counts(added: usize, removed: usize) -> (String, String) {
    (format!("+{added}"), format!("-{removed}"))
}

/// The rows of a row of the list. Where its note does not fit behind it, that gets rows of its own, broken at words.
fn head_rows(
    row: &ListedChange,
    in_common: HeadColumns,
    columns: usize,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut line = head(row, in_common, theme);
    if row.note.is_empty() {
        if row.lines.is_some() && line.width() > columns {
            // The figures stay on the row of their name; the bar only repeats them.
            line.spans.truncate(line.spans.len().saturating_sub(BAR_SPANS));
        }
        return broken(line, columns, theme);
    }
    let style = if row.needs_care { theme.style("warning") } else { theme.style("text") };
    let note = visible::guard_line(&row.note).into_owned();
    if line.width() + 2 + width::of(&note) <= columns {
        line.spans.push(Span::styled(format!("  {note}"), style));
        return vec![line];
    }
    let mut rows = broken(line, columns, theme);
    let note = wrap(&Line::styled(note, style), columns.saturating_sub(INDENT.len()));
    rows.extend(note.into_iter().map(|mut row| {
        row.spans.insert(0, Span::raw(INDENT));
        row
    }));
    rows
}

/// A row of the list as rows of the screen. The sign of the row takes the place of what each of them begins with.
fn broken(mut line: Line<'static>, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let lead = if line.spans.is_empty() { Span::raw(margin_mark::UNDER) } else { line.spans.remove(0) };
    let indent = lead.width();
    let mut rows = verbatim::wrap_below(&line, indent, columns.saturating_sub(indent), theme);
    rows.iter_mut().for_each(|row| row.spans.insert(0, lead.clone()));
    rows
}

/// A row of the list without its note: what happens to which path, lines added and removed, and how much of all that
/// is.
fn head(row: &ListedChange, columns: HeadColumns, theme: &Theme) -> Line<'static> {
    let mut spans = vec![Span::raw(margin_mark::UNDER)];
    let style = if row.needs_care { theme.style("warning") } else { theme.style("text") };
    if row.needs_approval {
        spans.push(Span::styled("! ", style));
    }
    let text = visible::guard_line(&row.text).into_owned();
    let wide = width::of(&text) + if row.needs_approval { 2 } else { 0 };
    spans.push(Span::styled(text, style));
    if let Some((added, removed)) = row.lines {
        let gap = columns.names.saturating_sub(wide) + 2;
        spans.push(Span::raw(" ".repeat(gap)));
        let (plus, minus) = counts(added, removed);
        let gap_to_bar = columns.counts - (plus.len() + minus.len()) + 2;
        spans.push(Span::styled(plus, theme.sign("diff.add")));
        spans.push(Span::raw(" "));
        spans.push(Span::styled(minus, theme.sign("diff.remove")));
        if row.note.is_empty() {
            spans.push(Span::raw(" ".repeat(gap_to_bar)));
            spans.extend(bar(added, removed, columns.most, theme));
        }
    }
    Line::from(spans)
}

/// The blanks in front of a bar, and its two parts.
const BAR_SPANS: usize = 3;

/// Lines added and removed as a bar, the longest for the row with most of them.
fn bar(added: usize, removed: usize, most: usize, theme: &Theme) -> Vec<Span<'static>> {
    let scaled = |lines: usize| match lines {
        0 => 0,
        // Whatever happens at all can be seen.
        lines => (lines * BAR / most.max(BAR)).max(1),
    };
    let part = |lines: usize, label: &str| {
        let style = theme.sign(label);
        // A sign that has a ground of its own: the bar is of the ground.
        let cell = if style.bg.is_some() { " " } else { "█" };
        Span::styled(cell.repeat(scaled(lines)), style)
    };
    vec![part(added, "diff.add"), part(removed, "diff.remove")]
}
