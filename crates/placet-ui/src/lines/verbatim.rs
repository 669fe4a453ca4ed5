//! Untrusted text as styled lines where the person approves it: nothing is dropped or cut off, and lines are broken at
//! the margin and nowhere else. The person can therefore count blanks between words.
//!
//! A row that continues a line begins with `↪`, which no text can have ([`placet_text::text::visible`]).

use crate::colors::theme::Theme;
use placet_text::text::visible::{
    BLANK_SIGN, CONTINUED, LineBreaks, VisibleMode, VisiblePieceKind, looks_like, pieces,
};
use placet_text::text::{width, word_diff};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Pairs of lines of one hunk that are compared: a question waits until all of it is laid out, the review does not.
const COMPARED: usize = 2000;

/// One line of untrusted bytes after `lead`.
pub fn line(lead: &str, bytes: &[u8], style: Style, theme: &Theme) -> Line<'static> {
    let mut spans = vec![Span::styled(lead.to_string(), style)];
    spans.extend(content(bytes, style, theme, VisibleMode::Exact, &InlineMarks::default()));
    Line::from(spans)
}

/// Every line of untrusted text behind two blanks; an empty line at its end is one, too.
pub fn lines(text: &str, style: Style, theme: &Theme) -> Vec<Line<'static>> {
    text.split('\n').map(|text| line("  ", text.as_bytes(), style, theme)).collect()
}

/// What is marked inside a line.
#[derive(Clone, Debug, Default)]
struct InlineMarks {
    /// What differs from the line's other version.
    changed: Vec<Range<usize>>,
    /// Nothing but blanks differs.
    blanks: bool,
    /// The two versions differ and look the same.
    alike: bool,
}

fn content(
    bytes: &[u8],
    style: Style,
    theme: &Theme,
    manner: VisibleMode,
    marked: &InlineMarks,
) -> Vec<Span<'static>> {
    let (sign, blank) = (style.patch(theme.style("warning")), style.patch(theme.style("hint")));
    let mut out = Vec::new();
    for piece in pieces(bytes, manner, LineBreaks::Shown, &marked.changed) {
        match piece.kind {
            VisiblePieceKind::Sign => out.push(Span::styled(piece.text, sign)),
            VisiblePieceKind::Blank => out.push(Span::styled(piece.text, blank)),
            VisiblePieceKind::Plain if marked.blanks => {
                let changed = |at: usize| marked.changed.iter().any(|range| range.contains(&at));
                for (at, c) in piece.text.char_indices() {
                    match c == ' ' && changed(piece.bytes.start + at) {
                        true => out.push(Span::styled(BLANK_SIGN.to_string(), blank)),
                        false => out.push(Span::styled(c.to_string(), style)),
                    }
                }
            }
            VisiblePieceKind::Plain => out.push(Span::styled(piece.text, style)),
        }
    }
    if marked.alike {
        out.push(Span::styled("  (looks like the other line)", sign));
    }
    out
}

/// A patch or diff, line by line. Changed lines are exact, and what differs only in blanks or in letters that look
/// alike is marked.
pub fn diff(patch: &[u8], theme: &Theme) -> Vec<Line<'static>> {
    let body = patch.strip_suffix(b"\n").unwrap_or(patch);
    if body.is_empty() {
        return Vec::new();
    }
    let all: Vec<&[u8]> = body.split(|b| *b == b'\n').collect();
    let marks = marks(&all);
    let mut hunk = HunkLines::default();
    let line = |(text, marked): (&&[u8], InlineMarks)| {
        let (sign, rest) = text.split_at(text.len().min(1));
        let in_hunk = hunk.takes(text);
        let (label, manner) = match sign {
            // A name, and no line that is added or removed.
            b"+" | b"-" if !in_hunk && is_header(text) => {
                return Line::from(
                    [
                        vec![Span::raw("  ")],
                        content(text, theme.style("text"), theme, VisibleMode::Exact, &marked),
                    ]
                    .concat(),
                );
            }
            b"+" => ("diff.add", VisibleMode::Exact),
            b"-" => ("diff.remove", VisibleMode::Exact),
            b"@" => ("diff.hunk", VisibleMode::Exact),
            b" " => ("text", VisibleMode::Quiet),
            // Lines around the hunks: names, modes, data.
            _ => return line("  ", text, theme.style("text"), theme),
        };
        let sign = String::from_utf8_lossy(sign).into_owned();
        let mut spans = vec![Span::raw("  "), Span::styled(sign, theme.sign(label))];
        spans.extend(content(rest, theme.changed_text(label), theme, manner, &marked));
        Line::from(spans)
    };
    all.iter().zip(marks).map(line).collect()
}

