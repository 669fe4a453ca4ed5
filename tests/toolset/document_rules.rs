//! What the five systems' documents say and placet once did otherwise: globs, whole contents, force, caps, names.

use crate::support::binary::Place;
use crate::support::require::require;
use crate::support::tool_bench::Bench;
use placet::tools::{DeepagentsVersion, ToolSet, ToolSetSettings};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn deepagents(version: DeepagentsVersion) -> Bench {
    let settings = ToolSetSettings { deepagents: version, overwrite: true, ..ToolSetSettings::default() };
    Bench::new().speaking(ToolSet::Deepagents, &settings)
}

const PATHS: [&str; 10] = [
    "a.yml",
    "b.py",
    ".env",
    "src/c.yml",
    "src/.hidden.yml",
    ".github/ci.yml",
    ".github/workflows/ci.yml",
    ".github/.x/deep.yml",
    "src/.x/y.yml",
    "src/a-b/z.py",
];

/// The answers are those of `compile_recursive_glob` of the package 0.7.8, which compiles with wcmatch.
#[test]
fn deepagents_0_7_globs_find_what_the_package_finds() {
    let bench = deepagents(DeepagentsVersion::V07);
    PATHS.iter().for_each(|path| drop(bench.write(path, "x\n")));
    let table: &[(&str, &[&str])] = &[
        (
            "*.yml",
            &[
                ".github/.x/deep.yml",
                ".github/ci.yml",
                ".github/workflows/ci.yml",
                "a.yml",
                "src/.x/y.yml",
                "src/c.yml",
            ],
        ),
        (
            "*",
            &[
                ".github/.x/deep.yml",
                ".github/ci.yml",
                ".github/workflows/ci.yml",
                "a.yml",
                "b.py",
                "src/.x/y.yml",
                "src/a-b/z.py",
                "src/c.yml",
            ],
        ),
        ("*.py", &["b.py", "src/a-b/z.py"]),
        (".*", &[".env", "src/.hidden.yml"]),
        ("?env", &[]),
        ("[.]env", &[]),
        ("/*.yml", &["a.yml"]),
        ("**/*.yml", &["a.yml", "src/c.yml"]),
        ("src/*.yml", &["src/c.yml"]),
        ("src/**", &["src/a-b/z.py", "src/c.yml"]),
        ("src/**/*.yml", &["src/c.yml"]),
        (".github/*.yml", &[".github/ci.yml"]),
        (".github/**/*.yml", &[".github/ci.yml", ".github/workflows/ci.yml"]),
        (".github/workflows/*", &[".github/workflows/ci.yml"]),
        ("{src,.github}/*.yml", &[".github/ci.yml", "src/c.yml"]),
        ("{.github,src}/**/*.yml", &[".github/ci.yml", ".github/workflows/ci.yml", "src/c.yml"]),
        ("*/*.yml", &["src/c.yml"]),
        ("**/.x/*.yml", &["src/.x/y.yml"]),
        ("src/.*", &["src/.hidden.yml"]),
        (".*/*.yml", &[".github/ci.yml"]),
        ("**/workflows/*.yml", &[]),
        (
            "*.{yml,py}",
            &[
                ".github/.x/deep.yml",
                ".github/ci.yml",
                ".github/workflows/ci.yml",
                "a.yml",
                "b.py",
                "src/.x/y.yml",
                "src/a-b/z.py",
                "src/c.yml",
            ],
        ),
        ("{.e,b.p}*", &[".env", "b.py"]),
        ("src/[a-z]*/*.py", &["src/a-b/z.py"]),
        ("**/*", &["a.yml", "b.py", "src/a-b/z.py", "src/c.yml"]),
        ("src/*/z.py", &["src/a-b/z.py"]),
        (".github/**", &[".github/ci.yml", ".github/workflows/ci.yml"]),
        ("**/.*", &[".env", "src/.hidden.yml"]),
        (".*/**/*.yml", &[".github/ci.yml", ".github/workflows/ci.yml"]),
        (
            "*.y[!x]l",
            &[
                ".github/.x/deep.yml",
                ".github/ci.yml",
                ".github/workflows/ci.yml",
                "a.yml",
                "src/.x/y.yml",
                "src/c.yml",
            ],
        ),
    ];
    for (pattern, want) in table {
        let body = bench.call("glob", json!({"pattern": pattern})).done();
        let found: Vec<&str> = body.split('\'').filter(|part| part.starts_with('/')).collect();
        let want: Vec<String> = want.iter().map(|path| format!("/{path}")).collect();
        assert_eq!(found, want, "{pattern}: {body}");
    }
}

