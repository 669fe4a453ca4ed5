//! Lines of text as rows of the screen: one below the other, or two sides next to each other, with their gutter. Other
//! modules know what changed in a line, and its colours.

use super::cells::{self, StyledCell, WhitespaceMode, cell, cells, shorten, window, without_tail, wrap};
use super::paint::ReviewPainter;
use super::rows::{ReviewRow, number};
use crate::review::content::file::ReviewLines;
use crate::review::content::side_text::{DiffSide, LineTerminator, SideText};
use placet_text::text::visible::CONTINUED;
use placet_text::text::{sanitize, width};
use ratatui::style::Style;
use std::ops::Range;
use std::rc::Rc;

/// In front of a row that continues the row above.
const CONTINUED_SIGN: &str = "↪";
/// A changed line longer than this is shown around its changes.
const LONG: usize = 600;

/// A part of a line, and how it looks.
struct StyledSegment<'a> {
    file: u32,
    side: DiffSide,
    lines: &'a ReviewLines,
    line: usize,
    part: usize,
    look: Style,
    /// What its other version does not have, in bytes of the whole line.
    changes: Option<Rc<Vec<Range<usize>>>>,
    /// A theme without colours draws changed lines as it draws the others.
    is_changed: bool,
}

/// Number, sign and rows of one side, where both sides are next to each other.
type SideRows = (Option<usize>, &'static str, Vec<Vec<StyledCell>>);

/// Whether `at` is in one of these rising ranges.
fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    ranges.get(ranges.partition_point(|range| range.end <= at)).is_some_and(|range| range.contains(&at))
}

/// The part of `range` that lies in `of`, counted from the beginning of `of`.
fn inside(range: &Range<usize>, of: &Range<usize>) -> Option<Range<usize>> {
    let (start, end) = (range.start.max(of.start), range.end.min(of.end));
    (start < end).then(|| start - of.start..end - of.start)
}

