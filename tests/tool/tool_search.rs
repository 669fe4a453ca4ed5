//! list_directory, find_files and search_contents.

use crate::support::tool_bench::Bench;
use placet::ui::ansi::ColorDepth;
use placet::ui::{Theme, scrollback};
use serde_json::json;
use std::path::Path;

fn tree() -> Bench {
    let bench = Bench::new();
    bench.write("src/main.rs", "fn main() {\n    let todo = 1; // TODO later\n}\n");
    bench.write("src/deep/lib.rs", "//! TODO first\npub fn a() {}\n");
    bench.write("README.md", "# Read me\r\nno todo\r\n");
    bench.write("target/out.rs", "TODO never\n");
    bench.write(".gitignore", "/target\n*.log\n!keep.log\n");
    bench.write("a.log", "TODO\n");
    bench.write("keep.log", "kept\n");
    bench.write(".github/ci.yml", "# TODO ci\n");
    bench.write("data.bin", b"TODO\0\0");
    std::os::unix::fs::symlink("/etc", bench.path("etc")).unwrap();
    bench
}

#[test]
fn a_directory_is_listed_and_what_is_left_out_is_counted() {
    let bench = tree();
    let body = bench.call("list_directory", json!({})).done();
    let want = format!(
        "{}/\nREADME.md  20 B\ndata.bin  6 B\netc -> /etc\nkeep.log  5 B\nsrc/\n[2 ignored, 2 dotted entries not shown]\n",
        bench.root.display()
    );
    assert_eq!(body, want);
    let body = bench.call("list_directory", json!({"path": "src", "depth": 3})).done();
    assert_eq!(body, format!("{}/src/\ndeep/\n  lib.rs  29 B\nmain.rs  46 B\n", bench.root.display()));
    let body = bench.call("list_directory", json!({"hidden": true})).done();
    assert!(
        body.contains(".github/\n.gitignore  ") && body.contains("[2 ignored entries not shown]"),
        "{body}"
    );
    assert!(
        bench.call("list_directory", json!({"path": "README.md"})).failed().contains("is not a directory")
    );
    assert!(bench.call("list_directory", json!({"path": "sc"})).failed().contains("did you mean"));
}

#[test]
fn files_are_found_by_glob_in_a_stable_order() {
    let bench = tree();
    let find = |pattern: &str| bench.call("find_files", json!({"pattern": pattern})).done();
    assert_eq!(
        find("*.rs"),
        "src/deep/lib.rs\nsrc/main.rs\n[2 matches; 2 ignored, 2 dotted entries skipped]"
    );
    assert!(find("src/*.rs").starts_with("src/main.rs\n[1 match;"));
    assert!(find("**/lib.rs").starts_with("src/deep/lib.rs\n[1 match;"));
    assert!(find("*.{md,log}").starts_with("README.md\nkeep.log\n["));
    assert!(find(".github/*.yml").starts_with(".github/ci.yml\n["));
    assert!(find("de*/").starts_with("src/deep/\n[1 match"));
    assert!(find("nothing").starts_with("[no files match;"));
    assert!(find("passwd").starts_with("[no files match"), "links are not followed");
    let body = bench.call("find_files", json!({"pattern": "*.rs", "limit": 1})).done();
    assert!(body.starts_with("src/deep/lib.rs\n[1 of 2 files: narrow"), "{body}");
    let body = bench.call("find_files", json!({"pattern": "*", "path": "target"})).done();
    assert!(body.starts_with("target/out.rs\n"), "{body}");
    for bad in ["/etc/*", "../*", "", "a[", "~/x"] {
        bench.call("find_files", json!({"pattern": bad})).failed();
    }
}

#[test]
fn contents_are_searched_and_shown_lines_count_as_read() {
    let bench = tree();
    let search = |input: serde_json::Value| bench.call("search_contents", input).done();
    assert_eq!(
        search(json!({"pattern": "TODO"})),
        "src/deep/lib.rs\n1│//! TODO first\nsrc/main.rs\n2│    let todo = 1; // TODO later\n\
         [2 matching lines in 2 files; 2 ignored, 2 dotted entries skipped; 1 binary file not searched]"
    );
    bench
        .call(
            "edit_file",
            json!({"path": "src/main.rs", "old_string": "// TODO later", "new_string": "// done"}),
        )
        .done();
    let error = bench
        .call("edit_file", json!({"path": "src/deep/lib.rs", "old_string": "pub fn a", "new_string": "fn a"}))
        .failed();
    assert!(error.contains("only line 1 was"), "{error}");
    assert!(
        search(json!({"pattern": "todo", "case": "insensitive", "path": "README.md"}))
            .starts_with("README.md\n2│no todo\n[1 matching line in 1 file")
    );
    let body = search(json!({"pattern": "fn a", "context": 1, "glob": "*.rs"}));
    assert!(body.starts_with("src/deep/lib.rs\n1┊//! TODO first\n2│pub fn a() {}\n["), "{body}");
    assert!(
        search(json!({"pattern": "fn", "files_only": true}))
            .starts_with("src/deep/lib.rs\nsrc/main.rs\n[2 files with a match")
    );
    assert!(search(json!({"pattern": "a() {}", "literal": true})).contains("2│pub fn a() {}"));
    assert!(search(json!({"pattern": "zzz"})).starts_with("[no matches;"));
    assert!(
        bench
            .call("search_contents", json!({"pattern": "a("}))
            .failed()
            .contains("is not a regular expression")
    );
    assert!(bench.call("search_contents", json!({"pattern": "a\nb"})).failed().contains("never span lines"));
}

