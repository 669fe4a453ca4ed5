//! Lines of text as rows of the screen: one below the other, or two sides beside each other, with what stands in front
//! of them. What changed in a line, and what colours it has, is known elsewhere.

use super::cells::{self, Blanks, Cell, cells, shorten, window, wrap};
use super::comment::Side;
use super::doc::{Doc, End};
use super::file::{File, Lines};
use super::paint::{Painter, cell, place};
use crate::text::{sanitize, width};
use ratatui::style::Style;
use std::ops::Range;

/// Bytes of a wrapped line that are shown; what is longer can be scrolled.
const LONGEST: usize = 4000;
/// A changed line longer than this is shown around its changes.
const LONG: usize = 600;

impl Painter<'_> {
    pub(super) fn same(&self, file: u32, old: usize, new: usize) -> Vec<Vec<Cell>> {
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

    pub(super) fn line(&self, file: u32, h: usize, n: usize) -> Vec<Vec<Cell>> {
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

    pub(super) fn pair(&self, file: u32, h: usize, old: Option<usize>, new: Option<usize>) -> Vec<Vec<Cell>> {
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
        let part =
            |(number, sign, text): &(Option<usize>, &'static str, Vec<Vec<Cell>>), look: Style, n: usize| {
                let shown = number.filter(|_| n == 0).map_or(String::new(), |n| n.to_string());
                let mut row = cells(&format!("{shown:>digits$} "), |_| gutter.patch(back(look)));
                let sign = if n == 0 { *sign } else { " " };
                row.extend(cells(&format!("{sign} "), |_| look));
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
            out.extend(cells(&format!("{who:<wide$} "), |_| style));
        }
        out.extend(cells(&numbers, |_| style));
        out.extend(cells(&format!("{sign} "), |_| look));
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
        let blanks = match (self.review.look.invisibles || only_blank, changed) {
            (true, _) => Blanks::Shown,
            (false, true) => Blanks::Exact,
            (false, false) => Blanks::Plain,
        };
        let signs = (self.theme.style("hint"), self.theme.style("warning"));
        let drawn = |range: Range<usize>| {
            let inside = |r: &Range<usize>| {
                r.start.max(range.start) - range.start..r.end.min(range.end).max(range.start) - range.start
            };
            let alike: Vec<Range<usize>> = changes.iter().map(inside).collect();
            let part = text.get(range.clone()).unwrap_or("");
            cells::content(part, |n| style(range.start + n), signs, blanks, &alike)
        };
        let wrapped = self.review.look.wrap;
        let mut out = Vec::new();
        let hint = self.theme.style("hint");
        let left_out = |out: &mut Vec<Cell>, bytes: usize, words: &str| {
            out.extend(cells(&format!("⟨{bytes} bytes{words}⟩"), |_| hint));
        };
        match shorten(text, changes, LONG).filter(|_| wrapped) {
            Some(kept) => {
                let mut at = 0;
                for part in kept {
                    if part.start > at {
                        left_out(&mut out, part.start - at, "");
                    }
                    out.extend(drawn(part.clone()));
                    at = part.end;
                }
                if at < text.len() {
                    left_out(&mut out, text.len() - at, "; W shows all");
                }
            }
            None if wrapped && text.len() > LONGEST => {
                let end = text.floor_char_boundary(LONGEST);
                out.extend(drawn(0..end));
                left_out(&mut out, text.len() - end, "; W and l show them");
            }
            None => out.extend(drawn(0..text.len())),
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
            End::CrLf if blanks != Blanks::Plain => out.push(cell("␍", hint)),
            End::None if changed => {
                out.extend(cells("  (no line end)", |_| hint));
            }
            _ => {}
        }
    }
}

fn digits(lines: &Lines) -> usize {
    let last = lines.old_number(lines.old.len()).max(lines.new_number(lines.new.len()));
    last.to_string().len().max(2)
}

fn back(look: Style) -> Style {
    Style { bg: look.bg, ..Style::default() }
}
