//! Parses the table and tests every row of it.

use super::*;
use std::path::PathBuf;

/// A path that the pattern matches: `*` and `**` become names, a directory gets a file.
fn example(pattern: &str) -> String {
    let pattern = pattern.replace("**", "x/y").replace('*', "zz");
    if pattern.ends_with('/') { format!("{pattern}inside/file.txt") } else { pattern }
}

fn class(path: &str) -> PathClass {
    ProtectedPaths::default().class_of(Path::new(path))
}

#[test]
fn every_row_is_protected_at_any_depth_and_in_any_case() {
    let table = ProtectedTable::built_in(include_str!("../tables/runs_later.toml"));
    assert!(table.rows().count() > 400, "the file was not read");
    for (pattern, by, later) in table.rows() {
        let path = example(pattern);
        for path in [path.clone(), format!("some/dir/{path}"), path.to_uppercase()] {
            let class = class(&path);
            // A stricter row may match the same file.
            match &class {
                PathClass::RunsLater(runner) => assert!(!runner.by.is_empty() && !runner.why.is_empty()),
                PathClass::Ordinary => panic!("{pattern} of {by}: {path} is ordinary"),
                _ => assert!(!later, "{pattern} of {by}: {path} is {class:?}"),
            }
        }
        if pattern.ends_with('/') && later {
            let dir = pattern.trim_end_matches('/').replace("**", "x/y").replace('*', "zz");
            assert!(class(&dir).asks(), "{pattern}: a link in place of the directory");
        }
    }
}

#[test]
fn every_row_says_who_runs_the_file_in_a_sentence_of_its_own() {
    let table = ProtectedTable::built_in(include_str!("../tables/runs_later.toml"));
    let mut seen = std::collections::BTreeSet::new();
    for (pattern, by, _) in table.rows() {
        assert!(seen.insert(pattern.to_lowercase()), "{pattern} of {by} is there twice");
        assert!(!pattern.starts_with('/'), "{pattern}: patterns are matched from the end");
    }
}

#[test]
fn what_is_like_a_protected_file_is_not_one() {
    for path in [
        "src/main.rs",
        ".gitignore",
        ".github/CODEOWNERS",
        "git/config",
        "",
        "cargo/config.toml",
        "envrc",
        "docs/agents.txt",
        "hooks/post-merge",
        "readme.md",
    ] {
        let class = class(path);
        assert!(!matches!(class, PathClass::RunsLater(_)), "{path}: {class:?}");
    }
    for path in [".git/hooks/pre-commit.sample", ".git/HEAD", ".git/objects/ab/cd", ".git/refs/heads/x"] {
        assert!(matches!(class(path), PathClass::Repository(_)), "{path}");
    }
    for path in ["package.json", "build.rs", "tests/conftest.py", "Makefile", "setup.py"] {
        assert!(matches!(class(path), PathClass::RunsWithBuild(_)), "{path}");
    }
}

#[test]
fn directories_that_package_managers_fill_have_no_project_files() {
    for path in
        ["node_modules/x/.travis.yml", "node_modules/x/AGENTS.md", "vendor/y/.github/workflows/ci.yml"]
    {
        assert_eq!(class(path), PathClass::Ordinary, "{path}");
    }
    for path in ["node_modules/x/.envrc", "node_modules/x/.git/hooks/post-merge", "vendor/.bashrc"] {
        assert!(matches!(class(path), PathClass::RunsLater(_)), "{path}");
    }
}

#[test]
fn a_person_adds_patterns_of_their_own() {
    let own = ["deploy/*.sh".to_string(), "Ops/".to_string()];
    let paths = ProtectedPaths::with(&own, ProgramDirs::default()).unwrap();
    for path in ["deploy/run.sh", "a/DEPLOY/x.sh", "ops/deep/er", "ops"] {
        let PathClass::RunsLater(runner) = paths.class_of(Path::new(path)) else { panic!("{path}") };
        assert_eq!(runner.by, "your settings");
    }
    assert_eq!(paths.class_of(Path::new("deploy/sub/x.sh")), PathClass::Ordinary);
    assert!(paths.class_of(&PathBuf::from(".envrc")).asks());
    for wrong in ["", "a//b", "../x", "a[", "{"] {
        assert!(ProtectedPaths::with(&[wrong.into()], ProgramDirs::default()).is_err(), "{wrong}");
    }
}

/// What a link at each path would lead to: the program below it, and whether the beginning is hidden.
#[test]
fn the_path_of_a_link_may_be_the_beginning_of_protected_paths() {
    let own = ["deploy/*/run.sh".to_string(), "ops/**/x".to_string()];
    let paths = ProtectedPaths::with(&own, ProgramDirs::default()).unwrap();
    let of = |path: &str| paths.beginning_at(Path::new(path));
    for (path, by, beginning) in [
        (".cargo", Some("Cargo"), ".cargo"),
        ("a/b/.CARGO", Some("Cargo"), ".cargo"),
        (".github", None, ".github"),
        (".config", None, ".config"),
        (".config/git", None, ""),
        (".local", None, ".local"),
        ("home/.local/share", None, ".local/share"),
        (".yarn", Some("Yarn"), ".yarn"),
        ("lib", Some("systemd"), "lib"),
        ("usr/lib/systemd", Some("systemd"), "lib/systemd"),
        ("etc", None, "etc"),
        ("deploy", Some("your settings"), "deploy"),
        ("deploy/any", Some("your settings"), "deploy/*"),
        ("ops/a/b/c", Some("your settings"), "ops/**"),
    ] {
        let found = of(path);
        assert_eq!(
            found.as_ref().map(|leading| leading.beginning.as_str()).unwrap_or(""),
            beginning,
            "{path}"
        );
        assert_eq!(found.as_ref().and_then(|leading| leading.by.as_deref()), by, "{path}");
        let is_hidden = beginning.starts_with('.');
        assert_eq!(found.is_some_and(|leading| leading.is_hidden), is_hidden, "{path}");
    }
    for path in [
        "lib64",
        "latest",
        "node_modules",
        "node_modules/.bin",
        "node_modules/.bin/tsc",
        "bin",
        "share",
        "systemd",
        ".venv",
        ".cache",
        "src/lib.rs",
        "target",
        "current",
        "debian",
        "project",
        ".git",
        ".git/modules",
        "node_modules/x/.github",
        "vendor/y/.yarn",
    ] {
        assert_eq!(of(path), None, "{path}");
    }
    assert!(of("node_modules/x/.config").is_some(), "git obeys `.config/git` anywhere");
}

#[test]
fn every_pattern_with_several_parts_has_beginnings() {
    let table = ProtectedTable::built_in(include_str!("../tables/runs_later.toml"));
    let paths = ProtectedPaths::default();
    let mut seen = 0;
    for (pattern, by, later) in table.rows() {
        let parts: Vec<&str> = pattern.trim_matches('/').split('/').collect();
        if !later || parts[0] == ".git" {
            continue;
        }
        for count in 1..parts.len() {
            seen += 1;
            let beginning = parts[..count].join("/");
            assert!(paths.beginning_at(Path::new(&beginning)).is_some(), "{pattern} of {by}: {beginning}");
        }
    }
    assert!(seen > 100, "{seen}");
}
