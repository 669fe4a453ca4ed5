//! The mark in the margin: each block of placet's own lines begins with the mark, and nothing else can.
//!
//! The renderer of others' text writes the mark out wherever it comes ([`placet_text::text::visible`]). What only looks like
//! it is written out at the beginning of a row: of a line there, and here of the rows into which a terminal wraps a
//! line.

use super::prose::{self, ProseIndent, ProseWidth, SECOND_COLUMN};
use super::wrap::wrap;
use crate::colors::theme::Theme;
use crate::terminal::term;
use placet_config::WrapSetting;
pub use placet_text::text::placet_mark::{LEAD, UNDER, marked, marked_within};
use placet_text::text::placet_mark::{MarkEscaper, clear_block};
use placet_text::text::visible::{OWN, looks_like_own};
use placet_text::text::width;
use ratatui::text::{Line, Span};
use std::borrow::Cow;
use std::io::IsTerminal;

/// What a line of placet's own may begin with; further lines are below the words behind it.
const LABELS: [&str; 2] = ["error: ", "hint: "];

/// How much further in a row of a list continues, where its text is not a column of its own.
const CONTINUED_ROW: usize = 4;

/// The mark's style is muted: readers look at the text.
pub fn lead(theme: &Theme) -> Span<'static> {
    Span::styled(LEAD, theme.style("dim"))
}

/// One line of placet's own.
pub fn line<'t>(line: impl Into<Line<'t>>, theme: &Theme) -> Line<'t> {
    let mut line = line.into();
    line.spans.insert(0, lead(theme));
    line
}

/// Lines of placet's own that belong together: the first has the mark, the others are indented as far.
pub fn block<'t>(lines: impl IntoIterator<Item = Line<'t>>, theme: &Theme) -> Vec<Line<'t>> {
    let under = |mut line: Line<'t>| {
        if line.spans.iter().any(|span| !span.content.is_empty()) {
            line.spans.insert(0, Span::raw(UNDER));
        }
        line
    };
    let each = lines.into_iter().enumerate();
    each.map(|(at, one)| if at == 0 { self::line(one, theme) } else { under(one) }).collect()
}

/// The rows of a line of placet's own, cut at words, and all of them as far in as the words behind the mark.
pub fn rows(line: &Line<'_>, columns: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = under(line, columns);
    if let Some(first) = rows.first_mut().and_then(|row| row.spans.first_mut()) {
        *first = lead(theme);
    }
    rows
}

