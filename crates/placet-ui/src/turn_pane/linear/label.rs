//! Lines without a screen: which of them are placet's own, and which are foreign.

use crate::lines::margin_mark;
use placet_text::text::sanitize;
use ratatui::text::Line;

/// What placet says itself: a label, and its words.
pub(super) fn label(word: &str, text: &str) -> String {
    margin_mark::marked(&foreign(word, text))
}

/// A label for foreign text. It has no mark: what follows it is not placet's own.
pub(super) fn foreign(word: &str, text: &str) -> String {
    format!("{word}: {}", sanitize::line(text))
}

/// What is approved: sign by sign, also drawn boxes.
pub(super) fn exactly(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(ToString::to_string).collect()
}

pub(super) fn plain(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(|line| without_box_drawing(&line.to_string())).collect()
}

/// Without drawn boxes, which would be read out sign by sign.
fn without_box_drawing(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '│' | '┃' => ':',
            '─' | '━' => '-',
            '\u{2500}'..='\u{257f}' => '+',
            c => c,
        })
        .collect()
}