impl ReviewPainter<'_> {
    pub(in crate::review) fn same(
        &self,
        file: u32,
        old: usize,
        new: usize,
        part: usize,
    ) -> Vec<Vec<StyledCell>> {
        let Some(lines) = self.lines(file) else { return Vec::new() };
        let look = self.theme.style("text");
        let (changes, is_changed) = (None, false);
        let one = |side, line| StyledSegment {
            file,
            side,
            lines,
            line,
            part,
            look,
            changes: changes.clone(),
            is_changed,
        };
        let first = part == 0;
        let (a, b) = (Some(lines.old_number(old)), Some(lines.new_number(new)));
        let (a, b) = (a.filter(|_| first), b.filter(|_| first));
        let sign = if first { " " } else { CONTINUED_SIGN };
        if self.review.layout.side {
            let room = self.half() - self.side_gutter(lines);
            let left = self.content(&one(DiffSide::Old, old), room);
            let right = self.content(&one(DiffSide::New, new), room);
            return self.columns_of(lines, ((a, sign, left), look), ((b, sign, right), look));
        }
        let gutter = self.gutter(file, lines, a, b, Some(new).filter(|_| first), sign, look);
        let used = cells::width_of(&gutter);
        let text = self.content(&one(DiffSide::New, new), self.room().saturating_sub(used));
        self.with_gutter(&gutter, text, look)
    }

    pub(in crate::review) fn line(&self, file: u32, h: usize, n: usize, part: usize) -> Vec<Vec<StyledCell>> {
        let Some(changed) = self.changed(file, h, n, part) else { return Vec::new() };
        let StyledSegment { side, lines, line, look, .. } = changed;
        let (old, new, sign) = match side {
            DiffSide::Old => (Some(lines.old_number(line)), None, "-"),
            DiffSide::New => (None, Some(lines.new_number(line)), "+"),
        };
        let blamed = (side == DiffSide::New).then_some(line);
        let gutter = match part {
            0 => self.gutter(file, lines, old, new, blamed, sign, look),
            _ => self.gutter(file, lines, None, None, None, CONTINUED_SIGN, look),
        };
        let used = cells::width_of(&gutter);
        let text = self.content(&changed, self.room().saturating_sub(used));
        self.readable(self.with_gutter(&gutter, text, look))
    }

    pub(in crate::review) fn pair(
        &self,
        file: u32,
        h: usize,
        old: Option<usize>,
        new: Option<usize>,
        part: usize,
    ) -> Vec<Vec<StyledCell>> {
        let Some(lines) = self.lines(file) else { return Vec::new() };
        let room = self.half() - self.side_gutter(lines);
        let one = |n: Option<usize>| {
            let changed = self.changed(file, h, n?, part)?;
            let (doc, number, sign) = match changed.side {
                DiffSide::Old => (&lines.old, lines.old_number(changed.line), "-"),
                DiffSide::New => (&lines.new, lines.new_number(changed.line), "+"),
            };
            let text = self.content(&changed, room);
            Some(match part {
                0 => ((Some(number), sign, text), changed.look),
                _ if part < doc.parts(changed.line) => ((None, CONTINUED_SIGN, text), changed.look),
                _ => ((None, " ", text), Style::default()),
            })
        };
        let side = |part: Option<(SideRows, Style)>| {
            part.unwrap_or_else(|| ((None, " ", vec![Vec::new()]), Style::default()))
        };
        self.readable(self.columns_of(lines, side(one(old)), side(one(new))))
    }

    /// What is drawn on a changed line is read on the background of that line, where the theme's other colours are chosen
    /// without it.
    fn readable(&self, mut rows: Vec<Vec<StyledCell>>) -> Vec<Vec<StyledCell>> {
        for (line, adjuster) in &self.adjusters {
            let Some(ground) = line.bg.filter(|_| self.theme.adjusts_on(*line)) else { continue };
            let mut adjuster = adjuster.borrow_mut();
            for cell in rows.iter_mut().flatten().filter(|cell| cell.style.bg == Some(ground)) {
                cell.style.fg = cell.style.fg.map(|fg| adjuster.colour(fg)).or(line.fg);
            }
        }
        rows
    }

    fn half(&self) -> usize {
        (self.room().saturating_sub(1) / 2).max(8)
    }

    fn side_gutter(&self, lines: &ReviewLines) -> usize {
        (digits(lines) + 3).min(self.half() - 2)
    }

    fn columns_of(
        &self,
        lines: &ReviewLines,
        (left, left_look): (SideRows, Style),
        (right, right_look): (SideRows, Style),
    ) -> Vec<Vec<StyledCell>> {
        let (half, digits) = (self.half(), self.side_gutter(lines) - 3);
        let gutter = self.theme.style("gutter");
        let height = left.2.len().max(right.2.len());
        let part = |(number, sign, text): &SideRows, look: Style, n: usize| {
            let shown = number.filter(|_| n == 0).map_or(String::new(), |n| n.to_string());
            let style = self.ground_of_sign(sign, look).unwrap_or(gutter.patch(back(look)));
            let mut row = cells(&format!("{shown:>digits$} "), |_| style);
            let sign = if n == 0 { *sign } else { " " };
            row.extend(self.sign(sign, look));
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

    /// The style of the sign and of the number of a changed line which has no ground itself.
    fn ground_of_sign(&self, sign: &str, look: Style) -> Option<Style> {
        let own = match sign {
            "+" => self.theme.sign("diff.add"),
            "-" => self.theme.sign("diff.remove"),
            _ => return None,
        };
        (own.bg.is_some() && look.bg.is_none()).then_some(own)
    }

    /// The sign of a line and the blank behind it.
    fn sign(&self, sign: &str, look: Style) -> Vec<StyledCell> {
        let style = self.ground_of_sign(sign, look).unwrap_or(look);
        let mut out = cells(sign, |_| style);
        out.extend(cells(" ", |_| look));
        out
    }

    /// Numbers, reviewed mark and sign in front of a line.
    fn gutter(
        &self,
        file: u32,
        lines: &ReviewLines,
        old: Option<usize>,
        new: Option<usize>,
        blamed: Option<usize>,
        sign: &str,
        look: Style,
    ) -> Vec<StyledCell> {
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
            let who = blamed.and_then(|line| self.annotations.blame(file as usize, line)).unwrap_or_default();
            let wide = if self.columns >= 90 { 26 } else { 18 };
            let who = width::cut(&sanitize::line(&who), wide);
            out.extend(cells(&format!("{who:<wide$} "), |_| style));
        }
        let style = self.ground_of_sign(sign, look).unwrap_or(style);
        out.extend(cells(&numbers, |_| style));
        out.extend(self.sign(sign, look));
        out
    }

    fn with_gutter(
        &self,
        gutter: &[StyledCell],
        text: Vec<Vec<StyledCell>>,
        look: Style,
    ) -> Vec<Vec<StyledCell>> {
        let filled = back(look);
        let rows = text.into_iter().enumerate();
        rows.map(|(n, text)| {
            let mut row = match n {
                0 => gutter.to_vec(),
                // A row that continues a line has the gutter's width and its grounds.
                _ => {
                    let (numbers, sign) = gutter.split_at(gutter.len().saturating_sub(2));
                    let blanks = |c: &StyledCell| vec![cell(" ", back(c.style)); c.width];
                    let mut lead: Vec<StyledCell> = numbers.iter().flat_map(blanks).collect();
                    let hint = self.theme.style("hint");
                    let style = sign.first().map_or(filled, |sign| match sign.style.bg == look.bg {
                        true => filled.patch(hint),
                        false => sign.style,
                    });
                    lead.extend([cell(CONTINUED_SIGN, style), cell(" ", filled)]);
                    lead
                }
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
    fn look(&self, file: u32, side: DiffSide, line: usize) -> Style {
        let moved = match side {
            DiffSide::Old => &self.review.moves.gone,
            DiffSide::New => &self.review.moves.come,
        };
        let moved = moved.get(file as usize).is_some_and(|m| m.contains_key(&number(line)));
        let (text, back) = match side {
            DiffSide::Old => ("diff.remove", "diff.remove.line"),
            DiffSide::New => ("diff.add", "diff.add.line"),
        };
        let look = self.theme.style(text).patch(self.theme.style(back));
        if moved { look.patch(self.theme.style("diff.moved")) } else { look }
    }

    /// A part of a line in as many rows as it needs, or its visible part where lines are not wrapped.
    fn content(&self, shown: &StyledSegment<'_>, columns: usize) -> Vec<Vec<StyledCell>> {
        let hint = self.theme.style("hint");
        let all = self.cells_of(shown);
        if self.review.look.wrap {
            let rows = wrap(&all, columns);
            let last = rows.len().saturating_sub(1);
            let full = |(n, row): (usize, &[StyledCell])| {
                let mut row = row.to_vec();
                // A wide character does not fit: the free column is not a blank of the line.
                if n < last && cells::width_of(&row) < columns {
                    row.push(cell(CONTINUED_SIGN, hint));
                }
                row
            };
            return rows.into_iter().enumerate().map(full).collect();
        }
        let left = self.review.window.left;
        if cells::width_of(&all) <= left + columns || columns < 2 {
            return vec![window(&all, left, columns).to_vec()];
        }
        let mut row = window(&all, left, columns - 1).to_vec();
        row.push(cell("›", hint));
        vec![row]
    }

    /// All cells of a part of a line.
    fn cells_of(&self, shown: &StyledSegment<'_>) -> Vec<StyledCell> {
        let StyledSegment { side, line, part, .. } = *shown;
        let doc = shown.lines.side(side);
        if part >= doc.parts(line) {
            return Vec::new();
        }
        let own = doc.part(line, part);
        let text = doc.line(line).get(own.clone()).unwrap_or("");
        let of_line = shown.changes.as_deref().map_or(&[][..], Vec::as_slice);
        let changes: Vec<Range<usize>> = of_line.iter().filter_map(|r| inside(r, &own)).collect();
        let changed = shown.is_changed;
        let (base, colours) = self.colours_of(shown, &own);
        let word = self.theme.style(if side == DiffSide::Old { "diff.remove.word" } else { "diff.add.word" });
        let found = self.needle.places(text);
        let match_style = self.theme.style("match");
        let style = |at: usize| {
            let mut style = base;
            let from = colours.partition_point(|(range, _)| range.end <= at);
            if let Some((_, colour)) = colours.get(from).filter(|(range, _)| range.contains(&at)) {
                style = style.patch(*colour);
            }
            if is_in(&changes, at) {
                style = style.patch(word);
            }
            if is_in(&found, at) {
                style = style.patch(match_style);
            }
            style
        };
        let is_blank =
            |r: &Range<usize>| text.get(r.clone()).is_none_or(|part| part.chars().all(char::is_whitespace));
        let only_blank = changed && !changes.is_empty() && changes.iter().all(is_blank);
        let blanks = match (self.review.look.invisibles || only_blank, changed) {
            (true, _) => WhitespaceMode::Shown,
            (false, true) => WhitespaceMode::Exact,
            (false, false) => WhitespaceMode::Plain,
        };
        let hint = self.theme.style("hint");
        let signs = (hint, self.theme.style("warning"));
        let mut out = Vec::new();
        let written = |out: &mut Vec<StyledCell>, range: Range<usize>| {
            let alike: Vec<Range<usize>> = changes.iter().filter_map(|r| inside(r, &range)).collect();
            let part = text.get(range.clone()).unwrap_or("").as_bytes();
            out.extend(cells::content(part, |n| style(range.start + n), signs, blanks, &alike));
        };
        let stray = doc.stray(line);
        let drawn = |out: &mut Vec<StyledCell>, range: Range<usize>| {
            let mut at = range.start;
            for (place, byte) in &stray {
                let Some(place) = place.checked_sub(own.start).filter(|place| range.contains(place)) else {
                    continue;
                };
                written(out, at..place);
                // The byte itself: U+FFFD would look the same for every byte.
                out.extend(cells::content(&[*byte], |_| style(place), signs, blanks, &[]));
                at = place + char::REPLACEMENT_CHARACTER.len_utf8();
            }
            written(out, at..range.end);
        };
        // Both versions have the omitted text: it is in the workspace already.
        let left_out = |out: &mut Vec<StyledCell>, bytes: usize| {
            let words = format!("{CONTINUED} {bytes} unchanged bytes {CONTINUED}");
            out.extend(cells(&words, |_| hint));
        };
        let shortens = self.review.look.wrap && !of_line.is_empty();
        let tail = |columns| without_tail(text, &changes, columns);
        let kept = shorten(text, &changes, LONG).or_else(|| self.columns_without_tails.and_then(tail));
        match kept.filter(|_| shortens) {
            Some(kept) => {
                let mut at = 0;
                for part in kept {
                    if part.start > at {
                        left_out(&mut out, part.start - at);
                    }
                    drawn(&mut out, part.clone());
                    at = part.end;
                }
                if at < text.len() {
                    left_out(&mut out, text.len() - at);
                }
            }
            None => drawn(&mut out, 0..text.len()),
        }
        if part + 1 >= doc.parts(line) {
            self.line_end(doc, line, changed, blanks, &mut out);
        }
        out
    }

    /// The style of a part of a line, and the colours of its code: only where the background or the sign shows the change;
    /// otherwise the line's own colour has to show it.
    fn colours_of(
        &self,
        shown: &StyledSegment<'_>,
        own: &Range<usize>,
    ) -> (Style, Vec<(Range<usize>, Style)>) {
        let StyledSegment { file, side, line, look, .. } = *shown;
        let label = if side == DiffSide::Old { "diff.remove" } else { "diff.add" };
        // Where the sign has a ground that shows the change, the text needs no colour for that.
        let is_plain = look.fg == self.theme.style(label).fg && self.theme.sign(label).bg.is_some();
        let colours = match shown.is_changed && look.bg.is_none() && !is_plain {
            true => None,
            false => self.annotations.colours(file as usize, side, line),
        };
        let has_own = colours.is_some() || shown.is_changed && is_plain;
        let inside = |(range, style)| Some((inside(&range, own)?, style));
        let colours = colours.into_iter().flatten().filter_map(inside).collect();
        (if has_own { Style { fg: None, ..look } } else { look }, colours)
    }

    /// Columns that the changed part of a row takes where lines are not wrapped.
    pub(in crate::review) fn extent(&self, row: ReviewRow) -> usize {
        let (ReviewRow::Line { file, hunk, part, .. } | ReviewRow::Pair { file, hunk, part, .. }) = row
        else {
            return 0;
        };
        let shown = row.changed().filter_map(|n| self.changed(file, hunk as usize, n, part as usize));
        shown.map(|shown| cells::width_of(&self.cells_of(&shown))).max().unwrap_or(0)
    }

    /// Columns for the text of a changed line.
    pub(in crate::review) fn text_columns(&self, row: ReviewRow) -> usize {
        let Some(lines) = row.file().and_then(|f| self.review.lines(f)) else { return 0 };
        match (self.review.layout.side, row) {
            (true, _) => self.half() - self.side_gutter(lines),
            (false, ReviewRow::Line { file, .. }) => {
                let gutter = self.gutter(file, lines, None, None, None, " ", Style::default());
                self.room().saturating_sub(cells::width_of(&gutter))
            }
            (false, _) => 0,
        }
    }

    /// What is shown of a changed line.
    fn changed(&self, file: u32, h: usize, n: usize, part: usize) -> Option<StyledSegment<'_>> {
        let lines = self.lines(file)?;
        let (side, line) = lines.place(h, n)?;
        let look = self.look(file, side, line);
        let changes = self.inline.changes(file as usize, h, n, lines);
        Some(StyledSegment { file, side, lines, line, part, look, changes, is_changed: true })
    }

    /// The sign for a line's end: shown with the other invisible characters, and where the end is all that changed.
    fn line_end(
        &self,
        doc: &SideText,
        line: usize,
        changed: bool,
        blanks: WhitespaceMode,
        out: &mut Vec<StyledCell>,
    ) {
        let hint = self.theme.style("hint");
        match doc.end(line) {
            LineTerminator::CrLf if blanks != WhitespaceMode::Plain => out.push(cell("⏎", hint)),
            LineTerminator::None if changed => {
                out.extend(cells("  (no line end)", |_| hint));
            }
            _ => {}
        }
    }
}

fn digits(lines: &ReviewLines) -> usize {
    let last = lines.old_number(lines.old.len()).max(lines.new_number(lines.new.len()));
    last.to_string().len().max(2)
}

fn back(look: Style) -> Style {
    Style { bg: look.bg, ..Style::default() }
}