/// The same without the lines that only git reads. The names stay where the patch is of several files.
pub fn diff_for_person(patch: &[u8], theme: &Theme) -> Vec<Line<'static>> {
    let all = || patch.split_inclusive(|byte| *byte == b'\n');
    let is_of_git = |line: &[u8]| line.starts_with(b"diff --git ") || line.starts_with(b"index ");
    let files = all().filter(|line| line.starts_with(b"diff --git ")).count();
    let mut hunk = HunkLines::default();
    let is_shown = |line: &&[u8]| {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        hunk.takes(line) || !is_of_git(line) && (files > 1 || !is_header(line))
    };
    diff(&all().filter(is_shown).collect::<Vec<_>>().concat(), theme)
}

/// How many lines of each side the hunk still has: a removed line may begin with `-- `, and looks like a name then.
#[derive(Default)]
struct HunkLines {
    old: usize,
    new: usize,
}

impl HunkLines {
    /// Takes the next line; true for one in a hunk.
    fn takes(&mut self, line: &[u8]) -> bool {
        if self.old + self.new == 0 {
            if let Some((old, new)) = hunk_lengths(line) {
                (self.old, self.new) = (old, new);
            }
            return false;
        }
        match line.first() {
            Some(b'-') => self.old = self.old.saturating_sub(1),
            Some(b'+') => self.new = self.new.saturating_sub(1),
            Some(b'\\') => {}
            _ => (self.old, self.new) = (self.old.saturating_sub(1), self.new.saturating_sub(1)),
        }
        true
    }
}

/// The lines of both sides in `@@ -1,2 +1 @@`.
fn hunk_lengths(line: &[u8]) -> Option<(usize, usize)> {
    let line = String::from_utf8_lossy(line.strip_prefix(b"@@ -")?);
    let mut sides = line.split(' ');
    let length = |side: &str| side.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(sides.next()?)?, length(sides.next()?.strip_prefix('+')?)?))
}

/// The marks in each line: removed lines are compared with the lines that replace them.
fn marks(all: &[&[u8]]) -> Vec<InlineMarks> {
    let mut out = vec![InlineMarks::default(); all.len()];
    let mut at = 0;
    while at < all.len() {
        let run = |from: usize, sign: u8| {
            let rest = all.get(from..).unwrap_or_default();
            from..from + rest.iter().take_while(|l| l.first() == Some(&sign) && !is_header(l)).count()
        };
        let old = run(at, b'-');
        let gap = all.get(old.end).is_some_and(|l| l.first() == Some(&b'\\'));
        let new = run(old.end + usize::from(gap), b'+');
        if old.is_empty() || new.is_empty() {
            at = new.end.max(old.end).max(at + 1);
            continue;
        }
        let text = |n: usize| all.get(n).and_then(|l| std::str::from_utf8(l.get(1..)?).ok()).unwrap_or("");
        let olds: Vec<&str> = old.clone().map(text).collect();
        let news: Vec<&str> = new.clone().map(text).collect();
        for (a, b) in word_diff::pairs(&olds, &news).into_iter().take(COMPARED) {
            let (Some(was), Some(is)) = (olds.get(a), news.get(b)) else { continue };
            let Some(changed) = word_diff::changed(was, is) else { continue };
            let blank = |text: &str, ranges: &[Range<usize>]| {
                ranges.iter().all(|r| text.get(r.clone()).is_none_or(|t| t.chars().all(char::is_whitespace)))
            };
            let blanks = blank(was, &changed.old) && blank(is, &changed.new);
            for (n, changed) in [(old.start + a, changed.old), (new.start + b, changed.new)] {
                if let Some(marked) = out.get_mut(n) {
                    *marked = InlineMarks { changed, blanks, alike: false };
                }
            }
        }
        // Not only among the pairs: lines of a few words count as different when one word is another one. Each is
        // compared with each, so that a long hunk would take too long.
        let compared = olds.len().max(news.len()) <= word_diff::LINES;
        for (a, was) in olds.iter().enumerate().filter(|_| compared) {
            for (b, is) in news.iter().enumerate() {
                if was.is_ascii() && is.is_ascii() || !looks_like(was, is) {
                    continue;
                }
                for (n, text) in [(old.start + a, was), (new.start + b, is)] {
                    if let Some(marked) = out.get_mut(n) {
                        marked.alike = true;
                        if marked.changed.is_empty() {
                            marked.changed.push(0..text.len());
                        }
                    }
                }
            }
        }
        at = new.end;
    }
    out
}

fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"--- ") || line.starts_with(b"+++ ")
}

