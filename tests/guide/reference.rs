//! The reference pages are made from the code; these tests say when they are stale. `PLACET_UPDATE=1` writes them.

use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

#[test]
fn the_reference_pages_are_what_the_code_says() {
    let dir = docs().join("reference");
    for (name, text) in placet::cli::reference::pages() {
        let path = dir.join(name);
        if std::env::var_os("PLACET_UPDATE").is_some() {
            fs::create_dir_all(&dir).unwrap();
            fs::write(&path, &text).unwrap();
        }
        let there = fs::read_to_string(&path).unwrap_or_default();
        assert!(there == text, "docs/reference/{name} is stale: run PLACET_UPDATE=1 cargo test reference");
    }
}

#[test]
fn every_tool_command_and_exit_code_has_its_words_in_the_guide() {
    let mut pages = Vec::new();
    walk(&docs(), &mut pages);
    let guide: String = pages
        .iter()
        .filter(|p| !p.starts_with(docs().join("reference")))
        .filter_map(|p| fs::read_to_string(p).ok())
        .collect();
    for spec in placet::tools::ToolRegistry::native().specs() {
        assert!(guide.contains(&format!("# {}", spec.name)), "no page for {}", spec.name);
    }
    for row in placet::repl::COMMANDS {
        assert!(guide.contains(&format!("/{}", row.name)), "/{} is not in the guide", row.name);
    }
}

pub(super) fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, out);
        } else {
            out.push(path);
        }
    }
}