/// The rows of a line that belongs to the block above it, all of them as far in.
pub fn under(line: &Line<'_>, columns: usize) -> Vec<Line<'static>> {
    let mut rows = wrap(line, columns.saturating_sub(UNDER.len()));
    rows.iter_mut().for_each(|row| row.spans.insert(0, Span::raw(UNDER)));
    rows
}

/// Lines of placet's own blocks, broken at words; lines of others are not changed.
pub fn broken(lines: Vec<Line<'static>>, width: ProseWidth) -> Vec<Line<'static>> {
    lines.into_iter().flat_map(|line| broken_line(line, OwnLineKind::Words, width)).collect()
}

/// The same for rows of a list: what does not fit continues further in than the rows begin.
pub fn broken_list(lines: Vec<Line<'static>>, width: ProseWidth) -> Vec<Line<'static>> {
    lines.into_iter().flat_map(|line| broken_line(line, OwnLineKind::List, width)).collect()
}

/// The rows of a list without the mark, for a terminal of `columns`, broken at words.
pub fn list_rows(text: &str, columns: usize) -> String {
    let width = ProseWidth::new(columns, WrapSetting::Words);
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let (row, end) = line.strip_suffix('\n').map_or((line, ""), |row| (row, "\n"));
        let words = row.trim_start_matches(' ');
        let blanks = " ".repeat(row.len() - words.len());
        let further = " ".repeat(blanks.len() + continues_at(words, columns.saturating_sub(blanks.len())));
        let indent = ProseIndent { first: vec![Span::raw(blanks)], further, breaks_words: true };
        let rows = prose::lines(indent, prose::of_spans([Span::raw(words.to_string())]), width);
        out.push_str(&rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
        out.push_str(end);
    }
    out
}

/// How far in a row of a list continues: below its second column, which two blanks set off from the first, if there is room
/// for words.
fn continues_at(words: &str, columns: usize) -> usize {
    let gap = words.find("  ").and_then(|at| words.get(..at).zip(words.get(at..)));
    let second = gap.map(|(name, rest)| {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        width::of(name) + blanks
    });
    second.filter(|second| second + SECOND_COLUMN <= columns).unwrap_or(CONTINUED_ROW)
}

/// What a line of placet's own is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OwnLineKind {
    Words,
    List,
}

fn broken_line(line: Line<'static>, kind: OwnLineKind, width: ProseWidth) -> Vec<Line<'static>> {
    let is_own = line.spans.first().is_some_and(|span| span.content == LEAD || span.content == UNDER);
    if !is_own || line.width() <= width.columns {
        return vec![line];
    }
    let style = line.style;
    let mut spans = line.spans.into_iter().map(|span| Span { style: style.patch(span.style), ..span });
    let mut first: Vec<Span<'static>> = spans.next().into_iter().collect();
    let mut rest: Vec<Span<'static>> = spans.collect();
    if rest.first().is_some_and(|span| LABELS.contains(&span.content.as_ref())) {
        first.push(rest.remove(0));
    } else if let Some(head) = rest.first_mut() {
        let blanks = head.content.len() - head.content.trim_start_matches(' ').len();
        first.push(Span::raw(" ".repeat(blanks)));
        head.content = head.content.get(blanks..).unwrap_or("").to_string().into();
    }
    let columns: usize = first.iter().map(Span::width).sum();
    let further = match kind {
        OwnLineKind::Words => 0,
        OwnLineKind::List => {
            let words: String = rest.iter().map(|span| span.content.as_ref()).collect();
            continues_at(&words, width.columns.saturating_sub(columns))
        }
    };
    let indent = ProseIndent { first, further: " ".repeat(columns + further), breaks_words: further > 0 };
    prose::lines(indent, prose::of_spans(rest), width)
}

/// Words without styles as a message of placet's own for a terminal of `columns`: with the mark, and broken at words.
/// What is between backticks stays whole. A line break or a blank at the end remains.
pub fn message(words: &str, columns: usize) -> String {
    let line = |text: &str| {
        let label = LABELS.into_iter().find(|label| text.starts_with(label)).unwrap_or_default();
        let rest = text.get(label.len()..).unwrap_or_default().to_string();
        let spans = [Span::raw(label), Span::raw(rest)];
        Line::from(spans.into_iter().filter(|span| !span.content.is_empty()).collect::<Vec<_>>())
    };
    let block = block(words.lines().map(line), &Theme::plain());
    let rows = broken(block, ProseWidth::new(columns, WrapSetting::Words));
    let mut out = rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    if words.ends_with('\n') {
        out.push('\n');
    }
    clear_block(&out, columns)
}

/// Words of placet's own for the terminal.
pub fn for_terminal(words: &str) -> String {
    message(words, usize::from(term::size().0))
}

/// The words as they go to standard error: a message for a person, and as they are for a program.
pub fn for_stderr(words: &str) -> Cow<'_, str> {
    match std::io::stderr().is_terminal() {
        true => Cow::Owned(for_terminal(words)),
        false => Cow::Borrowed(words),
    }
}

/// A line for a terminal of `columns`, of which no row begins with something that looks like the mark. The first row of
/// placet's own line begins with the mark itself and is not touched.
pub fn clear_margin<'t>(line: Line<'t>, columns: usize) -> Line<'t> {
    let suspect = |span: &Span<'_>| !span.content.is_ascii() && span.content.contains(looks_like_own);
    if !line.spans.iter().any(suspect) {
        return line;
    }
    let mut margin = MarkEscaper::new(columns);
    let spans = line.spans.iter().map(|span| Span::styled(margin.feed(&span.content), span.style)).collect();
    Line { spans, ..line }
}

/// The same for text without styles, at the width of the terminal.
pub fn clear_margin_of(text: &str) -> String {
    clear_margin(Line::raw(text), usize::from(term::size().0)).to_string()
}

