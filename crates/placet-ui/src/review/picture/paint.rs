//! A row of the change set as rows of the screen. Pure: what it draws depends on the state, the theme and the width.

use super::cells::{StyledCell, cell, cells, window, wrap, wrap_words};
use super::rows::{ReviewRow, number, only_blanks};
use crate::Theme;
use crate::colors::contrast::ContrastAdjuster;
use crate::keymap::Keymap;
use crate::picture::TerminalPicture;
use crate::review::action::ReviewAction;
use crate::review::content::comment::{CommentTarget, ReviewComment};
use crate::review::content::file::{
    CombinedDecision, PicturePair, ReviewBody, ReviewDecision, ReviewFile, ReviewLines, WholeChange, standing,
};
use crate::review::content::inline_diff::InlineDiffCache;
use crate::review::content::load::MADE_BY;
use crate::review::content::side_text::{DiffSide, LineTerminator};
use crate::review::state::Review;
use crate::review::state::query::ReviewQuery;
use placet_text::text::{count, sanitize, width};
use ratatui::style::{Color, Style};
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// In front of the number of lines that are not shown: alone, the number would stand in the column of line numbers.
const GAP: &str = "⋮";
/// In front of the first row of a fact, and of those that follow.
const FACT: (&str, &str) = ("  ", "    ");

/// Results of background work: colours of code, who wrote what.
pub trait ReviewAnnotations {
    /// Styles of byte ranges of a line; `None` while they are not known.
    fn colours(&self, _file: usize, _side: DiffSide, _line: usize) -> Option<Vec<(Range<usize>, Style)>> {
        None
    }

    /// Who wrote this new line, in a few words.
    fn blame(&self, _file: usize, _line: usize) -> Option<String> {
        None
    }

    /// A picture as rows of cells; blank cells where the picture lies over them.
    fn picture(&self, _file: usize, _side: DiffSide) -> Option<Vec<Vec<StyledCell>>> {
        None
    }

    /// A picture that lies over its cells.
    fn dots(&self, _file: usize, _side: DiffSide) -> Option<Arc<TerminalPicture>> {
        None
    }
}

/// Lines without colours, authors and pictures.
pub struct NoAnnotations;

impl ReviewAnnotations for NoAnnotations {}

/// What drawing needs in addition to the review itself.
pub struct DrawContext<'a> {
    pub theme: &'a Theme,
    pub keys: &'a Keymap<ReviewAction>,
    pub annotations: &'a dyn ReviewAnnotations,
    pub inline: &'a InlineDiffCache,
}

/// How a row is drawn: the values that are the same for all rows.
pub(in crate::review) struct ReviewPainter<'a> {
    pub review: &'a Review,
    pub theme: &'a Theme,
    pub annotations: &'a dyn ReviewAnnotations,
    pub inline: &'a InlineDiffCache,
    pub columns: usize,
    pub(in crate::review) needle: ReviewQuery,
    /// The styles of changed lines, and what makes colours readable on their grounds.
    pub(in crate::review) adjusters: [(Style, RefCell<ContrastAdjuster>); 2],
    /// What is unchanged at the end of a changed line is not shown, where the line is longer than this.
    pub(in crate::review) columns_without_tails: Option<usize>,
}

/// For each kind of changed line.
pub(in crate::review) fn adjusters(theme: &Theme) -> [(Style, RefCell<ContrastAdjuster>); 2] {
    ["diff.add.line", "diff.remove.line"].map(|label| {
        let line = theme.style(label);
        let ground: Vec<Color> = line.bg.into_iter().collect();
        (line, RefCell::new(ContrastAdjuster::new(&ground, theme.depth)))
    })
}

