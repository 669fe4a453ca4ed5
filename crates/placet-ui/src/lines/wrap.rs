//! Logical lines cut into rows of the pane and of full screens, at blanks where there are any: every row fits.
//! [`super::prose`] breaks lines for the scrollback.

use placet_text::text::width;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

/// The rows of `line` at `columns`; an empty line is one empty row.
pub fn wrap(line: &Line<'_>, columns: usize) -> Vec<Line<'static>> {
    let columns = columns.max(1);
    let mut rows: Vec<Vec<(String, Style)>> = vec![Vec::new()];
    let mut used = 0;
    // Most lines fit: an answer that arrives is wrapped again with each frame.
    if line.spans.iter().map(|span| width::of(&span.content)).sum::<usize>() <= columns {
        for span in &line.spans {
            push(&mut rows, &span.content, line.style.patch(span.style));
        }
        return rows.into_iter().map(row_line).collect();
    }
    for span in &line.spans {
        let style = line.style.patch(span.style);
        for word in words(&span.content) {
            let wide = width::of(word);
            if used + wide > columns && used > 0 && wide <= columns {
                rows.push(Vec::new());
                used = 0;
                if word.trim().is_empty() {
                    continue;
                }
            }
            for grapheme in word.graphemes(true) {
                let wide = width::of_grapheme(grapheme);
                if used + wide > columns {
                    rows.push(Vec::new());
                    used = 0;
                }
                push(&mut rows, grapheme, style);
                used += wide;
            }
        }
    }
    rows.into_iter().map(row_line).collect()
}

fn row_line(row: Vec<(String, Style)>) -> Line<'static> {
    row.into_iter().map(|(text, style)| Span::styled(text, style)).collect::<Vec<_>>().into()
}

/// The words of a text and what is between them. A closing sign belongs to its word, and an opening sign to the word after
/// it: no row begins with the one or ends with the other. Code between backticks is one word, unless it has blanks.
fn words(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut from, mut is_code) = (0, false);
    let mut bounds = text.split_word_bound_indices().peekable();
    while let Some((at, word)) = bounds.next() {
        let end = at + word.len();
        let is_blank = word.trim().is_empty();
        is_code = match word {
            "`" if is_code => false,
            // It is closed before the next blank.
            "`" => text
                .get(end..)
                .and_then(|rest| rest.find(['`', ' ']))
                .is_some_and(|at| text.get(end + at..).is_some_and(|rest| rest.starts_with('`'))),
            _ => is_code,
        };
        let is_first = text.get(..at).is_none_or(|before| before.is_empty() || before.ends_with([' ', '(']));
        let is_sign = !is_blank && word.chars().all(|c| c.is_ascii_punctuation());
        let opens = matches!(word, "(" | "[" | "{") || is_sign && is_first;
        let closes = |next: &str| next.chars().all(|c| ",.!?:;)]}`".contains(c));
        let next = bounds.peek().map(|(_, next)| *next);
        // The name of a key (`Ctrl-C`, `Shift+Tab`) and an option are one word.
        let links = |sign: &str| matches!(sign, "-" | "+");
        let joins = is_code
            || next.is_some_and(|next| {
                closes(next) || !next.trim().is_empty() && (opens || links(word) || links(next))
            });
        if is_blank || !joins {
            out.extend(text.get(from..end));
            from = end;
        }
    }
    out.extend(text.get(from..).filter(|rest| !rest.is_empty()));
    out
}

fn push(rows: &mut [Vec<(String, Style)>], text: &str, style: Style) {
    let Some(row) = rows.last_mut().filter(|_| !text.is_empty()) else { return };
    match row.last_mut() {
        Some((last, s)) if *s == style => last.push_str(text),
        _ => row.push((text.to_string(), style)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, columns: usize) -> Vec<String> {
        wrap(&Line::raw(text), columns).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rows_break_at_blanks_and_long_words_anywhere() {
        assert_eq!(rows("the quick brown fox", 10), ["the quick ", "brown fox"]);
        assert_eq!(rows("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(rows("日本語", 4), ["日本", "語"]);
        assert_eq!(rows("", 4), [""]);
        // The tour showed a row that began with a full stop.
        assert_eq!(rows("at each prompt. Then", 14), ["at each ", "prompt. Then"]);
        assert_eq!(rows("(see here), then", 10), ["(see ", "here), ", "then"]);
        // Story: at 40 columns a backtick was left alone at the end of a row.
        assert_eq!(rows("server `every-thing` would", 14), ["server ", "`every-thing` ", "would"]);
        assert_eq!(rows("see `git push` now", 9), ["see `git ", "push` now"]);
        assert_eq!(rows("see `git push` now", 6), ["see ", "`git ", "push` ", "now"]);
        assert_eq!(rows("as a list (in order)", 12), ["as a list ", "(in order)"]);
        // Story: at 40 columns the tour named the keys `Ctrl` and `-C`.
        assert_eq!(rows("the tour; Ctrl-C and then", 14), ["the tour; ", "Ctrl-C and ", "then"]);
        assert_eq!(rows("press Shift+Tab; then", 12), ["press ", "Shift+Tab; ", "then"]);
        assert_eq!(rows("with --dry-run here", 10), ["with ", "--dry-run ", "here"]);
        assert_eq!(rows("1 - 2 -", 4), ["1 - ", "2 -"]);
        assert_eq!(rows("nothing was sent: /setup adds", 20), ["nothing was sent: ", "/setup adds"]);
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_pane(text in "[a-z 日é]{0,80}", columns in 2usize..30) {
            for row in rows(&text, columns) {
                prop_assert!(width::of(&row) <= columns);
            }
        }
    }
}