/// A `!` excludes, with the rules of ripgrep.
#[test]
fn a_negated_glob_excludes_what_ripgrep_excludes() {
    if !require("rg") {
        return;
    }
    let bench = Bench::new();
    for path in [
        "a.md",
        "b.rs",
        "vendor/a.rs",
        "vendor/deep/c.md",
        "src/vendor/d.rs",
        "src/a.rs",
        "src/b.md",
        "!odd.md",
    ] {
        bench.write(path, "needle\n");
    }
    for glob in [
        "!*.md",
        "!vendor",
        "!vendor/",
        "!vendor/**",
        "!/vendor",
        "!src/*.rs",
        "!*.{md,rs}",
        "!**/vendor/**",
        "!b.*",
        "!src/vendor",
        "*.md",
        "\\!*",
        "!nothing",
        "![ab].*",
    ] {
        // A leading slash leads out of the directory, in placet.
        let ours = glob.replace("!/vendor", "!vendor/*");
        let theirs = glob.replace("!/vendor", "!vendor/*");
        let out = Command::new("rg")
            .args(["-l", "needle", "-g", &theirs, "./"])
            .current_dir(&bench.root)
            .output()
            .unwrap();
        let want: BTreeSet<String> = String::from_utf8(out.stdout)
            .unwrap()
            .lines()
            .map(|line| line.trim_start_matches("./").into())
            .collect();
        let body = bench
            .call("search_contents", json!({"pattern": "needle", "glob": ours, "files_only": true}))
            .done();
        let found: BTreeSet<String> =
            body.lines().filter(|line| !line.starts_with('[')).map(String::from).collect();
        assert_eq!(found, want, "{glob}: {body}");
        let body = bench.call("find_files", json!({"pattern": ours})).done();
        let found: BTreeSet<String> =
            body.lines().filter(|line| !line.starts_with('[')).map(String::from).collect();
        assert_eq!(found, want, "find_files {glob}: {body}");
    }
}

#[test]
fn a_negated_glob_excludes_in_every_tool_set() {
    for (set, tool, call) in [
        (ToolSet::Agsh, "search_contents", json!({"pattern": "needle", "glob": "!*.md"})),
        (ToolSet::Agentos, "file_search", json!({"pattern": "needle", "glob": "!*.md"})),
        (ToolSet::Deepagents, "grep", json!({"pattern": "needle", "glob": "!*.md"})),
        (ToolSet::Deepagents, "glob", json!({"pattern": "!*.md"})),
    ] {
        let bench = Bench::of(set);
        bench.write("a.md", "needle\n");
        bench.write("src/b.rs", "needle\n");
        let body = bench.call(tool, call).done();
        assert!(body.contains("src/b.rs") && !body.contains("a.md"), "{tool}: {body}");
    }
}

