//! Counts for people: `1 file`, `2 files`.

/// The number and the noun, in the plural unless the number is 1.
pub fn of(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if noun.ends_with("ch") || noun.ends_with('s') => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn only_one_is_singular_and_the_plural_is_spelled_right() {
        let words =
            [(0, "byte"), (1, "byte"), (2, "byte"), (2, "entry"), (3, "match"), (2, "key"), (1, "entry")];
        let shown: Vec<String> = words.iter().map(|(count, noun)| of(*count as u64, noun)).collect();
        let expected = ["0 bytes", "1 byte", "2 bytes", "2 entries", "3 matches", "2 keys", "1 entry"];
        assert_eq!(shown, expected);
    }
}