#[test]
fn a_long_line_is_cut_around_its_match() {
    let bench = Bench::new();
    bench.write("min.js", format!("{}NEEDLE{}\n", "é".repeat(40_000), "y".repeat(5_000_000)));
    let body = bench.call("search_contents", json!({"pattern": "NEEDLE"})).done();
    assert!(body.len() < 700 && body.contains("éNEEDLEyyy") && body.contains("[... 79900 bytes]"), "{body}");
    // What a search has shown can be edited, and the rest of the line cannot.
    let edit = |old: &str| json!({"path": "min.js", "old_string": old, "new_string": "x"});
    assert!(
        bench.call("edit_file", edit(&format!("NEEDLE{}", "y".repeat(1000)))).failed().contains("not shown")
    );
    bench.call("edit_file", edit("NEEDLE")).done();
}

#[test]
fn many_matches_are_cut_and_counted() {
    let bench = Bench::new();
    for file in 0..30 {
        bench.write(&format!("f{file:02}"), "match this line, it is not short at all, really\n".repeat(100));
    }
    let body = bench.call("search_contents", json!({"pattern": "match"})).done();
    assert!(
        body.contains("[200 of 3000 matching lines in 30 files: narrow the search"),
        "{}",
        &body[body.len() - 300..]
    );
    let body = bench.call("search_contents", json!({"pattern": "match", "limit": 5000})).done();
    assert!(body.len() <= 30_000 && body.contains(" of 3000 matching lines"));
    bench.call("search_contents", json!({"pattern": "match", "limit": 5000, "scratchpad": "all"})).done();
    assert_eq!(bench.pad("all").lines().count(), 3031);
}

#[test]
fn what_a_rule_hides_is_found_by_no_tool() {
    let bench = tree();
    bench.write("src/.env", "SECRET=TODO\n");
    bench.write("secrets/key.pem", "TODO\n");
    bench.env.workspace.set_hidden(&["**/.env".into(), "secrets".into()]).unwrap();
    std::os::unix::fs::symlink("src/.env", bench.path("innocent")).unwrap();
    std::os::unix::fs::symlink("secrets", bench.path("also")).unwrap();
    for path in ["src/.env", "./src/../src/.env", "innocent", "secrets/key.pem", "also/key.pem"] {
        for (tool, input) in [
            ("read_file", json!({"path": path})),
            ("edit_file", json!({"path": path, "old_string": "TODO", "new_string": "x", "force": true})),
            ("write_file", json!({"path": path, "content": "x", "force": true})),
            ("search_contents", json!({"path": path, "pattern": "TODO"})),
            ("scratchpad", json!({"action": "load", "name": "p", "path": path})),
        ] {
            let error = bench.call(tool, input).failed();
            assert!(error.contains("hidden from all tools"), "{tool} {path}: {error}");
            assert!(!error.contains("SECRET"));
        }
    }
    let body = bench.call("search_contents", json!({"pattern": "TODO"})).done();
    assert!(!body.contains("key.pem") && body.contains("2 denied"), "{body}");
    let body = bench.call("list_directory", json!({"hidden": true, "depth": 2})).done();
    // A link is named with what it says; what it leads to is not.
    assert!(!body.contains("  .env") && !body.contains("secrets/") && !body.contains("key.pem"), "{body}");
    assert!(bench.call("find_files", json!({"pattern": ".env"})).done().starts_with("[no files match"));
    assert_eq!(bench.text("src/.env"), "SECRET=TODO\n");
}

#[test]
fn a_line_break_in_a_name_forges_no_entry() {
    let bench = Bench::new();
    bench.write("new\nline.txt", "needle");
    for (tool, arguments) in [
        ("list_directory", serde_json::json!({})),
        ("find_files", serde_json::json!({"pattern": "*.txt"})),
        ("search_contents", serde_json::json!({"pattern": "needle"})),
    ] {
        let text = bench.call(tool, arguments).done();
        assert!(text.contains("new␊line.txt") && !text.contains("new\nline"), "{tool}: {text}");
    }
}