/// The given bytes, whatever was there: its encoding and line ends too.
#[test]
fn a_whole_write_has_exactly_the_given_bytes_where_the_document_says_so() {
    let old: [&[u8]; 5] =
        [b"1\r\n2\r\n", b"\xEF\xBB\xBFmarked\n", b"\xFF\xFEa\0\n\0", b"caf\xE9 au lait\n", b"lf\n"];
    for (set, tool, path) in [
        (ToolSet::Agsh, "write_file", "path"),
        (ToolSet::Agentos, "file_write", "path"),
        (ToolSet::Deepagents, "write_file", "file_path"),
    ] {
        for old in old {
            for new in ["1\n2\n", "1\r\n2\n", "\u{e9}\n", ""] {
                let settings = ToolSetSettings { overwrite: true, ..ToolSetSettings::default() };
                let bench = Bench::new().speaking(set, &settings);
                bench.write("f", old);
                let name = if set == ToolSet::Deepagents { "/f" } else { "f" };
                let body = bench.call(tool, json!({path: name, "content": new})).done();
                assert_eq!(bench.bytes("f"), new.as_bytes(), "{body}");
                if set == ToolSet::Agentos {
                    let answer: Value = serde_json::from_str(&body).unwrap();
                    assert_eq!(answer["size"], json!(new.len()));
                }
            }
        }
    }
    let bench = Bench::new();
    bench.write("f", "1\r\n2\r\n");
    bench.call("write_file", json!({"path": "f", "content": "1\n3\n", "force": true})).done();
    assert_eq!(bench.bytes("f"), b"1\r\n3\r\n", "placet's own tool keeps the line ends");
}

#[test]
fn force_of_agsh_overrides_a_change_made_in_between_and_nothing_else_does() {
    for (set, overrides) in [(ToolSet::Agsh, true), (ToolSet::Native, false)] {
        let bench = Bench::of(set);
        bench.write("f", "one\ntwo\n");
        bench.call("read_file", json!({"path": "f"})).done();
        bench.write("f", "one\nTWO\n");
        let edit = |force: bool| json!({"path": "f", "old_string": "TWO", "new_string": "2", "force": force});
        assert!(bench.call("edit_file", edit(false)).failed().contains("changed since you read it"));
        bench.write("f", "one\nTWO again\n");
        let got = bench.call("edit_file", edit(true));
        assert_eq!(bench.text("f") == "one\n2 again\n", overrides, "{}", got.body());
    }
}

#[test]
fn a_scratchpad_gets_all_paths_and_matches() {
    for set in [ToolSet::Agsh, ToolSet::Native] {
        let bench = Bench::of(set);
        (0..700).for_each(|n| drop(bench.write(&format!("d/f{n}.txt"), "needle\n")));
        bench.call("find_files", json!({"pattern": "**/*.txt", "scratchpad": "paths"})).done();
        assert_eq!(bench.pad("paths").matches(".txt").count(), 700);
        bench.call("search_contents", json!({"pattern": "needle", "scratchpad": "lines"})).done();
        assert_eq!(bench.pad("lines").matches("needle").count(), 700);
        let body = bench.call("find_files", json!({"pattern": "**/*.txt"})).done();
        assert!(body.contains("500 of 700"), "{body}");
    }
}

#[test]
fn metrics_of_agentos_have_the_names_of_its_document() {
    let place = Place::new().file("a.txt", "alpha\n");
    for name in ["file_read", "tool::file_read"] {
        place.call(name, &json!({"path": "a.txt"}), &["--dialect", "agentos"]).code(0);
    }
    let text = place.run(["metrics"]).code(0).stdout;
    let wanted = "tool_execution_total{toolId=\"tool::file_read\",status=\"success\"} 2";
    assert!(text.contains(wanted), "{text}");
}

/// Searches that pass over a file say so, in every tool set: an unreadable file is unreadable for an ordinary user.
#[test]
fn an_unreadable_file_is_counted_by_every_search() {
    if !rustix::process::geteuid().is_root() || !require("setpriv") {
        return;
    }
    for (set, tool, call) in [
        ("native", "search_contents", json!({"pattern": "hit"})),
        ("agsh", "search_contents", json!({"pattern": "hit"})),
        ("deepagents", "grep", json!({"pattern": "hit"})),
        ("agentos", "file_search", json!({"pattern": "hit"})),
        ("triggerfish", "search_files", json!({"path": ".", "pattern": "hit", "content_search": true})),
    ] {
        let txn = crate::support::txn::Txn::in_dir(tempfile::TempDir::new().unwrap(), Some(1000));
        for name in ["a", "b", "c"] {
            std::fs::set_permissions(txn.write(name, "hit\n"), PermissionsExt::from_mode(0o644)).unwrap();
        }
        std::fs::set_permissions(txn.tree.join("a"), PermissionsExt::from_mode(0o000)).unwrap();
        std::fs::set_permissions(txn.tree.join("c"), PermissionsExt::from_mode(0o200)).unwrap();
        let out = txn.run(["tool", "call", tool, &call.to_string(), "--dialect", set]).code(0);
        assert!(format!("{}{}", out.stdout, out.stderr).contains("2 unreadable entries"), "{set}: {out:?}");
        std::fs::set_permissions(txn.tree.join("a"), PermissionsExt::from_mode(0o644)).unwrap();
        std::fs::set_permissions(txn.tree.join("c"), PermissionsExt::from_mode(0o644)).unwrap();
        let out = txn.run(["tool", "call", tool, &call.to_string(), "--dialect", set]).code(0);
        assert!(!format!("{}{}", out.stdout, out.stderr).contains("unreadable"), "{set}: {out:?}");
    }
}

