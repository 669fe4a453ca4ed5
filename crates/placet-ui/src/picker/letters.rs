//! The letters of a row that match what is typed, set off from the others.

use super::rank;
use crate::Theme;
use nucleo_matcher::{Matcher, Utf32Str};
use ratatui::style::Modifier;
use ratatui::text::Span;
use unicode_segmentation::UnicodeSegmentation;

/// `text` in pieces, those that `query` matches underlined.
pub fn matched_letters(text: &str, query: &str, theme: &Theme, matcher: &mut Matcher) -> Vec<Span<'static>> {
    let mut hits = Vec::new();
    let mut letters = Vec::new();
    if !query.is_empty() {
        rank::pattern(query).indices(Utf32Str::new(text, &mut letters), matcher, &mut hits);
        hits.sort_unstable();
    }
    let mark = theme.style("strong").add_modifier(Modifier::UNDERLINED);
    let plain = theme.style("text");
    let mut out: Vec<Span<'static>> = Vec::new();
    // The matcher counts as many letters as a grapheme has, but one for what is not plain. A menu is drawn with every
    // key: a string for each letter would cost more than the rest of the row.
    let pieces: Box<dyn Iterator<Item = &str>> = match text.is_ascii() {
        true => Box::new(text.split_inclusive(|_| true)),
        false => Box::new(text.graphemes(true)),
    };
    for (at, piece) in pieces.enumerate() {
        let hit = u32::try_from(at).is_ok_and(|at| hits.binary_search(&at).is_ok());
        let style = if hit { mark } else { plain };
        match out.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(piece),
            _ => out.push(Span::styled(piece.to_string(), style)),
        }
    }
    out
}