/// What the pane shows of a search: every line, and the texts in the style of a match.
fn on_the_screen(bench: &Bench, input: serde_json::Value) -> (Vec<String>, Vec<String>) {
    let theme = Theme::load("dark", Path::new("/nowhere"), ColorDepth::True, |_| None).unwrap();
    let found = bench.call("search_contents", input);
    let lines = scrollback::detail(&found.0.for_person.detail, &theme, usize::MAX);
    let mark = theme.style("output").patch(theme.style("match"));
    let marked = lines.iter().flat_map(|line| &line.spans).filter(|span| span.style == mark);
    let marked = marked.map(|span| span.content.to_string()).collect();
    assert_eq!(lines.len(), found.body().lines().count());
    (lines.iter().map(ToString::to_string).collect(), marked)
}

#[test]
fn what_matched_is_marked_on_the_screen_and_nothing_else_is() {
    let bench = Bench::new();
    bench.write("needle.txt", "hay\none needle, two needles\nhay\n");
    let (lines, marked) = on_the_screen(&bench, json!({"pattern": "needle", "context": 1}));
    assert_eq!(marked, ["needle", "needle"]);
    assert_eq!(
        lines[0..4],
        ["  needle.txt", "  1\u{250a}hay", "  2\u{2502}one needle, two needles", "  3\u{250a}hay"]
    );
    // A line's beginning is that of the file's line, and numbers before it are not searched.
    bench.write("numbers", "2 and 12\n");
    let (_, marked) = on_the_screen(&bench, json!({"pattern": "^2|\\d+$", "path": "numbers"}));
    assert_eq!(marked, ["2", "12"]);
    // A long line is cut around its match, and a control character in it is made visible.
    bench.write("long", format!("{}needle\u{1b}[31m{}\n", "x".repeat(900), "bytes ".repeat(200)));
    let (lines, marked) = on_the_screen(&bench, json!({"pattern": "needle|bytes", "path": "long"}));
    assert_eq!(marked.first().map(String::as_str), Some("needle"));
    assert!(marked.len() > 5 && lines.iter().all(|line| !line.contains('\u{1b}')), "{lines:?}");
    assert_eq!(on_the_screen(&bench, json!({"pattern": "nowhere"})).1, Vec::<String>::new());
}

#[test]
fn a_pattern_that_no_line_can_match_is_refused_and_an_end_is_before_every_kind_of_line_end() {
    let bench = Bench::new();
    bench.write("crlf", "the end\r\nnot the end.\r\n");
    bench.write("lf", "the end\nnot the end.\n");
    for pattern in ["a\nb", "a\\nb", "end\\n", "[\\n]"] {
        for (tool, call) in [
            ("search_contents", json!({"pattern": pattern})),
            ("read_file", json!({"path": "lf", "pattern": pattern})),
        ] {
            let error = bench.call(tool, call).failed();
            assert!(error.starts_with("error: `pattern` "), "{pattern:?}: {error}");
        }
    }
    for pattern in ["end$", "^the end$", "d$"] {
        let body = bench.call("search_contents", json!({"pattern": pattern})).done();
        assert!(body.ends_with("[2 matching lines in 2 files]"), "{pattern}: {body}");
    }
    let body = bench.call("search_contents", json!({"pattern": "\\r"})).done();
    assert!(body.contains("in 1 file]"), "a carriage return can be searched for: {body}");
}

#[test]
fn a_limit_of_nothing_is_refused_by_every_tool_that_has_one() {
    let bench = tree();
    for (tool, call) in [
        ("read_file", json!({"path": "README.md", "limit": 0})),
        ("find_files", json!({"pattern": "*", "limit": 0})),
        ("search_contents", json!({"pattern": "x", "limit": 0})),
    ] {
        let error = bench.call(tool, call).failed();
        assert!(error.starts_with("error: `limit` is 0: nothing would be shown"), "{tool}: {error}");
    }
}

/// As for the system: only a directory has a name that ends so.
#[test]
fn a_file_has_no_name_that_ends_with_a_slash() {
    let bench = tree();
    for name in ["README.md/", "README.md/.", "src/main.rs/"] {
        assert!(std::fs::metadata(bench.path(name)).is_err());
        let error = bench.call("read_file", json!({"path": name})).failed();
        assert!(error.contains("is not a directory"), "{name}: {error}");
    }
    for name in ["src/", "src/."] {
        bench.call("list_directory", json!({"path": name})).done();
    }
}
