//! How long the documents are, and whether a reader finds a name in the book.

use crate::support::guide_run::docs;
use crate::support::require::require;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The most words in `docs/guide` and in `docs`, as `wc -w` counts them. Whoever adds a page shortens another one.
const MOST_WORDS: [(&str, usize); 2] = [("guide", 50_000), ("", 85_000)];

fn words(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.extension() {
            _ if path.is_dir() => words(&path),
            Some(extension) if extension == "md" => {
                fs::read_to_string(&path).unwrap().split_whitespace().count()
            }
            _ => 0,
        })
        .sum()
}

#[test]
fn the_documents_are_short() {
    for (dir, most) in MOST_WORDS {
        let count = words(&docs().join(dir));
        assert!(
            count <= most,
            "docs/{dir} has {count} words, and at most {most} are allowed: shorten a page"
        );
        assert!(count > most / 2, "docs/{dir} has {count} words: does this test still count the pages?");
    }
}

/// Every command, subcommand, setting, key and exit code, as the reference pages name them.
fn names() -> Vec<String> {
    let pages = placet::cli::reference::pages();
    let lines = pages.iter().flat_map(|(_, text)| text.lines());
    let named = lines.filter(|line| line.starts_with("| `") || line.starts_with("## `"));
    named.filter_map(|line| line.split('`').nth(1)).map(|name| name.replace("\\|", "|")).collect()
}

#[test]
fn the_search_of_the_book_knows_every_name() {
    if !require("mdbook") {
        return;
    }
    let book = tempfile::tempdir().unwrap();
    let root = docs().parent().unwrap().to_path_buf();
    let built =
        Command::new("mdbook").arg("build").arg(&root).arg("--dest-dir").arg(book.path()).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let index = fs::read_dir(book.path()).unwrap().map(|entry| entry.unwrap().path());
    let index =
        index.filter(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("searchindex")));
    let index: String = index.map(|path| fs::read_to_string(path).unwrap()).collect();
    let names = names();
    assert!(names.len() > 400, "{}", names.len());
    let missing: Vec<_> = names.iter().filter(|name| !index.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "the search finds no {missing:?}");
}
