//! What stays in the scrollback of changes that were applied: the rows of the question, and the difference where it is
//! short. The question itself leaves the screen with its answer. All of it fits on the screen below the line that says
//! what was applied.

use super::question::{ListLayout, least_rows};
use crate::colors::theme::Theme;
use crate::lines::margin_mark;
use crate::review::{Differences, UnchangedText};
use placet_agent::AppliedOverview;
use placet_config::AppliedSetting;
use placet_text::text::count;
use placet_tools::ChangeOverview;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Rows of the list that are shown.
const MOST_ROWS: usize = 12;
/// Rows of all differences together.
const MOST_LINES: usize = 40;
/// Rows of the screen for what is around these lines: the sentence above them, which may be broken, and the prompt.
const AROUND: usize = 5;
/// About the columns of the last line, which names the command that shows the rest. A narrow screen breaks it.
const LAST: usize = 60;
/// So many rows stay on the smallest screen.
const LEAST: usize = 3;
/// How many unchanged lines are shown around a change: as many as the patch has, or one where that is too long.
const CONTEXTS: [UnchangedText; 2] = [UnchangedText::All, UnchangedText::Lines(1)];
/// The colours of so few lines take a moment. What has none by then stays without.
const COLOURS: Duration = Duration::from_millis(150);

/// Where the lines go.
#[derive(Clone, Copy, Debug)]
pub struct AppliedSpace {
    pub columns: usize,
    /// Rows of the screen.
    pub rows: usize,
    /// How long the lines wait for the colours of code.
    patience: Duration,
}

impl AppliedSpace {
    pub fn new(columns: usize, rows: usize) -> AppliedSpace {
        AppliedSpace { columns, rows, patience: COLOURS }
    }

    /// Rows for the list, the differences and the line that names the command.
    fn most(self) -> usize {
        self.rows.saturating_sub(AROUND).max(LEAST)
    }
}

/// The lines for `applied` in `space`.
pub fn applied_lines(
    applied: &AppliedOverview,
    shown: AppliedSetting,
    theme: &Theme,
    space: AppliedSpace,
) -> Vec<Line<'static>> {
    if shown == AppliedSetting::Line {
        return Vec::new();
    }
    let more = |what: &str| -> Vec<Line<'static>> {
        let words = format!("… {what}: `{}` shows them", applied.shown_by);
        let rows = margin_mark::under(&Line::styled(words, theme.style("hint")), space.columns);
        rows.into_iter().map(|row| without_blanks(row, |_| true)).collect()
    };
    let Some(changes) = &applied.changes else { return more("too many changes for a list") };
    let ShownDifferences { layout, shown_rows, rows, hidden } = match shown {
        AppliedSetting::Difference => ShownDifferences::of(changes, theme, space),
        AppliedSetting::Rows | AppliedSetting::Line => ShownDifferences::none(changes, theme, space),
    };
    let mut lines = Vec::new();
    for (row, head) in layout.heads.iter().enumerate().take(shown_rows) {
        // The bar may be blanks with a ground.
        lines.extend(head.iter().cloned().map(|line| without_blanks(line, |style| style.bg.is_none())));
        let difference = rows.get(&row).into_iter().flatten().cloned();
        lines.extend(difference.map(|line| filled(line, space.columns)));
    }
    let more_rows = changes.list.len().saturating_sub(shown_rows);
    let more_rows = (more_rows > 0).then(|| count::of(more_rows, "more row"));
    let hidden = (hidden > 0).then(|| count::of(hidden, "more line"));
    let what: Vec<String> = more_rows.into_iter().chain(hidden).collect();
    if !what.is_empty() {
        lines.extend(more(&what.join(" and ")));
    }
    lines
}

/// The differences that have room, by the row of the list.
struct ShownDifferences {
    layout: ListLayout,
    /// Rows of the list that have room.
    shown_rows: usize,
    rows: BTreeMap<usize, Vec<Line<'static>>>,
    /// Lines of the other differences.
    hidden: usize,
}

impl ShownDifferences {
    fn none(changes: &ChangeOverview, theme: &Theme, space: AppliedSpace) -> ShownDifferences {
        let layout = ListLayout::new(changes, theme, space.columns);
        let (shown_rows, _) = shown_rows(&layout, space);
        ShownDifferences { layout, shown_rows, rows: BTreeMap::new(), hidden: 0 }
    }

