//! The imports of an instructions file: `@docs/style.md` at the start of a word, outside of code.

/// The paths that a text imports, in order, each once.
pub(super) fn imports_in(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (Some(_), _) => {}
            (None, None) => {
                for path in of_line(line) {
                    if !out.contains(&path) {
                        out.push(path);
                    }
                }
            }
        }
    }
    out
}

fn of_line(line: &str) -> Vec<String> {
    // What is between two backticks is code; after an open one everything is text.
    let pieces: Vec<&str> = line.split('`').collect();
    let is_text = |at: usize| at.is_multiple_of(2) || at + 1 == pieces.len();
    let texts = pieces.iter().enumerate().filter(|(at, _)| is_text(*at)).map(|(_, text)| text);
    let words = texts.flat_map(|text| text.split(|c: char| c.is_whitespace() || c == '('));
    words
        .filter_map(|word| word.strip_prefix('@'))
        .map(|path| path.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'']))
        // `@someone` is a person, and `@` alone is a sign.
        .filter(|path| path.contains(['/', '.']))
        .map(String::from)
        .collect()
}

/// True for a path that somebody meant as one: a missing file is worth a message. `@scope/package` is not.
pub(super) fn is_clearly_a_path(path: &str) -> bool {
    let begins = ["./", "../", "~/", "/"].iter().any(|start| path.starts_with(start));
    begins || [".md", ".mdc", ".txt"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_words_outside_of_code() {
        let text = "See @docs/a.md, and (@b.md).\n```\n@code.md\n```\n`@span.md` @someone me@x.org @~/own.md\n\
                    @docs/a.md @angular/core a ` @open.md";
        assert_eq!(imports_in(text), ["docs/a.md", "b.md", "~/own.md", "angular/core", "open.md"]);
        assert!(is_clearly_a_path("docs/a.md") && is_clearly_a_path("../x"));
        assert!(!is_clearly_a_path("angular/core"));
    }
}
