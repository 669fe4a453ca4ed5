//! The floors of the house, held up by reading every `crate::` path of the project.

mod imports;
mod string_errors;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Floor of each module that is no crate of its own; the map in `src/lib.rs` in figures. Cargo holds up the floors of the
/// crates.
const FLOORS: [(&str, u8); 14] = [
    ("cli", 8),
    ("embed", 8),
    ("app", 7),
    ("repl", 6),
    ("serve", 5),
    ("audit", 2),
    ("guidance", 2),
    ("hooks", 2),
    ("metrics", 2),
    ("session", 2),
    ("storage", 2),
    ("conversation", 0),
    ("private", 0),
    ("text", 0),
];

/// Each file with its module: the crate's name without `placet-`, or the folder in `src` or in a crate of several modules.
fn sources() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for (name, root) in imports::roots() {
        let has_modules = name.is_empty() || root.join(&name).is_dir();
        for path in imports::files_below(&root) {
            let first =
                path.strip_prefix(&root).unwrap().iter().next().unwrap().to_string_lossy().into_owned();
            let module = if has_modules { first.trim_end_matches(".rs").to_string() } else { name.clone() };
            found.push((module, path));
        }
    }
    found
}

#[test]
fn a_module_uses_only_lower_floors() {
    let floors: BTreeMap<&str, u8> = FLOORS.into_iter().collect();
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
                    let place = format!("{}:{}", path.display(), number + 1);
                    wrong.push(format!("{place}: {module} ({own}) uses {name} ({floor})"));
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
        let is_crate = path.iter().any(|name| name.to_string_lossy() == format!("placet-{module}"));
        let known = FLOORS.iter().any(|(m, _)| *m == module) || matches!(module.as_str(), "lib" | "main");
        if !known && !is_crate {
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

/// A number that `kill` takes for everybody was once the result of a failed `clone`.
#[test]
fn pids_and_raw_calls_are_in_one_file_each() {
    const PIDS: [&str; 10] = [
        "kill_process",
        "waitpid",
        "waitid",
        "process::wait(",
        "Pid::from_raw",
        "from_raw_unchecked",
        "pidfd_open",
        "libc::kill",
        "libc::wait",
        "thread::spawn(",
    ];
    let mut wrong = Vec::new();
    // Leases of files have no safe wrapper either; they know no pids.
    const RAW: [&str; 2] = ["placet-sandbox/src/linux/raw.rs", "placet-workspace/src/files/opening/lease.rs"];
    for (_, path) in sources() {
        if path.ends_with("tests.rs") || path.to_string_lossy().ends_with("_tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            let raw = ["libc::syscall(", "libc::ioctl(", "libc::prctl(", "unsafe {"]
                .iter()
                .any(|c| code.contains(c));
            // The crate of git stands alone: its children get signals in one place, too.
            let is_pid_file = path.ends_with("placet-process/src/child_pid.rs")
                || path.ends_with("placet-git/src/runner/plain.rs");
            if PIDS.iter().any(|call| code.contains(call)) && !is_pid_file
                || raw && !RAW.iter().any(|file| path.ends_with(file))
            {
                wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a pid goes through `ChildPid`, a raw call through `raw.rs`:\n{}",
        wrong.join("\n")
    );
    let raw = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/placet-sandbox/src/linux/raw.rs"),
    )
    .unwrap();
    let calls = raw.matches("libc::syscall(").count() + raw.matches("libc::ioctl(").count();
    let checks = raw.matches("checked(").count() - raw.matches("ChildPid::checked(").count();
    assert_eq!(calls, checks, "each raw call's result goes through `checked`");
}

/// Notes are placet's own words as values. Whoever brings in somebody else's words has no business with them.
#[test]
fn only_the_conversation_and_what_leads_it_make_notes() {
    let may = ["conversation", "agent", "session", "repl", "ui"];
    let mut wrong = Vec::new();
    for (module, path) in sources() {
        if may.contains(&module.as_str()) {
            continue;
        }
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if code.replace("AuditNote::", "").contains("Note::") {
                wrong.push(format!("{}:{}: {module} makes or reads a note", path.display(), number + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A sentence of placet's in a conversation is written in one file; only sessions of earlier formats are read back.
#[test]
fn placets_sentences_are_written_in_one_file_and_read_nowhere() {
    let may = [
        "crates/placet-text/src/conversation/words.rs",
        "crates/placet-session/src/session/conversation/earlier_format.rs",
    ];
    let mut wrong = Vec::new();
    for (_, path) in sources() {
        let is_test = path.to_string_lossy().ends_with("tests.rs");
        if is_test || may.iter().any(|file| path.ends_with(file)) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        for (number, line) in code.lines().enumerate() {
            if line.contains("\"[placet: ") || line.contains("starts_with(\"[") {
                wrong.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that import each other in a ring cannot be read one after the other.
#[test]
fn no_files_of_a_module_import_each_other_in_a_ring() {
    let rings = imports::Sources::read().rings();
    assert!(rings.is_empty(), "{rings:#?}");
}

/// Where the methods of the big types are: in one file or one folder of a crate or of `src/`, so that what such a type does is read
/// in one place.
const METHODS: [(&str, &str); 9] = [
    ("Agent", "agent/agent"),
    ("App", "app"),
    ("ApplyQuestionFlow", "agent/end_of_turn"),
    ("CommandContext", "repl/context"),
    ("Conversation", "agent/conversation"),
    ("ModelClient", "agent/request"),
    ("Shell", "repl/shell"),
    ("ShellConversation", "repl/conversation"),
    ("TurnDriver", "agent/turn_driver"),
];

#[test]
fn methods_of_a_big_type_are_in_its_own_file_or_folder() {
    let impls: Vec<(&String, &String)> = imports::FACTS
        .iter()
        .flat_map(|facts| facts.types_with_methods.iter().map(move |name| (name, &facts.file)))
        .collect();
    for (name, place) in METHODS {
        let is_own =
            |file: &str| file.strip_prefix(place).is_some_and(|rest| rest.starts_with('/') || rest == ".rs");
        let files: Vec<&str> =
            impls.iter().filter(|(of, _)| *of == name).map(|(_, file)| file.as_str()).collect();
        assert!(!files.is_empty(), "{name} has no methods: the row is stale");
        assert!(files.iter().all(|file| is_own(file)), "`impl {name}` outside of {place}: {files:?}");
    }
}

/// A setting has one default, in the table of its section. A look-up by name had it a second time at the call.
#[test]
fn settings_are_read_as_typed_fields_and_not_by_name() {
    let mut wrong = Vec::new();
    for (module, path) in sources() {
        if module == "config" {
            continue;
        }
        // A call may go over several lines; one with more arguments than the name sets a value.
        let text = fs::read_to_string(&path).unwrap();
        for getter in [".flag(", ".number(", ".text(", ".list(", ".rules(", ".origin(", ".names_below("] {
            for (at, _) in text.match_indices(getter) {
                let argument = text[at + getter.len()..].trim_start();
                let Some(literal) = argument.strip_prefix('"') else { continue };
                let Some((name, after)) = literal.split_once('"') else { continue };
                let is_key = name.starts_with(|c: char| c.is_ascii_lowercase());
                if is_key && after.trim_start().trim_start_matches(',').trim_start().starts_with(')') {
                    let line = text[..at].matches('\n').count() + 1;
                    wrong.push(format!("{}:{line}: `{name}`", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "use the fields of `config::Settings`:\n{}", wrong.join("\n"));
}

/// An error is an enum whose variants are facts, and its sentence is in `Display`: whoever gets a string can only read
/// the sentence back. There were 87 of them.
#[test]
fn no_error_is_a_string() {
    let mut wrong = Vec::new();
    for facts in imports::FACTS.iter().filter(|facts| !facts.file.ends_with("tests.rs")) {
        if facts.string_errors > 0 {
            wrong.push(format!("{}: {} of `Result<_, String>`", facts.file, facts.string_errors));
        }
    }
    assert!(wrong.is_empty(), "write an enum with `thiserror`:\n{}", wrong.join("\n"));
}

/// A type name says what it is without its module, so no two types have the same.
#[test]
fn type_names_are_unique() {
    const SHARED: [&str; 3] = ["Args", "Error", "Options"];
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, path) in sources() {
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            // An associated type is indented and belongs to its trait.
            let is_associated = line.starts_with(' ') && line.trim_start().starts_with("type ");
            let mut words =
                line.split_whitespace().skip_while(|word| word.starts_with("pub") || *word == "in");
            let words = words.by_ref().skip_while(|word| word.ends_with(')') || *word == "unsafe");
            let mut words = words.skip_while(|word| *word == "pub");
            let keyword = words.next().unwrap_or("");
            if is_associated || !["struct", "enum", "trait", "union", "type"].contains(&keyword) {
                continue;
            }
            let name: String =
                words.next().unwrap_or("").chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if name.starts_with(char::is_uppercase) && !SHARED.contains(&name.as_str()) {
                places.entry(name).or_default().push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(places.len() > 1000, "only {} types were found", places.len());
    let twice: Vec<_> = places.iter().filter(|(_, places)| places.len() > 1).collect();
    assert!(twice.is_empty(), "{twice:#?}");
}
