//! The table of seed rules, `adopted-rules.md` here, is complete: every test it names is there, and every test of a seed is in it.

use std::collections::BTreeSet;
use std::path::Path;

/// Each file of tests with its name.
fn cases() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.filter(|path| path.is_dir()).flat_map(|path| std::fs::read_dir(path).unwrap());
    let files = files.map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let named = |path: &std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.map(|path| (named(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

/// Names of the functions that carry `#[test]`.
fn tests(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[test]"
            && let Some(name) = lines.next().and_then(|l| l.trim().strip_prefix("fn ")?.split_once('('))
        {
            found.insert(name.0.to_string());
        }
    }
    found
}

#[test]
fn every_seed_rule_has_its_test_and_every_seed_test_its_rule() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/toolset/adopted-rules.md");
    let rules = std::fs::read_to_string(rules).unwrap();
    let rows = rules.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |"));
    let named: Vec<&str> = rows.map(|row| row.rsplit('`').nth(1).unwrap()).collect();
    assert!(named.len() >= 60, "{}", named.len());
    let unique: BTreeSet<String> = named.iter().map(ToString::to_string).collect();
    assert_eq!(unique.len(), named.len(), "a test stands for one rule");
    let all: BTreeSet<String> = cases().iter().flat_map(|(_, text)| tests(text)).collect();
    let missing: Vec<&String> = unique.difference(&all).collect();
    assert!(missing.is_empty(), "named in the table and not there: {missing:?}");
    let seeds = cases().into_iter().filter(|(name, _)| name.starts_with("seed_") && name != "seed_rules");
    let unnamed: Vec<String> =
        seeds.flat_map(|(_, text)| tests(&text)).filter(|t| !unique.contains(t)).collect();
    assert!(unnamed.is_empty(), "tests of seeds that the table does not name: {unnamed:?}");
}