/// Cuts a line into rows of at most `columns`, at the margin; nothing of it is lost.
pub fn wrap(line: &Line<'_>, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let columns = columns.max(6);
    let hint = theme.style("hint");
    let mut rows: Vec<Vec<Span<'static>>> = Vec::new();
    let (mut row, mut used): (Vec<Span<'static>>, usize) = (Vec::new(), 0);
    for span in &line.spans {
        let style = line.style.patch(span.style);
        let mut part = String::new();
        for grapheme in span.content.graphemes(true) {
            let wide = width::of_grapheme(grapheme);
            if used + wide > columns {
                row.push(Span::styled(std::mem::take(&mut part), style));
                if used < columns {
                    // A wide character does not fit: the free column is not a blank.
                    row.push(Span::styled(CONTINUED.to_string(), hint));
                }
                rows.push(std::mem::take(&mut row));
                row.push(Span::styled(format!("{CONTINUED} "), hint));
                used = 2;
            }
            part.push_str(grapheme);
            used += wide;
        }
        row.push(Span::styled(part, style));
    }
    rows.push(row);
    let filled =
        |row: Vec<Span<'static>>| row.into_iter().filter(|s| !s.content.is_empty()).collect::<Vec<_>>();
    rows.into_iter().map(|row| Line::from(filled(row))).collect()
}

/// The same, but a row ends after a word where exactly one blank separates it from the next: a command is easier to read
/// so. A row that is shorter than the screen therefore stands for one blank. A row that ends with `↪` continues in the
/// next row without a blank: its last columns are blanks, or it ends after the `/` of a path that is wider than the
/// screen.
pub fn wrap_at_words(line: &Line<'_>, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    wrap_below(line, 0, columns, theme)
}

/// The same, with the sign of further rows `indent` columns in, where that leaves room for words.
pub fn wrap_below(line: &Line<'_>, indent: usize, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let columns = columns.max(6);
    let indent = if indent * 3 <= columns { indent } else { 0 };
    let mut cells: Vec<(String, usize, Style)> = Vec::new();
    for span in &line.spans {
        let style = line.style.patch(span.style);
        let graphemes = span.content.graphemes(true);
        cells.extend(graphemes.map(|text| (text.to_string(), width::of_grapheme(text), style)));
    }
    let hint = theme.style("hint");
    let mut rows = Vec::new();
    let mut rest = cells.as_slice();
    loop {
        let lead = if rows.is_empty() { 0 } else { indent + 2 };
        let end = row_end(rest, columns - lead);
        let (row, after) = rest.split_at(end.cells);
        let mut spans: Vec<Span<'static>> = Vec::new();
        if lead > 0 {
            spans.push(Span::styled(format!("{}{CONTINUED} ", " ".repeat(indent)), hint));
        }
        for (text, _, style) in row {
            match spans.last_mut().filter(|last| last.style == *style) {
                Some(last) => last.content.to_mut().push_str(text),
                None => spans.push(Span::styled(text.clone(), *style)),
            }
        }
        if end.is_signed {
            spans.push(Span::styled(CONTINUED.to_string(), hint));
        }
        rows.push(Line::from(spans));
        rest = after;
        if rest.is_empty() {
            return rows;
        }
    }
}

/// Where a row ends, and whether it says that its last columns are not empty.
struct RowEnd {
    cells: usize,
    is_signed: bool,
}

fn row_end(cells: &[(String, usize, Style)], columns: usize) -> RowEnd {
    let mut used = 0;
    let full = cells.iter().position(|(_, wide, _)| {
        used += wide;
        used > columns
    });
    let Some(full) = full else { return RowEnd { cells: cells.len(), is_signed: false } };
    let is_blank = |at: usize| cells.get(at).is_some_and(|(text, ..)| text == " ");
    let wide =
        |range: Range<usize>| cells.get(range).unwrap_or_default().iter().map(|cell| cell.1).sum::<usize>();
    // A word that does not fit into a row of its own is broken at the margin: nothing is gained before it.
    let word_fits = |from: usize| {
        let end = (from..cells.len()).find(|at| is_blank(*at)).unwrap_or(cells.len());
        wide(from..end) <= columns
    };
    let after_word = |at: &usize| {
        *at >= 2 && !is_blank(*at) && is_blank(*at - 1) && !is_blank(*at - 2) && wide(0..*at) >= columns / 4
    };
    if let Some(at) = (1..=full).rev().find(after_word)
        && word_fits(at)
    {
        return RowEnd { cells: at, is_signed: false };
    }
    // A path is broken after a name in it. At the margin this needs no sign.
    let after_slash = |at: &usize| {
        *at >= 1 && cells.get(*at - 1).is_some_and(|(text, ..)| text == "/") && wide(0..*at) >= columns / 4
    };
    let is_margin = |at: usize| wide(0..at) == columns;
    let found = (1..=full).rev().find(|at| after_slash(at) && (is_margin(*at) || wide(0..*at) < columns));
    if let Some(at) = found {
        return RowEnd { cells: at, is_signed: !is_margin(at) };
    }
    // The sign takes a column.
    let ends_blank = full > 0 && is_blank(full - 1);
    let is_signed = ends_blank || wide(0..full) < columns;
    RowEnd { cells: (full - usize::from(ends_blank)).max(1), is_signed }
}

#[cfg(test)]
#[path = "verbatim_tests.rs"]
mod tests;
