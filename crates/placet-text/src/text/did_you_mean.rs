//! The known word most similar to an unknown word, for "did you mean".

/// The longest word, in bytes, for which a similar one is looked for: a model or a file may send any number of them, each of
/// any length, and the time grows with the product of both lengths.
const LONGEST: usize = 256;

/// The candidate most similar to `word`, if it is similar enough to be a likely correction.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let wanted = word.to_lowercase();
    let most = (wanted.chars().count() / 3).max(1);
    let known = known.into_iter().filter(|candidate| candidate.len() <= LONGEST);
    let scored = known.filter_map(|candidate| {
        let lower = candidate.to_lowercase();
        let contained =
            wanted.len() >= 3 && (lower.contains(&wanted) || wanted.contains(&lower) && lower.len() >= 3);
        let away = distance(&wanted, &lower);
        (away <= most || contained).then_some((away, candidate))
    });
    scored.min_by_key(|(away, _)| *away).map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&last, j + 1) + 1).min(at(&row, j) + 1);
            best = best.min(at(&last, j) + usize::from(x != y));
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_understood_and_a_different_word_is_not() {
        let known = ["read_file", "edit_file", "scratchpad"];
        assert_eq!(nearest("raed_file", known), Some("read_file"));
        assert_eq!(nearest("Edit", known), Some("edit_file"));
        assert_eq!(nearest("scratch", known), Some("scratchpad"));
        assert_eq!(nearest("teleport", known), None);
    }

    #[test]
    fn a_word_of_any_length_costs_nothing() {
        let long = "read_file".repeat(1_000_000);
        let known = vec!["read_file"; 10_000];
        assert_eq!(nearest(&long, known.iter().copied()), None);
        assert_eq!(nearest("raed_file", [long.as_str(), "read_file"]), Some("read_file"));
    }
}
