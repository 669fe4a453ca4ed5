//! What is searched for in the review, and its places in a text.

/// The searched text: case is ignored as long as the text has no capital.
pub(in crate::review) struct ReviewQuery {
    text: String,
    exact: bool,
}

impl ReviewQuery {
    pub(in crate::review) fn new(text: &str) -> ReviewQuery {
        let exact = text.chars().any(char::is_uppercase);
        ReviewQuery { text: if exact { text.to_string() } else { text.to_lowercase() }, exact }
    }

    pub(in crate::review) fn is_in(&self, text: &str) -> bool {
        self.exact && text.contains(&self.text) || !self.exact && !self.places(text).is_empty()
    }

    /// The places of the searched text in `text`.
    pub(in crate::review) fn places(&self, text: &str) -> Vec<std::ops::Range<usize>> {
        if self.text.is_empty() {
            return Vec::new();
        }
        if self.exact || text.is_ascii() {
            let lower;
            let hay = if self.exact {
                text
            } else {
                lower = text.to_ascii_lowercase();
                &lower
            };
            return hay.match_indices(&self.text).map(|(at, m)| at..at + m.len()).collect();
        }
        // Lower case may be longer than its original: each letter is compared at its own place.
        let mut out = Vec::new();
        let mut from = 0;
        for (at, _) in text.char_indices() {
            if at >= from
                && let Some(len) = prefix(text.get(at..).unwrap_or(""), &self.text)
            {
                out.push(at..at + len);
                from = at + len;
            }
        }
        out
    }
}

/// The number of bytes of `text` that match `lower` in any case.
fn prefix(text: &str, lower: &str) -> Option<usize> {
    let mut wanted = lower.chars();
    let mut len = 0;
    for c in text.chars() {
        let mut own = c.to_lowercase();
        let before = wanted.clone();
        for l in own.by_ref() {
            match wanted.next() {
                Some(w) if w == l => {}
                Some(_) => return None,
                None => return (before.count() == 0).then_some(len),
            }
        }
        len += c.len_utf8();
        if wanted.as_str().is_empty() {
            return Some(len);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_minds_case_only_when_it_has_a_capital() {
        let places = |needle: &str, text: &str| ReviewQuery::new(needle).places(text);
        assert_eq!(places("ab", "ab AB aB"), [0..2, 3..5, 6..8]);
        assert_eq!(places("Ab", "ab Ab").len(), 1);
        assert_eq!(places("Ab", "ab Ab").first(), Some(&(3..5)));
        assert_eq!(places("größe", "Die GRÖSSE, die Größe").first(), Some(&(17..24)));
        assert!(places("", "x").is_empty());
    }
}
