//! The floors of the house, held up by reading every `crate::` path in `src/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Floor of each module; the map in `src/lib.rs` in figures.
const FLOORS: [(&str, u8); 21] = [
    ("cli", 8),
    ("app", 7),
    ("repl", 6),
    ("ui", 5),
    ("serve", 5),
    ("agent", 4),
    ("tools", 3),
    ("provider", 2),
    ("workspace", 2),
    ("session", 2),
    ("sandbox", 2),
    ("storage", 2),
    ("media", 2),
    ("audit", 2),
    ("hooks", 2),
    ("metrics", 2),
    ("permission", 1),
    ("config", 1),
    ("process", 1),
    ("http", 1),
    ("conversation", 0),
];

fn sources() -> Vec<(String, PathBuf)> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let relative = path.strip_prefix(&root).unwrap().to_path_buf();
            let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
            (first.trim_end_matches(".rs").to_string(), path)
        })
        .collect()
}

#[test]
fn a_module_uses_only_lower_floors() {
    let mut floors: BTreeMap<&str, u8> = FLOORS.into_iter().collect();
    floors.insert("text", 0);
    let mut wrong = Vec::new();
    for (module, path) in sources() {
        let Some(&own) = floors.get(module.as_str()) else { continue };
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            for used in code.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let Some(&floor) = floors.get(name.as_str()) else { continue };
                if name != module && floor >= own {
                    wrong.push(format!(
                        "{}:{}: {module} ({own}) uses {name} ({floor})",
                        path.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_floor_and_every_file_says_what_it_is() {
    let mut wrong = Vec::new();
    for (module, path) in sources() {
        let known =
            FLOORS.iter().any(|(m, _)| *m == module) || matches!(module.as_str(), "text" | "lib" | "main");
        if !known {
            wrong.push(format!("{}: the module `{module}` has no floor", path.display()));
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_test = name.ends_with("_tests.rs") || name == "tests.rs";
        if !is_test && !fs::read_to_string(&path).unwrap().starts_with("//!") {
            wrong.push(format!("{}: no `//!` header", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_named_after_a_drawer() {
    for (_, path) in sources() {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        for drawer in ["util", "utils", "common", "helpers", "types", "manager", "service", "misc"] {
            assert_ne!(stem, drawer, "{}", path.display());
        }
    }
}