/// A change of line ends was answered as done and was not done. What no call changes is not counted.
#[test]
fn a_change_of_line_ends_is_made_in_every_tool_set_and_no_answer_counts_what_did_not_change() {
    let edits = |old: &str, new: &str| {
        vec![
            (
                ToolSet::Native,
                "edit_file",
                json!({"path": "f", "old_string": old, "new_string": new, "replace_all": true, "force": true}),
            ),
            (
                ToolSet::Native,
                "operations",
                json!({"force": true, "operations": [{"op": "edit", "path": "f", "old_string": old, "new_string": new, "replace_all": true}]}),
            ),
            (
                ToolSet::Agsh,
                "edit_file",
                json!({"path": "f", "old_string": old, "new_string": new, "replace_all": true, "force": true}),
            ),
            (
                ToolSet::Deepagents,
                "edit_file",
                json!({"file_path": "/f", "old_string": old, "new_string": new, "replace_all": true}),
            ),
            (
                ToolSet::Typestack,
                "agent_prompt",
                json!({"aOperations": [{"sBase": "app", "sPath": "f", "sMode": "replace", "sSearch": old, "sReplace": new}]}),
            ),
        ]
    };
    for (before, old, new, after) in [
        ("1\r\n2\r\n", "\r\n", "\n", "1\n2\n"),
        ("1\n2\n", "\n", "\r\n", "1\r\n2\r\n"),
        ("1\r\n2\n", "\r\n", "\n", "1\n2\n"),
        ("1\r\n2\r\n", "1\r\n", "1\n", "1\n2\r\n"),
    ] {
        for (set, tool, call) in edits(old, new) {
            let bench = Bench::of(set);
            bench.write("f", before);
            let body = bench.call(tool, call).done();
            assert_eq!(bench.text("f"), after, "{set:?} {tool}: {body}");
        }
        let single = [
            (ToolSet::Triggerfish, "edit_file", json!({"path": "f", "old_text": old, "new_text": new})),
            (
                ToolSet::TextEditor,
                "str_replace_based_edit_tool",
                json!({"command": "str_replace", "path": "f", "old_str": old, "new_str": new}),
            ),
        ];
        for (set, tool, call) in single {
            let bench = Bench::of(set);
            bench.write("f", before);
            let got = bench.call(tool, call);
            let is_one = before.matches(old).count() == 1;
            assert_eq!(bench.text("f"), if is_one { after } else { before }, "{set:?}: {}", got.body());
        }
    }
    for (old, new) in [("\n", "\r\n"), ("1", "1")] {
        for (set, tool, call) in edits(old, new).into_iter().filter(|(set, ..)| *set != ToolSet::Typestack) {
            let bench = Bench::of(set);
            bench.write("f", "1\r\n2\r\n");
            let body = bench.call(tool, call).done();
            assert_eq!(bench.text("f"), "1\r\n2\r\n");
            assert!(!body.contains("replaced") && !body.contains("edited"), "{set:?} {tool}: {body}");
            assert!(
                body.contains("nothing to change") || body.contains("0 files changed"),
                "{set:?} {tool}: {body}"
            );
        }
    }
}