/// True for text of which a row would begin with the mark, or with what looks like it.
pub fn imitates(text: &str) -> bool {
    let begins = |line: &str| line.trim_start().starts_with(looks_like_own);
    text.contains(OWN) || text.lines().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(lines: &[Line<'_>]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_first_line_of_a_block_has_the_mark_and_the_others_are_as_far_in() {
        let theme = Theme::plain();
        let lines = ["one", "", "two"].map(Line::raw);
        assert_eq!(rows(&block(lines, &theme)), ["◆ one", "", "  two"]);
        assert_eq!(marked("one\n\ntwo\n"), "◆ one\n\n  two\n");
        assert_eq!(LEAD.trim_end(), OWN.to_string());
    }

    #[test]
    fn a_message_is_broken_at_words_and_what_is_between_backticks_stays_whole() {
        let rows = |words: &str| message(words, 30).lines().map(String::from).collect::<Vec<_>>();
        assert_eq!(
            rows("pending: `placet apply --session x` applies them"),
            ["◆ pending:", "  `placet apply --session x`", "  applies them"]
        );
        assert_eq!(
            rows("error: no such file here\nhint: look somewhere else for it"),
            ["◆ error: no such file here", "  hint: look somewhere else", "        for it"]
        );
        assert_eq!(message("keep it? ", 30), "◆ keep it? ");
        assert_eq!(message("one\n\ntwo\n", 30), "◆ one\n\n  two\n");
        assert_eq!(
            message("a long first line with a ◇ row", 26),
            "◆ a long first line with a\n  <U+25C7> row"
        );
    }

    /// Story: at 80 columns the journal had rows that ended with `n` and went on with `ow`.
    #[test]
    fn rows_of_a_list_continue_further_in() {
        let width = ProseWidth::new(30, WrapSetting::Words);
        let list = ["   2  redo of 1  1 file and 1 repository", "   1  1 file"].map(Line::raw);
        assert_eq!(
            rows(&broken_list(block(list, &Theme::plain()), width)),
            ["◆    2  redo of 1  1 file and", "         1 repository", "     1  1 file"]
        );
        assert_eq!(
            list_rows("job              Background commands, and their output.\n", 44),
            "job              Background commands, and\n                 their output.\n"
        );
        assert_eq!(list_rows("a  b  Background commands.\n", 20), "a  b  Background\n    commands.\n");
        assert_eq!(
            list_rows("a: one two three four\n  not run yet, and long\n\nend", 20),
            "a: one two three\n    four\n  not run yet, and\n      long\n\nend"
        );
        // Story: the letter was alone on its row, and the rest of the path at column 0.
        assert_eq!(
            list_rows("A src/deep/er/file-with-a-long-name.txt +1 -0", 20),
            "A src/deep/er/\n    file-with-a-long\n    -name.txt +1 -0"
        );
    }

    #[test]
    fn a_name_in_placets_own_words_begins_no_row_like_them() {
        assert_eq!(marked_within("one\n◇ two", 80), "◆ one\n  <U+25C7> two");
        assert_eq!(marked_within("01234567◇ applied", 10), "◆ 01234567<U+25C7> applied");
        assert_eq!(marked_within("0123456◇ applied", 10), "◆ 0123456◇ applied");
    }

    #[test]
    fn no_row_begins_with_what_looks_like_the_mark() {
        let clear = |text: &str, columns| clear_margin(Line::raw(text.to_string()), columns).to_string();
        assert_eq!(clear("◇ applied", 80), "<U+25C7> applied");
        assert_eq!(clear("  ♦\u{301}x", 80), "  <U+2666><U+0301>x");
        assert_eq!(clear("a ◇ b", 80), "a ◇ b");
        assert_eq!(clear("0123456789◇ b", 10), "0123456789<U+25C7> b");
        assert_eq!(clear("012345678\u{1f539} b", 10), "012345678<U+1F539> b");
        let styled = Line::from(vec![Span::raw("  "), Span::raw("◇"), Span::raw("◇")]);
        assert_eq!(clear_margin(styled, 80).to_string(), "  <U+25C7>◇");
    }

    #[test]
    fn a_paste_with_a_row_like_placets_own_is_known() {
        for (text, want) in [("a ◆", true), ("x\n  ◇ y", true), ("a ◇ b", false), ("", false)] {
            assert_eq!(imitates(text), want, "{text:?}");
        }
    }
}
