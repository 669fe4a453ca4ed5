//! How many columns text takes, and how to cut it to fit. Counted per grapheme, as terminals draw.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of one grapheme cluster: how far a modern terminal moves the cursor.
pub fn of_grapheme(grapheme: &str) -> usize {
    grapheme.width().min(2)
}

pub fn of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(of_grapheme).sum() }
}

/// The longest prefix that fits into `columns`, by whole graphemes.
pub fn prefix(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += of_grapheme(grapheme);
        if used > columns {
            return text.get(..at).unwrap_or("");
        }
    }
    text
}

/// `text` cut to `columns`, with `…` for what is missing.
pub fn cut(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_string();
    }
    if columns == 0 {
        return String::new();
    }
    format!("{}…", prefix(text, columns - 1))
}

/// The same without blanks in front of the sign.
pub fn cut_words(text: &str, columns: usize) -> String {
    match of(text) <= columns || columns == 0 {
        true => cut(text, columns),
        false => format!("{}…", prefix(text, columns - 1).trim_end()),
    }
}

/// `text` cut to `columns` in its middle: the end of a path is more useful than its beginning.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_string();
    }
    if columns < 5 {
        return cut(text, columns);
    }
    let tail_columns = (columns - 1) * 2 / 3;
    let head = prefix(text, columns - 1 - tail_columns);
    let mut tail_start = text.len();
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true).rev() {
        used += of_grapheme(grapheme);
        if used > tail_columns {
            break;
        }
        tail_start = at;
    }
    format!("{head}…{}", text.get(tail_start..).unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_two_and_clusters_are_never_split() {
        assert_eq!(of("日本"), 4);
        assert_eq!(of("e\u{301}"), 1);
        assert_eq!(of("👩\u{200d}👩\u{200d}👧"), 2);
        assert_eq!(prefix("日本", 3), "日");
        assert_eq!(cut("hello world", 6), "hello…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!((cut_words("hello world", 7), cut_words("hello", 7)), ("hello…".into(), "hello".into()));
        assert_eq!(cut_middle("src/very/long/path/to/file.rs", 16), "src/v…to/file.rs");
        for columns in 0..12 {
            assert!(of(&cut_middle("a/日本語/👩\u{200d}👩\u{200d}👧.rs", columns)) <= columns, "{columns}");
        }
    }
}
