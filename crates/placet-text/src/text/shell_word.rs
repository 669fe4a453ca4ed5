//! Words of a command line that is printed for the person to copy.

/// A word as `sh` reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_word_is_quoted_where_the_shell_would_split_or_expand_it() {
        for (word, shown) in [
            ("src/a.rs", "src/a.rs"),
            ("", "''"),
            ("new dir", "'new dir'"),
            ("it's", r"'it'\''s'"),
            ("$x", "'$x'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
