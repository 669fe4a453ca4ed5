//! Every sentence of `docs/reference/errors.md` is in the source of the program, so that the page cannot go stale.

use super::reference::walk;
use crate::support::guide_page::page;
use regex::Regex;
use std::path::Path;

/// `text` of the page or of the source, with NAME in place of each part that varies: words in capitals, and `{...}` of a
/// format string. A sentence that the source breaks with `\` is on one line.
fn with_names(text: &str) -> String {
    let unbroken = Regex::new(r"\\\n\s*").unwrap().replace_all(text, "").replace("\\\"", "\"");
    let varies = Regex::new(r"(?:\{[A-Za-z0-9_:.?#>]*\}|[A-Z][A-Z_]+)+").unwrap();
    varies.replace_all(&unbroken, "NAME").into_owned()
}

/// The page's sentences: the lines of its blocks, without the advice, which is indented.
fn sentences(page: &str) -> Vec<&str> {
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split_once("```"));
    blocks.flat_map(|(block, _)| block.lines()).filter(|line| !line.starts_with(' ')).collect()
}

/// What the program is made from, without its tests and comments.
fn source() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    walk(&root.join("src"), &mut files);
    walk(&root.join("crates"), &mut files);
    let mut source = String::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        if file.strip_prefix(root).unwrap().to_string_lossy().contains("tests") {
            continue;
        }
        let text = std::fs::read_to_string(file).unwrap();
        let program = text.split("\nmod tests {").next().unwrap_or_default();
        for line in program.lines().filter(|line| !line.trim_start().starts_with("//")) {
            source.push_str(line);
            source.push('\n');
        }
    }
    with_names(&source)
}

#[test]
fn every_sentence_of_the_page_of_errors_is_one_of_the_program() {
    let (page, source) = (page("reference/errors.md"), source());
    let sentences = sentences(&page);
    let stale: Vec<_> = sentences.iter().filter(|sentence| !source.contains(&with_names(sentence))).collect();
    assert!(stale.is_empty(), "docs/reference/errors.md: the program has no {stale:#?}");
    assert!(sentences.len() > 150, "{}: does this test still find the sentences?", sentences.len());
    assert!(!source.contains("does this test still find the sentences?"), "the tests are part of the source");
}

/// A line of names alone would be found anywhere.
#[test]
fn every_sentence_of_the_page_of_errors_has_words_to_search_for() {
    let page = page("reference/errors.md");
    let letters =
        |sentence: &str| with_names(sentence).replace("NAME", "").matches(char::is_alphabetic).count();
    let empty: Vec<_> = sentences(&page).into_iter().filter(|sentence| letters(sentence) < 8).collect();
    assert!(empty.is_empty(), "{empty:?}");
}

#[test]
fn what_varies_is_a_name_on_the_page_and_in_the_source() {
    for (page, source) in [
        ("cannot read `FILE`: WHY", "cannot read `{}`: {e}"),
        ("the table of NUMBER", "the table \\\n        of {count:>3}"),
        ("(HTTP STATUS)", "(HTTP {status})"),
        ("say \"go on\"", "say \\\"go on\\\""),
        ("more than COUNT", "more than {MOST_KEYS}"),
        ("`PROGRAM` stopped", "`{0}{reason:?}` stopped"),
    ] {
        assert_eq!(with_names(page), with_names(source));
    }
    for (page, source) in [("cannot read `FILE`", "cannot read FILE"), ("no server", "no {kind}")] {
        assert_ne!(with_names(page), with_names(source));
    }
}
