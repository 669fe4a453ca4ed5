//! The files that a message mentions with `@`.

/// The paths named with `@` at the start of a word, each once: `@src/main.rs`, `@"two words.txt"`.
pub(crate) fn mentioned(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = text;
    let mut at_word_start = true;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        if c == '@' && at_word_start {
            let (path, tail) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
            };
            // A sentence's own punctuation is no part of the path.
            let path = if after.starts_with('"') {
                path
            } else {
                path.trim_end_matches([',', ';', ':', '?', '!', ')', '.'])
            };
            if !path.is_empty() && !out.iter().any(|p| p == path) {
                out.push(path.to_string());
            }
            rest = tail;
            at_word_start = false;
            continue;
        }
        at_word_start = c.is_whitespace() || c == '(';
        rest = after;
    }
    out
}

/// The text as it is sent: `\@name` at the start of a word is `@name` and mentions no file.
pub(crate) fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\@") {
        out.push_str(before);
        let at_word_start = out.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
        out.push_str(if at_word_start { "@" } else { "\\@" });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_makes_a_word_of_a_mention() {
        assert_eq!(without_escapes("add \\@Override (\\@x) a\\@b @c"), "add @Override (@x) a\\@b @c");
    }

    #[test]
    fn files_are_mentioned_at_the_start_of_words_only() {
        assert_eq!(
            mentioned("look at @src/main.rs, and @\"two words.txt\" (@x.png)."),
            ["src/main.rs", "two words.txt", "x.png"]
        );
        assert_eq!(mentioned("add \\@Override (\\@x) `@y`"), Vec::<String>::new());
        assert_eq!(mentioned("mail me@example.org @ @a @a"), ["a"]);
        assert_eq!(mentioned("@\"open"), ["open"]);
    }
}
