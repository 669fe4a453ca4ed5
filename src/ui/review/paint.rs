//! A row of the change set as rows of the screen. Pure: what it draws depends on the state, the theme and the width.

use super::cells::{Blanks, Cell, cells, shorten, window, wrap};
use super::comment::{Comment, Side, Target};
use super::doc::{Doc, End};
use super::file::{Body, File, Lines, Mark, Standing};
use super::go::Needle;
use super::inside::Inside;
use super::rows::{Row, only_blanks};
use super::state::Review;
use crate::text::{sanitize, width};
use crate::ui::Theme;
use ratatui::style::Style;
use std::ops::Range;

/// Bytes of a wrapped line that are shown; what is longer can be scrolled.
const LONGEST: usize = 4000;
/// A changed line longer than this is shown around its changes.
const LONG: usize = 600;

/// What is worked out beside the drawing: colours of code, who wrote what.
pub trait Beside {
    /// Styles of byte ranges of a line; `None` while they are not known.
    fn colours(&self, _file: usize, _side: Side, _line: usize) -> Option<Vec<(Range<usize>, Style)>> {
        None
    }

    /// Who wrote this new line, in a few words.
    fn blame(&self, _file: usize, _line: usize) -> Option<String> {
        None
    }

    /// A picture in so many columns: rows of cells.
    fn picture(&self, _file: usize, _side: Side, _columns: usize) -> Option<Vec<Vec<Cell>>> {
        None
    }
}

/// Nothing is known beside the lines.
pub struct Nothing;

impl Beside for Nothing {}

/// How a row is drawn: everything that holds for all of them.
pub(super) struct Painter<'a> {
    pub review: &'a Review,
    pub theme: &'a Theme,
    pub beside: &'a dyn Beside,
    pub inside: &'a Inside,
    pub columns: usize,
    needle: Needle,
}

