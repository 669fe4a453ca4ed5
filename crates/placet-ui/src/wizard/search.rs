//! The items of a list that match what is typed. A list has some hundred items, so no thread is needed.

use super::WizardChoice;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use std::cmp::Reverse;

/// The places of the items that match `query`, the best first.
pub(super) fn matching(items: &[WizardChoice], query: &str) -> Vec<usize> {
    if query.trim().is_empty() {
        return (0..items.len()).collect();
    }
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let mut letters = Vec::new();
    let mut score = |text: &str| pattern.score(Utf32Str::new(text, &mut letters), &mut matcher);
    let mut hits: Vec<(bool, Reverse<u32>, usize, usize)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if let Some(score) = score(&item.text) {
            hits.push((false, Reverse(score), item.text.len(), at));
        } else if let Some(score) = score(item.found_by) {
            // Below the items that show the match.
            hits.push((true, Reverse(score), item.text.len(), at));
        }
    }
    hits.sort_unstable();
    hits.into_iter().map(|(_, _, _, at)| at).collect()
}