    fn of(changes: &ChangeOverview, theme: &Theme, space: AppliedSpace) -> ShownDifferences {
        let mut layout = ListLayout::new(changes, theme, space.columns);
        let (shown_rows, left) = shown_rows(&layout, space);
        let most = left.min(MOST_LINES);
        let files = changes.files.iter().map(|file| (file.patch.as_slice(), file.runs_later.as_slice()));
        let mut differences = Differences::marked(files, theme);
        let with_lines = (0..changes.list.len()).filter(|row| has_lines(changes, *row));
        let mut hidden: usize = with_lines.clone().map(|row| lines_of(changes, row)).sum();
        let rows: Vec<usize> =
            with_lines.filter(|row| *row < shown_rows && is_whole(changes, *row)).collect();
        let mut open: Vec<(usize, usize)> = Vec::new();
        for unchanged in CONTEXTS {
            layout.set_unchanged(unchanged);
            open = fitting((&rows, most), &layout, (changes, &differences), theme);
            if open.len() == rows.len() {
                break;
            }
        }
        // Of a single long one the beginning is more than nothing.
        let first = rows.first().filter(|_| open.is_empty() && most > 0);
        open.extend(first.map(|row| (*row, most)));
        differences.wait_for_colours(Instant::now() + space.patience);
        layout.forget_differences();
        let mut shown = BTreeMap::new();
        for (row, most) in open {
            let mut lines = layout.difference(row, changes, &differences, theme).to_vec();
            hidden -= lines_of(changes, row);
            hidden += lines.len().saturating_sub(most);
            lines.truncate(most);
            shown.insert(row, lines);
        }
        ShownDifferences { layout, shown_rows, rows: shown, hidden }
    }
}

/// How many rows of the list have room, and how many rows of the screen are left for differences.
fn shown_rows(layout: &ListLayout, space: AppliedSpace) -> (usize, usize) {
    let room = space.most().saturating_sub(LAST.div_ceil(space.columns.max(1)));
    let (mut shown, mut used) = (0, 0);
    for head in layout.heads.iter().take(MOST_ROWS) {
        if used + head.len() > room && shown > 0 {
            break;
        }
        used += head.len();
        shown += 1;
    }
    (shown, room.saturating_sub(used))
}

/// The first of these rows whose differences fit into `most` rows of the screen, with their lengths.
fn fitting(
    (rows, most): (&[usize], usize),
    layout: &ListLayout,
    (changes, differences): (&ChangeOverview, &Differences),
    theme: &Theme,
) -> Vec<(usize, usize)> {
    let (mut fitting, mut used) = (Vec::new(), 0);
    for row in rows {
        let least: usize = changes.files.iter().filter(|file| file.row == *row).map(least_rows).sum();
        // What is certainly too long is not laid out to find that.
        if used + least > most {
            continue;
        }
        let length = layout.length(*row, changes, differences, theme);
        if used + length <= most {
            used += length;
            fitting.push((*row, length));
        }
    }
    fitting
}

/// True for the row of a file with lines: a commit is in the repository, and its files have rows of their own.
fn has_lines(changes: &ChangeOverview, row: usize) -> bool {
    let listed = changes.list.get(row);
    listed.is_some_and(|listed| listed.lines.is_some() && listed.commit.is_none() && !listed.is_of_git)
}

/// Nothing of its difference is left out.
fn is_whole(changes: &ChangeOverview, row: usize) -> bool {
    let mut files = changes.files.iter().filter(|file| file.row == row).peekable();
    files.peek().is_some() && files.all(|file| file.left_out.is_none())
}

fn lines_of(changes: &ChangeOverview, row: usize) -> usize {
    changes.list.get(row).and_then(|listed| listed.lines).map_or(0, |(added, removed)| added + removed)
}

/// A row of a difference without its blanks up to the margin. The terminal fills the rest of a changed line with its ground,
/// which is no text and is not copied.
fn filled(line: Line<'static>, columns: usize) -> Line<'static> {
    let is_blank = |last: &&Span<'_>| last.content.trim_matches(' ').is_empty();
    let ground =
        line.spans.last().filter(is_blank).map(|last| Style { bg: last.style.bg, ..Style::default() });
    let mut line = without_blanks(line, |_| true);
    // At the last column the cursor is still on the last character, and filling from there would erase it.
    let fills = ground.filter(|ground| ground.bg.is_some() && line.width() < columns);
    line.spans.extend(fills.map(|ground| Span::styled("", ground)));
    line
}

/// A row without the blanks up to the margin, which would be copied with it, and would be rows of their own in a window
/// that gets narrower. Blanks at the end of the text itself are shown as signs.
fn without_blanks(mut line: Line<'static>, are_blanks: impl Fn(Style) -> bool) -> Line<'static> {
    while let Some(last) = line.spans.last_mut().filter(|last| are_blanks(last.style)) {
        let kept = last.content.trim_end_matches(' ').len();
        if kept > 0 {
            let (text, style) = (last.content.get(..kept).unwrap_or_default().to_string(), last.style);
            *last = Span::styled(text, style);
            break;
        }
        line.spans.pop();
    }
    line
}

#[cfg(test)]
#[path = "applied_lines_tests.rs"]
mod tests;