impl<'a> ReviewPainter<'a> {
    pub(in crate::review) fn new(
        review: &'a Review,
        scene: &DrawContext<'a>,
        columns: usize,
    ) -> ReviewPainter<'a> {
        let DrawContext { theme, annotations, inline, .. } = *scene;
        ReviewPainter {
            review,
            theme,
            annotations,
            inline,
            columns,
            needle: ReviewQuery::new(&review.finder.search),
            adjusters: adjusters(theme),
            columns_without_tails: None,
        }
    }

    /// The screen rows of the `at`th row.
    pub(in crate::review) fn rows(&self, at: usize) -> Vec<Vec<StyledCell>> {
        let Some(row) = self.review.rows.list.get(at).copied() else { return Vec::new() };
        let chosen = self.review.window.selection().contains(&at);
        let mut rows = self.plain(row);
        for (n, cells) in rows.iter_mut().enumerate() {
            let lead = if chosen { "▌" } else { " " };
            let mark = if n == 0 { self.mark(row) } else { (" ", Style::default()) };
            cells.insert(0, cell(mark.0, mark.1));
            cells.insert(0, cell(lead, self.theme.style("prompt")));
            if chosen {
                self.choose(cells);
            }
        }
        rows
    }

    /// How many screen rows the `at`th row takes. Most lines fit into one, which is seen without painting them.
    pub(in crate::review) fn height(&self, at: usize) -> usize {
        let Some(row) = self.review.rows.list.get(at).copied() else { return 0 };
        let one = match row {
            ReviewRow::Space | ReviewRow::File(_) | ReviewRow::Gap { .. } | ReviewRow::Blanks { .. } => true,
            ReviewRow::Same { file, new, .. } if !self.review.layout.side => {
                self.is_short(file, DiffSide::New, new as usize)
            }
            ReviewRow::Line { file, hunk, n, .. } => {
                let lines = self.lines(file);
                let place = lines.and_then(|lines| lines.place(hunk as usize, n as usize));
                place.is_some_and(|(side, line)| self.is_short(file, side, line))
            }
            _ => false,
        };
        if one { 1 } else { self.rows(at).len().max(1) }
    }

    /// True for a line that is surely shorter than a row, whatever is in front of it.
    fn is_short(&self, file: u32, side: DiffSide, line: usize) -> bool {
        /// More than any gutter.
        const GUTTER: usize = 52;
        let Some(lines) = self.lines(file) else { return false };
        let doc = lines.side(side);
        let text = doc.line(line);
        // A `<` may be written out, and is wider then.
        let plain = || text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'<');
        let fits = text.len() + GUTTER < self.columns && plain() && doc.end(line) != LineTerminator::None;
        fits || !self.review.look.wrap
    }

    /// The row under the cursor has the colour of a selection up to the edge.
    fn choose(&self, cells: &mut Vec<StyledCell>) {
        let style = self.theme.style("select");
        let used: usize = cells.iter().map(|c| c.width).sum();
        cells.extend((used..self.columns).map(|_| cell(" ", Style::default())));
        if self.theme.select_is_reversed() {
            return cells.iter_mut().for_each(|cell| cell.style = self.theme.selected(cell.style));
        }
        // What changed inside the line, and what was searched, stays marked under the cursor.
        let marked = ["diff.add.word", "diff.remove.word", "match"].map(|l| self.theme.style(l).bg);
        // A sign with a ground of its own is written in what can be read on that.
        let signs = ["diff.add", "diff.remove"].map(|l| self.theme.sign(l)).map(|sign| (sign.fg, sign.bg));
        for cell in cells.iter_mut() {
            if cell.style.bg.is_some() && signs.contains(&(cell.style.fg, cell.style.bg)) {
                continue;
            }
            let keeps = cell.style.bg.is_some() && marked.contains(&cell.style.bg);
            let kept = cell.style;
            cell.style = cell.style.patch(style);
            if keeps {
                cell.style.bg = kept.bg;
            }
        }
    }

    /// The decision about what the row shows, in one sign; without a decision, whether it is new.
    fn mark(&self, row: ReviewRow) -> (&'static str, Style) {
        let decision = self.decision(row);
        let is_new = match row {
            ReviewRow::Line { file, hunk, .. }
            | ReviewRow::Pair { file, hunk, .. }
            | ReviewRow::Blanks { file, hunk } => {
                self.lines(file).and_then(|l| l.hunks.get(hunk as usize)).is_some_and(|hunk| hunk.is_new)
            }
            ReviewRow::File(file) => self.file(file).is_some_and(|file| file.new_units() > 0),
            _ => false,
        };
        match decision.0 {
            " " if is_new => (NEW_SIGN, self.theme.style("question")),
            _ => decision,
        }
    }

    fn decision(&self, row: ReviewRow) -> (&'static str, Style) {
        let sign = |standing: CombinedDecision| match standing {
            CombinedDecision::All(ReviewDecision::Accepted) => ("✓", self.theme.style("accepted")),
            CombinedDecision::All(ReviewDecision::Rejected) => ("✗", self.theme.style("rejected")),
            CombinedDecision::All(ReviewDecision::Open) => (" ", Style::default()),
            CombinedDecision::Mixed => ("~", self.theme.style("question")),
        };
        match row {
            ReviewRow::File(file) => self.file(file).map_or((" ", Style::default()), |f| sign(f.standing())),
            ReviewRow::Line { file, hunk, n, .. } => {
                let mark = self.lines(file).and_then(|l| Some(l.hunks.get(hunk as usize)?.mark(n as usize)));
                sign(CombinedDecision::All(mark.unwrap_or_default()))
            }
            ReviewRow::Pair { file, hunk, old, new, .. } => {
                let hunk = self.lines(file).and_then(|l| l.hunks.get(hunk as usize));
                hunk.map_or((" ", Style::default()), |hunk| {
                    let marks = old.into_iter().chain(new).map(|n| hunk.mark(n as usize));
                    sign(standing(marks))
                })
            }
            ReviewRow::Blanks { file, hunk } => {
                let hunk = self.lines(file).and_then(|l| l.hunks.get(hunk as usize));
                hunk.map_or((" ", Style::default()), |hunk| sign(hunk.standing()))
            }
            _ => (" ", Style::default()),
        }
    }

    pub(in crate::review) fn file(&self, file: u32) -> Option<&'a ReviewFile> {
        self.review.files.get(file as usize)
    }

    pub(in crate::review) fn lines(&self, file: u32) -> Option<&'a ReviewLines> {
        self.file(file)?.lines()
    }

    /// Columns for what is behind cursor and mark.
    pub(in crate::review) fn room(&self) -> usize {
        self.columns.saturating_sub(2).max(2)
    }

    /// The same without cursor and decision.
    pub(in crate::review) fn plain(&self, row: ReviewRow) -> Vec<Vec<StyledCell>> {
        match row {
            ReviewRow::Space => vec![Vec::new()],
            ReviewRow::File(f) => {
                self.file(f).map(|file| vec![self.header(f as usize, file)]).unwrap_or_default()
            }
            ReviewRow::Fact(f, n) => self.file(f).map(|file| self.fact(file, n as usize)).unwrap_or_default(),
            ReviewRow::Picture(f) => self.picture(f as usize),
            ReviewRow::Gap { file, from, to, known } => vec![self.gap(file, from, to, known)],
            ReviewRow::Blanks { file, hunk } => {
                let lines = self.lines(file);
                let hunk = lines.and_then(|l| l.hunks.get(hunk as usize));
                let count = hunk.map_or(0, |h| h.marks.len());
                let text = format!("    {count} lines change only blanks; w shows them");
                vec![self.words(&text, self.theme.style("hint"))]
            }
            ReviewRow::Conflict { file, hunk, n } => {
                let lines = self.lines(file);
                let text = lines.and_then(|lines| lines.conflict_rows(hunk as usize).nth(n as usize));
                self.indented(text.unwrap_or_default(), "warning")
            }
            ReviewRow::Note(n) => {
                self.review.comments.list.get(n as usize).map(|c| self.note(c)).unwrap_or_default()
            }
            ReviewRow::Same { file, old, new, part } => {
                self.same(file, old as usize, new as usize, part as usize)
            }
            ReviewRow::Line { file, hunk, n, part } => {
                self.line(file, hunk as usize, n as usize, part as usize)
            }
            ReviewRow::Pair { file, hunk, old, new, part } => {
                let (old, new) = (old.map(|n| n as usize), new.map(|n| n as usize));
                self.pair(file, hunk as usize, old, new, part as usize)
            }
        }
    }

    fn words(&self, text: &str, style: Style) -> Vec<StyledCell> {
        let all = cells(text, |_| style);
        let shown = window(&all, 0, self.room());
        if shown.len() == all.len() {
            return shown.to_vec();
        }
        let mut cut = window(&all, 0, self.room().saturating_sub(1)).to_vec();
        cut.extend(cells("…", |_| style));
        cut
    }

    fn header(&self, f: usize, file: &ReviewFile) -> Vec<StyledCell> {
        let strong = self.theme.style("title");
        let folded = self.review.layout.folded.contains(&f);
        let (decided, units) = (file.decided(), file.units());
        let mut tail = String::new();
        if let Some((added, removed)) = file.counts() {
            tail.push_str(&format!("  +{added} -{removed}"));
        }
        if units > 1 || decided > 0 {
            tail.push_str(&format!("  {decided}/{units}"));
        }
        if let count @ 1.. = file.new_units() {
            tail.push_str(&format!("  {count} new"));
        }
        if file.is_reviewed() && units > 0 {
            tail.push_str("  reviewed");
        }
        if file.lines().is_some_and(|l| l.edited) {
            tail.push_str("  edited by you");
        }
        if folded {
            tail.push_str("  (folded)");
        }
        let room = self.room().saturating_sub(width::of(&tail) + 3);
        let name = width::cut_middle(&file.name, room.max(8));
        let mut out = self.words(&format!("{} ", file.letter), self.theme.style("diff.hunk"));
        out.extend(self.marked(&name, strong));
        out.extend(cells(&tail, |_| self.theme.style("status")));
        let used: usize = out.iter().map(|c| c.width).sum();
        let rule = self.theme.style("border");
        if used + 2 < self.room() {
            out.push(cell(" ", rule));
            out.extend((used + 1..self.room()).map(|_| cell("─", rule)));
        }
        window(&out, 0, self.room()).to_vec()
    }

    /// Text with what is searched marked in it.
    fn marked(&self, text: &str, style: Style) -> Vec<StyledCell> {
        let places = self.needle.places(text);
        let found = self.theme.style("match");
        let styled =
            |at: usize| if places.iter().any(|r| r.contains(&at)) { style.patch(found) } else { style };
        cells(text, styled)
    }

    fn fact(&self, file: &ReviewFile, n: usize) -> Vec<Vec<StyledCell>> {
        if let Some(text) = file.facts.get(n).filter(|text| text.starts_with(MADE_BY)) {
            // One row: the whole command is in the journal, and what it changed is below.
            return vec![self.words(&format!("{}{text}", FACT.0), self.theme.style("notice"))];
        }
        let text = file.facts.get(n).or_else(|| match &file.body {
            ReviewBody::Whole(whole) => whole.words.get(n - file.facts.len().min(n)),
            ReviewBody::Lines(_) => None,
        });
        let stands_out = text.is_some_and(|text| text.starts_with("! ") || file.care.contains(text));
        // Only a difference that is decided as a whole begins so.
        let label = match text.and_then(|text| text.chars().next()) {
            _ if stands_out => "warning",
            Some('+') => "diff.add",
            Some('-') => "diff.remove",
            _ => "notice",
        };
        self.indented(text.map_or("", String::as_str), label)
    }

    fn indented(&self, text: &str, label: &str) -> Vec<Vec<StyledCell>> {
        let style = self.theme.changed_text(label);
        let all = cells(text, |_| style);
        // The rows after the first are indented deeper: several facts follow each other.
        let room = self.room().saturating_sub(FACT.1.len());
        let rows = if label.starts_with("diff.") { wrap(&all, room) } else { wrap_words(&all, room) };
        let indented = |(at, row): (usize, &[StyledCell])| {
            let mut out = cells(if at == 0 { FACT.0 } else { FACT.1 }, |_| style);
            out.extend_from_slice(row);
            out
        };
        rows.into_iter().enumerate().map(indented).collect()
    }

    fn picture(&self, f: usize) -> Vec<Vec<StyledCell>> {
        let Some(ReviewFile {
            body: ReviewBody::Whole(WholeChange { pictures: Some(pictures), .. }), ..
        }) = self.review.files.get(f)
        else {
            return Vec::new();
        };
        let half = picture_columns(self.columns, pictures);
        let side = |side| self.annotations.picture(f, side);
        let (before, after) = (side(DiffSide::Old), side(DiffSide::New));
        let rows = before.as_ref().map_or(0, Vec::len).max(after.as_ref().map_or(0, Vec::len));
        let blank = Vec::new();
        (0..rows)
            .map(|n| {
                let part = |side: &Option<Vec<Vec<StyledCell>>>| {
                    side.as_ref().and_then(|rows| rows.get(n)).unwrap_or(&blank).clone()
                };
                let mut row = vec![cell(" ", Style::default()); INDENT];
                let left = part(&before);
                let used: usize = left.iter().map(|c| c.width).sum();
                row.extend(left);
                if pictures.before.is_some() {
                    row.extend((used..half + INDENT).map(|_| cell(" ", Style::default())));
                }
                row.extend(part(&after));
                row
            })
            .collect()
    }

    fn gap(&self, file: u32, from: u32, to: u32, known: bool) -> Vec<StyledCell> {
        if known {
            let text = format!("    {GAP} {}; Enter shows them", count::of(to - from, "unchanged line"));
            return self.words(&text, self.theme.style("hint"));
        }
        match self.gap_lines(&ReviewRow::Gap { file, from, to, known }) {
            Some(lines) => self.unchanged(lines),
            None => Vec::new(),
        }
    }

    /// The number of unchanged lines that a gap hides; `None` for every other row.
    pub(in crate::review) fn gap_lines(&self, row: &ReviewRow) -> Option<usize> {
        match *row {
            ReviewRow::Gap { from, to, known: true, .. } => Some((to - from) as usize),
            // The diff does not contain these lines, so no key shows them.
            ReviewRow::Gap { file, from, known: false, .. } => {
                let lines = self.lines(file)?;
                let (at, before) = (from as usize, (from as usize).saturating_sub(1));
                Some(lines.old_number(at).saturating_sub(lines.old_number(before) + 1))
            }
            _ => None,
        }
    }

    pub(in crate::review) fn unchanged(&self, lines: usize) -> Vec<StyledCell> {
        let text = format!("    {GAP} {}", count::of(lines, "unchanged line"));
        self.words(&text, self.theme.style("hint"))
    }

    fn note(&self, comment: &ReviewComment) -> Vec<Vec<StyledCell>> {
        let style = self.theme.style("comment");
        let place = match &comment.target {
            CommentTarget::Turn => "on the turn: ".to_string(),
            CommentTarget::File { .. } => "on the file: ".to_string(),
            CommentTarget::Lines { stale: true, lines, .. } => {
                format!("stale, was on line {}: ", lines.start + 1)
            }
            CommentTarget::Lines { lines, .. } if lines.len() > 1 => format!("on {} lines: ", lines.len()),
            CommentTarget::Lines { .. } => String::new(),
        };
        let text = sanitize::block(&comment.text).into_owned();
        let mut out = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let lead = if n == 0 { format!("  » {place}") } else { "    ".to_string() };
            let all = cells(&format!("{lead}{line}"), |_| style);
            out.extend(wrap_words(&all, self.room()).into_iter().map(<[StyledCell]>::to_vec));
        }
        out
    }

    /// The remark on the line under the cursor: where the line moved, or why it looks the same. Which line replaced it is
    /// in sight.
    pub(in crate::review) fn about(&self, row: ReviewRow) -> Option<String> {
        let ReviewRow::Line { file, hunk, n, .. } = row else { return None };
        let lines = self.file(file)?.lines()?;
        let (side, line) = lines.place(hunk as usize, n as usize)?;
        let (moved, words) = match side {
            DiffSide::Old => (&self.review.moves.gone, "this line moved to"),
            DiffSide::New => (&self.review.moves.come, "this line moved from"),
        };
        if let Some((other, at)) = moved.get(file as usize)?.get(&number(line)) {
            let other = self.file(*other)?;
            let at = other.lines().map_or(0, |l| match side {
                DiffSide::Old => l.new_number(*at as usize),
                DiffSide::New => l.old_number(*at as usize),
            });
            return Some(format!("{words} {}:{at}", other.name));
        }
        let whole = lines.hunks.get(hunk as usize)?;
        only_blanks(lines, whole.old.clone(), whole.new.clone())
            .then(|| "only blanks or line ends change here".into())
    }
}

/// In front of what is new since the changes were sent back.
pub(in crate::review) const NEW_SIGN: &str = "*";

/// Columns before a picture, and between two of them.
pub(in crate::review) const INDENT: usize = 2;

/// Columns of each picture: one of two side by side, or one alone.
pub(in crate::review) fn picture_columns(columns: usize, pictures: &PicturePair) -> usize {
    let room = columns.saturating_sub(2);
    match pictures.before.is_some() && pictures.after.is_some() {
        true => (room / 2).saturating_sub(INDENT).clamp(4, 60),
        false => room.saturating_sub(INDENT).clamp(4, 80),
    }
}