impl<'a> Painter<'a> {
    pub(super) fn new(
        review: &'a Review,
        theme: &'a Theme,
        beside: &'a dyn Beside,
        inside: &'a Inside,
        columns: usize,
    ) -> Painter<'a> {
        Painter { review, theme, beside, inside, columns, needle: Needle::new(&review.search) }
    }

    /// The screen rows of the `at`th row.
    pub(super) fn rows(&self, at: usize) -> Vec<Vec<Cell>> {
        let Some(row) = self.review.rows.list.get(at).copied() else { return Vec::new() };
        let chosen = self.review.selection().contains(&at);
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
    pub(super) fn height(&self, at: usize) -> usize {
        let Some(row) = self.review.rows.list.get(at).copied() else { return 0 };
        let one = match row {
            Row::Space | Row::File(_) | Row::Gap { .. } | Row::Blanks { .. } => true,
            Row::Same { file, new, .. } if !self.review.layout.side => {
                self.is_short(file, Side::New, new as usize)
            }
            Row::Line { file, hunk, n } => {
                let lines = self.file(file).and_then(File::lines);
                let place = lines.and_then(|lines| place(lines, hunk as usize, n as usize));
                place.is_some_and(|(side, line)| self.is_short(file, side, line))
            }
            _ => false,
        };
        if one { 1 } else { self.rows(at).len().max(1) }
    }

    /// Surely no longer than a row, whatever stands in front of it.
    fn is_short(&self, file: u32, side: Side, line: usize) -> bool {
        /// More than any gutter.
        const GUTTER: usize = 52;
        let Some(lines) = self.file(file).and_then(File::lines) else { return false };
        let doc = if side == Side::Old { &lines.old } else { &lines.new };
        let text = doc.line(line);
        let plain = || text.bytes().all(|b| matches!(b, b' '..=b'~'));
        let fits = text.len() + GUTTER < self.columns && plain() && doc.end(line) != End::None;
        fits || !self.review.look.wrap
    }

    /// The row under the cursor has the colour of a selection up to the edge.
    fn choose(&self, cells: &mut Vec<Cell>) {
        let style = self.theme.style("select");
        let used: usize = cells.iter().map(|c| c.width).sum();
        cells.extend((used..self.columns).map(|_| cell(" ", Style::default())));
        // What changed inside the line, and what was searched, stays marked under the cursor.
        let marked = ["diff.add.word", "diff.remove.word", "match"].map(|l| self.theme.style(l).bg);
        for cell in cells.iter_mut() {
            let keeps = cell.style.bg.is_some() && marked.contains(&cell.style.bg);
            let kept = cell.style;
            cell.style = cell.style.patch(style);
            if keeps {
                cell.style.bg = kept.bg;
            }
        }
    }

    /// The decision about what the row shows, in one sign.
    fn mark(&self, row: Row) -> (&'static str, Style) {
        let sign = |standing: Standing| match standing {
            Standing::All(Mark::Accepted) => ("✓", self.theme.style("accepted")),
            Standing::All(Mark::Rejected) => ("✗", self.theme.style("rejected")),
            Standing::All(Mark::Open) => (" ", Style::default()),
            Standing::Mixed => ("~", self.theme.style("question")),
        };
        let lines = |file: u32| self.file(file).and_then(File::lines);
        match row {
            Row::File(file) => self.file(file).map_or((" ", Style::default()), |f| sign(f.standing())),
            Row::Line { file, hunk, n } => {
                let mark = lines(file).and_then(|l| Some(l.hunks.get(hunk as usize)?.mark(n as usize)));
                sign(Standing::All(mark.unwrap_or_default()))
            }
            Row::Pair { file, hunk, old, new } => {
                let hunk = lines(file).and_then(|l| l.hunks.get(hunk as usize));
                hunk.map_or((" ", Style::default()), |hunk| {
                    let marks = old.into_iter().chain(new).map(|n| hunk.mark(n as usize));
                    sign(super::file::standing(marks))
                })
            }
            Row::Blanks { file, hunk } => {
                let hunk = lines(file).and_then(|l| l.hunks.get(hunk as usize));
                hunk.map_or((" ", Style::default()), |hunk| sign(hunk.standing()))
            }
            _ => (" ", Style::default()),
        }
    }

    fn file(&self, file: u32) -> Option<&'a File> {
        self.review.files.get(file as usize)
    }

    /// Columns for what is behind cursor and mark.
    fn room(&self) -> usize {
        self.columns.saturating_sub(2).max(2)
    }

    fn plain(&self, row: Row) -> Vec<Vec<Cell>> {
        match row {
            Row::Space => vec![Vec::new()],
            Row::File(f) => self.file(f).map(|file| vec![self.header(f as usize, file)]).unwrap_or_default(),
            Row::Fact(f, n) => self.file(f).map(|file| self.fact(file, n as usize)).unwrap_or_default(),
            Row::Picture(f) => self.picture(f as usize),
            Row::Gap { file, from, to, known } => vec![self.gap(file, from, to, known)],
            Row::Blanks { file, hunk } => {
                let lines = self.file(file).and_then(File::lines);
                let hunk = lines.and_then(|l| l.hunks.get(hunk as usize));
                let count = hunk.map_or(0, |h| h.marks.len());
                let text = format!("    {count} lines change blanks only; w shows them");
                vec![self.words(&text, self.theme.style("hint"))]
            }
            Row::Note(n) => self.review.comments.get(n as usize).map(|c| self.note(c)).unwrap_or_default(),
            Row::Same { file, old, new } => self.same(file, old as usize, new as usize),
            Row::Line { file, hunk, n } => self.line(file, hunk as usize, n as usize),
            Row::Pair { file, hunk, old, new } => {
                self.pair(file, hunk as usize, old.map(|n| n as usize), new.map(|n| n as usize))
            }
        }
    }

    fn words(&self, text: &str, style: Style) -> Vec<Cell> {
        let all = cells(text, |_| style, Blanks::Plain);
        window(&all, 0, self.room()).to_vec()
    }

    fn header(&self, f: usize, file: &File) -> Vec<Cell> {
        let strong = self.theme.style("title");
        let folded = self.review.layout.folded.contains(&f);
        let (decided, units) = (file.decided(), file.units());
        let mut tail = String::new();
        if let Some((added, removed)) = file.lines().map(Lines::counts) {
            tail.push_str(&format!("  +{added} -{removed}"));
        }
        if units > 1 || decided > 0 {
            tail.push_str(&format!("  {decided}/{units}"));
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
        out.extend(cells(&tail, |_| self.theme.style("status"), Blanks::Plain));
        let used: usize = out.iter().map(|c| c.width).sum();
        let rule = self.theme.style("border");
        if used + 2 < self.room() {
            out.push(cell(" ", rule));
            out.extend((used + 1..self.room()).map(|_| cell("─", rule)));
        }
        window(&out, 0, self.room()).to_vec()
    }

    /// Text with what is searched marked in it.
    fn marked(&self, text: &str, style: Style) -> Vec<Cell> {
        let places = self.needle.places(text);
        let found = self.theme.style("match");
        let styled =
            |at: usize| if places.iter().any(|r| r.contains(&at)) { style.patch(found) } else { style };
        cells(text, styled, Blanks::Plain)
    }

    fn fact(&self, file: &File, n: usize) -> Vec<Vec<Cell>> {
        let text = file.facts.get(n).or_else(|| match &file.body {
            Body::Whole(whole) => whole.words.get(n - file.facts.len().min(n)),
            Body::Lines(_) => None,
        });
        let style = self.theme.style("notice");
        let all = cells(&format!("  {}", text.map_or("", String::as_str)), |_| style, Blanks::Plain);
        wrap(&all, self.room()).into_iter().map(<[Cell]>::to_vec).collect()
    }

    fn picture(&self, f: usize) -> Vec<Vec<Cell>> {
        let half = (self.room() / 2).saturating_sub(2).clamp(4, 60);
        let side = |side| self.beside.picture(f, side, half);
        let (before, after) = (side(Side::Old), side(Side::New));
        let rows = before.as_ref().map_or(0, Vec::len).max(after.as_ref().map_or(0, Vec::len));
        let blank = Vec::new();
        (0..rows)
            .map(|n| {
                let part = |side: &Option<Vec<Vec<Cell>>>| {
                    side.as_ref().and_then(|rows| rows.get(n)).unwrap_or(&blank).clone()
                };
                let mut row = vec![cell(" ", Style::default()); 2];
                let left = part(&before);
                let used: usize = left.iter().map(|c| c.width).sum();
                row.extend(left);
                row.extend((used..half + 2).map(|_| cell(" ", Style::default())));
                row.extend(part(&after));
                row
            })
            .collect()
    }

    fn gap(&self, file: u32, from: u32, to: u32, known: bool) -> Vec<Cell> {
        let lines = self.file(file).and_then(File::lines);
        let text = match (known, lines) {
            (true, _) => format!("    {} unchanged lines; Enter shows them", to - from),
            (false, Some(lines)) => {
                format!("    line {} of the file; what is above is not here", lines.old_number(from as usize))
            }
            (false, None) => String::new(),
        };
        self.words(&text, self.theme.style("hint"))
    }

    fn note(&self, comment: &Comment) -> Vec<Vec<Cell>> {
        let style = self.theme.style("comment");
        let place = match &comment.target {
            Target::Turn => "on the turn: ".to_string(),
            Target::File { .. } => "on the file: ".to_string(),
            Target::Lines { stale: true, lines, .. } => {
                format!("stale, was on line {}: ", lines.start + 1)
            }
            Target::Lines { lines, .. } if lines.len() > 1 => format!("on {} lines: ", lines.len()),
            Target::Lines { .. } => String::new(),
        };
        let text = sanitize::block(&comment.text).into_owned();
        let mut out = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let lead = if n == 0 { format!("  » {place}") } else { "    ".to_string() };
            let all = cells(&format!("{lead}{line}"), |_| style, Blanks::Plain);
            out.extend(wrap(&all, self.room()).into_iter().map(<[Cell]>::to_vec));
        }
        out
    }

    fn same(&self, file: u32, old: usize, new: usize) -> Vec<Vec<Cell>> {
        let Some(lines) = self.file(file).and_then(File::lines) else { return Vec::new() };
        let style = self.theme.style("text");
        let (a, b) = (Some(lines.old_number(old)), Some(lines.new_number(new)));
        if self.review.layout.side {
            let half = self.half();
            let left = self.content(file, Side::Old, lines, old, style, &[], half - self.side_gutter(lines));
            let right = self.content(file, Side::New, lines, new, style, &[], half - self.side_gutter(lines));
            return self.beside_each_other(lines, (a, " ", left), (b, " ", right), style);
        }
        let gutter = self.gutter(file, lines, a, b, Some(new), " ", style);
        let used: usize = gutter.iter().map(|c| c.width).sum();
        let text = self.content(file, Side::New, lines, new, style, &[], self.room().saturating_sub(used));
        self.with_gutter(&gutter, text, style)
    }

    fn line(&self, file: u32, h: usize, n: usize) -> Vec<Vec<Cell>> {
        let Some(lines) = self.file(file).and_then(File::lines) else { return Vec::new() };
        let Some((side, line)) = place(lines, h, n) else { return Vec::new() };
        let look = self.look(file, side, line);
        let (old, new, sign) = match side {
            Side::Old => (Some(lines.old_number(line)), None, "-"),
            Side::New => (None, Some(lines.new_number(line)), "+"),
        };
        let blamed = (side == Side::New).then_some(line);
        let gutter = self.gutter(file, lines, old, new, blamed, sign, look);
        let used: usize = gutter.iter().map(|c| c.width).sum();
        let changes = self.inside.changes(file as usize, h, n, lines);
        let changes = changes.as_deref().map_or(&[][..], Vec::as_slice);
        let text = self.content(file, side, lines, line, look, changes, self.room().saturating_sub(used));
        self.with_gutter(&gutter, text, look)
    }

    fn pair(&self, file: u32, h: usize, old: Option<usize>, new: Option<usize>) -> Vec<Vec<Cell>> {
        let Some(lines) = self.file(file).and_then(File::lines) else { return Vec::new() };
        let room = self.half() - self.side_gutter(lines);
        let one = |n: Option<usize>| {
            let n = n?;
            let (side, line) = place(lines, h, n)?;
            let look = self.look(file, side, line);
            let changes = self.inside.changes(file as usize, h, n, lines);
            let changes = changes.as_deref().map_or(&[][..], Vec::as_slice);
            let text = self.content(file, side, lines, line, look, changes, room);
            let (number, sign) = match side {
                Side::Old => (lines.old_number(line), "-"),
                Side::New => (lines.new_number(line), "+"),
            };
            Some((number, sign, text, look))
        };
        let blank = || vec![Vec::new()];
        let (left, right) = (one(old), one(new));
        let left_look = left.as_ref().map_or(Style::default(), |l| l.3);
        let right_look = right.as_ref().map_or(Style::default(), |r| r.3);
        let side = |part: Option<(usize, &'static str, Vec<Vec<Cell>>, Style)>| match part {
            Some((number, sign, text, _)) => (Some(number), sign, text),
            None => (None, " ", blank()),
        };
        self.columns_of(lines, (side(left), left_look), (side(right), right_look))
    }

    fn half(&self) -> usize {
        (self.room().saturating_sub(1) / 2).max(8)
    }

    fn side_gutter(&self, lines: &Lines) -> usize {
        (digits(lines) + 3).min(self.half() - 2)
    }

    fn beside_each_other(
        &self,
        lines: &Lines,
        left: (Option<usize>, &'static str, Vec<Vec<Cell>>),
        right: (Option<usize>, &'static str, Vec<Vec<Cell>>),
        style: Style,
    ) -> Vec<Vec<Cell>> {
        self.columns_of(lines, (left, style), (right, style))
    }

    #[expect(clippy::type_complexity, reason = "number, sign and rows of one side, and its style")]
    fn columns_of(
        &self,
        lines: &Lines,
        (left, left_look): ((Option<usize>, &'static str, Vec<Vec<Cell>>), Style),
        (right, right_look): ((Option<usize>, &'static str, Vec<Vec<Cell>>), Style),
    ) -> Vec<Vec<Cell>> {
        let (half, digits) = (self.half(), self.side_gutter(lines) - 3);
        let gutter = self.theme.style("gutter");
        let height = left.2.len().max(right.2.len());
        let part = |(number, sign, text): &(Option<usize>, &'static str, Vec<Vec<Cell>>),
                    look: Style,
                    n: usize| {
            let shown = number.filter(|_| n == 0).map_or(String::new(), |n| n.to_string());
            let mut row = cells(&format!("{shown:>digits$} "), |_| gutter.patch(back(look)), Blanks::Plain);
            let sign = if n == 0 { *sign } else { " " };
            row.extend(cells(&format!("{sign} "), |_| look, Blanks::Plain));
            row.extend(text.get(n).cloned().unwrap_or_default());
            let used: usize = row.iter().map(|c| c.width).sum();
            row.extend((used..half).map(|_| cell(" ", back(look))));
            row
        };
        (0..height)
            .map(|n| {
                let mut row = part(&left, left_look, n);
                row.push(cell("│", self.theme.style("border")));
                row.extend(part(&right, right_look, n));
                row
            })
            .collect()
    }

    /// Numbers, reviewed mark and sign in front of a line.
    fn gutter(
        &self,
        file: u32,
        lines: &Lines,
        old: Option<usize>,
        new: Option<usize>,
        blamed: Option<usize>,
        sign: &str,
        look: Style,
    ) -> Vec<Cell> {
        let digits = digits(lines);
        let shown = |n: Option<usize>| n.map_or(String::new(), |n| n.to_string());
        let numbers = match self.columns {
            0..=30 => String::new(),
            31..=59 => format!("{:>digits$} ", shown(new.or(old))),
            _ => format!("{:>digits$} {:>digits$} ", shown(old), shown(new)),
        };
        let style = self.theme.style("gutter").patch(back(look));
        let mut out = Vec::new();
        if self.review.look.blame && self.columns >= 60 {
            let who = blamed.and_then(|line| self.beside.blame(file as usize, line)).unwrap_or_default();
            let wide = if self.columns >= 90 { 26 } else { 18 };
            let who = width::cut(&sanitize::line(&who), wide);
            out.extend(cells(&format!("{who:<wide$} "), |_| style, Blanks::Plain));
        }
        out.extend(cells(&numbers, |_| style, Blanks::Plain));
        out.extend(cells(&format!("{sign} "), |_| look, Blanks::Plain));
        out
    }

    fn with_gutter(&self, gutter: &[Cell], text: Vec<Vec<Cell>>, look: Style) -> Vec<Vec<Cell>> {
        let width: usize = gutter.iter().map(|c| c.width).sum();
        let filled = back(look);
        let rows = text.into_iter().enumerate();
        rows.map(|(n, text)| {
            let mut row = match n {
                0 => gutter.to_vec(),
                // A row that goes on keeps the gutter's width and the line's background.
                _ => vec![cell(" ", filled); width],
            };
            row.extend(text);
            let used: usize = row.iter().map(|c| c.width).sum();
            if filled.bg.is_some() {
                row.extend((used..self.room()).map(|_| cell(" ", filled)));
            }
            row
        })
        .collect()
    }

    /// How a changed line looks as a whole.
    fn look(&self, file: u32, side: Side, line: usize) -> Style {
        let moved = match side {
            Side::Old => &self.review.moves.gone,
            Side::New => &self.review.moves.come,
        };
        let moved = moved.get(file as usize).is_some_and(|m| m.contains_key(&super::rows::number(line)));
        let (text, back) = match side {
            Side::Old => ("diff.remove", "diff.remove.line"),
            Side::New => ("diff.add", "diff.add.line"),
        };
        let look = self.theme.style(text).patch(self.theme.style(back));
        if moved { look.patch(self.theme.style("diff.moved")) } else { look }
    }

    /// The text of a line in as many rows as it takes.
    fn content(
        &self,
        file: u32,
        side: Side,
        lines: &Lines,
        line: usize,
        look: Style,
        changes: &[Range<usize>],
        columns: usize,
    ) -> Vec<Vec<Cell>> {
        let doc = if side == Side::Old { &lines.old } else { &lines.new };
        let text = doc.line(line);
        let changed = look != self.theme.style("text");
        // Colours of code only where the background says what changed; else the line's own colour has to.
        let colours = match changed && look.bg.is_none() {
            true => None,
            false => self.beside.colours(file as usize, side, line),
        };
        let base = if colours.is_some() { Style { fg: None, ..look } } else { look };
        let word = self.theme.style(if side == Side::Old { "diff.remove.word" } else { "diff.add.word" });
        let found = self.needle.places(text);
        let match_style = self.theme.style("match");
        let style = |at: usize| {
            let mut style = base;
            if let Some((_, colour)) = colours.iter().flatten().find(|(range, _)| range.contains(&at)) {
                style = style.patch(*colour);
            }
            if changes.iter().any(|r| r.contains(&at)) {
                style = style.patch(word);
            }
            if found.iter().any(|r| r.contains(&at)) {
                style = style.patch(match_style);
            }
            style
        };
        let only_blank = changed
            && !changes.is_empty()
            && changes
                .iter()
                .all(|r| text.get(r.clone()).is_none_or(|part| part.chars().all(char::is_whitespace)));
        let blanks = match self.review.look.invisibles || only_blank {
            true => Blanks::Shown,
            false => Blanks::Plain,
        };
        let wrapped = self.review.look.wrap;
        let mut out = Vec::new();
        let hint = self.theme.style("hint");
        let left_out = |out: &mut Vec<Cell>, bytes: usize, words: &str| {
            out.extend(cells(&format!("⟨{bytes} bytes{words}⟩"), |_| hint, Blanks::Plain));
        };
        match shorten(text, changes, LONG).filter(|_| wrapped) {
            Some(kept) => {
                let mut at = 0;
                for part in kept {
                    if part.start > at {
                        left_out(&mut out, part.start - at, "");
                    }
                    let shown = text.get(part.clone()).unwrap_or("");
                    out.extend(cells(shown, |n| style(part.start + n), blanks));
                    at = part.end;
                }
                if at < text.len() {
                    left_out(&mut out, text.len() - at, "; W shows all");
                }
            }
            None if wrapped && text.len() > LONGEST => {
                let end = text.floor_char_boundary(LONGEST);
                out.extend(cells(text.get(..end).unwrap_or(""), style, blanks));
                left_out(&mut out, text.len() - end, "; W and l show them");
            }
            None => out.extend(cells(text, style, blanks)),
        }
        self.line_end(doc, line, changed, blanks, &mut out);
        match wrapped {
            true => wrap(&out, columns).into_iter().map(<[Cell]>::to_vec).collect(),
            false => vec![window(&out, self.review.left, columns).to_vec()],
        }
    }

    /// What can be said of a line's end: shown with the other invisibles, and where it is all that changed.
    fn line_end(&self, doc: &Doc, line: usize, changed: bool, blanks: Blanks, out: &mut Vec<Cell>) {
        let hint = self.theme.style("hint");
        match doc.end(line) {
            End::CrLf if blanks == Blanks::Shown => out.push(cell("␍", hint)),
            End::None if changed => {
                out.extend(cells("  (no line end)", |_| hint, Blanks::Plain));
            }
            _ => {}
        }
    }

    /// What there is to say about the line under the cursor: where it moved, what it became.
    pub(super) fn about(&self, row: Row) -> Option<String> {
        let Row::Line { file, hunk, n } = row else { return None };
        let lines = self.file(file)?.lines()?;
        let (side, line) = place(lines, hunk as usize, n as usize)?;
        let (moved, words) = match side {
            Side::Old => (&self.review.moves.gone, "moved to"),
            Side::New => (&self.review.moves.come, "moved from"),
        };
        if let Some((other, at)) = moved.get(file as usize)?.get(&super::rows::number(line)) {
            let other = self.file(*other)?;
            let at = other.lines().map_or(0, |l| match side {
                Side::Old => l.new_number(*at as usize),
                Side::New => l.old_number(*at as usize),
            });
            return Some(format!("{words} {}:{at}", other.name));
        }
        let whole = lines.hunks.get(hunk as usize)?;
        if only_blanks(lines, whole.old.clone(), whole.new.clone()) {
            return Some("only blanks or line ends change here".into());
        }
        let partner = self.inside.partner(file as usize, hunk as usize, n as usize, lines)?;
        let (_, other) = place(lines, hunk as usize, partner)?;
        Some(match side {
            Side::Old => format!("becomes line {}", lines.new_number(other)),
            Side::New => format!("was line {}", lines.old_number(other)),
        })
    }
}

/// Which line of which side the `n`th changed line of a hunk is.
pub(super) fn place(lines: &Lines, hunk: usize, n: usize) -> Option<(Side, usize)> {
    let hunk = lines.hunks.get(hunk)?;
    match n.checked_sub(hunk.old.len()) {
        None => Some((Side::Old, hunk.old.start + n)),
        Some(n) if n < hunk.new.len() => Some((Side::New, hunk.new.start + n)),
        Some(_) => None,
    }
}

fn digits(lines: &Lines) -> usize {
    let last = lines.old_number(lines.old.len()).max(lines.new_number(lines.new.len()));
    last.to_string().len().max(2)
}

fn back(look: Style) -> Style {
    Style { bg: look.bg, ..Style::default() }
}

pub(super) fn cell(text: &str, style: Style) -> Cell {
    Cell { text: text.into(), width: width::of(text).max(1), style }
}
